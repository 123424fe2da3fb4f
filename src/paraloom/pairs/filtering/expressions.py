"""SQL conditions over the columns of a row: parsed, checked and evaluated by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, suggestion
from paraloom.io.database import Sql, sql, sql_list
from paraloom.pairs.filtering.condition_tree import (
    check_growth,
    compared,
    connection,
    expression_of,
    invalid,
    null_for_nan,
    parse,
    shorten_compared_texts,
    to_sql,
    walk,
)
from paraloom.pairs.scoring.table import missing_column

_FUNCTION_NAMES = (
    # Operators, LIKE and its kin.
    "+ - * / // % ** ^ & | << >> ~ @ || ~~ !~~ ~~* !~~* ~~~ ^@ "
    "like_escape not_like_escape ilike_escape not_ilike_escape "
    # Numbers.
    "abs acos add asin atan atan2 cbrt ceil ceiling cos cot degrees divide exp fdiv floor fmod greatest isfinite isinf "
    "isnan least ln log log10 log2 mod multiply pi pow power radians round round_even sign sin sqrt subtract tan trunc "
    # Texts.
    "ascii bit_length char_length character_length concat concat_ws contains damerau_levenshtein editdist3 ends_with "
    "hamming hash instr jaccard jaro_similarity jaro_winkler_similarity lcase left length length_grapheme len "
    "levenshtein lower ltrim md5 md5_number md5_number_lower md5_number_upper mismatches nfc_normalize octet_length "
    "ord position prefix regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace "
    "regexp_split_to_array replace reverse right rtrim sha256 split split_part starts_with str_split string_split "
    "string_split_regex strlen strip_accents strpos substr substring suffix translate trim ucase unicode upper "
    # Lists and structs.
    "array_contains array_extract array_has array_length element_at list_avg list_contains list_count list_distinct "
    "list_element list_extract list_has list_has_all list_has_any list_max list_min list_position list_sum list_unique "
    "list_value row struct_extract "
    # Undefined values.
    "if ifnull nullif"
)
FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
"""Functions of DuckDB that a condition may call: their value follows from the row alone, in bounded time and memory."""

_CLASSES = frozenset(
    [
        "BETWEEN",
        "CASE",
        "CAST",
        "COLLATE",
        "COLUMN_REF",
        "COMPARISON",
        "CONJUNCTION",
        "CONSTANT",
        "FUNCTION",
        "OPERATOR",
        "TYPE",
    ]
)
_NOT_OF_A_ROW = {
    "WINDOW": "it contains a window function",
    "SUBQUERY": "it contains a subquery",
    "STAR": "it contains a '*'",
}
_OPERATORS_OF_OTHER_ROWS = {"GROUPING_FUNCTION", "OPERATOR_UNPACK"}


@dataclass(frozen=True)
class Condition:
    text: str
    clauses: tuple[str, ...]
    columns: tuple[str, ...]


@lru_cache(maxsize=64)
def condition(text: str) -> Condition:
    """Parse one boolean SQL expression over the columns of a row."""
    if "\0" in text:
        # DuckDB takes it for the end of the text.
        raise invalid(text, "it contains a NUL character")
    # The line break ends a comment that would otherwise hide the closing parenthesis.
    tree = parse(f"SELECT ({text}\n)", text)
    statements = tree["statements"]
    node = statements[0]["node"]
    if len(statements) != 1 or node.get("type") != "SELECT_NODE" or len(node["select_list"]) != 1 or _has_more(node):
        raise invalid(text, "expected one expression")
    expression = node["select_list"][0]
    parts = list(walk(expression))
    for part in parts:
        if part["class"] not in _CLASSES:
            kind = part["class"].lower().replace("_", " ")
            raise invalid(text, _NOT_OF_A_ROW.get(part["class"], f"it contains a {kind}"))
        if part["type"] in _OPERATORS_OF_OTHER_ROWS:
            raise invalid(text, "it contains GROUPING or UNPACK")
        if part["class"] == "FUNCTION":
            _check_function(part, text)
    check_growth(expression, text)
    columns = {part["column_names"][0]: None for part in parts if part["class"] == "COLUMN_REF"}
    is_conjunction = expression["type"] == "CONJUNCTION_AND"
    clauses = [to_sql(tree, clause, text) for clause in (expression["children"] if is_conjunction else [expression])]
    return Condition(text, tuple(map(str, clauses)), tuple(columns))


def check_columns(parsed: Condition, schema: pa.Schema) -> None:
    _find_columns(parsed, schema)
    evaluate(parsed, pa.RecordBatch.from_pylist([], schema=schema))


def evaluate(parsed: Condition, batch: pa.RecordBatch) -> list[pa.BooleanArray]:
    """Evaluate each clause of a condition on each row.

    NaN, of a column or computed, counts as null: in DuckDB, NaN is greater than every number, so undefined scores would
    pass lower bounds. Edit distances compare the first thousand characters of a text. Names of columns are compared as
    in SQL, without case; where columns differ in case only, the one spelled like in the condition is meant.
    """
    import duckdb

    # Without columns, the first one is enough: only the number of rows matters.
    batch = batch.select(_find_columns(parsed, batch.schema) or [0])
    try:
        table = evaluate_sql(_without_nan(batch), *_guarded(parsed, batch.schema.remove_metadata()))
    except duckdb.Error as error:
        raise invalid(parsed.text, str(error).splitlines()[0].rstrip(".")) from error
    for clause, column in zip(parsed.clauses, table.columns, strict=True):
        if column.type not in (pa.bool_(), pa.null()):
            raise invalid(parsed.text, f'"{clause}" is {column.type}, expected true or false')
    return [pc.cast(column, pa.bool_()).combine_chunks() for column in table.columns]


def evaluate_sql(rows: pa.RecordBatch, *expressions: Sql) -> pa.Table:
    columns = sql_list(sql("({}) AS {}", expression, f"c{number}") for number, expression in enumerate(expressions))
    with connection() as database:
        database.register("rows", rows)
        return database.sql(sql("SELECT {} FROM rows", columns)).to_arrow_table().combine_chunks()


@lru_cache(maxsize=64)
def _guarded(parsed: Condition, schema: pa.Schema) -> tuple[Sql, ...]:
    """The clauses of a condition as they are computed: null in place of NaN, and distances of bounded texts."""
    trees = [parse(f"SELECT ({clause}\n)", parsed.text) for clause in parsed.clauses]
    for tree in trees:
        shorten_compared_texts(expression_of(tree))
    slots = [(tree, container, key) for tree in trees for container, key in compared(expression_of(tree))]
    values = [to_sql(tree, container[key], parsed.text) for tree, container, key in slots]
    # Types follow from those of the columns.
    types = evaluate_sql(pa.RecordBatch.from_pylist([], schema), *values).schema.types if values else []
    for (_, container, key), kind in zip(slots, types, strict=True):
        if pa.types.is_floating(kind):
            container[key] = null_for_nan(container[key])
    return tuple(to_sql(tree, expression_of(tree), parsed.text) for tree in trees)


def _find_columns(parsed: Condition, schema: pa.Schema) -> list[int]:
    """Positions of the columns that a condition names, in the order of the schema."""
    positions: dict[str, int] = {}
    for column in parsed.columns:
        same = [name for name in schema.names if name.lower() == column.lower()]
        exact = [name for name in same if name == column] or same
        where = f'in the condition "{parsed.text}"'
        if not exact:
            raise missing_column(column, schema.names, where)
        position = schema.names.index(exact[0])
        if len(exact) > 1 or positions.setdefault(column.lower(), position) != position:
            raise ConfigError(
                f"cannot tell the columns {' and '.join(same)} apart {where}",
                remedy="Rename one of them, so that they differ in more than case.",
            )
    return sorted(positions.values())


def _without_nan(batch: pa.RecordBatch) -> pa.RecordBatch:
    for position, field in enumerate(batch.schema):
        if pa.types.is_floating(field.type):
            values = batch.column(position)
            clean = pc.if_else(pc.is_nan(values), pa.scalar(None, field.type), values)
            batch = batch.set_column(position, field, clean)
    return batch


def _has_more(node: dict[str, Any]) -> bool:
    """True if a SELECT has anything besides its list, which a closing parenthesis in the text could add."""
    clauses = ("where_clause", "having", "qualify", "sample", "modifiers", "group_expressions")
    return any(node.get(clause) for clause in clauses) or node["from_table"]["type"] != "EMPTY"


def _check_function(call: Mapping[str, Any], text: str) -> None:
    name = call["function_name"]
    if name in FUNCTIONS:
        parts = [call.get(key) for key in ("distinct", "filter", "export_state", "schema", "catalog")]
        if any(parts) or (call.get("order_bys") or {}).get("orders"):
            raise invalid(text, f"{name} must be called without DISTINCT, FILTER, ORDER BY and schema")
        return
    why = f"function {name} cannot be used in it{suggestion(name, sorted(FUNCTIONS))}"
    query = sql("SELECT function_type, stability FROM duckdb_functions() WHERE function_name = ?")
    with connection() as database:
        kinds = database.execute(query, [name]).fetchall()
    for kind, stability in kinds:
        if kind == "aggregate":
            why = f"{name} aggregates many rows, but a filter sees one row at a time"
        elif stability not in ("CONSISTENT", None):
            why = f"{name} does not give the same result each time"
    raise invalid(text, why)
