"""Arrow columns as the fields of a text format, refused where the format cannot hold them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError

_NAMES = {"\t": "a tab", "\n": "a line end", "\r": "a carriage return"}


def plain_text(batch: pa.RecordBatch, name: str, forbidden: str, file: str | Path, rows_before: int) -> list[str]:
    """A column's values as text, null as '', for a format in which the `forbidden` characters cannot stand.

    Raises DataError that names the row (rows_before counts those of earlier batches).
    """
    column = text_column(batch.column(name))
    held = pc.fill_null(pc.match_substring_regex(column, pattern=f"[{forbidden}]"), False)
    if pc.any(held).as_py():
        at = pc.index(held, True).as_py()
        character = next(c for c in column[at].as_py() if c in forbidden)
        raise DataError(
            f"'{name}' holds {_NAMES[character]}, which this format cannot write",
            file=file,
            row=rows_before + at + 1,
            remedy="Normalise the text first, or write .jsonl or .parquet.",
        )
    return [value or "" for value in column.to_pylist()]


def text_column(column: pa.Array) -> pa.Array:
    """Any column as strings: numbers in their shortest exact form, lists and structs as JSON."""
    if pa.types.is_nested(column.type):
        return pa.array(
            [None if v is None else json.dumps(v, ensure_ascii=False) for v in column.to_pylist()], pa.string()
        )
    return column.cast(pa.string())


def json_values(column: pa.Array) -> list[Any]:
    """Any column as JSON can say it: float32 in its shortest form, NaN and infinities as null."""
    if pa.types.is_floating(column.type):
        numbers = [None if v is None else float(v) for v in column.cast(pa.string()).to_pylist()]
        return [None if v is None or not math.isfinite(v) else v for v in numbers]
    values: list[Any] = column.to_pylist()
    return values
