"""Watches work from a thread of its own: a call every few seconds, and how fast the work advances."""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from paraloom.core.progress import ProgressState

_WINDOW = 60.0  # Seconds that a rate is averaged over
_FEW = 4  # With fewer advances than this in the window, the rate is that of the work from its beginning

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
        """Work done, total, units per second, and seconds that remain; None without any work.

        `rate` and `remaining` are None as long as they are unknown. `idle` is the time since the work last advanced.
        """
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


@contextmanager
def every(seconds: float, action: Callable[[], None]) -> Iterator[None]:
    """Call `action` from a thread every some seconds during the block, the first time after `seconds`."""
    ended = threading.Event()

    def beat() -> None:
        # Signals are for the main thread, which holds them back while it starts workers.
        with suppress(AttributeError):
            signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=beat, name="paraloom-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(5)  # A disk that does not answer must not hold up the end.
