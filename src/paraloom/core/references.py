"""References to models with settings, such as `NAME?from=de&to=en`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args
from urllib.parse import parse_qsl

from paraloom.core.config import type_hints
from paraloom.core.errors import ConfigError, nearest
from paraloom.core.stage import Fit, Source

_FIELDS = {"from": "source", "to": "target"}  # Key of a reference → the field that it sets, where that has another name


def split_reference(reference: str) -> tuple[str, dict[str, str]]:
    """A reference to a model as its name, and its settings as texts, which are encoded as in a query of a URL."""
    name, mark, query = reference.partition("?")
    if not mark or "=" not in query:
        return reference, {}
    return name, dict(parse_qsl(query, keep_blank_values=True))


def reference_fields(
    kind: type[Any], settings: Mapping[str, str], owner: str, without: Sequence[str] = ()
) -> dict[str, Any]:
    """The settings of a reference as values of fields of a configuration."""
    hints, own = type_hints(kind), {item.name for base in (Fit, Source) for item in fields(base)}
    names = [item.name for item in fields(kind) if item.name not in {*without, *own}]
    keys = {next((key for key, field in _FIELDS.items() if field == name), name): name for name in names}
    given: dict[str, object] = {}
    for key, text in settings.items():
        name = keys.get(key.replace("-", "_"), key)
        if name not in names:
            raise ConfigError(
                f"{owner} has no setting '{key}'{nearest(key, list(keys))}", remedy=f"Its settings: {', '.join(keys)}."
            )
        members = get_args(hints[name]) or (hints[name],)
        number = next((member for member in (int, float) if member in members), str)
        try:
            given[name] = number(text)
        except ValueError:
            wanted = "a whole number" if number is int else "a number"
            raise ConfigError(f"setting '{key}' of {owner}: expected {wanted}, got '{text}'") from None
    return given
