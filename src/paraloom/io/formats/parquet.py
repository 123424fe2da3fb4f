"""Parquet files: two text columns of any table."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.atomic import disk_full_as_error
from paraloom.io.compression import SUFFIXES, open_read, utf8_error
from paraloom.io.formats.base import PROVENANCE, PairRow, ReadOptions
from paraloom.io.shards import open_shard, read_batches, write_shard


def read(options: ReadOptions, batch_rows: int = 1024) -> Iterator[PairRow]:
    """Read pairs from two columns (`src` and `tgt` by default).

    Args:
        options: What to read.
        batch_rows: Rows to read at a time.

    Raises:
        DataError: A column is missing or not text, or a value is null or not valid UTF-8.
    """
    names = [str(options.src_column or "src"), str(options.tgt_column or "tgt")]
    with _uncompressed(options.path) as path:
        try:
            provenance = _check_columns(path, options, names)
            row = 0
            for batch in read_batches(path, list(dict.fromkeys([*names, *filter(None, provenance)])), batch_rows):
                columns = [
                    [None] * batch.num_rows if name is None else text_values(batch.column(name))
                    for name in (*names, *provenance)
                ]
                for values in zip(*columns, strict=True):
                    row += 1
                    problem = row_error(names, values)
                    if problem is None:
                        yield PairRow(row, *values)
                    else:
                        options.reject(row, problem, repr(values[:2]))
        except DataError as error:
            # The error may be about a decompressed copy; the user knows the file by its own name.
            error.file = options.path
            raise


def write(batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: str) -> int:
    """Write one Parquet file, with the signatures of its columns.

    Args:
        batches: The rows.
        schema: Their columns.
        target: The file.

    Returns:
        Number of rows.

    Raises:
        ConfigError: The name has a suffix of compression.
    """
    if target.endswith(SUFFIXES):
        raise compressed_twice(target)
    return write_shard(target, batches, schema)


def compressed_twice(target: str) -> ConfigError:
    """The error for a Parquet file whose name has a suffix of compression."""
    return ConfigError(
        "Parquet files are compressed internally", file=target, remedy="Name it .parquet, without another suffix."
    )


@contextmanager
def _uncompressed(path: str) -> Iterator[Path]:
    """The file itself, or a decompressed copy, because Parquet is read from its end."""
    if not path.endswith(SUFFIXES):
        with open_read(path):
            yield Path(path)
        return
    with NamedTemporaryFile(suffix=".parquet") as copy:
        with disk_full_as_error(copy.name), open_read(path) as stream:
            shutil.copyfileobj(stream, copy)
            copy.flush()
        yield Path(copy.name)


def _check_columns(path: Path, options: ReadOptions, names: list[str]) -> list[str | None]:
    """Check that the columns exist and are text; returns those of PROVENANCE that can be kept."""
    with open_shard(path) as file:
        schema = file.schema_arrow
    for name in names:
        if name not in schema.names:
            raise DataError(
                f"column '{name}' not found{nearest(name, schema.names)}",
                remedy="Name the columns of the two sides: --src-column, --tgt-column.",
            )
        if not is_text(schema.field(name).type):
            raise DataError(f"column '{name}' must be text, got {schema.field(name).type}")
    return [name if name in schema.names and is_text(schema.field(name).type) else None for name in PROVENANCE]


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type has text.

    Args:
        kind: The type.
    """
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def text_values(column: pa.Array) -> list[Any]:
    """The texts of a column; a value that is not valid UTF-8 is returned as bytes.

    Args:
        column: The column.
    """
    try:
        values: list[Any] = column.to_pylist()
        return values
    except UnicodeDecodeError:
        return [_text_or_bytes(value) for value in column.cast(pa.large_string()).cast(pa.large_binary()).to_pylist()]


def _text_or_bytes(value: bytes | None) -> str | bytes | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value


def row_error(names: list[str], values: tuple[Any, ...]) -> DataError | None:
    """What is wrong with a row, None if nothing is.

    Args:
        names: Names of the two sides, for the error.
        values: The two sides and the columns of PROVENANCE; bytes where they are not valid UTF-8.
    """
    for name, value in zip((*names, *PROVENANCE), values, strict=True):
        if isinstance(value, bytes):
            try:
                value.decode()
            except UnicodeDecodeError as error:
                return utf8_error(value, error.start)
        if value is None and name in names:
            return DataError(f"'{name}' is null", remedy="Fill it in, or remove the row.")
    return None
