"""JSON lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.io.compression import decode, open_write, read_raw_lines
from paraloom.io.formats.base import PROVENANCE, Asked, Pair, raw_text
from paraloom.io.formats.fields import json_values


def read(asked: Asked) -> Iterator[Pair]:
    """The two keys asked for (`src` and `tgt` by default) of each object; a row is a line, blank lines hold none.

    DataError for a line that is no JSON object, lacks a key, or holds something other than text there.
    """
    src, tgt = str(asked.src_column or "src"), str(asked.tgt_column or "tgt")
    for row, line in enumerate(read_raw_lines(asked.path), 1):
        if not line.strip():
            continue
        try:
            value = _parsed(decode(line, asked.path, row))
            sides = [_text(value, key) for key in (src, tgt)]
            further = [_text(value, key) if value.get(key) is not None else None for key in PROVENANCE]
        except DataError as error:
            asked.refuse(row, error, raw_text(line))
        else:
            yield Pair(row, *sides, *further)


def write(batches: Iterable[pa.RecordBatch], names: Sequence[str], target: str) -> int:
    """One object a row; what JSON cannot say (NaN, infinities) is null.  Returns the rows."""
    rows = 0
    with open_write(target) as stream:
        for batch in batches:
            columns = [json_values(batch.column(name)) for name in names]
            for values in zip(*columns, strict=True):
                stream.write((json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False) + "\n").encode())
            rows += batch.num_rows
    return rows


def _parsed(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the line is no JSON ({error})", remedy="One object a line, no line ends in it.") from None
    if not isinstance(value, dict):
        raise DataError("the line is JSON, but no object", remedy='A line is as {"src": "…", "tgt": "…"}.')
    return value


def _text(value: dict[str, Any], key: str) -> str:
    if key not in value:
        raise DataError(
            f"there is no '{key}'; there are {', '.join(value) or 'no keys'}",
            remedy="Name the keys of the two sides: --src-column, --tgt-column.",
        )
    text = value[key]
    if not isinstance(text, str):
        raise DataError(f"'{key}' is {json.dumps(text)[:40]}, not text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"'{key}' holds half a surrogate pair (at {error.start})") from None
    return text
