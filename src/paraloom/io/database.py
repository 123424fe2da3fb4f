"""DuckDB: one way to open a database, which has no files and no network, and one way to write its queries.

A query is a constant; names and values come into it through `sql`, which quotes them, or as parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow.fs import LocalFileSystem

from paraloom.core.errors import DataError
from paraloom.io.shards import corruption_as_error, open_shard

Connection = duckdb.DuckDBPyConnection


class Sql(str):
    """A part of a query that is not data."""

    __slots__ = ()


@dataclass(frozen=True)
class Column:
    """A column of registered shards.

    Args:
        name: Its name in queries.
        type: Type of its values.
    """

    name: str
    type: pa.DataType


def open_database(
    path: Path | None = None, *, threads: int = 1, memory: str = "1GB", scratch: Path | None = None
) -> Connection:
    """Open a database whose queries read and write nothing but its own tables and what is registered.

    Args:
        path: Its file; by default it is in memory.
        threads: Threads of a query. One: some results depend on the order in which rows arrive.
        memory: Memory of its own data; the rest goes to `scratch`.
        scratch: Folder for what does not fit into memory; none by default.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
        "threads": threads,
        "memory_limit": memory,
        "temp_directory": str(scratch or ""),
    }
    database = duckdb.connect(":memory:" if path is None else str(path), config=config)
    database.execute("SET lock_configuration = true")
    return database


def register_shards(database: Connection, view: str, shards: Sequence[Path]) -> dict[str, Column]:
    """Make Parquet files a view of a database.

    Neither names of files nor those of columns come into a query: `read_parquet` takes the former for patterns, and SQL
    does not tell the latter apart by case.

    Args:
        database: The database.
        view: Name of the view.
        shards: The files, with the same columns.

    Returns:
        The columns by their names in the files.

    Raises:
        DataError: A file is missing or corrupt.
    """
    with open_shard(shards[0]) as first:
        schema = first.schema_arrow
    options = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    with corruption_as_error(shards[0]):
        rows = ds.FileSystemDataset.from_paths(
            [str(shard.absolute()) for shard in shards],
            schema=schema,
            format=ds.ParquetFileFormat(default_fragment_scan_options=options),
            filesystem=LocalFileSystem(),
        )
    database.register("files", rows)
    columns = {field.name: Column(f"c{number}", field.type) for number, field in enumerate(schema)}
    names = sql_list(column.name for column in columns.values())
    database.execute(sql("CREATE VIEW {} AS SELECT * FROM files AS files ({})", view, names))
    return columns


def sql(template: str, /, *parts: object, **named: object) -> Sql:
    """Write a query, or a part of one.

    Args:
        template: A constant, with placeholders as `str.format` has them.
        *parts: What replaces them: a text becomes a quoted identifier, a number itself, `Sql` stays as it is.
        **named: The same, by name.

    Example:
        >>> sql("SELECT {} FROM {view} LIMIT {n}", 'a"b', view="rows", n=3)
        'SELECT "a""b" FROM "rows" LIMIT 3'
    """
    return Sql(template.format(*map(_part, parts), **{name: _part(part) for name, part in named.items()}))


def sql_list(parts: Iterable[object], separator: str = ", ") -> Sql:
    """Join parts of a query, as `sql` takes them.

    Example:
        >>> sql("SELECT {}", sql_list(["a", "b c"]))
        'SELECT "a", "b c"'
    """
    return Sql(separator.join(map(_part, parts)))


def sql_text(text: str) -> Sql:
    """Write a text as a constant of a query.

    Example:
        >>> sql_text("it's")
        "'it''s'"
    """
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
