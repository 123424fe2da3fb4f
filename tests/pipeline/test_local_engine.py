"""Workers of the local engine: kept from stage to stage, without what they had loaded; ended before a training."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from processes import start, wait_until
from toy_tasks import Look, Query

from paraloom.pipeline.engines.local import Local

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
