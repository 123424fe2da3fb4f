"""The machines that work on a stage: which shards each has, how fast it is, and when it last gave a sign of life."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any


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
