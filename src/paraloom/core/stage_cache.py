"""Cache of a worker from shard to shard of one stage: models and tables, dropped when another stage begins.

A folder may hold another model than before: a stage that runs again writes to the same path. So nothing that is loaded
by its path outlives the stage; otherwise a process that runs several stages would take the old model for the new one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")

_clear_caches: list[Callable[[], None]] = []
_stage = ""


def cached_per_stage(max_size: int = 1) -> Callable[[Callable[_Args, _Result]], Callable[_Args, _Result]]:
    """Decorator that caches what a function loads, until another stage begins."""

    def decorate(function: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
        cached = lru_cache(maxsize=max_size)(function)
        _clear_caches.append(cached.cache_clear)
        return cached  # type: ignore[return-value]

    return decorate


def begin_stage(stage: str) -> None:
    """Drop what was loaded for another stage."""
    global _stage
    if stage != _stage:
        for clear in _clear_caches:
            clear()
        _stage = stage
