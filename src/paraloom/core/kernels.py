"""Compiles inner loops with numba, which the first call imports: cached on disk, and by one process at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial, update_wrapper
from pathlib import Path
from threading import RLock
from types import CodeType
from typing import Any, TypeVar, overload

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_locked: set[str] = set()  # Files whose kernels this process is compiling

_loading = RLock()


@overload
def kernel(function: Kernel, /) -> Kernel: ...


@overload
def kernel(**options: object) -> Callable[[Kernel], Kernel]: ...


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function when it is first called with arguments of some types, and keep the machine code on disk.

    Processes that need the same kernel at the same time would all compile it, and those that need it for different
    types could overwrite each other's entry of numba's cache. So they take turns, file by file.
    """
    return partial(_Kernel, **options) if function is None else _Kernel(function)


class _Kernel:
    """A function that becomes numba's dispatcher when it is first called, so that no import needs numba."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        update_wrapper(self, function)
        self._function = function
        self._options = options
        self._dispatcher: Any = None

    def __call__(self, *arguments: object) -> Any:
        return (self._dispatcher or self.dispatcher())(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher(), name)

    def __reduce__(self) -> str:
        return self._function.__qualname__

    def dispatcher(self) -> Any:
        """The dispatcher, of this function and of the kernels it calls, which numba looks up in the module."""
        with _loading:
            if self._dispatcher is None:
                self._dispatcher = _dispatcher(self._function, self._options)
                known = self._function.__globals__
                for name in _names(self._function.__code__):
                    if isinstance(called := known.get(name), _Kernel):
                        known[name] = called.dispatcher()
            return self._dispatcher


def _names(code: CodeType) -> set[str]:
    """The global names in a function and in the comprehensions in it."""
    nested = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*nested)


@contextmanager
def _without_blas() -> Iterator[None]:
    """Let numba's array functions be imported without a check for BLAS, which imports scipy.linalg in vain."""
    from numba.np import linalg

    check, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        yield
    finally:
        linalg.ensure_blas = check


def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    from numba import njit
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.runtime import rtsys

    dispatcher = njit(cache=True, nogil=True, **options)(function)
    if dispatcher is function:  # NUMBA_DISABLE_JIT
        return function
    compile_types, cache = dispatcher.compile, dispatcher._cache

    def compile_alone(signature: Any) -> Any:
        with global_compiler_lock, _lock(function.__code__.co_filename):
            return compile_types(signature)

    def load_overload(signature: Any, context: Any) -> Any:
        """As numba's, which imports first what only compiling needs: a third of a second."""
        rtsys.initialize(context)
        with _without_blas():
            known = cache._load_overload(signature, context)
            if known is None:
                context.refresh()
        return known

    dispatcher.compile = compile_alone
    if hasattr(cache, "_load_overload"):  # not part of numba's interface: without it, loading is slower
        cache.load_overload = load_overload
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
