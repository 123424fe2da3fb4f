"""Tables in text form with the types of their values, to read again all that a command wrote as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.core.batches import batched
from paraloom.core.errors import DataError
from paraloom.io.records import BadRecord, read_records, record_format, schema_of_records
from paraloom.io.shards import ROW_GROUP_ROWS

# As Arrow and JSON print them: 007, +1 and what has more digits than the type holds are identifiers, and stay text.
_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d+)?(e[+-]?\d+)?|nan|-?inf", re.IGNORECASE)
_TRUTH = re.compile(r"true|false")
_KINDS = ((_TRUTH, pa.bool_()), (_INTEGER, pa.int64()), (_NUMBER, pa.float64()))


def number_or_text(field: str) -> int | float | str:
    """A field as a number where it is one: an integer of up to 18 digits, or a float."""
    return int(field) if _INTEGER.fullmatch(field) else float(field) if _NUMBER.fullmatch(field) else field


def read_typed(
    path: str | Path, texts: pa.Schema, on_bad: BadRecord | None = None
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The columns of a table in text form, and its rows, streamed; the file is read twice, first for the types.

    The columns of `texts` are text. Others of .tsv and .csv are true or false, integers or numbers where each of their
    fields is one or empty, which is null; else text, too.
    """
    is_json = record_format(path) == ".jsonl"
    given = dict(zip(texts.names, texts.types, strict=True))
    every = (record.values for record in read_records(path, on_bad=lambda *_: None))
    kinds = {field.name: field.type for field in schema_of_records(every)} if is_json else _kinds(every)
    schema = pa.schema([(name, given.get(name, kind)) for name, kind in {**given, **kinds}.items()])

    def batches() -> Iterator[pa.RecordBatch]:
        for chunk in batched(read_records(path, on_bad=on_bad), ROW_GROUP_ROWS):
            rows = [record.values for record in chunk]
            columns = [_column(rows, field, is_json=is_json) for field in schema]
            yield pa.record_batch(columns, schema=schema)

    return schema, batches()


def _kinds(rows: Iterator[dict[str, Any]]) -> dict[str, pa.DataType]:
    """The first kind of each column that all of its fields have."""
    left: dict[str, list[tuple[re.Pattern[str], pa.DataType]]] = {}
    for row in rows:
        for name, text in row.items():
            kinds = left.setdefault(name, [*_KINDS])
            if text and kinds:
                kinds[:] = [kind for kind in kinds if kind[0].fullmatch(text)]
    return {name: kinds[0][1] if 0 < len(kinds) < len(_KINDS) else pa.string() for name, kinds in left.items()}


def _column(rows: Sequence[Mapping[str, object]], field: pa.Field, *, is_json: bool) -> pa.Array:
    values = [row.get(field.name) for row in rows]
    if is_json or pa.types.is_string(field.type):
        try:
            return pa.array(values, field.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(f"column '{field.name}' must be {field.type}: {error}") from None
    # Arrow casts texts to the kinds above as they are written.
    return pa.array([value or None for value in values], pa.string()).cast(field.type)
