"""Keeps the status file of a run up to date while it runs, with the machines at work, and reports its events."""

from __future__ import annotations

import json
import os
import platform
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.core.errors import ParaloomError, printable
from paraloom.core.events import emit, report_events_to
from paraloom.core.progress import ProgressState, every, observe_progress
from paraloom.core.secrets import redacted
from paraloom.core.version import __version__
from paraloom.pipeline.memory import memory_in_use

if TYPE_CHECKING:
    from paraloom.pipeline.remote import RemoteRun

_WINDOW = 60.0  # Seconds that a rate is averaged over
_FEW = 4  # With fewer advances than this in the window, the rate is that of the work from its beginning


class ProgressTracker:
    """Remembers the last state of the work, for its rate and remaining time; called with each ProgressState."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: ProgressState | None = None
        self._first = (0.0, 0)
        self._changed = 0.0
        self._samples: deque[tuple[float, int]] = deque()

    def __call__(self, state: ProgressState) -> None:
        now = time.monotonic()
        with self._lock:
            if self._state is None or not state.continues(self._state):
                self._first = now, state.done
                self._samples.clear()
            elif state.done > self._state.done:
                # At most one sample a second, whose count is the latest.
                if len(self._samples) > 1 and now - self._samples[-2][0] < 1:
                    self._samples.pop()
                self._samples.append((now, state.done))
                while self._samples[0][0] < now - _WINDOW:
                    self._samples.popleft()
            else:
                return
            self._state, self._changed = state, now

    def reset(self) -> None:
        with self._lock:
            self._state = None

    def figures(self) -> dict[str, Any] | None:
        """Work done, total, units per second, seconds that remain (None: unknown) and since the last advance."""
        now = time.monotonic()
        with self._lock:
            if self._state is None:
                return None
            state, rate = self._state, self._rate(now)
            left = None if state.total is None else max(0, state.total - state.done)
            return {
                "label": state.label,
                "done": state.done,
                "total": state.total,
                "unit": state.unit,
                "rate": None if rate is None else round(rate, 3),
                "remaining": 0.0 if left == 0 else round(left / rate, 1) if left is not None and rate else None,
                "idle": round(now - self._changed, 1),
            }

    def _rate(self, now: float) -> float | None:
        assert self._state is not None
        recent = [sample for sample in self._samples if sample[0] >= now - _WINDOW]
        # From the first advance on, which came after models were loaded and code was compiled.
        since, before = recent[0] if len(recent) >= _FEW else self._first
        if now <= since or self._state.done <= before:
            return None
        return (self._state.done - before) / (now - since)


STATUS = ".status"  # File of a run folder with the state of the run as JSON, which `read_status` reads
INTERVAL = 2.0  # Seconds between two writes of the status file
REMOTE_INTERVAL = 15.0  # Seconds between two copies of it to the storage of a run at a URL
_PATIENCE = 5.0  # Seconds that the storage may take for the last one


@dataclass
class _Machine:
    began: float
    seen: float
    shards: dict[str, None] = field(default_factory=dict)
    done: int = 0
    rows: int = 0


class MachineTracker:
    """Remembers the machines of the current stage, by the shards that they begin, also after a crash."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._machines: dict[str, _Machine] = {}

    def __call__(self, event: str, fields: dict[str, Any]) -> None:
        now = time.monotonic()
        with self._lock:
            if event == "stage_begin":
                self._machines.clear()
            elif event == "shard_begin":
                self._release(fields["shard"])
                machine = self._machines.setdefault(fields["machine"], _Machine(now, now))
                machine.shards[fields["shard"]] = None
                machine.seen = now
            elif event == "shard_end" and (done := self._release(fields["shard"])) is not None:
                done.done += 1
                done.rows += fields["counts"]["read"]
                done.seen = now

    def figures(self) -> list[dict[str, Any]]:
        """Of each machine: its shards, those finished, their rows, rows per second, seconds since the last sign."""
        now = time.monotonic()
        with self._lock:
            return [
                {
                    "machine": name,
                    "shards": list(machine.shards),
                    "done": machine.done,
                    "rows": machine.rows,
                    "rate": round(machine.rows / max(now - machine.began, 1e-3), 3) if machine.rows else None,
                    "idle": round(now - machine.seen, 1),
                }
                for name, machine in sorted(self._machines.items())
            ]

    def _release(self, shard: str) -> _Machine | None:
        for machine in self._machines.values():
            if shard in machine.shards:
                del machine.shards[shard]
                return machine
        return None


class Monitor:
    """The status of one run, whose folder is locked for it."""

    def __init__(
        self,
        folder: Path,
        name: str,
        stages: Sequence[str],
        engine: str,
        workers: int | None,
        remote: RemoteRun | None = None,
    ) -> None:
        self.folder = folder
        self.remote = remote
        self.stages = list(stages)
        self.about = {"name": name, "engine": engine, "workers": workers, "until": stages[-1]}
        self.progress = ProgressTracker()
        self.machines = MachineTracker()
        self._text = ""
        self._began, self._start = _now(), time.monotonic()
        self._stage: dict[str, Any] | None = None
        self._peak, self._ended = 0, False
        self._lock = threading.Lock()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Keep the status file up to date during the block, and record how it ends."""
        emit("run_begin", folder=str(self.folder), **self.about, stages=self.stages)
        self._write("running")
        state, error = "failed", None
        try:
            with (
                observe_progress(self.progress),
                report_events_to(self.machines),
                every(INTERVAL, lambda: self._write("running")),
                every(REMOTE_INTERVAL, self._publish, first=INTERVAL),
            ):
                yield
            state = "done"
        except ParaloomError as failure:
            where = {"stage": failure.stage, "file": failure.file, "row": failure.row}
            error = {"message": failure.what, **where, "remedy": failure.remedy}
            raise
        except KeyboardInterrupt:
            state = "interrupted"
            raise
        except BaseException as failure:
            error = {"message": printable(f"{type(failure).__name__}: {failure}")}
            raise
        finally:
            self._write(state, error)
            last = threading.Thread(target=self._publish, daemon=True)
            last.start()
            last.join(_PATIENCE)
            seconds = round(time.monotonic() - self._start, 3)
            emit("run_end", folder=str(self.folder), state=state, seconds=seconds, memory=self._peak, error=error)

    def begin_stage(self, folder: str, number: int) -> None:
        self._stage = {"folder": folder, "number": number, "of": len(self.stages), "began": _now()}
        self.progress.reset()
        emit("stage_begin", stage=folder, number=number, of=len(self.stages))
        self._write("running")

    def end_stage(self, folder: str, result: Mapping[str, object]) -> None:
        keys = ("counts", "figures", "seconds", "memory", "shards", "written", "why")
        emit("stage_end", stage=folder, **{key: result[key] for key in keys})

    def _write(self, state: str, error: Mapping[str, object] | None = None) -> None:
        """Write the status file, as far as the disk allows."""
        with self._lock:
            if self._ended:  # by a heartbeat that came too late
                return
            self._ended = state != "running"
            memory = memory_in_use()
            self._peak = max(self._peak, memory)
            status = {
                "state": state,
                **self.about,
                "version": __version__,
                "process": os.getpid(),
                "host": platform.node(),
                "began": self._began,
                "updated": _now(),
                "seconds": round(time.monotonic() - self._start, 3),
                "stage": self._stage,
                "progress": self.progress.figures(),
                "machines": self.machines.figures(),
                "memory": memory,
                "peak_memory": self._peak,
                "error": error,
            }
            # Not flushed to disk: after a power failure, the status is the least that is missed.
            temporary = self.folder / f"{STATUS}.tmp"
            self._text = redacted(json.dumps(status, ensure_ascii=False))
            with suppress(OSError):
                temporary.write_text(self._text, encoding="utf-8", errors="backslashreplace")
                temporary.replace(self.folder / STATUS)

    def _publish(self) -> None:
        """Copy the status to the storage of a run at a URL, as far as that answers."""
        if self.remote is not None and self._stage is not None:  # run.json is the first object there
            with suppress(ParaloomError, OSError):
                self.remote.write_status(self._text)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
