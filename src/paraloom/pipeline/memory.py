"""Peak memory of this process, reported for each stage in run.json."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Peak resident memory of this process so far, in bytes.

    On Linux from /proc: getrusage would start from the size of the parent process.

    >>> 1e6 < peak_memory() < 1e12
    True
    """
    try:
        line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
