"""Checks a value of a TOML file against the annotation of the dataclass field that it is for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

_PLAIN: dict[Any, str] = {str: "text", int: "a whole number", float: "a finite number", bool: "true or false"}


class FieldTypeError(Exception):
    """The value is not what the annotation asks for; its text says both."""


def coerce(value: object, annotation: Any, base: Path) -> Any:
    """`value` as the field wants it: lists become tuples, whole numbers floats, text a Path below `base`.

    Raises FieldTypeError with a clause that says what is wanted and what was found.

    >>> coerce([1, 2], tuple[float, ...], Path("/data"))
    (1.0, 2.0)
    >>> coerce("a.tsv", Path | None, Path("/data"))
    PosixPath('/data/a.tsv')
    >>> coerce("5", int, Path("/data"))
    Traceback (most recent call last):
        ...
    paraloom.core.config.FieldTypeError: must be a whole number, not '5'
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is Any or annotation is object:
        return value
    if origin in (Union, UnionType):
        return _first_fit(value, parts, annotation, base)
    if origin is Literal:
        if any(value == each and type(value) is type(each) for each in parts):
            return value
    elif annotation is Path:
        if isinstance(value, str) and value:
            return base / Path(value).expanduser()
    elif annotation in _PLAIN:
        if annotation is float and type(value) in (int, float):
            value = float(value)  # type: ignore[arg-type]
        if type(value) is annotation and (not isinstance(value, float) or math.isfinite(value)):
            return value
    elif origin is tuple and isinstance(value, list):
        if len(parts) == 2 and parts[1] is Ellipsis:
            return tuple(coerce(each, parts[0], base) for each in value)
        if len(parts) == len(value):
            return tuple(coerce(each, part, base) for each, part in zip(value, parts, strict=True))
    elif origin is list and isinstance(value, list):
        return [coerce(each, parts[0], base) for each in value]
    elif origin in (dict, Mapping) and isinstance(value, dict):
        return {key: coerce(each, parts[1], base) for key, each in value.items()}
    raise FieldTypeError(f"must be {described(annotation)}, not {value!r}")


def described(annotation: Any) -> str:
    """What an annotation asks for, in words.

    >>> described(tuple[int, ...]), described(Literal["a", "b"] | None)
    ('a list of whole numbers', "'a' or 'b'")
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if annotation is Path:
        return "a path"
    if origin is Literal:
        return " or ".join(repr(each) for each in parts)
    if origin in (Union, UnionType):
        return " or ".join(described(each) for each in parts if each is not NoneType)
    if origin is list or (origin is tuple and parts[-1] is Ellipsis):
        return f"a list of {_plural(described(parts[0]))}"
    if origin is tuple:
        return f"a list of {len(parts)}: {', '.join(described(each) for each in parts)}"
    if origin in (dict, Mapping):
        return f"a table of {_plural(described(parts[1]))}"
    return str(annotation)


def _first_fit(value: object, parts: tuple[Any, ...], annotation: Any, base: Path) -> Any:
    for part in parts:
        if part is not NoneType:
            try:
                return coerce(value, part, base)
            except FieldTypeError:
                continue
    raise FieldTypeError(f"must be {described(annotation)}, not {value!r}")


def _plural(words: str) -> str:
    known = {"text": "texts", "a whole number": "whole numbers", "a finite number": "finite numbers", "a path": "paths"}
    return known.get(words, words)
