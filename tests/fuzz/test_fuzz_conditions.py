"""A fuzzer of conditions: an error of Paraloom, or the same value for a row alone and among others."""

from __future__ import annotations

import pyarrow as pa
import pytest
from fuzzing import SECONDS, fuzz
from hypothesis import strategies as st

from paraloom.pairs.filtering.expressions import FUNCTIONS, check_columns, condition, evaluate

pytestmark = pytest.mark.slow

ROWS = pa.RecordBatch.from_pydict(
    {
        "src": ["a b", "", None, "Ä\u0301 x", "1"],
        "tgt": ["a c", "'", "x\ty", "\U0001f44d", "2.5"],
        "score": [0.5, float("nan"), None, float("inf"), -1.0],
        "Score": [1.0, 2.0, 3.0, 4.0, 5.0],
        "n": pa.array([1, 0, None, 2**31 - 1, -5], pa.int32()),
        "l": [[1, 2], [], None, [None], [3]],
    }
)

# Whatever DuckDB has; those that are not in the list of a condition must be refused.
OTHERS = [
    "avg",
    "sum",
    "count",
    "max",
    "median",
    "string_agg",
    "geomean",
    "wavg",
    "list_sum",
    "unnest",
    "generate_subscripts",
    "row_number",
    "rank",
    "random",
    "uuid",
    "now",
    "today",
    "age",
    "ago",
    "current_date",
    "current_timestamp",
    "current_localtimestamp",
    "pg_sleep",
    "sleep_ms",
    "nextval",
    "getvariable",
    "read_text",
    "read_csv",
    "glob",
    "repeat",
    "range",
    "generate_series",
    "lpad",
    "list_resize",
    "hash",
    "current_setting",
    "version",
    "txid_current",
    "setseed",
    "query_table",
    "getenv",
    "error",
    "write_log",
    "json_serialize_sql",
    "list_transform",
    "list_reduce",
    "array_agg",
    "any_value",
    "first",
    "grouping",
]
atoms = st.one_of(
    st.sampled_from(
        ["src", "tgt", "score", "Score", "SCORE", "n", "l", '"src"', "rows", "rows.src", "l[1]", "NULL", "true"]
    ),
    st.sampled_from(
        ["0", "1", "-1", "0.5", "1e308", "9" * 40, "''", "'a'", "'%'", "'['", "'\\'", "''''", "*", "$1", "?", "#1"]
    ),
    st.integers(-9, 9).map(str),
    st.text(max_size=6),
)


def extend(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operator = st.sampled_from(
        [
            "and",
            "or",
            "=",
            "<",
            ">=",
            "<>",
            "+",
            "-",
            "*",
            "/",
            "//",
            "%",
            "||",
            "**",
            "like",
            "ilike",
            "~",
            "similar to",
            "in",
            "is distinct from",
            "^@",
            "&",
            "<<",
            "glob",
            "->",
            "::",
            "collate",
            "union select",
            ";",
            ",",
            "--",
            "/*",
        ]
    )
    name = st.sampled_from([*sorted(name for name in FUNCTIONS if name[0].isalpha()), *OTHERS])
    return st.one_of(
        st.builds("{} {} {}".format, part, operator, part),
        st.builds("({})".format, part),
        st.builds("not {}".format, part),
        st.builds("{} is not null".format, part),
        st.builds("{} between {} and {}".format, part, part, part),
        st.builds("{} in ({}, {})".format, part, part, part),
        st.builds("case when {} then {} else {} end".format, part, part, part),
        st.builds(
            "cast({} as {})".format, part, st.sampled_from(["int", "varchar", "double", "bool", "int[]", "date"])
        ),
        st.builds("{}({})".format, name, st.lists(part, max_size=3).map(", ".join)),
        st.builds("{}({}) over ()".format, name, part),
        st.builds("(select {} from rows)".format, part),
    )


NUMBERS = st.one_of(
    st.sampled_from(
        ["score", "n", "length(src)", "l[1]", "len(l)", "levenshtein(src, tgt)", "n / 0", "score ** 99", "abs(n)"]
    ),
    st.floats(-9, 9).map(str),
)
COMPARISONS = st.one_of(
    st.builds("{} {} {}".format, NUMBERS, st.sampled_from(["<", "<=", "=", "<>", "is distinct from"]), NUMBERS),
    st.builds(
        "{} like {}".format, st.sampled_from(["src", "tgt", "lower(tgt)"]), st.sampled_from(["'%'", "'a_'", "NULL"])
    ),
)
CONDITIONS = st.one_of(
    st.recursive(atoms, extend, max_leaves=12),
    st.lists(COMPARISONS, min_size=1, max_size=4).map(" and ".join),
    st.lists(COMPARISONS, min_size=1, max_size=4).map(" or ".join),
)


def check(text: str) -> None:
    parsed = condition(text)
    check_columns(parsed, ROWS.schema)
    together = [values.to_pylist() for values in evaluate(parsed, ROWS)]
    alone = [evaluate(parsed, ROWS.slice(row, 1)) for row in range(ROWS.num_rows)]
    assert together == [[row[clause][0].as_py() for row in alone] for clause in range(len(together))]
    assert all(len(values) == ROWS.num_rows for values in together)


def test_a_condition_is_an_error_or_depends_on_one_row() -> None:
    got = fuzz(check, CONDITIONS, SECONDS)
    assert got["result"]
