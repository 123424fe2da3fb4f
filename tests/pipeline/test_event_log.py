"""The log file: a line of JSON for each event, progress in between, and a log that cannot be written."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from toy_runs import run, toml

from paraloom.core.errors import DataError, RunError
from paraloom.core.events import emit
from paraloom.core.progress import progress, report_progress_to
from paraloom.pipeline import event_log
from paraloom.pipeline.event_log import log_to

CHAIN = toml({"use": "Count"}, {"use": "Even"}, {"use": "Total", "corpora": ["even"]})


def lines(path: Path) -> list[dict[str, Any]]:
    """The events of a log."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("engine", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_the_events_of_a_run(engine: str, tmp_path: Path) -> None:
    log = tmp_path / "logs/run.log"
    with log_to(log):
        run(CHAIN, tmp_path / "run", engine=engine)
    events = lines(log)
    # With two workers, one begins a shard before the other ends one, or after: test_machines.py looks at these.
    ordered = [line for line in events if line["event"] not in ("progress", "shard_begin")]
    assert [(line["event"], line.get("stage")) for line in ordered] == [
        ("run_begin", None),
        ("stage_begin", "10-count"),
        *[("shard_end", "10-count")] * 3,
        ("stage_end", "10-count"),
        ("stage_begin", "20-even"),
        *[("shard_end", "20-even")] * 3,
        ("stage_end", "20-even"),
        ("stage_begin", "30-total"),
        ("stage_end", "30-total"),
        ("run_end", None),
    ]
    assert all(line["time"].endswith("+00:00") for line in events)
    assert events[0]["stages"] == ["count", "even", "total"] and events[0]["folder"] == str(tmp_path / "run")
    even = next(line for line in events if line["event"] == "stage_end" and line["stage"] == "20-even")
    assert even["counts"] == {"read": 100, "kept": 50, "rejected": 50, "failed": 0, "out": 50}
    assert even["written"] == 3 and even["memory"] > 1e6
    assert events[-1]["state"] == "done" and events[-1]["error"] is None


def test_a_resumed_run_appends(tmp_path: Path) -> None:
    log, broken = tmp_path / "run.log", toml({"use": "Count"}, {"use": "Faulty", "how": "batch"})
    for _ in range(2):
        with pytest.raises(DataError), log_to(log):
            run(broken, tmp_path / "run")
    ends = [line for line in lines(log) if line["event"] == "run_end"]
    assert [end["state"] for end in ends] == ["failed", "failed"]
    assert ends[0]["error"]["row"] == 11 and ends[0]["error"]["message"] == "the sentence is unusable"
    written = [line["written"] for line in lines(log) if line["event"] == "stage_end"]
    assert written == [3, 0], "the source is not read again"


def test_progress_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "PROGRESS_INTERVAL", 0.02)
    with log_to(tmp_path / "run.log"):
        run(toml({"use": "Count", "shard_rows": 20}, {"use": "Upper", "delay": 0.05}), tmp_path / "run")
    rates = [line for line in lines(tmp_path / "run.log") if line["event"] == "progress" and line.get("rate")]
    assert rates and rates[-1]["stage"] == "20-upper"
    assert {"label", "done", "total", "unit", "rate", "remaining", "memory"} <= set(rates[-1])
    assert rates[-1]["memory"] > 1e6


def test_progress_of_work_that_is_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where somebody else shows the progress."""
    monkeypatch.setattr(event_log, "PROGRESS_INTERVAL", 0.01)
    shown: list[Any] = []
    with report_progress_to(shown.append), log_to(tmp_path / "a.log"), progress("encoding", 9) as advance:
        advance(4)
        while not (tmp_path / "a.log").read_text().endswith("\n"):
            pass
    line = lines(tmp_path / "a.log")[0]
    assert (line["event"], line["label"], line["total"]) == ("progress", "encoding", 9)
    assert "stage" not in line and shown[0].label == "encoding"


def test_text_that_is_not_unicode(tmp_path: Path) -> None:
    with log_to(tmp_path / "a.log"):
        emit("run_begin", folder="run\udcff", name="Übung", other=Path("a"))
    assert lines(tmp_path / "a.log")[0]["folder"] == "run\udcff"
    assert "Übung" in (tmp_path / "a.log").read_text(encoding="utf-8")


def test_a_log_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file/run.log"):
        with pytest.raises(RunError, match="cannot write the log file"), log_to(path):
            raise AssertionError("the block must not run")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_the_log_and_not_the_run(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as seen, log_to("/dev/full"):
        warnings.simplefilter("always")
        result = run(CHAIN, tmp_path / "run")
    assert len(result.stages) == 3
    assert [str(warning.message) for warning in seen] == [
        "cannot write /dev/full (No space left on device): the log ends here, the work continues"
    ]
