"""Ctrl-C in the middle of a query: DuckDB raises an error of its own, which is known for what it is."""

from __future__ import annotations

import os
import signal
import threading

import duckdb
import pytest

from paraloom.core.errors import is_interruption
from paraloom.core.progress import Advance
from paraloom.pipeline.engines.base import attempt


def long_query() -> None:
    """Takes a minute, unless Ctrl-C comes: should the signal be lost, the test fails instead of running forever."""
    # With one thread, the one that sees signals works; with more it may wait for the others until the query ends.
    connection = duckdb.connect(config={"threads": 1})
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        connection.execute("SELECT count(*) FROM range(20000000000) WHERE range % 7 = 3").fetchall()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


class Query:
    """The query as a task."""

    stage, file, rows = "10-count", "part-00000.parquet", 1

    def __call__(self, report: Advance) -> None:
        long_query()


pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread only"
)


def test_an_interrupted_query_is_an_interruption() -> None:
    with pytest.raises((RuntimeError, KeyboardInterrupt)) as stopped:
        long_query()
    assert is_interruption(stopped.value)


def test_a_task_is_interrupted() -> None:
    with pytest.raises(KeyboardInterrupt):
        attempt(Query(), print)
