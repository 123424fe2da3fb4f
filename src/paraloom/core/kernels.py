"""Compiles inner loops with numba: cached on disk, without the lock of Python, and by one process at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, overload

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_locked: set[str] = set()
"""Files whose kernels this process is compiling."""


@overload
def kernel(function: Kernel, /) -> Kernel: ...


@overload
def kernel(**options: Any) -> Callable[[Kernel], Kernel]: ...


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function when it is first called with arguments of some types, and keep the machine code on disk.

    Processes that need the same kernel at the same time would all compile it, and those that need it for different
    types could overwrite each other's entry of numba's cache. So they take turns, file by file.
    """
    return partial(_compiled, **options) if function is None else _compiled(function)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    dispatcher = njit(cache=True, nogil=True, **options)(function)
    if dispatcher is function:  # NUMBA_DISABLE_JIT
        return function
    compile_types = dispatcher.compile

    def compile_alone(signature: Any) -> Any:
        with global_compiler_lock, _lock(function.__code__.co_filename):
            return compile_types(signature)

    dispatcher.compile = compile_alone
    return dispatcher


@contextmanager
def _lock(path: str) -> Iterator[None]:
    """Let no other process compile kernels of a file, unless this one already does, for a kernel that calls another."""
    if path in _locked:
        yield
        return
    _locked.add(path)
    try:
        with ExitStack() as files:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(files.enter_context(Path(path).open("rb")), fcntl.LOCK_EX)
            yield
    finally:
        _locked.discard(path)
