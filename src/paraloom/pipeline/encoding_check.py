"""Finds text that is not valid UTF-8 in a record batch: Parquet does not check it, and Python fails on it later."""

from __future__ import annotations

import pyarrow as pa

from paraloom.core.errors import DataError


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
        if _is_text(column.type):
            texts = [raw and raw.decode(errors="backslashreplace") for raw in _bytes(column)]
            batch = batch.set_column(index, field, pa.array(texts, field.type))
    return batch


def _located(name: str, column: pa.Array, error: pa.ArrowInvalid) -> DataError:
    for row, raw in enumerate(_bytes(column) if _is_text(column.type) else (), start=1):
        if raw is None:
            continue
        try:
            raw.decode()
        except UnicodeDecodeError as fault:
            return DataError(f"'{name}' is not valid UTF-8 (byte 0x{raw[fault.start]:02x} at {fault.start})", row=row)
    return DataError(f"column '{name}' is damaged ({error})")


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _bytes(column: pa.Array) -> list[bytes | None]:
    plain = pa.binary() if pa.types.is_string(column.type) else pa.large_binary()
    raw: list[bytes | None] = column.cast(plain).to_pylist()
    return raw
