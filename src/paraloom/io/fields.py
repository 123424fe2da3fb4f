"""Texts inside nested records, named by a path such as `messages.*.content`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from paraloom.core.errors import ConfigError

_ROOT = "$."


class Slot(NamedTuple):
    """A value in a record: the object or list that holds it, its key there, and its path."""

    holder: Any
    key: Any
    path: str

    @property
    def value(self) -> Any:
        """The value."""
        return self.holder[self.key]


def is_path(name: object) -> bool:
    """True if a name is that of a nested field: keys with dots between them, `*` for each item, or `$.` before it."""
    return isinstance(name, str) and (name.startswith(_ROOT) or "." in name.strip(".") or "*" in name)


def path_keys(path: str) -> tuple[str, ...]:
    """The keys of a path, from the outside in."""
    keys = tuple(path.removeprefix(_ROOT).split("."))
    if not all(keys):
        raise ConfigError(
            f"'{path}' is not a path of keys", remedy="Write them with dots between: messages.*.content, or $.text."
        )
    return keys


def slots(value: Any, keys: tuple[str, ...], above: str = "") -> Iterator[Slot]:
    """The values at a path, in order; none where the structure is another one."""
    name, rest = keys[0], keys[1:]
    matches: list[Any] = []
    if name == "*":
        matches = list(range(len(value))) if isinstance(value, list) else list(value) if isinstance(value, dict) else []
    elif isinstance(value, dict):
        matches = [name] if name in value else []
    elif isinstance(value, list) and name.isascii() and name.isdigit():
        matches = [int(name)] if int(name) < len(value) else []
    for key in matches:
        slot = Slot(value, key, f"{above}.{key}" if above else str(key))
        if rest:
            yield from slots(slot.value, rest, slot.path)
        else:
            yield slot


def text_paths(value: Any, above: str = "") -> Iterator[str]:
    """The paths of all texts in a record, with `*` for the items of lists."""
    if isinstance(value, str):
        yield above
    elif isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else (("*", item) for item in value)
        for key, item in items:
            yield from text_paths(item, f"{above}.{key}" if above else str(key))
