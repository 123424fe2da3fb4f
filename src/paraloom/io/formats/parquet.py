"""Parquet files: two text columns of any table."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError
from paraloom.io.atomic import disk_full_as_error
from paraloom.io.compression import SUFFIXES, open_read
from paraloom.io.formats.base import PairRow, ReadOptions
from paraloom.io.formats.columns import Side, choose_sides, kept_provenance, pair_rows
from paraloom.io.shards import ROW_GROUP_ROWS, open_shard, read_batches, write_shard


def read(options: ReadOptions, batch_rows: int = 1024) -> Iterator[PairRow]:
    """Read pairs from two columns: those that are named, else `src` and `tgt`, else those of `choose_sides`."""
    with _uncompressed(options.path) as path:
        try:
            with open_shard(path) as file:
                schema = file.schema_arrow
            sides = _sides(schema, options)
            needed = dict.fromkeys([*(side.column for side in sides), *filter(None, kept_provenance(schema))])
            batches = read_batches(path, list(needed), batch_rows)
            yield from pair_rows(batches, schema, sides, [side.lang for side in sides], options)
        except DataError as error:
            # The error may be about a decompressed copy; the user knows the file by its own name.
            error.file = options.path
            raise


def write(batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: str) -> int:
    """Write one Parquet file, with the signatures of its columns."""
    if target.endswith(SUFFIXES):
        raise compressed_twice(target)
    # Sentences are short: larger groups than those of shards make the file a hundredth smaller, and its end shorter.
    return write_shard(target, batches, schema, 10 * ROW_GROUP_ROWS if "src" in schema.names else ROW_GROUP_ROWS)


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


def _sides(schema: pa.Schema, options: ReadOptions) -> tuple[Side, Side]:
    """The columns of the two sides: src and tgt, if there is one of them and none is named."""
    if options.src_column is None and options.tgt_column is None and {"src", "tgt"} & set(schema.names):
        options = replace(options, src_column="src", tgt_column="tgt")
    return choose_sides(schema, options)
