"""Workers of the local engine: kept from stage to stage, without what they had loaded; ended before a training.

A Map of one or two shards starts none, unless it loads models.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from processes import TIMEOUT, start, wait_until
from toy_runs import begin, contents, marks_in, run, toml
from toy_tasks import Look, Query

from paraloom import as_pairs
from paraloom.core.resources import Resources
from paraloom.pipeline.engines import local
from paraloom.pipeline.engines.local import Local
from paraloom.pipeline.execution import needs_worker
from paraloom.stages import Clean, Parse, Score

pytestmark = pytest.mark.slow


@pytest.fixture
def engine() -> Iterator[Local]:
    """Two workers."""
    with closing(Local(2)) as local:
        yield local


def look(engine: Local, stage: str, mebibytes: int = 0) -> list[tuple[int, str, int]]:
    return list(engine.run([Look(number, stage, mebibytes) for number in range(2)], print))


def processes(looks: list[tuple[int, str, int]]) -> set[int]:
    return {process for process, _, _ in looks}


def test_workers_are_kept_and_forget(engine: Local, capfd: pytest.CaptureFixture[str]) -> None:
    first = look(engine, "one", mebibytes=200)
    second = look(engine, "one")
    assert processes(first) == processes(second) and len(processes(first)) == 2
    assert {loaded for _, loaded, _ in first}.isdisjoint({loaded for _, loaded, _ in second})
    assert max(peak for _, _, peak in second) < min(peak for _, _, peak in first) - (100 << 20)
    assert capfd.readouterr().err.count("look twice") == 4


def test_a_worker_that_died_while_it_rested_is_replaced(engine: Local) -> None:
    killed, kept = processes(look(engine, "one"))
    os.kill(killed, signal.SIGKILL)
    for worker in engine._resting:
        if worker.process.pid == killed:
            worker.process.join(5)
    later = processes(look(engine, "two"))
    assert kept in later and killed not in later


def test_closed_workers_end(engine: Local) -> None:
    before = processes(look(engine, "one"))
    engine.close()
    assert not [process for process in before if Path(f"/proc/{process}").exists()]
    assert processes(look(engine, "two")).isdisjoint(before)


def test_the_worker_of_a_fit_ends_with_it() -> None:
    local = Local(1, threads=True)
    ((process, _, _),) = local.run([Look(0, "fit")], print)
    assert not Path(f"/proc/{process}").exists()


def test_a_worker_ends_without_a_report_of_leaks(capfd: pytest.CaptureFixture[str]) -> None:
    # Nanobind prints one if DuckDB is open and a thread is still alive while Python shuts down.
    with closing(Local(1)) as local:
        assert list(local.run([Query()], print)) == [[3]]
    assert capfd.readouterr().err == ""


ORPHAN = """
import signal
from toy_tasks import Look
from paraloom.pipeline.engines.local import Local

if __name__ == "__main__":
    engine = Local(1)
    [(process, _, _)] = engine.run([Look(0, "one")], print)
    print(process, flush=True)
    signal.pause()
"""


@pytest.mark.slow
def test_a_worker_ends_with_its_parent() -> None:
    parent = start(ORPHAN)
    assert parent.stdout is not None
    worker = Path("/proc", parent.stdout.readline().strip())
    assert worker.exists()
    parent.kill()
    parent.wait()
    wait_until(lambda: not worker.exists())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each worker that is started."""
    numbers: list[int] = []
    start_worker = local._Worker.__init__

    def count(worker: local._Worker, *arguments: Any) -> None:
        numbers.append(len(numbers))
        start_worker(worker, *arguments)

    monkeypatch.setattr(local._Worker, "__init__", count)
    return numbers


def test_scores_of_a_hundred_rows_start_no_worker(started: list[int], tmp_path: Path) -> None:
    pairs = as_pairs([(f"A dog, number {n}, sleeps.", f"The dog number {n} is asleep.") for n in range(100)])
    pairs.score(["overlap"]).write(tmp_path / "scored.parquet", workers=2)
    assert started == [] and (tmp_path / "scored.parquet").exists()


@pytest.mark.parametrize(("sentences", "workers"), [(40, 0), (80, 0), (81, 2)])
def test_workers_from_the_third_shard_on(sentences: int, workers: int, started: list[int], tmp_path: Path) -> None:
    """The files and the manifests are those of a run in which each shard had a worker."""
    text = toml({"use": "Count", "sentences": sentences}, {"use": "Upper"}, {"use": "Even"})
    there = run(text, tmp_path / "there", engine="local", workers=2)
    assert len(started) == workers
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraloom.pipeline.execution.SHARDS_INLINE", 0)
        assert run(text, tmp_path / "workers", engine="local", workers=2).digest == there.digest
    assert len(started) > workers
    assert contents(tmp_path / "there") == contents(tmp_path / "workers")
    assert entries(tmp_path / "there" / "20-upper") == entries(tmp_path / "workers" / "20-upper")


def entries(folder: Path) -> list[dict[str, Any]]:
    """The records of a manifest by name, without what was measured."""
    lines = [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]
    for line in lines:
        line["record"] = {key: value for key, value in line["record"].items() if key not in ("seconds", "memory")}
        del line["sha256"]
    return sorted(lines, key=lambda line: (line["kind"], line["name"]))


def test_stages_that_need_a_worker() -> None:
    assert not needs_worker(Score(scores=("overlap",))) and not needs_worker(Clean())
    for stage in (
        Score(encoder="english"),
        Score(languages=("en", "de")),
        Score(sentence_transformer="folder"),
        Score(resources=Resources(gpus=1)),
        Clean(languages=("en", "de")),
        Parse(model="spacy:en"),
    ):
        assert needs_worker(stage)


def test_an_interruption_without_workers(tmp_path: Path) -> None:
    """Ctrl-C ends the shard at once, and the same call resumes."""
    text = toml({"use": "Count", "sentences": 80}, {"use": "Upper"})
    process = begin(text, tmp_path / "run", tmp_path, hold=2)
    wait_until(lambda: len(marks_in(tmp_path)) >= 2, process)
    os.killpg(process.pid, signal.SIGINT)
    _, message = process.communicate(timeout=TIMEOUT)
    assert message.splitlines()[-1] == "Interrupted in stage 20-upper. Run the same again: it resumes from there."
    assert not [path for path in (tmp_path / "run").rglob("*") if path.name.endswith(".tmp")]
    resumed = run(text, tmp_path / "run", engine="local", workers=2)
    assert resumed.stage("upper").written == 1 and resumed.digest == run(text, tmp_path / "clean").digest
