"""A team of threads that share ranges of an array; the kernels release the GIL, so that they run in parallel."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class ThreadTeam:
    """A fixed number of threads. What they compute must not depend on how a range is split."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or available_threads()
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def parallel_for(self, count: int, task: Callable[[int, int], None]) -> None:
        """Call `task(begin, end)` for ranges that cover 0 to `count` once, and wait for all of them."""
        if self._pool is None:
            task(0, count)
            return
        bounds = [count * k // self.threads for k in range(self.threads + 1)]
        others = [self._pool.submit(task, *bounds[k : k + 2]) for k in range(1, self.threads)]
        task(bounds[0], bounds[1])
        for other in others:
            other.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()


def available_threads() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0))
