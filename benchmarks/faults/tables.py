"""CSV and sheets: what is written is read the same by others, what others write is read, and no row is swallowed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
from trials import Outcomes, Scene, judge

ROWS = 5000
CELLS = (
    *("plain", "a\rb", "a\r\nb", "x\r", "a\nb", 'a "b", c', "# a", "'a'", "a;b\tc", "a\\", '"', "a\u2028b"),
    "x" * 150_000,
)
PAIRS = [("Ja, gut; du", 'Yes, "fine"'), ("a\\b", "two\nlines"), ("der Hund", "the dog's")]
FORMULAS = ('=HYPERLINK("http://a.example")', "+1+1", "-1+1", "@SUM(A1)", "\uff1d1+1", " =1", "'=1", "plain")
# Outputs of a system go into a sheet, the sheet is filled in and counted; the cells of the outputs are printed.
SHEET = """
import json, sys
from pathlib import Path
from paraloom.evaluate.paraphrase_sheet import count_sheet, write_paraphrase_sheet
outputs = json.loads(sys.argv[1])
texts = [f"text {number}" for number in range(len(outputs))]
write_paraphrase_sheet("sheet.tsv", {"toy": (texts, [["r"]] * len(texts), {"=ours": outputs})}, samples=len(outputs))
header, *lines = Path("sheet.tsv").read_text(encoding="utf-8").splitlines()
filled = [header, *(line.rstrip() + "\\ty\\tn\\ty" for line in lines)]
Path("filled.tsv").write_text("".join(f"{line}\\n" for line in filled), encoding="utf-8")
[row] = count_sheet("filled.tsv", "sheet.tsv.key.tsv").rows
print(json.dumps([row.system, row.n]))
"""


def trials(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Tables that are written and read, with the programs that people use beside Paraloom."""
    folder = scene.folder / "tables"
    folder.mkdir()
    yield "carriage returns in cells, read by others", _written(scene, folder)
    yield "stray quotation marks", _stray_marks(scene, folder)
    yield "cells of 10 MB", _long_cells(scene, folder)
    yield "formulas in sheets", _formulas(scene, folder)
    yield "tables as spreadsheets and other tools write them", _other_tools(scene, folder)


def _written(scene: Scene, folder: Path) -> Outcomes:
    outcomes = Outcomes(details="Each table is read by Python's csv, pandas, pyarrow and DuckDB.")
    rows = [(cell, other) for cell in CELLS for other in (cell, "b")]
    pq.write_table(pa.table({"src": [src for src, _ in rows], "tgt": [tgt for _, tgt in rows]}), folder / "in.parquet")
    ended = scene.call("score", "in.parquet", "--with", "length", "--engine", "inline", "-o", "out.csv", cwd=folder)
    if not judge(outcomes, "a table of pairs", ended):
        return outcomes
    outcomes.finished -= 1
    outcomes.tried -= 1
    for reader, rows_read in _other_readers(folder / "out.csv").items():
        outcomes.count(f"pairs by {reader}", "" if rows_read == rows else "OTHER CELLS")
    return outcomes


def _other_readers(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Reader → the two sides of each row; of one that fails, none."""

    def by_csv() -> pd.DataFrame:
        csv.field_size_limit(1 << 30)
        with path.open(encoding="utf-8", newline="") as stream:
            return pd.DataFrame(csv.DictReader(stream, strict=True))

    def by_arrow() -> pd.DataFrame:
        types = arrow_csv.ConvertOptions(column_types={"src": pa.string(), "tgt": pa.string()})
        options = arrow_csv.ParseOptions(newlines_in_values=True)
        return arrow_csv.read_csv(path, parse_options=options, convert_options=types).to_pandas()

    readers = {
        "csv": by_csv,
        "pandas": lambda: pd.read_csv(path, dtype=str, keep_default_na=False),
        "pyarrow": by_arrow,
        "DuckDB": lambda: duckdb.sql(
            f"SELECT * FROM read_csv('{path}', header = true, all_varchar = true, max_line_size = 9000000)"
        ).df(),
    }
    rows_read: dict[str, list[tuple[str, str]]] = {}
    for name, read in readers.items():
        try:
            rows_read[name] = list(read()[["src", "tgt"]].itertuples(index=False, name=None))
        except (ValueError, KeyError, pa.ArrowException, duckdb.Error, csv.Error, pd.errors.ParserError):
            rows_read[name] = []
    return rows_read


def _stray_marks(scene: Scene, folder: Path) -> Outcomes:
    """Each file has some rows with a stray mark; those rows are rejected, and no other."""
    outcomes = Outcomes(details=f"Files of {ROWS:,} rows: the damaged rows are rejected, and no other one.")
    lines = [f"satz {number},sentence {number}\n" for number in range(ROWS)]
    quoted = [f'"satz, {number}","sentence, {number}"\n' for number in range(ROWS)]
    damages: dict[str, tuple[list[str], dict[int, str]]] = {
        "never closed": (lines, {1010: 'satz,"sentence\n'}),
        "never closed, before the delimiter": (lines, {1010: '"satz,sentence\n'}),
        "closed in the next row": (quoted, {1010: 'satz,"sentence\n'}),
        "closed thousands of rows later": (lines, {10: 'satz,"sentence\n', 4000: 'satz "b",sentence\n'}),
        "text after the mark": (lines, {1010: '"satz" x,sentence\n'}),
        "one in each of many rows": (lines, dict.fromkeys(range(100, 4900, 3), 'satz,"sentence\n')),
        "carriage returns as line ends": (lines, {1010: 'satz,"sentence\n'}),
    }
    for name, (rows, damaged) in damages.items():
        content = "".join(damaged.get(number, line) for number, line in enumerate(rows))
        if "carriage" in name:
            content = content.replace("\n", "\r")
        (folder / "in.csv").write_text(content, encoding="utf-8", newline="")
        # A mark within a text is not a stray one.
        bad = sum('"b"' not in line for line in damaged.values())
        kept, rejected = _read(scene, folder, name, outcomes)
        if kept is None:
            continue
        outcomes.lost += abs(ROWS - len(kept) - rejected)
        if len(kept) + rejected != ROWS:
            outcomes.notes.append(f"{name}: {ROWS - len(kept) - rejected} OF {ROWS} ROWS MISSING")
        elif rejected != bad:
            outcomes.wrong += 1
            outcomes.notes.append(f"{name}: {rejected} ROWS REJECTED, {bad} ARE DAMAGED")
    return outcomes


def _long_cells(scene: Scene, folder: Path) -> Outcomes:
    outcomes = Outcomes()
    cells = {"one line": "word " * 2_000_000, "many lines with marks": 'a ""b""\n' * 1_250_000}
    for name, cell in cells.items():
        (folder / "in.csv").write_text(f'a,b\n"{cell}",c\nd,e\n', encoding="utf-8")
        kept, _ = _read(scene, folder, name, outcomes)
        if kept is not None and kept != [("a", "b"), (cell.replace('""', '"'), "c"), ("d", "e")]:
            outcomes.wrong += 1
            outcomes.notes.append(f"{name}: OTHER CELLS")
    return outcomes


def _formulas(scene: Scene, folder: Path) -> Outcomes:
    outcomes = Outcomes()
    ended = scene.call(program=("-c", SHEET, json.dumps(FORMULAS)), cwd=folder)
    if ended.returncode:
        judge(outcomes, "a sheet of paraphrases", ended)
        return outcomes
    with (folder / "sheet.tsv").open(encoding="utf-8", newline="") as stream:
        rows_read = [row["output"] for row in csv.DictReader(stream, delimiter="\t")]
    for cell in rows_read:
        formula = cell.lstrip()[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20")
        outcomes.count(f"the output {cell}", "A FORMULA" if formula else "")
    counted = json.loads(ended.stdout) == ["=ours", len(FORMULAS)]
    outcomes.count("the sheet when it is filled in", "" if counted else f"COUNTED AS {ended.stdout}")
    return outcomes


def _other_tools(scene: Scene, folder: Path) -> Outcomes:
    outcomes = Outcomes()
    texts = {
        "Excel": "\ufeff" + _as_csv(PAIRS, ",", "\r\n", csv.QUOTE_MINIMAL),
        "Excel with semicolons": "\ufeff" + _as_csv(PAIRS, ";", "\r\n", csv.QUOTE_MINIMAL),
        "pandas": pd.DataFrame(PAIRS, columns=["src", "tgt"]).to_csv(index=False),
        "pandas, all quoted": _as_csv(PAIRS, ",", "\n", csv.QUOTE_ALL),
        "R": _as_r(PAIRS, '""'),
        'R, qmethod = "escape"': _as_r(PAIRS, '\\"'),
    }
    for name, text in texts.items():
        (folder / "in.csv").write_bytes(text.encode())
        kept, _ = _read(scene, folder, name, outcomes)
        if kept is not None and kept != PAIRS:
            outcomes.wrong += 1
            outcomes.notes.append(f"{name}: OTHER CELLS {kept}")
    (folder / "in.csv").write_bytes(_as_csv(PAIRS, "\t", "\r\n", csv.QUOTE_MINIMAL).encode("utf-16"))
    ended = scene.call("score", "in.csv", "--with", "length", "-o", "utf16.parquet", cwd=folder)
    if judge(outcomes, "Unicode text of Excel", ended):
        outcomes.wrong += 1
    return outcomes


def _as_csv(rows: Sequence[tuple[str, str]], delimiter: str, end: str, style: int) -> str:
    stream = io.StringIO(newline="")
    table = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=style)  # type: ignore[arg-type]
    table.writerows([("src", "tgt"), *rows])
    return stream.getvalue()


def _as_r(rows: Sequence[tuple[str, str]], mark: str) -> str:
    table = [("src", "tgt"), *rows]
    return "".join(",".join('"' + cell.replace('"', mark) + '"' for cell in row) + "\n" for row in table)


def _read(scene: Scene, folder: Path, name: str, outcomes: Outcomes) -> tuple[list[tuple[str, str]] | None, int]:
    """The pairs of in.csv, None if it was refused; and how many rows were rejected."""
    output = folder / f"{len(outcomes.notes)}.parquet"
    words = ("score", "in.csv", "--with", "length", "--on-error", "reject", "--engine", "inline", "-o", output.name)
    for path in folder.glob(f"{output.stem}*"):
        path.unlink()
    if not judge(outcomes, name, scene.call(*words, cwd=folder)):
        return None, 0
    rejected = output.with_suffix(".rejected.jsonl")
    left_out = len(rejected.read_text(encoding="utf-8").splitlines()) if rejected.is_file() else 0
    table = pq.read_table(output, columns=["src", "tgt"])
    return list(zip(table["src"].to_pylist(), table["tgt"].to_pylist(), strict=True)), left_out
