"""Parquet files of others: two columns of text out of whatever they hold."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.atomic import no_room_named
from paraloom.io.compression import SUFFIXES, not_utf8, open_read
from paraloom.io.formats.base import PROVENANCE, Asked, Pair
from paraloom.io.shards import open_shard, read_batches, write_shard


def read(asked: Asked, batch_rows: int = 1024) -> Iterator[Pair]:
    """The two columns asked for (`src` and `tgt` by default); DataError for a missing column and for a null."""
    names = [str(asked.src_column or "src"), str(asked.tgt_column or "tgt")]
    with _plain(asked.path) as path:
        try:
            further = _check(path, asked, names)
            row = 0
            for batch in read_batches(path, list(dict.fromkeys([*names, *filter(None, further)])), batch_rows):
                columns = [_values(batch, name) for name in (*names, *further)]
                for values in zip(*columns, strict=True):
                    row += 1
                    bad = _fault(names, values)
                    if bad is None:
                        yield Pair(row, *values)
                    else:
                        asked.refuse(row, bad, repr(values[:2]))
        except DataError as error:
            # The reader may have been at an unpacked copy; the user knows the file by its own name.
            error.file = asked.path
            raise


def write(batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: str) -> int:
    """One Parquet file, its columns with their signatures.  Returns the rows."""
    if target.endswith(SUFFIXES):
        raise ConfigError(
            "a Parquet file is packed inside already", file=target, remedy="Name it .parquet, without a further suffix."
        )
    return write_shard(target, batches, schema)


@contextmanager
def _plain(path: str) -> Iterator[Path]:
    """The file itself, or an unpacked copy: Parquet is read from its end."""
    if not path.endswith(SUFFIXES):
        with open_read(path):
            yield Path(path)
        return
    with NamedTemporaryFile(suffix=".parquet") as copy:
        with no_room_named(copy.name), open_read(path) as stream:
            shutil.copyfileobj(stream, copy)
            copy.flush()
        yield Path(copy.name)


def _check(path: Path, asked: Asked, names: list[str]) -> list[str | None]:
    """Check that the columns are there and text; returns those of PROVENANCE that can be kept."""
    with open_shard(path) as file:
        schema = file.schema_arrow
    for name in names:
        if name not in schema.names:
            raise DataError(
                f"there is no column '{name}'{nearest(name, schema.names)}",
                remedy="Name the columns of the two sides: --src-column, --tgt-column.",
            )
        if not _is_text(schema.field(name).type):
            raise DataError(f"column '{name}' is {schema.field(name).type}, not text")
    return [name if name in schema.names and _is_text(schema.field(name).type) else None for name in PROVENANCE]


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _values(batch: pa.RecordBatch, name: str | None) -> list[Any]:
    """The column's texts; a value that is no UTF-8 comes as bytes."""
    if name is None:
        return [None] * batch.num_rows
    column = batch.column(name)
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


def _fault(names: list[str], values: tuple[Any, ...]) -> DataError | None:
    for name, value in zip((*names, *PROVENANCE), values, strict=True):
        if isinstance(value, bytes):
            try:
                value.decode()
            except UnicodeDecodeError as error:
                return not_utf8(value, error.start)
        if value is None and name in names:
            return DataError(f"'{name}' is null", remedy="Fill it in, or remove the row.")
    return None
