"""The event loop in which requests to endpoints run."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

from paraloom.core.errors import RunError

LAST_SECONDS = 8.0
"""Seconds that answers are waited for when a process is asked to end; whoever asks rarely waits more than ten."""

_Result = TypeVar("_Result")


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """An event loop in a thread of its own: the caller may have one already, as in a notebook."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="paraloom-endpoint", daemon=True).start()
    return loop


def run_in_loop(coroutine: Coroutine[Any, Any, _Result], stop: Callable[[], None] | None = None) -> _Result:
    """Run a coroutine in the event loop of requests, and wait for it.

    Asked to end, by Ctrl-C or SIGTERM, `stop` is called, and what is under way is waited for: it is paid for.
    """
    with _termination_as_interrupt():
        future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
        try:
            return future.result()
        except CancelledError:
            raise RunError("the requests were interrupted", remedy="Run the same command again.") from None
        except KeyboardInterrupt:
            if stop is not None:
                stop()
                with suppress(Exception):
                    future.result(LAST_SECONDS)
            future.cancel()
            raise


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM, where it would end this process at once, interrupt the block, and end the process after it."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    came: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        if not came:  # asked again, it continues to wait
            came.append(number)
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if came:
            os.kill(os.getpid(), signal.SIGTERM)
