"""Work folders of commands that were stopped: named in the message, and deleted on request."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

import paraloom
from paraloom import ConfigError, DataError, RunError
from paraloom.api.pairs import Pairs
from paraloom.api.run import run_stages
from paraloom.api.work_folders import clean_work_folders
from paraloom.core.stage import Map
from paraloom.pipeline.store import claimed
from paraloom.stages.bitext import ReadScoredPairs


@dataclass(frozen=True, kw_only=True)
class Stops(Map):
    """Fails, or is interrupted, at its second batch, or at once."""

    interrupted: bool = False
    at_once: bool = False

    def apply(self, batch: pa.RecordBatch, context: Any) -> pa.RecordBatch:
        if context.shard == "part-00000.parquet" and not self.at_once:
            return batch
        if self.interrupted:
            raise KeyboardInterrupt
        raise DataError("something is wrong")


@dataclass(frozen=True, kw_only=True)
class Counts(Map):
    """Notes how many rows it is given."""

    calls: ClassVar[list[int]] = []

    def apply(self, batch: pa.RecordBatch, context: Any) -> pa.RecordBatch:
        self.calls.append(batch.num_rows)
        return batch


@pytest.fixture
def pairs() -> Pairs:
    return paraloom.as_pairs([(f"a {n}", f"b {n}") for n in range(6000)])


def test_an_error_names_the_work_that_is_kept_and_clean_deletes_it(pairs: Pairs, tmp_path: Path) -> None:
    output, work = tmp_path / "out.parquet", tmp_path / "out.parquet.paraloom"
    with pytest.raises(DataError, match=rf"something is wrong.*\n.*kept in {work}, .*research clean {tmp_path}"):
        pairs.then(Stops()).write(output, engine="inline")
    (tmp_path / "other.paraloom").mkdir()
    (tmp_path / "other.paraloom/mine.txt").write_text("not a run")
    with claimed(work):
        assert clean_work_folders(tmp_path).active == (str(work),)
    assert clean_work_folders(tmp_path, dry_run=True).deleted == (str(work),)
    assert work.exists()
    size = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
    cleaned = clean_work_folders(tmp_path)
    assert cleaned.deleted == (str(work),) and cleaned.format().endswith(f"deleted, {size / 1e6:.1f} MB"), size
    assert cleaned.megabytes == pytest.approx(size / 1e6, abs=0.051) and size > 10_000
    assert not work.exists() and (tmp_path / "other.paraloom/mine.txt").exists()
    assert clean_work_folders(tmp_path).deleted == ()
    with pytest.raises(DataError, match="folder not found"):
        clean_work_folders(tmp_path / "missing")


def test_another_command_does_not_take_unfinished_work_over(pairs: Pairs, tmp_path: Path) -> None:
    output, work = tmp_path / "out.parquet", tmp_path / "out.parquet.paraloom"
    with pytest.raises(DataError, match="something is wrong"):
        pairs.then(Stops()).write(output, engine="inline")
    with pytest.raises(ConfigError, match=r"unfinished work of another command \(Stops\).*\n.*name another output"):
        pairs.filter("src != ''").write(output, engine="inline")
    assert list(work.glob("*-Stops/part-*"))
    with pytest.raises(DataError, match="something is wrong"):  # not the same, but its stage is resumed
        pairs.then(Stops()).filter("src != ''").write(output, engine="inline")
    clean_work_folders(tmp_path)
    assert pairs.filter("src != ''").write(output, engine="inline").stages[-1].counts.kept == 6000


def test_inputs_that_another_command_read_are_no_unfinished_work(pairs: Pairs, tmp_path: Path) -> None:
    source, output = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pairs.write(source, engine="inline")
    reading = ReadScoredPairs(name="others-name", source=source)
    with pytest.raises(KeyboardInterrupt):
        run_stages([reading, Stops(interrupted=True, at_once=True)], str(output), engine="inline")
    assert list((tmp_path / "out.parquet.paraloom").glob("*-others-name/part-*"))
    assert paraloom.read_pairs(source).filter("src != ''").write(output, engine="inline").stages[-1].counts.kept == 6000
    output.unlink()
    with pytest.raises(KeyboardInterrupt):  # what was filtered while it was read would be lost
        run_stages(
            [replace(reading, where="src != ''"), Stops(interrupted=True, at_once=True)], str(output), engine="inline"
        )
    with pytest.raises(ConfigError, match=r"unfinished work of another command \(others-name\)"):
        pairs.write(output, engine="inline")


def test_inputs_that_were_read_are_not_worth_a_word(pairs: Pairs, tmp_path: Path) -> None:
    pairs.write(tmp_path / "in.parquet", engine="inline")
    for source in (pairs, paraloom.read_pairs(tmp_path / "in.parquet")):
        with pytest.raises(ConfigError, match="column 'none'") as caught:
            source.filter("none > 1").write(tmp_path / "out.parquet", engine="inline")
        assert "is kept" not in str(caught.value) and not (tmp_path / "out.parquet.paraloom").exists()


def test_an_interruption_names_the_work_that_is_kept(pairs: Pairs, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    said = rf"in stage Stops\. Run the same again: it resumes from there\. What is done is kept in {output}"
    with pytest.raises(KeyboardInterrupt, match=said):
        pairs.then(Stops(interrupted=True)).write(output, engine="inline")


def test_an_interruption_without_an_output_promises_nothing(pairs: Pairs) -> None:
    with pytest.raises(KeyboardInterrupt, match=r"^interrupted; without an output \(-o\) nothing is kept$"):
        run_stages([*pairs.stages, Stops(interrupted=True)], "-", engine="inline")


def test_a_second_command_at_work_names_the_output(pairs: Pairs, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    with claimed(tmp_path / "out.parquet.paraloom"), pytest.raises(RunError, match="another run is active") as caught:
        pairs.write(output, engine="inline")
    assert caught.value.file == str(output)


def test_a_format_that_cannot_hold_a_value_loses_no_work(tmp_path: Path) -> None:
    """The work of the stages is kept, and the message says how to write it in another format, without it again."""
    Counts.calls.clear()
    pairs = paraloom.as_pairs([("a\nb", "c"), ("d", "e")]).then(Counts())
    with pytest.raises(DataError, match="'src' has a line feed") as raised:
        pairs.write(tmp_path / "out.tsv.gz", engine="inline")
    assert Counts.calls == [2] and not (tmp_path / "out.tsv.gz").exists()
    command = re.search("done is kept: mv (.*) (.*), and the same call with the output (.*)[.]$", str(raised.value))
    assert command and command[3] == str(tmp_path / "out.jsonl")
    Path(command[1]).rename(command[2])
    pairs.write(command[3], engine="inline")
    assert Counts.calls == [2] and sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl"]


@pytest.mark.parametrize("name", ["out.tsv", "out.{en,de}.txt"])
def test_another_output_is_named_than_one_that_exists(name: str, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text("", encoding="utf-8")
    pairs = paraloom.as_pairs([("a\nb", "c")], src_lang="en", tgt_lang="de").then(Counts())
    with pytest.raises(DataError, match=rf"the output {re.escape(str(tmp_path))}/out-2\.jsonl\."):
        pairs.write(tmp_path / name, engine="inline")
