"""Figures of the pages of results, for tables that are made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paraloom.core.digests import file_digest
from paraloom.core.errors import DataError

NUMBER = re.compile(r"-?\d*\.?\d+")
"""A number in a cell, such as '.890' or '3.5'."""


def read_result(file: Path, heading: str) -> Mapping[str, Any]:
    """The result with a heading in a file of docs/explanations/results."""
    try:
        results = json.loads(file.read_text(encoding="utf-8"))["results"]
        result: Mapping[str, Any] = next(row for row in results if row["heading"] == heading)
    except (OSError, ValueError, KeyError, StopIteration) as error:
        raise DataError(
            f"the result '{heading}' cannot be read", file=file, remedy="Give the folder docs/explanations/results."
        ) from error
    return result


def with_half(cell: str) -> tuple[float, float, float]:
    """The value of a cell 'VALUE ± HALF', with VALUE − HALF and VALUE + HALF."""
    value, half = (float(number) for number in NUMBER.findall(cell)[:2])
    return value, value - half, value + half


def digest_of(file: Path) -> dict[str, str]:
    """The input of a table that a file of results is."""
    return {f"results {file.stem}": file_digest(file)[:12]}
