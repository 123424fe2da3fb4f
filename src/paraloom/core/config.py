"""Configurations: frozen dataclasses whose values are checked against their annotations when one is made."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from paraloom.core.errors import ConfigError, nearest
from paraloom.core.remote_files import fetched, is_url

_PLAIN: dict[Any, str] = {str: "text", int: "a whole number", float: "a finite number", bool: "true or false"}
_NAMED: dict[Any, str] = _PLAIN | {Path: "a path"}


class FieldTypeError(Exception):
    """A value does not have the type that its field asks for; the message says both."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Base of all configurations: values are coerced to their annotations, then `validate` is called.

    Lists become tuples, whole numbers floats where a float is wanted, text a `Path` where a path is wanted.

    Raises:
        ConfigError: A value has the wrong type (the message names the key), or `validate` refuses it.
    """

    def __post_init__(self) -> None:
        annotations = type_hints(type(self))
        for field in dataclasses.fields(self):
            try:
                value = coerce(getattr(self, field.name), annotations[field.name], Path.cwd())
            except FieldTypeError as error:
                raise ConfigError(f"key '{field.name}' {error}") from error
            object.__setattr__(self, field.name, value)
        self.validate()

    def validate(self) -> None:
        """Check values that depend on each other or on a range; raises ConfigError."""


_Config = TypeVar("_Config", bound=Config)


def base_config(kind: type[_Config], config: _Config) -> _Config:
    """The part of a configuration that one of its base classes defines, without the fields of subclasses."""
    return kind(**{field.name: getattr(config, field.name) for field in dataclasses.fields(kind)})


def check_keys(kind: type[Config], keys: Mapping[str, object], also: tuple[str, ...] = ()) -> None:
    """Check that `keys` are fields of a configuration and that every required field is there."""
    fields = dataclasses.fields(kind)
    known = [*also, *(field.name for field in fields)]
    for key in keys:
        if key not in known:
            raise ConfigError(f"unknown key '{key}'{nearest(key, known)}")
    for field in fields:
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and field.name not in keys:
            raise ConfigError(f"key '{field.name}' is missing", remedy=f"Add {field.name} = … to it.")


def check_range(
    config: object,
    *names: str,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    below: float | None = None,
) -> None:
    """Check that fields are finite numbers within bounds."""
    bounds: tuple[tuple[float | None, str, Callable[[Any, Any], bool]], ...] = (
        (low, "{} or more", operator.ge),
        (above, "above {}", operator.gt),
        (high, "at most {}", operator.le),
        (below, "below {}", operator.lt),
    )
    for name in names:
        value = getattr(config, name)
        finite = -math.inf < value < math.inf
        if finite and all(bound is None or holds(value, bound) for bound, _, holds in bounds):
            continue
        words = [template.format(bound) for bound, template, _ in bounds if bound is not None]
        if low is not None and high is not None:
            words = [f"from {low} to {high}"]
        raise ConfigError(f"'{name}' must be {' and '.join(words)}, not {value}")


def type_hints(kind: type) -> dict[str, Any]:
    """The annotations of a class, evaluated; cached, because evaluating them takes longer than checking values."""
    if kind not in _type_hints:
        _type_hints[kind] = get_type_hints(kind)
    return _type_hints[kind]


_type_hints: dict[type, dict[str, Any]] = {}


def coerce(value: object, annotation: object, base: Path) -> Any:
    """Convert `value` to what an annotation asks for."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation in (Any, object) or (annotation is NoneType and value is None):
        return value
    if origin in (Union, UnionType):
        return _first_match(value, parts, annotation, base)
    if origin in (tuple, list) and isinstance(value, (list, tuple)):
        return _coerce_items(value, annotation, base)
    if (origin in (dict, Mapping) or annotation in (dict, Mapping)) and isinstance(value, Mapping):
        return {key: coerce(item, parts[1] if parts else Any, base) for key, item in value.items()}
    if isinstance(annotation, type) and issubclass(annotation, Config) and isinstance(value, Mapping):
        check_keys(annotation, value)
        return annotation(**value)
    return _coerce_single(value, annotation, base)


def _coerce_items(value: Sequence[object], annotation: object, base: Path) -> object:
    parts = get_args(annotation)
    if get_origin(annotation) is list:
        return [coerce(item, parts[0], base) for item in value]
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(coerce(item, parts[0], base) for item in value)
    if len(parts) != len(value):
        raise _mismatch(value, annotation)
    return tuple(coerce(item, part, base) for item, part in zip(value, parts, strict=True))


def _coerce_single(value: object, annotation: object, base: Path) -> object:
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # one of numpy
        value = cast(Any, value).item()
    if annotation is Path and isinstance(value, (str, Path)) and str(value):
        return fetched(value) if is_url(value) else base / Path(value).expanduser()
    if annotation is float and type(value) is int:
        value = float(value)
    if annotation is not Path and _fits(value, annotation):
        return value
    raise _mismatch(value, annotation)


def _fits(value: object, annotation: object) -> bool:
    """Whether a value is what an annotation without parts asks for."""
    if get_origin(annotation) is Literal:
        return any(value == part and type(value) is type(part) for part in get_args(annotation))
    if annotation in _PLAIN:
        return type(value) is annotation and (not isinstance(value, float) or math.isfinite(value))
    return isinstance(annotation, type) and get_origin(annotation) is None and isinstance(value, annotation)


def _mismatch(value: object, annotation: object) -> FieldTypeError:
    return FieldTypeError(f"must be {describe_type(annotation)}, not {value!r}")


def describe_type(annotation: object) -> str:
    """Type that an annotation asks for, in words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation in _NAMED:
        return _NAMED[annotation]
    if origin is Literal:
        return " or ".join(repr(part) for part in parts)
    if origin in (Union, UnionType):
        return _describe_union(parts)
    if origin is list or (origin is tuple and parts[-1] is Ellipsis):
        return f"a list of {_plural(describe_type(parts[0]))}"
    if origin is tuple:
        return f"a list of {len(parts)}: {', '.join(describe_type(part) for part in parts)}"
    if origin in (dict, Mapping):
        return f"a table of {_plural(describe_type(parts[1]))}"
    return str(getattr(annotation, "type_description", None) or getattr(annotation, "__name__", annotation))


def _describe_union(parts: Sequence[object]) -> str:
    """One of several types, in words; a reference, which may be several things, by its own."""
    reference = next((part.type_description for part in parts if hasattr(part, "type_description")), None)
    return reference or " or ".join(describe_type(part) for part in parts if part is not NoneType)


def _first_match(value: object, parts: tuple[object, ...], annotation: object, base: Path) -> object:
    if value is None and NoneType in parts:
        return None
    for part in parts:
        if part is not NoneType:
            try:
                return coerce(value, part, base)
            except FieldTypeError:
                continue
    raise _mismatch(value, annotation)


def _plural(words: str) -> str:
    known = {
        "text": "texts",
        "a whole number": "whole numbers",
        "a finite number": "finite numbers",
        "a path": "paths",
        "a stage or a path": "stages or paths",
    }
    return known.get(words, words)
