"""The syntax tree of a condition: parsed by DuckDB, bounded in what it may compute, and written as SQL again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeAlias

from paraloom.core.errors import ConfigError
from paraloom.io.database import Connection, Sql, connect, sql

Node: TypeAlias = dict[str, Any]
"""An expression, as DuckDB's `json_serialize_sql` writes it."""

WATCH: ContextVar[Callable[[Connection], AbstractContextManager[object]]] = ContextVar("watch", default=nullcontext)
"""Entered with the connection around every query, so that whoever sets it can interrupt the query."""

MAX_GROWTH = 1000
"""Length limit of a text that a condition makes, in lengths of the texts of the row."""

COMPARED_CHARACTERS = 1000
"""Characters of a text that edit distances compare, whose time grows with the square of it."""

_DISTANCES = frozenset(
    ["damerau_levenshtein", "editdist3", "jaro_similarity", "jaro_winkler_similarity", "levenshtein"]
)
_SHORT_TYPES = frozenset(
    ["BIGINT", "BOOL", "BOOLEAN", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "HUGEINT", "INT", "INTEGER", "REAL"]
)
_OF_NO_LENGTH = frozenset(["BETWEEN", "COMPARISON", "CONJUNCTION"])
_TESTS = frozenset(["COMPARE_IN", "COMPARE_NOT_IN", "OPERATOR_IS_NOT_NULL", "OPERATOR_IS_NULL", "OPERATOR_NOT"])
# A blob is written as \\x00, and a quotation mark in a list with a backslash.
_CAST_GROWTH = 4
# Characters of a condition that a message shows at most.
_SHOWN = 300
_TOO_DEEP = "it is too deeply nested"


def parse(statement: str, text: str) -> Node:
    """The tree of a statement; ConfigError if it is not valid SQL."""
    import duckdb

    try:
        tree: dict[str, Any] = json.loads(str(_query(sql("SELECT json_serialize_sql(?)"), statement)))
    except RecursionError:
        raise invalid(text, _TOO_DEEP) from None
    except (duckdb.Error, UnicodeEncodeError) as error:
        raise invalid(text, str(error).splitlines()[0].rstrip(".")) from None
    if tree["error"]:
        message = tree["error_message"].splitlines()[0]
        at_end = str(tree.get("position")) == str(len(statement.encode()) - 1)
        if at_end and text.count(")") <= text.count("("):
            message = "syntax error at the end of the condition"  # at the parenthesis that was added to it
        raise invalid(text, message)
    return tree


def walk(root: Any) -> Iterator[Node]:
    """Every expression of a parse tree, from left to right."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "class" in node:
                yield node
            pending += reversed(node.values())
        elif isinstance(node, list):
            pending += reversed(node)


def to_sql(tree: Node, expression: Node, text: str) -> Sql:
    import duckdb

    node = {**tree["statements"][0]["node"], "select_list": [expression]}
    statement = {**tree, "statements": [{**tree["statements"][0], "node": node}]}
    try:
        written = str(_query(sql("SELECT json_deserialize_sql(?)"), json.dumps(statement)))
    except (RecursionError, duckdb.Error):
        raise invalid(text, _TOO_DEEP) from None
    written = written.removeprefix("SELECT ").strip()
    return Sql(written[1:-1] if written.startswith("(") and _closes_at_end(written) else written)


def check_growth(expression: Node, text: str) -> None:
    """Check that no text that an expression makes is much longer than those of the row; raises ConfigError."""
    try:
        _growth(expression, text)
    except RecursionError:
        raise invalid(text, _TOO_DEEP) from None


def _growth(node: Node, text: str) -> float:
    """Maximum length of an expression's value, in lengths of the longest text of the row or the condition."""
    arguments = [container[key] for container, key in _slots(node)]
    sizes = [_growth(argument, text) for argument in arguments]
    kind = node["class"]
    if kind in _OF_NO_LENGTH or node["type"] in _TESTS:
        return 0
    if kind in ("COLUMN_REF", "CONSTANT"):
        return kind == "COLUMN_REF" or _constant(node) is not None
    if kind in ("CASE", "OPERATOR"):
        return max(sizes, default=0)
    if kind == "FUNCTION" and node["function_name"] in ("replace", "regexp_replace"):
        size = sum(sizes[:1]) * _replacement_growth(node["function_name"], arguments[1:3], text)
    elif kind == "CAST" and str(node.get("type_expr", {}).get("type_name", "")).upper() not in _SHORT_TYPES:
        size = sum(sizes) * _CAST_GROWTH
    else:
        size = sum(sizes)
    if size > MAX_GROWTH:
        raise invalid(text, f"it may make texts more than {MAX_GROWTH:,} times as long as those of the row")
    return size


def _replacement_growth(function: str, arguments: Sequence[Node], text: str) -> float:
    """Maximum growth of a text by a replacement, as a factor."""
    pattern, replacement = [*map(_constant, arguments), None, None][:2]
    if replacement is None:
        raise invalid(text, f"what {function} puts in must be a constant")
    if function == "replace":
        return max(1, len(replacement) / max(1, len(pattern or "")))
    # A group of a match may come back as a whole, and an empty pattern matches between all characters.
    return 1 + len(replacement)


def shorten_compared_texts(expression: Node) -> None:
    """Let edit distances compare the beginnings of texts only."""
    for node in list(walk(expression)):
        if node["class"] == "FUNCTION" and node["function_name"] in _DISTANCES:
            for container, key in list(_slots(node)):
                container[key] = _call(sql("left(x, {})", COMPARED_CHARACTERS), container[key])


def compared(expression: Node) -> list[tuple[Any, Any]]:
    """Where the values are that an expression compares or casts: what holds them, and their key or index there."""
    nodes = [
        node
        for node in walk(expression)
        if node["class"] in ("BETWEEN", "CAST", "COMPARISON") or node["type"] in ("COMPARE_IN", "COMPARE_NOT_IN")
    ]
    return [slot for node in nodes for slot in _slots(node)]


def null_for_nan(value: Node) -> Node:
    """An expression that is null where a number is NaN."""
    return _call(sql("nullif(x, 'NaN'::DOUBLE)"), value)


def _call(template: Sql, argument: Node) -> Node:
    """A call of a function, with an expression in place of its first argument."""
    call: Node = expression_of(parse(f"SELECT {template}", template))
    container, key = next(_slots(call))
    container[key] = argument
    return call


def expression_of(tree: Node) -> Node:
    """The first expression of the first statement of a tree."""
    expression: Node = tree["statements"][0]["node"]["select_list"][0]
    return expression


def _constant(node: Node) -> str | None:
    """The text of a constant, None where the node is something else."""
    if node["class"] != "CONSTANT":
        return None
    literal = node.get("literal") or node.get("value") or {}
    value = literal.get("text", literal.get("value"))
    return value if isinstance(value, str) and literal.get("kind", "STRING") == "STRING" else None


def _slots(node: Node) -> Iterator[tuple[Any, Any]]:
    """Where the expressions directly below a node are: what holds them, and their key or index there."""
    pending: list[Any] = [node]
    while pending:
        container = pending.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        nested = []
        for key, value in items:
            if isinstance(value, dict) and "class" in value:
                if value["class"] != "TYPE":
                    yield container, key
            elif isinstance(value, dict | list):
                nested.append(value)
        pending += reversed(nested)


def _closes_at_end(sql: str) -> bool:
    """True if the parenthesis that opens `sql` is closed by its last character; quoted text is skipped."""
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


def _query(query: Sql, *parameters: str) -> object:
    """The value of a query that reads no rows of ours, such as how DuckDB parses an expression."""
    with connection() as database:
        return database.execute(query, list(parameters)).fetchall()[0][0]


@contextmanager
def connection() -> Iterator[Connection]:
    """A cursor of this process's database for conditions."""
    with _database(os.getpid()).cursor() as database, WATCH.get()(database):
        yield database


@lru_cache(maxsize=1)
def _database(process: int) -> Connection:
    # Keyed by process, because a forked worker must not use its parent's database.
    return connect()


def invalid(text: str, why: str) -> ConfigError:
    """The error of a condition that cannot be used."""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return ConfigError(
        f'invalid condition "{shown}": {why}',
        remedy="Give one SQL expression that is true or false for a row, such as: trigram_overlap <= 0.7",
    )
