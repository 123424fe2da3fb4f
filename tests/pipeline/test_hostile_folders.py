"""Run folders that cannot be written, or that something else wrote to: an error with a remedy, or the stage reruns."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stage_runs import read_rows, run_toml

from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError, DataError, RunError
from paraloom.io import read_pairs
from paraloom.io.atomic import atomic_folder, atomic_write
from paraloom.pipeline.manifest import JOURNAL, Manifest
from paraloom.pipeline.pipeline import Pipeline
from paraloom.pipeline.registry import load_stage
from paraloom.pipeline.status import read_status
from paraloom.stages.bitext import ReadPairs

READ = '[[stage]]\nuse = "read-pairs"\nsource = "rows.tsv"\n'
FILTER = '[[stage]]\nuse = "filter"\nwhere = "length(src) > 0"\n'


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    (tmp_path / "rows.tsv").write_text("a\tb\nc\td\n")
    return tmp_path


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENAMETOOLONG, errno.ELOOP])
@pytest.mark.parametrize("call", ["mkdir", "open", "exists"])
def test_a_run_folder_that_cannot_be_written_is_an_error(
    rows: Path, code: int, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = getattr(Path, call)

    def refuse(path: Path, *arguments: object, **options: object) -> object:
        if path.name in ("run", ".lock"):
            raise OSError(code, os.strerror(code), str(path))
        return original(path, *arguments, **options)

    monkeypatch.setattr(Path, call, refuse)
    with pytest.raises(RunError, match=f"cannot write: {os.strerror(code)}") as error:
        run_toml(READ, rows)
    assert error.value.remedy


@pytest.mark.parametrize("path", ["file/a.tsv", f"{'x' * 300}.tsv", "/proc/a.tsv", "folder"])
def test_a_file_that_cannot_be_written_is_an_error(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunError, match="cannot write"), atomic_write(tmp_path / path):
        pass
    if path != "folder":
        with pytest.raises(RunError, match="cannot write"), atomic_folder(tmp_path / path, "x"):
            pass


def test_a_file_in_the_place_of_a_stage_is_an_error(rows: Path) -> None:
    (rows / "run").mkdir()
    (rows / "run" / "run.json").write_text("{}")
    (rows / "run" / "10-read-pairs").write_text("a note")
    with pytest.raises(RunError, match="expected the folder of a stage, got a file"):
        run_toml(READ, rows)
    assert (rows / "run" / "10-read-pairs").read_text() == "a note"


def odd_records(kind: str, name: str, record: object) -> list[str]:
    assert isinstance(record, dict)
    broken: list[object] = [None, 3, "text", [], {}]
    for key in record:
        broken += [{name: value for name, value in record.items() if name != key}]
        broken += [{**record, key: value} for value in (None, [1], {"x": [1]}, "text", -1)]
    lines = [json.dumps({"kind": kind, "name": name, "record": value}) for value in broken]
    return [*lines, "[" * 100_000, '{"kind": [], "name": {}, "record": {}}', "3", "null", '"\\ud800"']


@pytest.mark.parametrize("stage", ["10-read-pairs", "20-filter"])
def test_odd_records_of_a_manifest_are_passed_over(rows: Path, stage: str) -> None:
    """After each of them, the run ends with the same bytes."""
    expected = run_toml(READ + FILTER, rows).digest
    journal = rows / "run" / stage / JOURNAL
    good = journal.read_bytes()
    odd: list[str] = []
    for line in good.decode().splitlines():
        entry = json.loads(line)
        if entry["kind"] in ("shard", "end"):
            odd += odd_records(entry["kind"], entry["name"], entry["record"])
    for number in range(0, len(odd), 9):
        journal.write_text("\n".join(odd[number : number + 9]) + "\n")
        Manifest(journal.parent).shard("part-00000.parquet")
    journal.write_text(good.decode() + "\n".join(odd) + "\n")
    assert run_toml(READ + FILTER, rows).digest == expected


def test_a_manifest_names_no_file_outside_of_its_folder(tmp_path: Path) -> None:
    record = {"key": "k", "kind": "PAIRS", "files": {"../other": "0"}, "counts": {}, "seconds": 0, "memory": 0}
    Manifest(tmp_path).put("end", record)
    assert Manifest(tmp_path).get("end") is None


@pytest.mark.parametrize("use", [".a:x", ":", "a:", "..:x", "os:path", "a b:c", "\ud800:x"])
def test_odd_names_of_stages_are_errors(use: str) -> None:
    with pytest.raises(ConfigError):
        load_stage(use)


def test_doubled_columns_are_an_error(tmp_path: Path) -> None:
    column = pa.array(["a"])
    pq.write_table(pa.Table.from_arrays([column] * 3, names=["src", "tgt", "src"]), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="the file has the column 'src' twice"):
        list(read_pairs(tmp_path / "rows.parquet"))


def test_names_that_are_not_utf8_are_read_and_written(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.de-en.tsv"))
    path.write_text("a\tb\n")
    rows = next(read_pairs(path)).to_pylist()
    assert (rows[0]["pair_id"], rows[0]["src_lang"]) == ("caf\ufffd:1", "de")
    with pytest.raises(ConfigError, match="'src_lang' is not valid UTF-8"):
        next(read_pairs(path, src_lang="\udcff"))
    assert str(DataError("x", file=path)).startswith(str(tmp_path))
    str(DataError("x", file=path)).encode()
    assert digest({"name": path.name}) != digest({"name": "x"})

    source = path.rename(Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff.tsv")))
    result = Pipeline([ReadPairs(source=source)]).run(tmp_path / "run", engine="inline")
    assert [row["src"] for row in read_rows(result.stages[0].folder)] == ["a"]
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/run\xff"))
    result = Pipeline([ReadPairs(source=source)]).run(folder, engine="inline")
    assert [row["src"] for row in read_rows(result.stages[0].folder)] == ["a"]
    status = read_status(folder)
    assert status.state == "done"
