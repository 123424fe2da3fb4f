"""Descriptions of stages out of their docstrings: the summary, each key with its type and default, an example."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from paraloom.core.config import Config, describe_type, type_hints
from paraloom.core.stage import Fit, Map, Source
from paraloom.pipeline.registry import STAGES, load_stage

_SECTION = re.compile(r"(Args|Class attributes|Raises|Reference|Example|Returns):")
_ENTRY = re.compile(r"(?P<names>\w+(?:, \w+)*):(?: (?P<text>.*))?")


@dataclass(frozen=True)
class Docstring:
    """A docstring in Google style, taken apart."""

    paragraphs: tuple[str, ...] = ()
    args: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KeyDescription:
    """A key that the table of a stage may have."""

    name: str
    type: str
    default: str
    description: str


@dataclass(frozen=True)
class StageDescription:
    """Summary of a stage, and its keys."""

    use: str
    kind: Literal["source", "map", "fit"]
    name: str
    docstring: Docstring
    keys: tuple[KeyDescription, ...]


def describe_stages() -> list[StageDescription]:
    """Describe all stages, in the order of the registry."""
    return [describe_stage(use) for use in STAGES]


def describe_stage(use: str) -> StageDescription:
    kind = load_stage(use)
    descriptions = describe_fields(kind)
    own = vars(kind).get("__annotations__", {})
    general = describe_fields(Map) | describe_fields(Source) | describe_fields(Fit)
    ordered = sorted(fields(kind), key=lambda item: 2 if item.name in general else item.name not in own)
    keys = tuple(
        KeyDescription(
            item.name,
            describe_type(type_hints(kind)[item.name]),
            json.dumps(use) if item.name == "name" else _default(item),
            descriptions[item.name],
        )
        for item in ordered
    )
    return StageDescription(
        use,
        "source" if issubclass(kind, Source) else "map" if issubclass(kind, Map) else "fit",
        kind.__name__,
        parse_docstring(kind.__doc__ or ""),
        keys,
    )


def parse_docstring(text: str) -> Docstring:
    """Take a docstring in Google style apart."""
    title, body = "", {"": list[str]()}
    for line in inspect.cleandoc(text).splitlines():
        heading = _SECTION.fullmatch(line)
        if heading:
            title = heading.group(1)
            body[title] = []
        elif title and line and not line.startswith(" "):
            body[""] += ["", line]
            title = ""
        else:
            body[title].append(line)
    sections = {name: inspect.cleandoc("\n".join(lines)).strip() for name, lines in body.items()}
    paragraphs = tuple(" ".join(part.split()) for part in sections.pop("").split("\n\n") if part.strip())
    return Docstring(paragraphs, _entries(sections.pop("Args", "")), sections)


def describe_fields(kind: type[Any]) -> dict[str, str]:
    """The description of each field of a dataclass, from the `Args:` sections of the class and of its bases."""
    known: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        known |= parse_docstring(vars(base).get("__doc__") or "").args
    return {item.name: known.get(item.name, "") for item in fields(kind)}


def _entries(text: str) -> dict[str, str]:
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in text.splitlines():
        match = None if line.startswith(" ") else _ENTRY.fullmatch(line)
        if match:
            names = match["names"].split(", ")
            entries |= dict.fromkeys(names, match["text"] or "")
        else:
            entries |= {name: f"{entries[name]} {line.strip()}".strip() for name in names}
    return entries


def _default(item: dataclasses.Field[Any]) -> str:
    if item.default_factory is not dataclasses.MISSING:
        return json.dumps(item.default_factory())
    if item.default is dataclasses.MISSING:
        return "required"
    if item.default is None or isinstance(item.default, Config):
        return "optional"
    return json.dumps(item.default, ensure_ascii=False)
