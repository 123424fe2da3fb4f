"""Ends what a request computes: after some seconds, or when its browser has closed the connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import duckdb

from paraloom.core.errors import RunError
from paraloom.pairs.filtering.condition_tree import WATCH

SECONDS = 10.0  # Seconds that the queries of a request may take

_POLL = 0.1


class AbandonedError(Exception):
    """Nobody waits for the answer any more."""


class RequestLimit:
    """Ends the queries of one request."""

    def __init__(self, seconds: float, has_left: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._has_left = has_left
        self._running: set[duckdb.DuckDBPyConnection] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._watcher: threading.Thread | None = None

    def check(self) -> None:
        """Raise AbandonedError if the client has left, RunError if the time is over."""
        if self._has_left():
            raise AbandonedError
        if time.monotonic() > self._end:
            raise RunError(
                f"the query was stopped after {self._seconds:g} seconds",
                remedy="Make the condition simpler, or compute it once for all pairs: paraloom filter.",
            )

    @contextmanager
    def watching(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Interrupt the queries of a connection inside the block when the request ends."""
        self.check()
        with self._lock:
            self._running.add(connection)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, daemon=True)
                self._watcher.start()
        try:
            yield
        except duckdb.InterruptException:
            self.check()
            raise
        finally:
            with self._lock:
                self._running.discard(connection)

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(_POLL):
            if self._has_left() or time.monotonic() > self._end:
                # Again and again: an interruption before the query has started is lost.
                with self._lock:
                    for connection in self._running:
                        connection.interrupt()


_LIMIT: ContextVar[RequestLimit | None] = ContextVar("limit", default=None)


@contextmanager
def limited(seconds: float, has_left: Callable[[], bool]) -> Iterator[None]:
    """End the queries of this thread inside the block, and of threads that have a copy of its context."""
    limit = RequestLimit(seconds, has_left)
    tokens = _LIMIT.set(limit), WATCH.set(limit.watching)
    try:
        yield
    finally:
        _LIMIT.reset(tokens[0])
        WATCH.reset(tokens[1])
        limit.close()


def check_limit() -> None:
    """End a computation of several steps between two of them, where the request has ended."""
    limit = _LIMIT.get()
    if limit is not None:
        limit.check()
