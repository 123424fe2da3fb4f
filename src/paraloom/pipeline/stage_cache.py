"""What a worker keeps open from shard to shard of one stage: models and tables, let go when another stage begins.

A folder may hold another model than it did: a stage that is run again writes where it wrote before.  So nothing that
is opened by its path outlives the stage; a process that runs several of them would take the old for the new.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Opened = TypeVar("_Opened")

_openers: list[Any] = []
_stage = ""


def kept_open(most: int = 1) -> Callable[[Callable[_Given, _Opened]], Callable[_Given, _Opened]]:
    """Decorates a function that opens something: what it gave for the last `most` arguments is given again.

    >>> @kept_open()
    ... def opened(path):
    ...     return [path]
    >>> opened("a") is opened("a")
    True
    """

    def decorated(function: Callable[_Given, _Opened]) -> Callable[_Given, _Opened]:
        opener = lru_cache(maxsize=most)(function)
        _openers.append(opener)
        return opener  # type: ignore[return-value]

    return decorated


def clear_unless(stage: str) -> None:
    """Let go what was opened for another stage.  stage: a digest of the stage and of all that it works with."""
    global _stage
    if stage != _stage:
        for opener in _openers:
            opener.cache_clear()
        _stage = stage
