"""Resuming: finished work is recognized by its digest; what changed runs again, with everything that depends on it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from toy_runs import contents, marks_in, run, shards_done, toml

from paraloom.core.errors import DataError, RunError
from paraloom.io import Corpus
from paraloom.pipeline.fit import FitTask
from paraloom.pipeline.manifest import Manifest
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import plan
from paraloom.pipeline.status import read_status
from paraloom.pipeline.store import claimed
from paraloom.pipeline.toml import parse_pipeline
from paraloom.web.run_folder import open_run

STAGES = (
    {"use": "Count", "sentences": 120},
    {"use": "Upper", "suffixes": ["!"]},
    {"use": "Above"},
    {"use": "Even", "input": "count"},
    {"use": "Total", "corpora": ["above", "even"]},
)
CHAIN = toml(*STAGES)


def written(result: RunResult) -> dict[str, int]:
    """How many shards (or artifacts) of each stage were written, those of which there were none left out."""
    return {stage.name: stage.written for stage in result.stages if stage.written}


def planned(text: str, folder: Path) -> dict[str, str]:
    """The stages that a run would work at, and why."""
    return {stage.name: stage.why for stage in plan(parse_pipeline(text), folder) if stage.state == "run"}


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """The folder of a finished run of CHAIN."""
    assert written(run(CHAIN, tmp_path / "run")) == {"count": 3, "upper": 3, "above": 3, "even": 3, "total": 1}
    return tmp_path / "run"


def test_nothing_is_done_twice(done: Path) -> None:
    before = contents(done)
    assert planned(CHAIN, done) == {}
    assert written(run(CHAIN, done)) == {}
    assert contents(done) == before


CHANGES = [
    ({"suffixes": ["?"]}, "upper", {"upper": 3, "above": 3, "total": 1}, "changed: suffixes"),
    ({"delay": 0.001}, "upper", {"upper": 3}, "changed: delay"),
    ({"every": 3}, "even", {"even": 3, "total": 1}, "changed: every"),
    ({"times": 2}, "total", {"total": 1}, "changed: times"),
    ({"sentences": 100}, "count", {"count": 3, "upper": 1, "above": 3, "even": 1, "total": 1}, "changed: sentences"),
]


@pytest.mark.parametrize(("change", "name", "expected", "why"), CHANGES, ids=[str(change[0]) for change in CHANGES])
def test_a_changed_parameter(
    change: dict[str, object], name: str, expected: dict[str, int], why: str, done: Path, tmp_path: Path
) -> None:
    """Only that stage is done again, and the shards whose input came out otherwise.

    `delay` changes no byte; `sentences` changes the last shard, and the mean that `above` compares with.
    """
    changed = toml(*({**stage, **change} if stage["use"].lower() == name else stage for stage in STAGES))
    assert planned(changed, done)[name] == why
    result = run(changed, done)
    assert written(result) == expected
    assert result.digest == run(changed, tmp_path / "fresh").digest
    assert contents(done) == contents(tmp_path / "fresh")


@pytest.mark.parametrize("damage", ["truncated", "one byte", "missing", "another's"])
def test_a_damaged_shard_is_done_again(damage: str, done: Path) -> None:
    """It alone: that a file exists proves nothing."""
    before = contents(done)
    shard = done / "20-upper" / "part-00001.parquet"
    content = bytearray(shard.read_bytes())
    match damage:
        case "truncated":
            shard.write_bytes(content[:-20])
        case "one byte":
            content[40] ^= 1
            shard.write_bytes(content)
        case "missing":
            shard.unlink()
        case _:
            shutil.copy(shard.with_name("part-00000.parquet"), shard)
    assert planned(CHAIN, done)["upper"] == "its files are missing or were changed"
    assert written(run(CHAIN, done)) == {"upper": 1}
    assert contents(done) == before


@pytest.mark.parametrize("version", ["present", "earlier"])
@pytest.mark.parametrize("kind", ["shard", "end"])
def test_counts_that_were_edited_are_not_believed(kind: str, version: str, done: Path) -> None:
    """Each line has a digest of its own; those of earlier versions are compared with the rows of the files."""
    before = [stage.counts for stage in run(CHAIN, done).stages]
    journal = done / "20-upper" / "manifest.jsonl"
    lines = []
    for entry in map(json.loads, journal.read_text().splitlines()):
        if entry["kind"] == "shard" or entry["kind"] == kind:
            if entry["kind"] == kind:
                entry["record"]["counts"].update(read=7, kept=7, out=7)
            if version == "earlier":
                del entry["sha256"]
            lines.append(json.dumps(entry))
    journal.write_text("\n".join(lines) + "\n")
    result = run(CHAIN, done)
    assert [stage.counts for stage in result.stages] == before
    assert result.digest == run(CHAIN, done.parent / "fresh").digest
    assert written(run(CHAIN, done)) == {}


def test_a_manifest_of_an_earlier_version_holds(done: Path) -> None:
    for journal in done.glob("*/manifest.jsonl"):
        entries = [json.loads(line) for line in journal.read_text().splitlines()]
        lines = [json.dumps({key: entry[key] for key in ("kind", "name", "record")}) for entry in entries]
        journal.write_text("\n".join(lines) + "\n")
    assert written(run(CHAIN, done)) == {}


def test_a_report_that_was_edited(done: Path) -> None:
    """Its counts are not shown; the same run writes it again."""
    path = done / "run.json"
    report = json.loads(path.read_text())
    report["stages"][0]["counts"]["out"] = 7
    path.write_text(json.dumps(report))
    for read in (read_status, open_run):
        with pytest.raises(DataError, match="changed after the run wrote it"):
            read(done)
    assert written(run(CHAIN, done)) == {}
    assert read_status(done).stages[0].counts["out"] != 7
    open_run(done)


def test_a_file_without_a_record_is_not_trusted(done: Path) -> None:
    """As a kill between renaming and recording leaves it."""
    journal = done / "20-upper" / "manifest.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    torn = [line for line in lines if "part-00002" not in line and '"end"' not in line]
    journal.write_text("".join(torn) + '{"kind": "shard", "na')
    assert planned(CHAIN, done)["upper"] == "unfinished"
    assert written(run(CHAIN, done)) == {"upper": 1}
    assert shards_done(done / "20-upper") == {f"part-0000{n}.parquet": 1 for n in range(3)}
    assert written(run(CHAIN, done)) == {}


def test_a_damaged_artifact_is_done_again(done: Path) -> None:
    (done / "50-total" / "artifact" / "timings.txt").write_text("may differ")
    assert written(run(CHAIN, done)) == {}
    (done / "50-total" / "artifact" / "total.txt").write_text("0")
    assert written(run(CHAIN, done)) == {"total": 1}
    assert not (done / "50-total" / "artifact" / "checkpoint").exists()


def test_a_fit_killed_between_record_and_renaming(done: Path) -> None:
    stage = done / "50-total"
    record = Manifest(stage).get("end")
    assert record is not None
    (stage / "artifact").rename(stage / f"scratch-{record['key'][:16]}")
    assert planned(CHAIN, done) == {}
    assert written(run(CHAIN, done)) == {}
    assert (stage / "artifact" / "total.txt").exists()


def test_a_fit_goes_on_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stopped after two of three shards does only the third; other parameters start from nothing."""
    monkeypatch.setenv("TOY_MARKS", str(tmp_path))
    text = toml({"use": "Count", "sentences": 120}, {"use": "Total", "corpora": ["count"]})
    clean = run(text, tmp_path / "clean")
    call = FitTask.__call__

    def stopped(task: FitTask, advance: object) -> object:
        checkpoint = task.folder / f"scratch-{task.key[:16]}" / "checkpoint" / "done"
        checkpoint.parent.mkdir(parents=True)
        checkpoint.write_text("780 2380")  # 0 + … + 39, 40 + … + 79
        (task.folder / "scratch-of-other-parameters").mkdir()
        return call(task, advance)  # type: ignore[arg-type]

    monkeypatch.setattr(FitTask, "__call__", stopped)
    before = len(marks_in(tmp_path))
    assert run(text, tmp_path / "run").digest == clean.digest
    assert marks_in(tmp_path)[before:] == ["fit 10-count/part-00002.parquet"]
    assert sorted(path.name for path in (tmp_path / "run" / "20-total").iterdir()) == ["artifact", "manifest.jsonl"]


def test_a_survey_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the manifest, and a change of the corpus that leaves it alone leaves other shards alone too."""
    monkeypatch.setenv("TOY_MARKS", str(tmp_path))
    run(CHAIN, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "30-above" / "rejected", ignore_errors=True)
    (tmp_path / "run" / "30-above" / "part-00000.parquet").unlink()
    assert written(run(CHAIN, tmp_path / "run")) == {"above": 1}
    assert marks_in(tmp_path).count("survey") == 1
    above = Corpus.open(tmp_path / "run" / "30-above").head(120)["above"].to_pylist()
    assert above == [n > 59.5 for n in range(120)]


def test_external_files_count_by_content(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("a\nb\n")
    text = toml({"use": "Lines", "path": "lines.txt"}, {"use": "Upper"})
    run(text, tmp_path / "run")
    file.write_text("a\nb\n")
    assert written(run(text, tmp_path / "run")) == {}
    file.write_text("a\nc\n")
    assert written(run(text, tmp_path / "run")) == {"Lines".lower(): 1, "upper": 1}
    assert Corpus.open(tmp_path / "run" / "20-upper").head(2)["text"].to_pylist() == ["A", "C"]


def test_stages_put_in_and_taken_out(done: Path, tmp_path: Path) -> None:
    """Folders follow their stages' names; what does not depend on the change stands."""
    longer = toml(STAGES[0], {"use": "Echo"}, {**STAGES[1], "input": "count"}, *STAGES[2:])
    assert written(run(longer, done)) == {"echo": 3}
    assert sorted(path.name for path in done.iterdir() if path.is_dir()) == [
        "10-count", "20-echo", "30-upper", "40-above", "50-even", "60-total",
    ]  # fmt: skip
    assert written(run(CHAIN, done)) == {}


def test_until(tmp_path: Path) -> None:
    result = run(CHAIN, tmp_path / "run", until="upper")
    assert [stage.name for stage in result.stages] == ["count", "upper"]
    report = json.loads((tmp_path / "run" / "run.json").read_text())
    assert [stage["state"] for stage in report["stages"]] == ["done", "done", "to do", "to do", "to do"]
    assert planned(CHAIN, tmp_path / "run") == {
        "above": "new", "even": "new", "total": "its input 'above' has to run first",
    }  # fmt: skip
    assert written(run(CHAIN, tmp_path / "run")) == {"above": 3, "even": 3, "total": 1}


def test_an_outside_corpus(done: Path, tmp_path: Path) -> None:
    """A stage may map a corpus that another run, or another tool, has written."""
    result = run(toml({"use": "Upper", "input": "run/10-count"}), tmp_path / "other")
    assert result.stage("upper").counts.read == 120


def test_two_runs_in_one_folder(done: Path) -> None:
    with claimed(done), pytest.raises(RunError, match="another run is active here \\(process "):
        run(CHAIN, done)
    assert written(run(CHAIN, done)) == {}


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match="holds something other than a run"):
        run(CHAIN, tmp_path)
    with pytest.raises(RunError, match="holds something other than a run"):
        plan(parse_pipeline(CHAIN), tmp_path)
    with pytest.raises(RunError, match="this is a file"):
        run(CHAIN, tmp_path / "thesis.tex")
