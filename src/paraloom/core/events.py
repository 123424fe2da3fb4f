"""Events of long work, such as the end of a stage: reported to callbacks, for log files and the status of runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

EventCallback: TypeAlias = Callable[[str, dict[str, Any]], None]
"""Called with the name of an event and its fields, which are JSON values."""

_callbacks: list[EventCallback] = []
_lock = threading.Lock()


def emit(event: str, **fields: object) -> None:
    """Report an event to the callbacks of all blocks of `report_events_to` around the call."""
    for callback in list(_callbacks):
        callback(event, fields)


@contextmanager
def report_events_to(callback: EventCallback) -> Iterator[None]:
    """Send the events of the block to a callback, in addition to those of blocks around it."""
    with _lock:
        _callbacks.append(callback)
    try:
        yield
    finally:
        with _lock:
            _callbacks.remove(callback)
