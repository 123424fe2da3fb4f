"""Lazy exports of a package (PEP 562): a name is imported from its module when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, exports: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Values that a package assigns to `__getattr__`, `__dir__` and `__all__`.

    Args:
        package: Name of the package.
        exports: Public name → module that defines it. A module is exported under its own last name.

    Example:
        >>> getattr_, dir_, names = lazy_exports("example", {"digest": "paraloom.core.digests"})
        >>> names
        ['digest']
    """

    def load(name: str) -> Any:
        if name not in exports:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = import_module(exports[name])
        value = module if exports[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*exports, *vars(sys.modules[package])})

    return load, list_names, sorted(exports)
