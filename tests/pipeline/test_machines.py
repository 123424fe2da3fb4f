"""Which machines work on a run: by its events, on one machine, and of several processes at a URL."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from processes import kill, start, wait_until
from toy_runs import DRIVER, marks_in, run, toml

from paraloom.api import run_status
from paraloom.core.errors import DataError
from paraloom.core.events import report_events_to
from paraloom.io.store import Store
from paraloom.pipeline import monitor
from paraloom.pipeline.event_log import log_to
from paraloom.pipeline.monitor import MachineTracker
from paraloom.pipeline.status import RunStatus, read_status

CHAIN = toml({"use": "Count", "sentences": 150}, {"use": "Upper"}, {"use": "Even"})


def test_events_of_two_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("paraloom.pipeline.monitor.time.monotonic", lambda: now[0])
    tracker = MachineTracker()

    def after(seconds: float, event: str, shard: str, machine: str = "", rows: int = 0) -> None:
        now[0] += seconds
        tracker(event, {"stage": "20-upper", "shard": shard, "machine": machine, "counts": {"read": rows}})

    after(0, "shard_begin", "a", "m1")
    after(1, "shard_begin", "b", "m2")
    after(4, "shard_end", "a", rows=50)
    after(0, "shard_begin", "c", "m1")
    now[0] += 5
    assert tracker.figures() == [
        {"machine": "m1", "shards": ["c"], "done": 1, "rows": 50, "rate": 5.0, "idle": 5.0},
        {"machine": "m2", "shards": ["b"], "done": 0, "rows": 0, "rate": None, "idle": 9.0},
    ]
    after(0, "shard_begin", "b", "m1")  # m2 is lost
    assert [at["shards"] for at in tracker.figures()] == [["c", "b"], []]
    after(0, "shard_end", "of an earlier stage", rows=7)
    assert sum(at["rows"] for at in tracker.figures()) == 50
    tracker("stage_begin", {"stage": "30-even"})
    assert tracker.figures() == []


def test_the_machine_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "INTERVAL", 0.02)
    seen: list[RunStatus] = []

    def look(event: str, fields: dict[str, Any]) -> None:
        if event == "shard_end" and fields["stage"] == "20-upper":
            # The last shard is not counted yet: this block is around that of the run.
            wait_until(lambda: [at["done"] for at in read_status(tmp_path / "run").machines] == [len(seen)])
            seen.append(read_status(tmp_path / "run"))

    with report_events_to(look):
        run(toml({"use": "Count", "shard_rows": 20}, {"use": "Upper", "delay": 0.06}), tmp_path / "run")
    (machine,) = seen[-1].machines
    assert machine["machine"] == platform.node() and machine["done"] == 4 and machine["rate"] > 0
    assert machine["shards"] == ["part-00004.parquet"]
    text = seen[-1].format()
    assert f"  on {platform.node()}: part-00004, 4 done, " in text and "; last began or finished one " in text
    assert read_status(tmp_path / "run").machines == () and " on " not in read_status(tmp_path / "run").format()


@pytest.mark.parametrize("engine", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_the_log_says_which_machine_has_a_shard(engine: str, tmp_path: Path) -> None:
    with log_to(tmp_path / "run.log"):
        run(CHAIN, tmp_path / "run", engine=engine)
    events = [json.loads(line) for line in (tmp_path / "run.log").read_text().splitlines()]
    began, ended = (
        sorted((one["stage"], one["shard"]) for one in events if one["event"] == kind and one["stage"] != "10-count")
        for kind in ("shard_begin", "shard_end")
    )
    assert began == ended and len(began) > 4
    assert {one["machine"] for one in events if one["event"] == "shard_begin"} == {platform.node()}


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """URL of a run that does not exist yet, from a machine with an empty cache."""
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "here"))
    return f"file://{tmp_path}/there"


def test_processes_at_a_url(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What three machines have left there, read on a fourth: of the last two, one is silent."""
    run(CHAIN, url, until="upper")
    (name,) = (name for name in Store.open(url).list(".status"))
    own = json.loads(Store.open(url).read(name) or b"")
    assert own["state"] == "done" and own["process"]
    Store.open(url).delete(name)

    def leave(machine: str, silent: int, machines: list[dict[str, Any]], **changes: Any) -> None:
        updated = (datetime.now(UTC) - timedelta(seconds=silent)).isoformat(timespec="seconds")
        progress = {"label": "toy (30-even)", "done": 20, "total": 150, "unit": "rows", "rate": 10.0}
        status = {
            **{**own, "host": machine, "process": 7, "state": "running", "updated": updated, "machines": machines},
            "stage": {"folder": "30-even", "number": 3, "of": 3, "began": updated},
            "progress": {**progress, "remaining": 13.0, "idle": 1.0},
            **changes,
        }
        Store.open(url).replace(f".status/{machine}.json", json.dumps(status).encode())

    busy = {"machine": "n1/3fa", "shards": [f"part-0000{i}.parquet" for i in range(7)], "done": 2}
    began = (datetime.now(UTC) - timedelta(seconds=600)).isoformat(timespec="seconds")
    leave("driver", 0, [{**busy, "rows": 20, "rate": 9.5, "idle": 100.0}], began=began)
    leave("n8", 5, [{"machine": "n8", "shards": [], "done": 0, "rows": 0, "rate": None, "idle": 1.0}], began=began)
    leave("n9", 300, [], began=began)
    leave("old", 6000, [], began=began)
    leave("damaged", 0, [{"machine": "n1"}], began=began)
    leave("changed", 0, [{**busy, "rows": 20, "rate": 9.5, "idle": "a while"}], began=began)
    leave("changed-2", 0, [{**busy, "shards": 7, "rows": 20, "rate": 9.5, "idle": 1.0}], began=began)
    Store.open(url).replace(".status/torn.json", b'{"state": "run')
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "fourth"))
    status = run_status(url)
    assert (status.state, status.host) == ("running", "driver")
    assert [(other.host, other.state) for other in status.others] == [("n8", "running"), ("n9", "killed")]
    # What was left so many seconds ago is some more seconds old on a slow machine.
    others = [replace(one, age=float(silent)) for one, silent in zip(status.others, (5, 300), strict=True)]
    assert all(now.age >= then.age for now, then in zip(status.others, others, strict=True))
    status = replace(status, age=0.0, others=tuple(others))
    text = status.format().splitlines()
    assert text[0].startswith(f"{url} (toy): running for ") and text[0].endswith(", process 7 on driver")
    assert text[1].startswith("stage 3 of 3, 30-even: 20/150 rows, 10/s, 13 s left")
    many = ", ".join(f"part-0000{i}" for i in range(5))
    machine, also, _, other, killed = text[3:8]
    assert machine == f"  on n1/3fa: {many} and 2 more, 2 done, 9.5 rows/s; last began or finished one 1 min 40 s ago"
    assert also.startswith("also on n8: running for ") and other.startswith("  on n8: no shard, 0 done; last ")
    assert killed.startswith("also on n9: killed after ") and "(5 min 00 s ago)" in killed
    assert "  20-upper  done     150 rows" in status.format()
    assert [one["host"] for one in json.loads(json.dumps(status.to_dict()))["others"]] == ["n8", "n9"]
    assert not (tmp_path / "fourth").exists(), "looking leaves nothing"


def test_no_run_at_a_url(url: str) -> None:
    Store.open(url).replace("other.txt", b"")
    with pytest.raises(DataError, match=r"not a run: run\.json not found"):
        run_status(url)


def everybody(url: str) -> list[RunStatus]:
    """The status of each process at a URL."""
    status = run_status(url)
    return [status, *status.others]


@pytest.mark.slow
def test_two_processes_at_a_url(url: str, tmp_path: Path) -> None:
    """Each with a cache of its own, as on two machines: a third one sees what both do, and then that both are done."""

    def begin(name: str) -> Any:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "toy.toml").write_text(CHAIN)
        return start(DRIVER, folder / "toy.toml", url, PARALOOM_CACHE=str(folder), TOY_MARKS=str(folder), TOY_HOLD="1")

    processes = [begin(name) for name in ("one", "two")]
    try:
        for name, process in zip(("one", "two"), processes, strict=True):
            wait_until(lambda name=name: marks_in(tmp_path / name), process)  # type: ignore[misc]
        wait_until(lambda: len(Store.open(url).list(".status")) == 2, processes[0])
        wait_until(lambda: all(one.machines for one in everybody(url)), processes[0])
        both = everybody(url)
        assert {one.process for one in both} == {process.pid for process in processes}
        assert {one.stage for one in both} == {"20-upper"} and all(one.machines[0]["shards"] for one in both)
        assert run_status(url).format().count(f"  on {platform.node()}: part-0") == 2
    finally:
        for process in processes:
            kill(process)
