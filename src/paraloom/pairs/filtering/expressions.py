"""Conditions over the columns of a row, in SQL: parsed, checked and evaluated by DuckDB."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, nearest
from paraloom.pairs.filtering.database import ask, ask_one

_OF_MANY_ROWS = {"WINDOW": "a window over rows", "SUBQUERY": "a query within it"}


@dataclass(frozen=True)
class Condition:
    """A checked condition.

    text: as it was given.  clauses: the parts that 'and' joins at the top, as DuckDB writes them (the whole, where
    there is no 'and').  columns: those it names, as they were written.
    """

    text: str
    clauses: tuple[str, ...]
    columns: tuple[str, ...]


@lru_cache(maxsize=64)
def condition(text: str) -> Condition:
    """Parse one boolean expression over the columns of a row.

    Refused with a ConfigError that shows it: a syntax error, more than one expression, and all that would make a row's
    fate depend on other rows or on the moment: windows, aggregates, queries, functions like random() and now().

    >>> condition("trigram_overlap <= 0.7 and tgt_tokens between 3 and 30").clauses
    ('trigram_overlap <= 0.7', 'tgt_tokens BETWEEN 3 AND 30')
    """
    # The line break ends a comment that would else swallow the bracket.
    tree = _tree(f"SELECT ({text}\n)", text)
    statements = tree["statements"]
    node = statements[0]["node"]
    if len(statements) != 1 or node.get("type") != "SELECT_NODE" or len(node["select_list"]) != 1 or _has_more(node):
        raise _refused(text, "this is not one expression")
    expression = node["select_list"][0]
    parts = list(_walk(expression))
    for part in parts:
        if part["class"] in _OF_MANY_ROWS:
            raise _refused(text, f"it has {_OF_MANY_ROWS[part['class']]}")
        if part["class"] == "STAR":
            raise _refused(text, "it has a '*'")
        if part["class"] == "FUNCTION":
            _check_function(part["function_name"], text)
    columns = {part["column_names"][0]: None for part in parts if part["class"] == "COLUMN_REF"}
    joined = expression["type"] == "CONJUNCTION_AND"
    clauses = [_written(tree, each) for each in (expression["children"] if joined else [expression])]
    return Condition(text, tuple(clauses), tuple(columns))


def check_columns(of: Condition, schema: pa.Schema) -> None:
    """Raise ConfigError when the condition names a column that is not there, or is not true or false."""
    known = {name.lower() for name in schema.names}
    for column in of.columns:
        if column.lower() not in known:
            raise ConfigError(
                f"there is no column '{column}', named in \"{of.text}\"{nearest(column, schema.names)}",
                remedy=f"The columns are {', '.join(schema.names)}.",
            )
    evaluate(of, pa.RecordBatch.from_pylist([], schema=schema))


def evaluate(of: Condition, batch: pa.RecordBatch) -> list[pa.BooleanArray]:
    """Each clause for each row: true, false, or null where it is undefined; one array (n,) a clause.

    NaN counts as null: to DuckDB NaN is greater than every number, which would let undefined scores pass lower bounds.
    Raises ConfigError when a clause is not true or false, or cannot be computed on a row.
    """
    if not of.columns:
        # No row is looked at; one column is enough to have a row count.
        batch = batch.select([0])
    else:
        wanted = {column.lower() for column in of.columns}
        batch = batch.select([name for name in batch.schema.names if name.lower() in wanted])
    try:
        found = ask(without_nan(batch), *of.clauses)
    except duckdb.Error as error:
        raise _refused(of.text, _first_line(error)) from error
    for clause, column in zip(of.clauses, found.columns, strict=True):
        if column.type not in (pa.bool_(), pa.null()):
            raise _refused(of.text, f'"{clause}" is neither true nor false but {column.type}')
    return [pc.cast(column, pa.bool_()).combine_chunks() for column in found.columns]


def without_nan(batch: pa.RecordBatch) -> pa.RecordBatch:
    """`batch` with null in place of every NaN."""
    for position, field in enumerate(batch.schema):
        if pa.types.is_floating(field.type):
            values = batch.column(position)
            clean = pc.if_else(pc.is_nan(values), pa.scalar(None, field.type), values)
            batch = batch.set_column(position, field, clean)
    return batch


def _tree(statement: str, text: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(str(ask_one("SELECT json_serialize_sql(?)", statement)[0][0]))
    if answer["error"]:
        raise _refused(text, answer["error_message"].splitlines()[0])
    return answer


def _has_more(node: dict[str, Any]) -> bool:
    """Whether a SELECT has anything beside its list: closing our bracket early could add it."""
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
    for kind, stability in ask_one(query, name):
        if kind not in ("scalar", "macro"):
            raise _refused(text, f"{name} is about many rows, a filter sees one")
        if stability not in ("CONSISTENT", None):
            raise _refused(text, f"{name} does not give the same result each time")


def _written(tree: dict[str, Any], expression: dict[str, Any]) -> str:
    node = {**tree["statements"][0]["node"], "select_list": [expression]}
    one = {**tree, "statements": [{**tree["statements"][0], "node": node}]}
    sql = str(ask_one("SELECT json_deserialize_sql(?)", json.dumps(one))[0][0])
    sql = sql.removeprefix("SELECT ").strip()
    return sql[1:-1] if sql.startswith("(") and _closes_at_end(sql) else sql


def _closes_at_end(sql: str) -> bool:
    """Whether the bracket that opens `sql` is closed by its last character (quoted text stepped over)."""
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


def _refused(text: str, why: str) -> ConfigError:
    return ConfigError(
        f'the condition "{text}" cannot be used: {why}',
        remedy="Give one SQL expression that is true or false for a row, such as: trigram_overlap <= 0.7",
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
