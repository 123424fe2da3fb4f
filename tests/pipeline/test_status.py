"""The status of a run: while it runs, after it ended in each way, and of a folder that is not a run."""

from __future__ import annotations

import fcntl
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import toy_stages
from processes import kill, wait_until
from toy_runs import begin, marks_in, run, toml

from paraloom.api import run_status
from paraloom.core.errors import DataError, ParaloomError, RunError
from paraloom.core.events import report_events_to
from paraloom.core.progress import ProgressState
from paraloom.pipeline import monitor
from paraloom.pipeline.definition import OF_COMMAND
from paraloom.pipeline.monitor import STATUS, ProgressTracker
from paraloom.pipeline.status import RunStatus, read_status
from paraloom.pipeline.store import claimed

COUNT, UPPER, EVEN = ({"use": use} for use in ("Count", "Upper", "Even"))
CHAIN = toml(COUNT, UPPER, EVEN)


def states(status: RunStatus) -> dict[str, str]:
    """Name of each stage → its state."""
    return {stage.name: stage.state for stage in status.stages}


def rewrite(folder: Path, **changes: Any) -> None:
    """Change fields of the status file."""
    path = folder / STATUS
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_finished_run(tmp_path: Path) -> None:
    run(CHAIN, tmp_path / "run")
    status = read_status(tmp_path / "run")
    assert (status.state, status.name, status.stage, status.error) == ("done", "toy", None, None)
    assert states(status) == {"count": "done", "upper": "done", "even": "done"}
    assert status.stages[2].counts == {"read": 100, "kept": 50, "rejected": 50, "failed": 0, "out": 50}
    assert status.peak_memory is not None and status.peak_memory > 1e6
    text = status.format()
    assert "(toy): done in" in text and "memory at most" in text
    assert "30-even   done     50 rows, 50 rejected" in text
    assert json.loads(json.dumps(status.to_dict()))["stages"][2]["folder"] == "30-even"


def test_a_run_until_a_stage(tmp_path: Path) -> None:
    run(CHAIN, tmp_path / "run", until="upper")
    status = read_status(tmp_path / "run")
    assert status.state == "done" and states(status)["even"] == "to do"
    assert "as far as it was to run (--until)" in status.format()


def test_failed_rows_by_shard(tmp_path: Path) -> None:
    faulty = toml(COUNT, {"use": "Faulty", "how": "batch", "at": 50})
    run(faulty, tmp_path / "run", on_error="reject")
    status = read_status(tmp_path / "run")
    assert status.state == "done"
    assert status.stages[1].failed == {"part-00001.parquet": 1}
    assert "failed rows: 1, in 20-faulty/failed: part-00001.parquet (1)" in status.format()


def test_a_failed_run(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        run(toml(COUNT, {"use": "Faulty", "how": "batch", "at": 50}, EVEN), tmp_path / "run")
    status = read_status(tmp_path / "run")
    assert status.state == "failed" and status.stage == "20-faulty" and status.number == 2
    assert states(status) == {"count": "done", "faulty": "failed", "even": "to do"}
    assert status.error is not None
    assert (status.error["message"], status.error["row"]) == ("the sentence is unusable", 11)
    text = status.format()
    assert "part-00001.parquet, row 11: the sentence is unusable." in text
    assert "the same command resumes" in text and "--on-error=reject" in text
    run(toml(COUNT, {"use": "Faulty", "how": "batch", "at": 1000}, EVEN), tmp_path / "run")
    assert read_status(tmp_path / "run").error is None


def test_a_failure_that_is_a_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("paraloom.pipeline.runner.output_of", fail)
    with pytest.raises(ZeroDivisionError):
        run(CHAIN, tmp_path / "run")
    status = read_status(tmp_path / "run")
    assert status.state == "failed" and "error: ZeroDivisionError: by zero." in status.format()


def test_an_interrupted_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(toy_stages.Upper, "apply", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(CHAIN, tmp_path / "run")
    status = read_status(tmp_path / "run")
    assert status.state == "interrupted" and states(status)["upper"] == "interrupted"
    assert "interrupted after" in status.format() and "stage 2 of 3, 20-upper: 0/100 rows" in status.format()


def test_a_running_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "INTERVAL", 0.02)
    seen: list[RunStatus] = []
    inputs = toml({"use": "Count", "shard_rows": 20}, {"use": "Upper", "delay": 0.06})

    def look(event: str, fields: dict[str, Any]) -> None:
        if event in ("stage_begin", "shard_end"):
            time.sleep(0.05)
            seen.append(read_status(tmp_path / "run"))

    with report_events_to(look):
        run(inputs, tmp_path / "run")
    assert {status.state for status in seen} == {"running"}
    last = seen[-1]
    assert last.stage == "20-upper" and states(last) == {"count": "done", "upper": "running"}
    assert last.progress is not None and last.progress["total"] == 100 and last.progress["done"] >= 60
    assert last.progress["rate"] > 0
    assert "running for" in last.format() and "stage 2 of 2, 20-upper: " in last.format()
    assert read_status(tmp_path / "run").state == "done"


def test_a_run_that_ended_without_a_word(tmp_path: Path) -> None:
    run(CHAIN, tmp_path / "run", until="upper")
    stage = {"folder": "30-even", "number": 3, "of": 3, "began": "2026-01-01T00:00:00+00:00"}
    rewrite(tmp_path / "run", state="running", stage=stage)
    status = read_status(tmp_path / "run")
    assert status.state == "killed" and states(status)["even"] == "to do"
    assert "killed after" in status.format() and "the same command resumes" in status.format()
    (tmp_path / "run/.lock").unlink()
    assert read_status(tmp_path / "run").state == "killed"


@pytest.mark.slow
def test_a_killed_run(tmp_path: Path) -> None:
    process = begin(CHAIN, tmp_path / "run", tmp_path, hold=1)
    wait_until(lambda: "upper 0" in marks_in(tmp_path), process)
    assert read_status(tmp_path / "run").state == "running"
    kill(process)
    status = read_status(tmp_path / "run")
    assert status.state == "killed" and states(status) == {"count": "done", "upper": "killed", "even": "to do"}
    run(CHAIN, tmp_path / "run")
    assert read_status(tmp_path / "run").state == "done"


def test_a_lock_that_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(CHAIN, tmp_path / "run")
    rewrite(tmp_path / "run", state="running")

    def refuse(*arguments: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert read_status(tmp_path / "run").state == "running", "it gave a sign a moment ago"
    rewrite(tmp_path / "run", updated="2026-01-01T00:00:00+00:00")
    assert read_status(tmp_path / "run").state == "killed"


def test_a_suspended_run_is_said_to_be_silent(tmp_path: Path) -> None:
    run(CHAIN, tmp_path / "run")
    rewrite(tmp_path / "run", state="running", updated="2026-01-01T00:00:00+00:00", process=42, host="m")
    with claimed(tmp_path / "run"):
        status = read_status(tmp_path / "run")
    assert status.state == "running" and "process 42 on m; no sign of life for" in status.format()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"state": "gone", "stage": null, "progress": null}'])
def test_a_damaged_status_file(content: str, tmp_path: Path) -> None:
    run(CHAIN, tmp_path / "run")
    (tmp_path / "run" / STATUS).write_text(content)
    assert read_status(tmp_path / "run").state == "done"
    run(CHAIN, tmp_path / "run")
    assert read_status(tmp_path / "run").seconds is not None


def test_a_folder_of_an_earlier_version(tmp_path: Path) -> None:
    run(CHAIN, tmp_path / "run", until="upper")
    (tmp_path / "run" / STATUS).unlink()
    status = read_status(tmp_path / "run")
    assert status.state == "stopped" and "stopped; the same command resumes" in status.format()
    with claimed(tmp_path / "run"):
        assert read_status(tmp_path / "run").state == "running"


def test_a_journal_torn_by_a_kill(tmp_path: Path) -> None:
    run(toml(COUNT, {"use": "Faulty", "how": "batch"}), tmp_path / "run", on_error="reject")
    with (tmp_path / "run/20-faulty/manifest.jsonl").open("a") as journal:
        journal.write('{"kind": "shard", "name": "part-0')
    assert read_status(tmp_path / "run").stages[1].failed == {"part-00001.parquet": 1}


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="run folder not found"):
        read_status(tmp_path / "nowhere")
    (tmp_path / "other").mkdir()
    with pytest.raises(DataError, match=r"not a run folder: run\.json not found"):
        read_status(tmp_path / "other")
    run(CHAIN, tmp_path / "other/one")
    with pytest.raises(DataError) as error:
        read_status(tmp_path / "other")
    assert error.value.remedy == "Name one of the runs in it: one."
    (tmp_path / "other/one/run.json").write_text('{"stages": [{}]}')
    with pytest.raises(DataError, match="cannot be read"):
        read_status(tmp_path / "other/one")


def test_the_output_of_a_command(tmp_path: Path) -> None:
    run(CHAIN, tmp_path / "pairs.tsv.paraloom")
    assert run_status(tmp_path / "pairs.tsv").state == "done"
    (tmp_path / "other.tsv").write_text("a\tb\n")
    with pytest.raises(ParaloomError, match="no command is writing it"):
        run_status(tmp_path / "other.tsv")


def test_the_name_that_all_commands_share_is_not_shown(tmp_path: Path) -> None:
    run(CHAIN, tmp_path / "run")
    status = read_status(tmp_path / "run")
    assert f"{tmp_path}/run ({status.name}): done in " in status.format()
    assert f"{tmp_path}/run: done in " in replace(status, name=OF_COMMAND).format()


def test_reading_the_status_does_not_keep_a_run_from_starting(tmp_path: Path) -> None:
    run(CHAIN, tmp_path / "run")
    with (tmp_path / "run/.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        threading.Timer(0.05, fcntl.flock, (lock, fcntl.LOCK_UN)).start()
        assert run(CHAIN, tmp_path / "run").stages
        fcntl.flock(lock, fcntl.LOCK_SH)
        with pytest.raises(RunError, match="another run is active here"):
            run(CHAIN, tmp_path / "run")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Advance the clock by some seconds."""
    now = 1000.0

    def wait(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr("time.monotonic", lambda: now)
    return wait


def test_rate_and_remaining_time(clock: Callable[[float], None]) -> None:
    tracker = ProgressTracker()
    assert tracker.figures() is None

    def rate() -> tuple[float, float, float]:
        figures = tracker.figures()
        assert figures is not None
        return figures["rate"], figures["remaining"], figures["idle"]

    tracker(ProgressState("score", 0, 1000, "rows"))
    clock(20)
    assert rate() == (None, None, 20.0)
    tracker(ProgressState("score", 100, 1000, "rows"))
    assert rate() == (5.0, 180.0, 0.0), "100 rows in 20 s"
    for done in (200, 300, 400):
        clock(5)
        tracker(ProgressState("score", done, 1000, "rows"))
    assert rate() == (20.0, 30.0, 0.0), "300 rows in 15 s, without the time before the first advance"
    clock(15)
    assert rate() == (10.0, 60.0, 15.0), "a pause counts"
    clock(100)
    assert rate() == (round(400 / 150, 3), 225.0, 115.0), "nothing within the last minute: since the beginning"
    tracker(ProgressState("score", 1000, 1000, "rows"))
    assert rate()[1:] == (0.0, 0.0)
    tracker(ProgressState("training", 3, None, "steps"))
    assert rate() == (None, None, 0.0), "another work"
    tracker.reset()
    assert tracker.figures() is None


def test_many_advances_a_second_are_few_samples(clock: Callable[[float], None]) -> None:
    tracker = ProgressTracker()
    for done in range(10_000):
        clock(0.01)
        tracker(ProgressState("score", done, None, "rows"))
    figures = tracker.figures()
    assert figures is not None and figures["rate"] == pytest.approx(100, rel=0.02) and figures["remaining"] is None
    assert len(tracker._samples) < 70
