"""Rows with quotation marks: other readers give back what is written, and a stray mark costs one row."""

from __future__ import annotations

import ast
import csv
import io
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

from paraloom import read_pairs as pairs_of
from paraloom.core.errors import DataError
from paraloom.core.schema import PAIRS
from paraloom.io import quoting, read_pairs, write_table
from paraloom.io.quoting import BadRow, quoted_lines, quoted_rows
from paraloom.io.records import read_records, write_records

ROOT = Path(__file__).parents[2]
CELLS = [
    *("plain", "a,b", "a\tb", "a;b", 'a "quoted" one', '"', '""', "'a'", "a\rb", "a\nb", "a\r\nb", "\r", "\n", "\\"),
    *("", " ", " a ", '\\"', "#a", "a\\", "\ufeffa", "a\x85b", "a\u2028b", "a\x0bb", "NA", "-1", "=1+1", "x" * 200_000),
]


def read(path: Path, **options: Any) -> tuple[list[tuple[str, str]], list[tuple[int, str, str]]]:
    rejected: list[tuple[int, str, str]] = []
    batches = list(read_pairs(path, on_reject=lambda *row: rejected.append(row), **options))
    return [(row["src"], row["tgt"]) for row in pa.Table.from_batches(batches, PAIRS).to_pylist()], rejected


def other_readers(path: Path) -> dict[str, list[tuple[str, ...]]]:
    """Reader → the rows of a table of text with a header."""
    with path.open(encoding="utf-8", newline="") as stream:
        limit = csv.field_size_limit(1 << 30)
        header, *rows = csv.reader(stream, strict=True)
        csv.field_size_limit(limit)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    options = arrow_csv.ParseOptions(newlines_in_values=True)
    types = arrow_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()))
    table = arrow_csv.read_csv(path, parse_options=options, convert_options=types)
    dialect = "header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"'"
    query = f"SELECT * FROM read_csv('{path}', {dialect}, max_line_size = 100000000, parallel = false)"
    duck = duckdb.sql(query).fetchall()
    return {
        "csv": [tuple(row) for row in rows],
        "pandas": list(frame.itertuples(index=False, name=None)),
        "pyarrow": [tuple(row.values()) for row in table.to_pylist()],
        "duckdb": [tuple(cell or "" for cell in row) for row in duck],
    }


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: repr(cell[:12]))
def test_other_readers_give_the_same_cells(tmp_path: Path, cell: str) -> None:
    rows = [("a", cell), (cell, "b"), ("c", "d")]
    write_records(({"src": src, "tgt": tgt} for src, tgt in rows), tmp_path / "r.csv", ["src", "tgt"])
    table = pa.table({"src": [src for src, _ in rows], "tgt": [tgt for _, tgt in rows]})
    assert write_table(table, tmp_path / "t.csv") == 3
    assert (tmp_path / "r.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()
    for reader, got in other_readers(tmp_path / "t.csv").items():
        assert got == rows, reader
    assert read(tmp_path / "t.csv") == (rows, [])
    assert [tuple(record.values.values()) for record in read_records(tmp_path / "t.csv")] == rows


@pytest.mark.parametrize(
    ("text", "quoted"), [('"He said ""yes""."', True), ('"A dog."', False), ('""a""', False), ('a ""b"" c', False)]
)
def test_quoted_texts_of_a_tsv_are_noticed(tmp_path: Path, text: str, quoted: bool) -> None:
    (tmp_path / "q.tsv").write_text(f"a dog\tein Hund\n{text}\tb\n", encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = pairs_of(tmp_path / "q.tsv").to_list()
    assert [row["src"] for row in rows] == ["a dog", text]
    assert sum("with the name q.csv they are read as quotes" in str(one.message) for one in caught) == quoted


def test_only_what_needs_quotes_is_quoted() -> None:
    rows = [["a,b", "", None, " c "], ["d", "e", "#f", 'g "h"'], ["", "", "", ""]]
    lines = ['"a,b",,, c \n', 'd,e,"#f","g ""h"""\n', ",,,\n"]
    assert list(quoted_lines(rows)) == lines
    assert list(quoted_lines([["a,b", "c\td", "\te"]], "\t")) == ['a,b\t"c\td"\t"\te"\n']


@pytest.mark.parametrize("cell", ["", " ", "\t", "\n", "\r", "\ufeffa", "a"])
def test_a_table_of_one_column_keeps_its_rows(tmp_path: Path, cell: str) -> None:
    (tmp_path / "t.csv").write_text("".join(quoted_lines([["text"], ["a"], [cell], ["b"]])), encoding="utf-8")
    for reader, got in other_readers(tmp_path / "t.csv").items():
        assert got == [("a",), (cell,), ("b",)], reader


def rows_of(text: str, width: int | None = 2) -> list[list[str] | str]:
    """The rows of a text; of bad ones their text."""
    lines = io.StringIO(text, newline="")
    return [row.text if isinstance(row, BadRow) else row for row in quoted_rows(lines, ",", width)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a,"b\nc,d\ne,f\n', ['a,"b', ["c", "d"], ["e", "f"]]),
        ('"a,b\nc,d\n', ['"a,b', ["c", "d"]]),
        ('a,"b" c\nd,e\n', ['a,"b" c', ["d", "e"]]),
        # Another row's mark closes the stray one.
        ('a,"b\nc,d\n"e, f",g\nh,i\n', ['a,"b', ["c", "d"], ["e, f", "g"], ["h", "i"]]),
        ('"a,b\nc,d\n"e",f\n', ['"a,b', ["c", "d"], ["e", "f"]]),
        ('a,"b\nc,d\n",e\nf,g\n', ['a,"b', ["c", "d"], '",e', ["f", "g"]]),
        ('a,"b\nc,"d\ne,"f\n', ['a,"b', 'c,"d', 'e,"f']),
        ('a,"b\rc,d\r\ne,f', ['a,"b', ["c", "d"], ["e", "f"]]),
        ('a,"b ""c""\nd,e\n', ['a,"b ""c""', ["d", "e"]]),
        ('x","y\nx","y\nx","y\na,b\n', ['x","y'] * 3 + [["a", "b"]]),
        # What is not stray.
        ('"a\nb","c\r\nd"\ne,f\n', [["a\nb", "c\r\nd"], ["e", "f"]]),
        ('a,b "c" d\n', [["a", 'b "c" d']]),
        ('"a\\","b"\n', [["a\\", "b"]]),
        ('"say \\"hi\\"","b"\n"\\"a\\"\nc","d"\n', [['say "hi"', "b"], ['"a"\nc', "d"]]),
        ('"","x"\n,\n\na,\n', [["", "x"], ["", ""], [], ["a", ""]]),
        ("a,b\rc,d\r\n", [["a", "b"], ["c", "d"]]),
        ("a,b,c\nd\n", [["a", "b", "c"], ["d"]]),
    ],
)
def test_a_stray_mark_costs_one_row(text: str, expected: list[list[str] | str]) -> None:
    assert rows_of(text) == expected


def test_a_stray_mark_in_a_file(tmp_path: Path) -> None:
    lines = [f"satz {number},sentence {number}\n" for number in range(5000)]
    lines[1009] = 'satz 1009,"sentence 1009\n'
    lines[4000] = '"satz, 4000","sentence, 4000"\n'
    (tmp_path / "a.csv").write_text("".join(lines))
    kept, rejected = read(tmp_path / "a.csv")
    assert len(kept) == 4999 and kept[3999] == ("satz, 4000", "sentence, 4000")
    [(row, reason, text)] = rejected
    assert (row, text) == (1010, 'satz 1009,"sentence 1009')
    assert "not valid CSV" in reason and "line 1010" in reason
    bad: list[int] = []
    records = list(read_records(tmp_path / "a.csv", header=False, on_bad=lambda row, *_: bad.append(row)))
    assert len(records) == 4999 and bad == [1010] and records[-1].row == 5000
    with pytest.raises(DataError, match="row 1010: the row is not valid CSV"):
        list(read_pairs(tmp_path / "a.csv"))


def test_the_delimiter_is_found_despite_stray_marks_and_long_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('Ja, gut;Yes, fine\n"Na, du;Well, you\nTag, ihr;Day, all\n')
    assert read(tmp_path / "a.csv") == (
        [("Ja, gut", "Yes, fine"), ("Tag, ihr", "Day, all")],
        [(2, "the row is not valid CSV (a quotation mark is not closed; it begins in line 2)", '"Na, du;Well, you')],
    )
    poem = "line, line; line\n" * 50
    (tmp_path / "b.csv").write_text(f'"{poem}";b\nc;"{poem}"\n')
    assert read(tmp_path / "b.csv") == ([(poem, "b"), ("c", poem)], [])


def test_a_stray_mark_in_the_first_row_is_an_error_with_its_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"a,b\nc,d\n')
    with pytest.raises(DataError, match=r"a\.csv, row 1: the row is not valid CSV") as error:
        read(tmp_path / "a.csv")
    assert error.value.remedy


def test_a_mark_that_is_never_closed_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = 0

    def lines() -> Any:
        nonlocal ahead
        yield 'a,"b\n'
        for _ in range(10_000):
            ahead += 1
            yield "c,d\n"

    for name, value in (("ROW_LINES", 100), ("ROW_CHARACTERS", 300)):
        monkeypatch.setattr(quoting, name, value)
        ahead = 0
        rows = quoted_rows(lines())
        first = next(rows)
        assert isinstance(first, BadRow) and "is not closed within" in first.error.what and ahead <= 101
        assert sum(1 for _ in rows) == 10_000
        monkeypatch.undo()


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["x" * 10_000_000, 'y""' * 3_000_000, "a line\n" * 1_400_000], ids=len)
def test_a_cell_of_ten_megabytes(tmp_path: Path, cell: str) -> None:
    text = cell.replace('""', '"')
    (tmp_path / "a.csv").write_text(f'src,tgt\na,"{cell}"\n"{cell}",b\nc,d\n', encoding="utf-8")
    assert read(tmp_path / "a.csv") == ([("a", text), (text, "b"), ("c", "d")], [])
    assert [len(record.values["src"]) for record in read_records(tmp_path / "a.csv")] == [1, len(text), 1]


WRITTEN = [("Ja, gut; du", 'Yes, "fine"'), ("a\\b", "two\nlines"), ("", "é")]


def written_by_r(rows: Sequence[tuple[str, str]], mark: str) -> str:
    """What `write.csv` writes: all texts quoted; `\\"` with `qmethod = "escape"`."""
    return "".join(",".join('"' + cell.replace('"', mark) + '"' for cell in row) + "\n" for row in rows)


@pytest.mark.parametrize("tool", ["Excel", "Excel in German", "R", "R escape", "pandas", "pandas quoted", "old Mac"])
def test_tables_as_other_tools_write_them(tmp_path: Path, tool: str) -> None:
    rows, header = list(WRITTEN), ("src", "tgt")
    stream = io.StringIO(newline="")
    if tool.startswith("R"):
        stream.write(written_by_r([header, *rows], '\\"' if "escape" in tool else '""'))
    elif tool.startswith("pandas"):
        style = csv.QUOTE_ALL if "quoted" in tool else csv.QUOTE_MINIMAL
        pd.DataFrame(rows, columns=header).to_csv(stream, index=False, quoting=style)
    else:
        end = "\r" if tool == "old Mac" else "\r\n"
        delimiter = ";" if "German" in tool else ","
        style = csv.QUOTE_ALL if tool == "old Mac" else csv.QUOTE_MINIMAL
        csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=style).writerows([header, *rows])
    mark = "\ufeff" if tool.startswith("Excel") else ""
    (tmp_path / "a.csv").write_text(mark + stream.getvalue(), encoding="utf-8", newline="")
    assert read(tmp_path / "a.csv") == (rows, [])
    assert [tuple(record.values.values()) for record in read_records(tmp_path / "a.csv")] == rows


def test_unicode_text_of_excel_is_refused_plainly(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("src\ttgt\r\nJa\tYes\r\n".encode("utf-16"))
    with pytest.raises(DataError, match="expected text, got UTF-16") as error:
        read(tmp_path / "a.csv")
    assert "iconv -f utf-16" in str(error.value.remedy)


def test_names_of_columns_in_tsv_have_no_tabs(tmp_path: Path) -> None:
    table = pa.table({"src": ["a"], "tgt": ["b"], "a\tb": ["c"]})
    with pytest.raises(DataError, match="a tab"):
        write_table(table, tmp_path / "a.tsv")
    assert not (tmp_path / "a.tsv").exists()
    write_table(table, tmp_path / "a.csv")
    assert other_readers(tmp_path / "a.csv")["pandas"] == [("a", "b", "c")]


def nodes_of(folder: str) -> Iterator[tuple[str, ast.AST]]:
    """The syntax of the files in a folder that have to do with CSV."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "csv" in text:
            yield from ((path.name, node) for node in ast.walk(ast.parse(text)))


def test_nothing_else_reads_or_writes_quoted_rows() -> None:
    """The module of Python has a limit of 131,072 characters a cell, and leaves carriage returns as they are."""
    imports = [(name, node.names) for name, node in nodes_of("src") if isinstance(node, ast.Import)]
    assert [name for name, names in imports if "csv" in {alias.name for alias in names}] == []
    writers = ("writer", "DictWriter", "to_csv", "write_csv")
    nodes = [*nodes_of("src"), *nodes_of("examples")]
    # The trials of faults write tables as other programs do.
    nodes += [(name, node) for name, node in nodes_of("benchmarks") if name != "tables.py"]
    assert [name for name, node in nodes if isinstance(node, ast.Attribute) and node.attr in writers] == []
