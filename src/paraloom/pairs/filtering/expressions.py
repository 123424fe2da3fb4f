"""SQL conditions over the columns of a row: parsed, checked and evaluated by DuckDB."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError
from paraloom.pairs.scoring.table import missing_column

_NEEDS_OTHER_ROWS = {"WINDOW": "it contains a window function", "SUBQUERY": "it contains a subquery"}


@dataclass(frozen=True)
class Condition:
    """A checked condition.

    Args:
        text: The condition as it was given.
        clauses: The parts that `and` joins at the top level, as DuckDB writes them; the whole condition if there is
            only one.
        columns: Names of the columns in it, spelled as in `text`.
    """

    text: str
    clauses: tuple[str, ...]
    columns: tuple[str, ...]


@lru_cache(maxsize=64)
def condition(text: str) -> Condition:
    """Parse one boolean SQL expression over the columns of a row.

    Args:
        text: An expression such as `trigram_overlap <= 0.7 and tgt_tokens between 3 and 30`.

    Returns:
        The parsed condition.

    Raises:
        ConfigError: The text is not valid SQL, is more than one expression, or its value would depend on other rows or
            on the moment: window functions, aggregates, subqueries, functions like `random()` and `now()`.

    Example:
        >>> condition("trigram_overlap <= 0.7 and tgt_tokens between 3 and 30").clauses
        ('trigram_overlap <= 0.7', 'tgt_tokens BETWEEN 3 AND 30')
    """
    # The line break ends a comment that would otherwise hide the closing parenthesis.
    tree = _parse(f"SELECT ({text}\n)", text)
    statements = tree["statements"]
    node = statements[0]["node"]
    if len(statements) != 1 or node.get("type") != "SELECT_NODE" or len(node["select_list"]) != 1 or _has_more(node):
        raise _invalid(text, "expected one expression")
    expression = node["select_list"][0]
    parts = list(_walk(expression))
    for part in parts:
        if part["class"] in _NEEDS_OTHER_ROWS:
            raise _invalid(text, _NEEDS_OTHER_ROWS[part["class"]])
        if part["class"] == "STAR":
            raise _invalid(text, "it contains a '*'")
        if part["class"] == "FUNCTION":
            _check_function(part["function_name"], text)
    columns = {part["column_names"][0]: None for part in parts if part["class"] == "COLUMN_REF"}
    is_conjunction = expression["type"] == "CONJUNCTION_AND"
    clauses = [_to_sql(tree, clause) for clause in (expression["children"] if is_conjunction else [expression])]
    return Condition(text, tuple(clauses), tuple(columns))


def check_columns(parsed: Condition, schema: pa.Schema) -> None:
    """Check a condition against the columns of a corpus.

    Args:
        parsed: The condition.
        schema: Schema of the corpus.

    Raises:
        ConfigError: The condition names a column that the corpus does not have, or is not boolean.
    """
    known = {name.lower() for name in schema.names}
    for column in parsed.columns:
        if column.lower() not in known:
            raise missing_column(column, schema.names, f'in the condition "{parsed.text}"')
    evaluate(parsed, pa.RecordBatch.from_pylist([], schema=schema))


def evaluate(parsed: Condition, batch: pa.RecordBatch) -> list[pa.BooleanArray]:
    """Evaluate each clause of a condition on each row.

    NaN counts as null: in DuckDB, NaN is greater than every number, so undefined scores would pass lower bounds.

    Args:
        parsed: The condition.
        batch: n rows.

    Returns:
        One array `(n,)` per clause: true, false, or null where it is undefined.

    Raises:
        ConfigError: A clause is not boolean, or cannot be computed on a row.
    """
    if not parsed.columns:
        # One column is enough: only the number of rows matters.
        batch = batch.select([0])
    else:
        needed = {column.lower() for column in parsed.columns}
        batch = batch.select([name for name in batch.schema.names if name.lower() in needed])
    try:
        table = evaluate_sql(_without_nan(batch), *parsed.clauses)
    except duckdb.Error as error:
        raise _invalid(parsed.text, str(error).splitlines()[0].rstrip(".")) from error
    for clause, column in zip(parsed.clauses, table.columns, strict=True):
        if column.type not in (pa.bool_(), pa.null()):
            raise _invalid(parsed.text, f'"{clause}" is {column.type}, expected true or false')
    return [pc.cast(column, pa.bool_()).combine_chunks() for column in table.columns]


def evaluate_sql(rows: pa.RecordBatch, *expressions: str) -> pa.Table:
    """Evaluate SQL expressions on each row, without access to files or the network.

    Args:
        rows: n rows.
        *expressions: SQL expressions over the columns of `rows`.

    Returns:
        A table of n rows in the same order, with a column c0, c1 … for each expression.

    Raises:
        duckdb.Error: An expression cannot be evaluated.
    """
    columns = ", ".join(f"({expression}) AS c{number}" for number, expression in enumerate(expressions))
    database = _connection()
    try:
        database.register("rows", rows)
        return database.sql(f"SELECT {columns} FROM rows").to_arrow_table().combine_chunks()
    finally:
        database.close()


def _without_nan(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Replace every NaN of a batch by null."""
    for position, field in enumerate(batch.schema):
        if pa.types.is_floating(field.type):
            values = batch.column(position)
            clean = pc.if_else(pc.is_nan(values), pa.scalar(None, field.type), values)
            batch = batch.set_column(position, field, clean)
    return batch


def _query(sql: str, *parameters: str) -> list[tuple[object, ...]]:
    """The result of a query that reads no rows of ours, such as how DuckDB parses an expression."""
    database = _connection()
    try:
        return database.execute(sql, list(parameters)).fetchall()
    finally:
        database.close()


def _connection() -> duckdb.DuckDBPyConnection:
    """A cursor of this process's database: one thread, no files, no network, settings locked."""
    return _database(os.getpid()).cursor()


@lru_cache(maxsize=1)
def _database(process: int) -> duckdb.DuckDBPyConnection:
    # Keyed by process, because a forked worker must not use its parent's database.
    database = duckdb.connect(":memory:")
    for setting in ("threads=1", "enable_external_access=false", "lock_configuration=true"):
        database.execute(f"SET {setting}")
    return database


def _parse(statement: str, text: str) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(str(_query("SELECT json_serialize_sql(?)", statement)[0][0]))
    if tree["error"]:
        raise _invalid(text, tree["error_message"].splitlines()[0])
    return tree


def _has_more(node: dict[str, Any]) -> bool:
    """Whether a SELECT has anything besides its list, which a closing parenthesis in the text could add."""
    clauses = ("where_clause", "having", "qualify", "sample", "modifiers", "group_expressions")
    return any(node.get(clause) for clause in clauses) or node["from_table"]["type"] != "EMPTY"


def _walk(node: Any) -> Iterator[dict[str, Any]]:
    """Every expression of a parse tree."""
    if isinstance(node, dict):
        if "class" in node:
            yield node
        for child in node.values():
            yield from _walk(child)
    elif isinstance(node, list):
        for child in node:
            yield from _walk(child)


def _check_function(name: str, text: str) -> None:
    query = "SELECT function_type, stability FROM duckdb_functions() WHERE function_name = ?"
    for kind, stability in _query(query, name):
        if kind not in ("scalar", "macro"):
            raise _invalid(text, f"{name} aggregates many rows, but a filter sees one row at a time")
        if stability not in ("CONSISTENT", None):
            raise _invalid(text, f"{name} does not give the same result each time")


def _to_sql(tree: dict[str, Any], expression: dict[str, Any]) -> str:
    node = {**tree["statements"][0]["node"], "select_list": [expression]}
    statement = {**tree, "statements": [{**tree["statements"][0], "node": node}]}
    sql = str(_query("SELECT json_deserialize_sql(?)", json.dumps(statement))[0][0])
    sql = sql.removeprefix("SELECT ").strip()
    return sql[1:-1] if sql.startswith("(") and _closes_at_end(sql) else sql


def _closes_at_end(sql: str) -> bool:
    """Whether the parenthesis that opens `sql` is closed by its last character; quoted text is skipped."""
    depth, quote = 0, ""
    for position, character in enumerate(sql):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0:
                return position == len(sql) - 1
    return False


def _invalid(text: str, why: str) -> ConfigError:
    return ConfigError(
        f'invalid condition "{text}": {why}',
        remedy="Give one SQL expression that is true or false for a row, such as: trigram_overlap <= 0.7",
    )
