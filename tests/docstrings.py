"""Checks the docstrings of the public API; run as a script, it prints what it finds as JSON.

It works with any version of paraloom: `benchmarks/codebase.py` runs it with the code of other checkouts.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import paraloom

DECODINGS = "paraloom.mt.decoding"
"""The module whose classes say how a translator decodes: public by the text that `decode` takes."""

_SECTION = re.compile(r"^(Args|Attributes|Class attributes|Returns|Yields|Raises|Reference|Example|Examples):$", re.M)
_ENTRY = re.compile(r"^    \*{0,2}(\w+(?:, \*{0,2}\w+)*):", re.M)


def sections(docstring: str) -> dict[str, str]:
    """The sections of a docstring in Google style by name; its first part as ''.

    Example:
        >>> sections("Adds.\\n\\nArgs:\\n    a: One.\\n\\nReturns:\\n    The sum.")["Args"]
        '    a: One.'
    """
    parts = _SECTION.split(inspect.cleandoc(docstring))
    return {
        "": parts[0].strip(),
        **{name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)},
    }


def documented(docstring: str) -> set[str]:
    """Names of the parameters that the section Args describes.

    Example:
        >>> sorted(documented("Adds.\\n\\nArgs:\\n    a, b: Numbers.\\n        Any.\\n    **more: Further ones."))
        ['a', 'b', 'more']
    """
    text = sections(docstring).get("Args", "")
    return {name.strip(" *") for match in _ENTRY.finditer(text) for name in match.group(1).split(",")}


def problems(thing: Any, *, example: bool = True) -> list[str]:
    """What the docstring of a function, method or class lacks.

    A class inherits the descriptions of parameters; a protocol, an enumeration and a property have none.

    Args:
        thing: A function, a method, a class, a property or a module.
        example: Whether it must have an example.

    Returns:
        Names of the missing sections and parameters.
    """
    text = vars(thing).get("__doc__") or "" if inspect.isclass(thing) else inspect.getdoc(thing) or ""
    if not text.strip():
        return ["docstring"]
    missing = ["Example"] if example and ">>>" not in text else []
    if inspect.isclass(thing):
        inherited = [base.__doc__ or "" for base in thing.__mro__ if base.__module__.startswith("paraloom")]
        names = {name for docstring in inherited for name in documented(docstring)}
        return missing + [f"Args: {name}" for name in _parameters(thing) if name not in names]
    if inspect.isroutine(thing):
        names = documented(text)
        missing += [f"Args: {name}" for name in _parameters(thing) if name not in names]
        missing += ["Returns"] if _returns(thing) and not {"Returns", "Yields"} & set(sections(text)) else []
    return missing


def public_objects() -> Iterator[tuple[str, Any, bool]]:
    """Name, object and whether it needs an example: exported names, their methods, stages and decodings."""
    for name in exported():
        thing = getattr(paraloom, name)
        yield name, thing, True
        if inspect.isclass(thing):
            yield from ((f"{name}.{method}", member, False) for method, member in _methods(thing))
    stages = getattr(paraloom, "stages", None)
    yield from ((f"stages.{name}", getattr(stages, name), True) for name in getattr(stages, "__all__", ()))
    try:
        decodings = importlib.import_module(DECODINGS)
    except ImportError:
        return
    for name, member in vars(decodings).items():
        if inspect.isclass(member) and member.__module__ == DECODINGS and not name.startswith("_"):
            yield f"{DECODINGS}.{name}", member, True


def exported() -> list[str]:
    """The public names of the package."""
    return [name for name in getattr(paraloom, "__all__", ()) if not name.startswith("__")]


def report() -> dict[str, Any]:
    """The exported names, the modules that define them, the number of objects, and what each docstring lacks."""
    modules = {getattr(getattr(paraloom, name), "__module__", None) or f"paraloom.{name}" for name in exported()}
    objects = list(public_objects())
    missing = {name: lacks for name, thing, example in objects if (lacks := problems(thing, example=example))}
    own = sorted(module for module in modules if module.startswith("paraloom."))
    return {"names": exported(), "modules": own, "objects": len(objects), "missing": missing}


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class and its base classes in this package."""
    seen = set()
    for base in kind.__mro__:
        if not base.__module__.startswith("paraloom"):
            continue
        for name, member in vars(base).items():
            plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            if not name.startswith("_") and name not in seen and (inspect.isfunction(plain) or _is_property(plain)):
                seen.add(name)
                yield name, plain


def _is_property(member: Any) -> bool:
    return isinstance(member, property)


def _parameters(thing: Any) -> list[str]:
    if inspect.isclass(thing) and (getattr(thing, "_is_protocol", False) or issubclass(thing, enum.Enum)):
        return []
    try:
        return [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]
    except (TypeError, ValueError):
        return []


def _returns(thing: Any) -> bool:
    annotation = inspect.signature(thing).return_annotation
    return annotation not in (None, "None", "typing.NoReturn", inspect.Signature.empty)


if __name__ == "__main__":
    print(json.dumps(report()))
