"""DuckDB: one way to open a database, which has no files and no network, and one way to write its queries.

A query is a constant; names and values come into it through `sql`, which quotes them, or as parameters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow.fs import LocalFileSystem

from paraloom.core.errors import DataError, printable
from paraloom.io.shards import corrupt, corruption_as_error, is_text, open_shard, openable

Connection = duckdb.DuckDBPyConnection

_FAILED_STREAM = re.compile(r"reading the stream registered as '(.*)' failed: (.*)", re.DOTALL)
_INTERRUPTED_STREAM = re.compile(r"stream from the object registered as '.*' failed: KeyboardInterrupt", re.DOTALL)


class Sql(str):
    """A part of a query that is not data."""

    __slots__ = ()


@dataclass(frozen=True)
class ShardColumn:
    name: str
    type: pa.DataType


@contextmanager
def open_database(*, memory: str = "1GB", scratch: Path | None = None) -> Iterator[Connection]:
    database = connect(memory=memory, scratch=scratch)
    try:
        yield database
    except duckdb.Error as error:
        # An interrupt that arrives while rows are handed over comes back as an error of the query.
        if _INTERRUPTED_STREAM.search(str(error)):
            raise KeyboardInterrupt from error
        if (failed := _FAILED_STREAM.search(str(error))) is None:
            raise
        raise corrupt(failed[1], failed[2]) from error
    finally:
        database.close()


def connect(*, memory: str = "1GB", scratch: Path | None = None) -> Connection:
    """Open a database whose queries read and write nothing but its own tables and what is registered."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
        # Some results depend on the order in which rows arrive.
        "threads": 1,
        "memory_limit": memory,
        "temp_directory": str(scratch or ""),
    }
    database = duckdb.connect(":memory:", config=config)
    database.execute("SET lock_configuration = true")
    return database


def register_shards(database: Connection, view: str, shards: Sequence[Path]) -> dict[str, ShardColumn]:
    """Make Parquet files a view; queries hold neither file names, taken for patterns, nor columns, which fold case."""
    with open_shard(shards[0]) as first:
        kinds = {field.name: _queried_type(field.type) for field in first.schema_arrow}
    columns = {
        name: ShardColumn(f"c{number}", kind) for number, (name, kind) in enumerate(kinds.items()) if kind is not None
    }
    files = ds.ParquetFileFormat(
        # With a buffer ahead, Arrow keeps all row groups that were read until the scan ends.
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True, pre_buffer=False)
    )
    with corruption_as_error(shards[0]):
        rows = ds.FileSystemDataset(
            [files.make_fragment(openable(shard.absolute()), LocalFileSystem()) for shard in shards],
            pa.schema([(name, column.type) for name, column in columns.items()]),
            files,
        )
    # A message about a shard has the name that its rows are registered as.
    folder = printable(str(shards[0].parent))
    database.register(folder, rows)
    names = sql_list(column.name for column in columns.values())
    database.execute(sql("CREATE VIEW {} AS SELECT * FROM {} AS files ({})", view, folder, names))
    return columns


def _queried_type(kind: pa.DataType) -> pa.DataType | None:
    """The type as which values come into a database, None where DuckDB does not read it, or ends the process at it."""
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_decimal(kind):
        return pa.float64()
    if pa.types.is_struct(kind):
        fields = [(field.name, _queried_type(field.type)) for field in kind]
        return None if any(part_type is None for _, part_type in fields) else pa.struct(fields)
    if pa.types.is_list(kind):
        part_type = _queried_type(kind.value_type)
        return None if part_type is None else pa.list_(part_type)
    known = is_text(kind) or any(
        test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    )
    return kind if known else None


def sql(template: str, /, *parts: object, **named: object) -> Sql:
    """Write a query, or a part of one."""
    return Sql(template.format(*map(_part, parts), **{name: _part(part) for name, part in named.items()}))


def sql_list(parts: Iterable[object]) -> Sql:
    """Join parts of a query, as `sql` takes them."""
    return Sql(", ".join(map(_part, parts)))


def sql_text(text: str) -> Sql:
    """Write a text as a constant of a query."""
    return Sql("'" + _without_nul(text).replace("'", "''") + "'")


def _part(part: object) -> str:
    if isinstance(part, float) and not math.isfinite(part):
        return f"'{part}'::DOUBLE"
    if isinstance(part, Sql | int | float):
        return str(part)
    if isinstance(part, str):
        return '"' + _without_nul(part).replace('"', '""') + '"'
    raise TypeError(f"a query is made of names, numbers and Sql, not of {type(part).__name__}")


def _without_nul(text: str) -> str:
    # DuckDB takes it for the end of the query.
    if "\0" in text:
        raise DataError(f"the name {text!r:.80} contains a NUL character", remedy="Rename the column.")
    return text
