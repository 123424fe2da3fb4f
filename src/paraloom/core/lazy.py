"""Imports on first use: lazy exports of a package (PEP 562), and objects that registries name as 'module:name'."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any


def lazy_exports(
    package: str, exports: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Values that a package assigns to `__getattr__`, `__dir__` and `__all__`.

    Args:
        package: Name of the package.
        exports: Public name → module that defines it. A module is exported under its own last name.
    """

    def load(name: str) -> Any:
        if name not in exports:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = import_module(exports[name])
        value = module if exports[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*exports, *(name for name in vars(sys.modules[package]) if name.startswith("__"))})

    return load, list_names, sorted(exports)


def load_object(target: str) -> Any:
    """The object that a registry names as 'module:name', imported now."""
    module, _, name = target.partition(":")
    return attrgetter(name)(import_module(module))


def late(target: str) -> Callable[..., Any]:
    """The function that 'module:name' names, imported when it is called first."""
    return lambda *arguments, **options: load_object(target)(*arguments, **options)
