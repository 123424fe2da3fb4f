"""Results as JSON values and as tables, in plain text or Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


class ResultRecord:
    """A dataclass whose fields are its JSON values."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as json.dumps takes them; an undefined figure is None."""
        fields: dict[str, object] = json_values(vars(self))
        return fields


def json_values(value: object) -> Any:
    """What JSON can hold: lists and dictionaries of records, arrays and tuples, None for NaN and infinity, or text."""
    if isinstance(value, Mapping):
        return {str(key): json_values(item) for key, item in value.items()}
    if hasattr(value, "to_dict"):
        return json_values(value.to_dict())
    if isinstance(value, (np.ndarray, np.generic)):
        return json_values(value.tolist())
    if isinstance(value, (list, tuple)):
        return [json_values(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value if value is None or isinstance(value, (str, int)) else str(value)


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> list[str]:
    """Lines of a table in plain text; the columns from `left` on are aligned to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(f"{cell:{'<' if k < left else '>'}{widths[k]}}" for k, cell in enumerate(line)).rstrip()
        for line in lines
    ]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> list[str]:
    """Lines of a table in Markdown; the columns from `left` on are aligned to the right."""
    rule = "| " + " | ".join(["---"] * left + ["---:"] * (len(header) - left)) + " |"
    return [f"| {' | '.join(header)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]
