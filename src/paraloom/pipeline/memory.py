"""The peak memory of this process, as run.json reports it for each stage."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Bytes of the largest resident set so far.

    On Linux from /proc: what getrusage says there starts from the size of the process that started this one.

    >>> 1e6 < peak_memory() < 1e12
    True
    """
    try:
        line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
