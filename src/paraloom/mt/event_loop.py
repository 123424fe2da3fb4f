"""The event loop in which requests to endpoints run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from functools import cache
from typing import Any, TypeVar

from paraloom.core.errors import RunError

_Result = TypeVar("_Result")


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """An event loop in a thread of its own: the caller may have one already, as in a notebook."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="paraloom-endpoint", daemon=True).start()
    return loop


def run_in_loop(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine in the event loop of requests, and wait for it."""
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        return future.result()
    except CancelledError:
        raise RunError("the requests were interrupted", remedy="Run the same command again.") from None
    except KeyboardInterrupt:
        future.cancel()
        raise
