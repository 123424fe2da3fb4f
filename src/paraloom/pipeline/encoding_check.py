"""Finds text that is not valid UTF-8 in a record batch: Parquet does not check it, and Python fails on it later."""

from __future__ import annotations

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.io.shards import is_text, text_values


def check_text(batch: pa.RecordBatch) -> None:
    """Check all text columns; raises DataError with the first row (from 1), column and byte that is not UTF-8."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise _located(name, column, error) from error


def readable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """`batch` with bytes that are not UTF-8 spelled out (`\\\\xff`), so that failed rows can be read."""
    for index, (column, field) in enumerate(zip(batch.columns, batch.schema, strict=True)):
        if is_text(column.type):
            values = text_values(column)
            texts = [one.decode(errors="backslashreplace") if isinstance(one, bytes) else one for one in values]
            batch = batch.set_column(index, field, pa.array(texts, field.type))
    return batch


def _located(name: str, column: pa.Array, error: pa.ArrowInvalid) -> DataError:
    for row, value in enumerate(text_values(column) if is_text(column.type) else (), start=1):
        try:
            _ = value.decode() if isinstance(value, bytes) else value
        except UnicodeDecodeError as fault:
            return DataError(f"'{name}' is not valid UTF-8 (byte 0x{value[fault.start]:02x} at {fault.start})", row=row)
    return DataError(f"column '{name}' is damaged ({error})")
