"""Fuzzers of tables: what is written is read the same elsewhere, and what others write is read the same here."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from fuzzing import SECONDS, fuzz
from hypothesis import strategies as st

from paraloom.io.formats.csv import read_rows
from paraloom.io.quoting import BadRow, quoted_lines
from paraloom.io.sheets import read_sheet, sheet_lines

pytestmark = pytest.mark.slow

Rows = list[tuple[str, str, str]]

NAMES = ("one", "two", "three")
PIECES = [
    *"\",;\t\r\n\\'=+-@#| a",
    "\r\n",
    '""',
    '\\"',
    "\x0b",
    "\x85",
    "\u2028",
    "\ufeff",
    "é",
    "\U0001f44d",
    "word",
    "NA",
    "1",
]
# Readers other than ours end texts at a NUL.
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
)
ROWS = st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5)
PLAIN = (
    st.lists(st.sampled_from(["a", "b c", ", ", '""', "\n", "\r\n", "é"]), max_size=4).map("".join).map("x{}x".format)
)


def test_other_readers_give_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    types = arrow_csv.ConvertOptions(column_types=dict.fromkeys(NAMES, pa.string()))
    options = arrow_csv.ParseOptions(newlines_in_values=True)
    database = duckdb.connect()
    dialect = "header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"', parallel = false"

    def check(rows: Rows) -> None:
        path.write_bytes("".join(quoted_lines([NAMES, *rows])).encode())
        with path.open(encoding="utf-8", newline="") as stream:
            assert list(csv.reader(stream, strict=True)) == [list(row) for row in (NAMES, *rows)]
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        assert list(frame.itertuples(index=False, name=None)) == rows
        table = arrow_csv.read_csv(path, parse_options=options, convert_options=types)
        assert [tuple(row.values()) for row in table.to_pylist()] == rows
        rows_read = database.execute(f"SELECT * FROM read_csv('{path}', {dialect})").fetchall()
        assert [tuple(cell or "" for cell in row) for row in rows_read] == rows
        assert list(read_rows(path)) == [list(row) for row in (NAMES, *rows)]

    fuzz(check, ROWS, SECONDS / 4)


def is_table(text: str) -> bool:
    """Whether a text is a table whose marks are doubled."""
    try:
        return all(len(row) == len(NAMES) for row in csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False


def test_tables_of_other_tools_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"

    def as_python(rows: Rows, delimiter: str, end: str, style: int) -> str:
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=style).writerows([NAMES, *rows])
        return stream.getvalue()

    def as_r(rows: Sequence[Sequence[str]], mark: str) -> str:
        return "".join(",".join(f'"{mark.join(cell.split(chr(34)))}"' for cell in row) + "\n" for row in rows)

    def check(rows: Rows) -> None:
        tables = {
            "Excel": "\ufeff" + as_python(rows, ",", "\r\n", csv.QUOTE_MINIMAL),
            "Excel in German": "\ufeff" + as_python(rows, ";", "\r\n", csv.QUOTE_MINIMAL),
            "pandas, all quoted": as_python(rows, ",", "\n", csv.QUOTE_ALL),
            "tabs": as_python(rows, "\t", "\r\n", csv.QUOTE_MINIMAL),
            "R": as_r([NAMES, *rows], '""'),
            "R, escaped": as_r([NAMES, *rows], '\\"'),
        }
        # Escaped marks cannot be distinguished from backslashes before marks that are not: a mark before the end of a
        # line may be an escaped one, or the end of a cell that ends with a backslash, as other programs write it.
        if any("\\" in cell or '"\n' in cell or '"\r' in cell for row in rows for cell in row):
            del tables["R, escaped"]
        elif is_table(tables["R, escaped"]):
            del tables["R, escaped"]  # With doubled marks it is a table, too: another one.
        for tool, text in tables.items():
            path.write_bytes(text.encode())
            assert list(read_rows(path)) == [list(row) for row in (NAMES, *rows)], tool

    fuzz(check, ROWS, SECONDS / 4)


def test_each_stray_mark_costs_its_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    # None that could close the mark of another one.
    stray = st.sampled_from(['x,"y', '"x,y', '"x" y,z', 'x,"y" z', '"x","y', 'x,"y ""z""', '"x" "y",z'])
    row = st.one_of(st.tuples(PLAIN, PLAIN), stray)

    def check(rows: list[tuple[str, str] | str]) -> None:
        lines = [row + "\n" if isinstance(row, str) else next(quoted_lines([row])) for row in rows]
        path.write_bytes("".join(["src,tgt\n", *lines]).encode())
        rows_read = [row.text if isinstance(row, BadRow) else tuple(row) for row in read_rows(path)]
        assert rows_read == [("src", "tgt"), *rows]

    fuzz(check, st.lists(row, max_size=8), SECONDS / 4)


def test_sheets_have_no_formulas_and_are_read_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "sheet.tsv"

    def check(rows: Rows) -> None:
        path.write_bytes("".join(sheet_lines(NAMES, rows)).encode())
        cells = [cell for row in list(read_rows(path))[1:] for cell in row]
        assert not any(cell.lstrip()[:1] in tuple("=+-@") for cell in cells)
        rows_read = [tuple(row.values()) for row in read_sheet(path, NAMES, kind="sheet", remedy="")]
        assert rows_read == [row for row in rows if any(row)]

    fuzz(check, ROWS, SECONDS / 4)
