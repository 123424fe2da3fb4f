"""What the docstrings of stages say: the summary, the meaning of each field, an example."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

_SECTION = re.compile(r"(Args|Class attributes|Raises|Reference|Example|Returns):")
_ENTRY = re.compile(r"(?P<names>\w+(?:, \w+)*):(?: (?P<text>.*))?")


@dataclass(frozen=True)
class Docstring:
    """A docstring in Google style, taken apart.

    Args:
        paragraphs: The summary and the paragraphs after it, each on one line.
        args: Name → description, on one line.
        sections: The other sections, dedented: `Raises`, `Reference`, `Example` …
    """

    paragraphs: tuple[str, ...] = ()
    args: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)


def parse_docstring(text: str) -> Docstring:
    """Take a docstring in Google style apart.

    Args:
        text: The docstring. In `Args:`, one entry may describe several names: `src_lang, tgt_lang: Languages.`

    Example:
        >>> parsed = parse_docstring("Counts words.\\n\\nArgs:\\n    size: Words\\n        to count.")
        >>> parsed.paragraphs, parsed.args
        (('Counts words.',), {'size': 'Words to count.'})
    """
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
    """The description of each field of a dataclass, from the `Args:` sections of the class and of its bases.

    Args:
        kind: A stage or another configuration.

    Returns:
        Name → description, in the order of the fields; '' for a field that no docstring describes.

    Example:
        >>> from paraloom.core.stage import Source
        >>> describe_fields(Source)["shard_rows"]
        'Rows in a shard, rejected ones included.'
    """
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
