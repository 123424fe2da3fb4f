"""Texts inside nested records, named by a path such as `messages.*.content`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from paraloom.core.errors import DataError, suggestion
from paraloom.io.formats.columns import path_keys


class Slot(NamedTuple):
    """A value in a record: the object or list that holds it, its key there, and its path."""

    holder: Any
    key: Any
    path: str

    @property
    def value(self) -> Any:
        return self.holder[self.key]


def slots(value: object, keys: tuple[str, ...], above: str = "") -> Iterator[Slot]:
    """The values at a path, in order; none where the structure is another one."""
    name, rest = keys[0], keys[1:]
    matches: list[object] = []
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


def text_paths(value: object, above: str = "") -> Iterator[str]:
    """The paths of all texts in a record, with `*` for the items of lists."""
    if isinstance(value, str):
        yield above
    elif isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else (("*", item) for item in value)
        for key, item in items:
            yield from text_paths(item, f"{above}.{key}" if above else str(key))


def json_text(value: Mapping[str, object], key: str) -> str:
    """Get the text at a key of a JSON object, or at keys with dots between them."""
    text: object = value
    for name in (key,) if key in value else path_keys(key):
        if not isinstance(text, dict) or name not in text:
            known = dict.fromkeys(
                path for name, item in value.items() for path in list(text_paths(item, name)) or [name]
            )
            raise DataError(
                f"key '{key}' not found{suggestion(key, list(known))}; the keys are {', '.join(known) or 'none'}",
                remedy="Name that of the text; for pairs: --src-column and --tgt-column.",
            )
        text = text[name]
    if not isinstance(text, str):
        raise DataError(f"'{key}' must be text, got {json.dumps(text)[:40]}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"'{key}' has half of a surrogate pair (at {error.start})") from None
    return text
