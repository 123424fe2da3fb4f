"""DuckDB as it is used here: a database in memory that is given the rows of a batch and reaches nothing else."""

from __future__ import annotations

import os
from functools import lru_cache

import duckdb
import pyarrow as pa


def ask(rows: pa.RecordBatch, *expressions: str) -> pa.Table:
    """The SQL expressions for each row of `rows`, in order, as columns c0, c1 …  Raises duckdb.Error."""
    columns = ", ".join(f"({expression}) AS c{number}" for number, expression in enumerate(expressions))
    database = connection()
    try:
        database.register("rows", rows)
        return database.sql(f"SELECT {columns} FROM rows").to_arrow_table().combine_chunks()
    finally:
        database.close()


def ask_one(query: str, *parameters: str) -> list[tuple[object, ...]]:
    """The answer to a query that is about no rows of ours, such as how DuckDB reads an expression."""
    database = connection()
    try:
        return database.execute(query, list(parameters)).fetchall()
    finally:
        database.close()


def connection() -> duckdb.DuckDBPyConnection:
    """A cursor of this process's database: one thread, no files, no network, settings locked."""
    return _database(os.getpid()).cursor()


@lru_cache(maxsize=1)
def _database(process: int) -> duckdb.DuckDBPyConnection:
    # Keyed by process, because a forked worker must not go on with its parent's database.
    database = duckdb.connect(":memory:")
    for setting in ("threads=1", "enable_external_access=false", "lock_configuration=true"):
        database.execute(f"SET {setting}")
    return database
