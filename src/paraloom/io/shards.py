"""Shards: Parquet files with deterministic bytes and page checksums."""

from __future__ import annotations

import base64
import binascii
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from paraloom.core.errors import DataError, nearest
from paraloom.core.lazy import late
from paraloom.io.atomic import atomic_write

binary_length = late("pyarrow.compute:binary_length")

WARNINGS = b"paraloom.warnings"
"""Key in the metadata of a .parquet file under which warnings about all of its rows are kept, as JSON."""

_DISTINCT = frozenset(["pair_id", "src", "tgt", "text", "pivot"])  # Columns whose values are seldom equal
ROW_GROUP_ROWS = 5000  # Rows of a row group; fixed, because the bytes of a file depend on it
_GROUP_BYTES = 1 << 24  # A row group ends once its texts have as many bytes
_FEW_ROWS = 1024  # A batch has as many, however long, because seeds of stages depend on it


def write_shard(
    path: str | Path,
    batches: Iterable[pa.RecordBatch] | pa.Table | pa.RecordBatch,
    schema: pa.Schema,
    group_rows: int = ROW_GROUP_ROWS,
) -> int:
    """Write one shard atomically. Its bytes depend on rows and schema only, not on the sizes of the batches."""
    if isinstance(batches, pa.Table):
        batches = batches.to_batches()
    elif isinstance(batches, pa.RecordBatch):
        batches = [batches]
    rows = 0
    with appending(path, schema, group_rows) as append:
        for batch in batches:
            append(batch)
            rows += batch.num_rows
    return rows


@contextmanager
def appending(
    path: str | Path, schema: pa.Schema, group_rows: int = ROW_GROUP_ROWS, *, compressed: bool = True
) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Like `write_shard`, for rows that are pushed rather than pulled."""
    groups = RowGroups(schema, group_rows, _GROUP_BYTES)
    with atomic_write(path) as temporary, shard_writer(temporary, schema, compressed=compressed) as writer:

        def write(tables: Iterable[pa.Table]) -> None:
            for table in tables:
                writer.write_table(table, row_group_size=group_rows)

        yield lambda batch: write(groups.add(batch))
        write(groups.rest())


def join_shards(parts: Sequence[Path], target: Path) -> None:
    """Write the rows of several Parquet files, of the same columns, to one."""
    schemas = []
    for part in parts:
        with open_shard(part) as file:
            schemas.append(file.schema_arrow)
    if not all(schema.equals(schemas[0]) for schema in schemas):
        raise DataError("the files have different columns", file=parts[0], remedy="Name one of them.")
    write_shard(target, (batch for part in parts for batch in read_batches(part)), schemas[0])


@contextmanager
def shard_writer(path: Path, schema: pa.Schema, *, compressed: bool = True) -> Iterator[pq.ParquetWriter]:
    """Open a Parquet file for writing, with page checksums; what is not compressed is soon deleted."""
    compression = "zstd" if compressed else "none"
    # A dictionary of values that seldom repeat takes a quarter of the time, and makes the file a tenth larger.
    repeated = [column.name for column in schema if column.name not in _DISTINCT and not _is_distinct(column.type)]
    with (
        path.open("wb") as stream,
        pq.ParquetWriter(
            stream,
            schema,
            compression=compression,
            use_dictionary=repeated,
            write_statistics=compressed,
            write_page_checksum=True,
        ) as writer,
    ):
        yield writer


def _is_distinct(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_nested(kind))


class RowGroups:
    """Cuts rows into tables of so many rows, or that end once their texts have so many bytes (0: any number).

    Where it cuts depends on the rows alone, not on the sizes of the batches.
    """

    def __init__(self, schema: pa.Schema, rows: int, text_bytes: int = 0) -> None:
        self.schema = schema
        self.rows = rows
        self.text_bytes = text_bytes
        self._pending: list[pa.RecordBatch] = []
        self._missing = rows
        self._bytes = 0  # of what is pending, all columns

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        """Add rows; the tables that are complete."""
        batch = _conform(batch, self.schema)
        while batch.num_rows:
            part = batch.slice(0, self._missing)
            self._bytes += part.nbytes
            rows = self._rows_to_end(part) if 0 < self.text_bytes <= self._bytes else 0
            part = part.slice(0, rows or None)
            self._pending.append(part)
            self._missing -= part.num_rows
            batch = batch.slice(part.num_rows)
            if rows or not self._missing:
                yield from self.rest()

    def rest(self) -> Iterator[pa.Table]:
        """The rows that are left, if any."""
        pending, self._pending, self._missing, self._bytes = self._pending, [], self.rows, 0
        if pending:
            table = pa.Table.from_batches(pending, self.schema).combine_chunks()
            del pending
            yield table

    def _rows_to_end(self, part: pa.RecordBatch) -> int:
        """The rows of a part with which the texts of a table are complete; 0 if all are too few."""
        ends = np.cumsum(np.concatenate([_text_lengths(one) for one in (*self._pending, part)]))
        full = int(np.searchsorted(ends, self.text_bytes))
        return full + 1 - (self.rows - self._missing) if full < len(ends) else 0


def _text_lengths(batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    lengths = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            lengths += np.asarray(binary_length(column).fill_null(0))
    return lengths


def rebatch(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of so many."""
    groups = RowGroups(schema, rows)
    for batch in batches:
        yield from groups.add(batch)
    yield from groups.rest()


def read_shard(path: str | Path) -> pa.Table:
    with open_shard(path) as file, corruption_as_error(path):
        table = file.read(use_threads=False)
        _check_rows(table.num_rows, file, range(file.metadata.num_row_groups))
    return table


def read_batches(
    path: str | Path,
    columns: Sequence[str] | None = None,
    batch_rows: int = _FEW_ROWS,
    row_groups: Sequence[int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read a shard, or some row groups of it, in batches, never the whole file; large ones are bounded in bytes."""
    with open_shard(path) as file:
        for column in columns or ():
            if column not in file.schema_arrow.names:
                raise DataError(f"column '{column}' not found{nearest(column, file.schema_arrow.names)}", file=path)
        groups = range(file.metadata.num_row_groups) if row_groups is None else row_groups
        batch_rows = min(batch_rows, max(_FEW_ROWS, _rows_of_bytes(file)))
        batches = file.iter_batches(batch_rows, row_groups=groups, columns=columns, use_threads=False)
        rows = 0
        while True:
            # Only reading is guarded: an error of the code that consumes the batch is not the shard's.
            with corruption_as_error(path):
                batch = next(batches, None)
                if batch is None:
                    return _check_rows(rows, file, groups)
            rows += batch.num_rows
            yield batch


def _rows_of_bytes(file: pq.ParquetFile) -> int:
    """Rows of a file that have about as many bytes as a row group may have."""
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    return _GROUP_BYTES * file.metadata.num_rows // max(1, size)


def read_rows(path: str | Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Read the rows of a shard one by one, with their values by column."""
    for batch in read_batches(path, columns):
        with corruption_as_error(path):
            rows = batch.to_pylist()
        yield from rows


@contextmanager
def open_shard(path: str | Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file, with verification of page checksums."""
    if not os.path.isfile(path):  # noqa: PTH113 (is_file raises for names that are too long)
        raise DataError("file not found", file=path, remedy="Restore it from a copy, or create its corpus again.")
    with corruption_as_error(path):
        # With a buffer ahead, Arrow keeps all row groups that were read until the file is closed.
        file = pq.ParquetFile(openable(path), page_checksum_verification=True, pre_buffer=False)
    with file:
        with corruption_as_error(path):
            _check_footer(file)
            names = file.schema_arrow.names
        if doubled := next((name for name, count in Counter(names).items() if count > 1), None):
            raise DataError(f"the file has the column '{doubled}' twice", file=path, remedy="Rename one of them.")
        yield file


def _check_footer(file: pq.ParquetFile) -> None:
    """Compare what the end of the file says twice, because checksums cover pages only; raises ArrowInvalid."""
    facts = file.metadata
    if facts.num_rows != sum(facts.row_group(index).num_rows for index in range(facts.num_row_groups)):
        raise pa.ArrowInvalid("the numbers of rows do not add up")
    stored = (facts.metadata or {}).get(b"ARROW:schema")
    if stored is not None:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored, validate=True)))
        columns = zip(schema, file.schema_arrow, strict=False)
        text = any(pa.types.is_string(column.type) and column.type != read.type for column, read in columns)
        if text or schema.names != file.schema_arrow.names:
            raise pa.ArrowInvalid("the names and types of its columns differ from those that it was written with")


def _check_rows(rows: int, file: pq.ParquetFile, groups: Sequence[int]) -> None:
    """Check that all rows came: Arrow passes over pages of a kind that it does not know; raises ArrowInvalid."""
    expected = sum(file.metadata.row_group(group).num_rows for group in groups)
    if rows != expected:
        raise pa.ArrowInvalid(f"{rows} of {expected} rows could be read")


def openable(path: str | Path) -> Any:
    """A path as text, or an open file where pyarrow does not take its name, which is not UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return pa.OSFile(os.fsencode(path))
    return str(path)


@contextmanager
def corruption_as_error(path: str | Path) -> Iterator[None]:
    """Turn errors of reading a Parquet file into DataError."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, binascii.Error) as error:
        raise corrupt(path, str(error)) from error


def corrupt(path: str | Path, why: str) -> DataError:
    """The error of a Parquet file, or a folder of them, that cannot be read."""
    return DataError(
        f"the file is truncated, corrupt or not Parquet ({' '.join(why.split()).rstrip('.')})",
        file=path,
        remedy="Restore it from a copy, or delete it and create it again.",
    )


def _conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if batch.schema.equals(schema):
        return batch
    if sorted(batch.schema.names) != sorted(schema.names):
        raise DataError(
            f"a batch has the columns {', '.join(batch.schema.names)}, the corpus has {', '.join(schema.names)}"
        )
    batch = batch.select(schema.names)
    for actual, expected in zip(batch.schema, schema, strict=True):
        if actual.type != expected.type:
            raise DataError(f"column '{expected.name}' is {actual.type} in a batch, {expected.type} in the corpus")
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def with_plain_texts(schema: pa.Schema) -> pa.Schema:
    """The schema with every text column as string: other programs write large strings, views and dictionaries."""
    fields = [field.with_type(pa.string()) if is_text(field.type) else field for field in schema]
    return pa.schema(fields, schema.metadata)


def text_values(column: pa.Array) -> list[Any]:
    """The texts of a column; a value that is not valid UTF-8 is returned as bytes."""
    try:
        values: list[object] = column.to_pylist()
        return values
    except UnicodeDecodeError:
        return [_text_or_bytes(value) for value in column.cast(pa.large_string()).cast(pa.large_binary()).to_pylist()]


def _text_or_bytes(value: bytes | None) -> str | bytes | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value
