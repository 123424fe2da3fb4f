"""Memory of this process, reported for each stage in run.json, and of its workers, for the status of a run."""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from pathlib import Path


def peak_memory() -> int:
    """Peak resident bytes of this process, or since `restart_peak`; from /proc, as getrusage counts the parent."""
    try:
        line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def restart_peak() -> None:
    """Let `peak_memory` count from what is in use now, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def memory_in_use() -> int:
    """Resident bytes of this process and all that it started; without /proc, as on macOS, its own peak."""
    total, waiting = 0, ["self"]
    while waiting:
        process = Path("/proc", waiting.pop())
        try:
            total += int((process / "statm").read_text().split()[1]) * resource.getpagesize()
            for task in (process / "task").iterdir():
                waiting += (task / "children").read_text().split()
        except (OSError, IndexError, ValueError):  # It has ended meanwhile, or the system is without /proc.
            continue
    return total or peak_memory()
