"""Imports on first use: lazy exports of a package (PEP 562), and objects that registries name as 'module:name'."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

# This module is imported before others. onnxruntime 1.31 would keep a record of its use, to be sent to its makers.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def lazy_exports(
    package: str, others: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__`, `__all__` of a package, by its imports for type checkers (`from M import A as A`)."""
    exports = typed_names(package) | dict(others or {})

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


def typed_names(package: str) -> dict[str, str]:
    """Name → module, of what the source of a package imports for type checkers."""
    source = Path(sys.modules[package].__file__ or "").read_text(encoding="utf-8")
    return {
        name: f"{package}.{name}" if module == package else module
        for module, name in re.findall(r"^    from (\S+) import (\w+) as \w+$", source, re.MULTILINE)
    }


def load_object(target: str) -> Any:
    """The object that a registry names as 'module:name', imported now."""
    module, _, name = target.partition(":")
    return attrgetter(name)(import_module(module))


def late(target: str) -> Callable[..., Any]:
    """The function that 'module:name' names, imported when it is called first."""
    return lambda *arguments, **options: load_object(target)(*arguments, **options)
