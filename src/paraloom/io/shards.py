"""One shard: a Parquet file with deterministic bytes and checksums, read back in batches or refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paraloom.core.errors import DataError, nearest
from paraloom.io.atomic import replacing

ROW_GROUP_ROWS = 5000
"""Rows to a row group; fixed, because the bytes of a file depend on it."""


def write_shard(
    path: str | Path, batches: Iterable[pa.RecordBatch] | pa.Table | pa.RecordBatch, schema: pa.Schema
) -> int:
    """Write one shard whole or not at all; returns its rows.

    The bytes depend on rows and schema alone, never on how the batches were cut.
    Raises DataError when a batch has other columns than `schema`, RunError when the disk is full.
    """
    if isinstance(batches, pa.Table):
        batches = batches.to_batches()
    elif isinstance(batches, pa.RecordBatch):
        batches = [batches]
    rows = 0
    with (
        replacing(path) as temporary,
        temporary.open("wb") as stream,
        pq.ParquetWriter(stream, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        for table in rebatch(batches, schema, ROW_GROUP_ROWS):
            writer.write_table(table, row_group_size=ROW_GROUP_ROWS)
            rows += table.num_rows
    return rows


def rebatch(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of exactly `rows` rows, the last one shorter; columns are put in `schema`'s order."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        batch = _conform(batch, schema)
        while batch.num_rows:
            part = batch.slice(0, rows - count)
            held.append(part)
            count += part.num_rows
            batch = batch.slice(part.num_rows)
            if count == rows:
                yield pa.Table.from_batches(held, schema).combine_chunks()
                held, count = [], 0
    if held:
        yield pa.Table.from_batches(held, schema).combine_chunks()


def read_shard(path: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A whole shard as a table.  Raises DataError when it is missing, truncated or corrupt."""
    with open_shard(path) as file, _readable(path):
        return file.read(columns=_known(columns, file, path), use_threads=False)


def read_batches(
    path: str | Path, columns: Sequence[str] | None = None, batch_rows: int = 1024
) -> Iterator[pa.RecordBatch]:
    """A shard's rows in batches of at most `batch_rows`, never the whole file.  Raises like `read_shard`."""
    with open_shard(path) as file:
        wanted = _known(columns, file, path)
        batches = file.iter_batches(batch_rows, columns=wanted, use_threads=False)
        while True:
            # Only the reading stands in the guard: an error of whoever consumes the batch is not the shard's.
            with _readable(path):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch


@contextmanager
def open_shard(path: str | Path) -> Iterator[pq.ParquetFile]:
    """The open Parquet file, its footer read, page checksums verified on reading.  Raises like `read_shard`."""
    if not Path(path).is_file():
        raise DataError("there is no such file", file=path, remedy="Restore it from a copy, or make its corpus again.")
    with _readable(path):
        file = pq.ParquetFile(path, page_checksum_verification=True)
    with file:
        yield file


@contextmanager
def _readable(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(
            f"the file is truncated, corrupt or no Parquet at all ({reason})",
            file=path,
            remedy="Restore it from a copy, or remove it and make it again.",
        ) from error


def _known(columns: Sequence[str] | None, file: pq.ParquetFile, path: str | Path) -> list[str] | None:
    names = file.schema_arrow.names
    for column in columns or ():
        if column not in names:
            raise DataError(f"there is no column '{column}'{nearest(column, names)}", file=path)
    return None if columns is None else list(columns)


def _conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if batch.schema.equals(schema):
        return batch
    if sorted(batch.schema.names) != sorted(schema.names):
        raise DataError(
            f"a batch has the columns {', '.join(batch.schema.names)}, the corpus has {', '.join(schema.names)}"
        )
    batch = batch.select(schema.names)
    for found, wanted in zip(batch.schema, schema, strict=True):
        if found.type != wanted.type:
            raise DataError(f"column '{wanted.name}' is {found.type} in a batch, {wanted.type} in the corpus")
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)
