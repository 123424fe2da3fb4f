"""Hostile names of columns, files, folders, runs, stages and raters: they are data, or refused with a plain error."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import SECONDS, fuzz
from hypothesis import strategies as st

from paraloom.core.schema import PAIRS
from paraloom.pairs.filtering.cuts import row_hashes
from paraloom.pairs.filtering.expressions import condition, evaluate
from paraloom.web.corpus_stats import distributions, reasons
from paraloom.web.state import identifier

pytestmark = pytest.mark.slow

PIECES = [
    '"',
    "'",
    "`",
    ";",
    "--",
    "/*",
    "*/",
    "[",
    "]",
    "*",
    "?",
    "{",
    "}",
    "(",
    ")",
    "\\",
    "\n",
    "\r",
    "\t",
    "\0",
    " ",
]
PIECES += [
    "%",
    "..",
    "<b onclick=alert(1)>",
    "&amp;",
    "=1+1",
    "$HOME",
    "~",
    "#",
    "|",
    ",",
    ":",
    "é",
    "\u202e",
    "👍",
]
PIECES += [
    "select",
    "value",
    "rows",
    "c0",
    "name",
    "src",
    "SRC",
    "x" * 300,
    "copy (select 1) to 'written'",
    "::",
    "$1",
    "?1",
]
NAMES = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=5).map("".join)


def tree(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def check_column(folder: Path, name: str) -> None:
    """A report and a condition show the values of a column, whatever its name is."""
    name.encode()
    columns = {"src": ["a", "b"], "tgt": ["c", "d"], "reason": ["x", "x"]}
    table = pa.table([*columns.values(), [1.0, 3.0]], [*columns, name])
    if name in columns:
        return
    path = folder / "a.parquet"
    pq.write_table(table, path)
    values = distributions([path], {name: None})[name]
    assert values is not None and (values.edges, values.counts) == ((1.0, 2.0, 3.0), (1, 1))
    assert reasons([path])[0].total == 2
    batch = table.to_batches()[0]
    assert len(set(row_hashes(batch, [name], 1).tolist())) == 2
    (values,) = evaluate(condition(f"{identifier(name)} > 2"), batch)
    assert values.to_pylist() == [False, True]
    assert tree(folder) == {"a.parquet"}


def test_a_column_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    got = fuzz(lambda name: check_column(tmp_path, name), NAMES, SECONDS)
    assert got["result"]


HOSTILE = [
    "w[12]",
    "*?",
    "{de,en}",
    "-x",
    "--where",
    "$(touch written)",
    "a;b|c&d",
    'it\'s "so"',
    "<b onclick=alert(1)>",
    "new\nline\rtab\t",
    "=cmd|' calc'!A0",
    "\u202eé👍",
    "%2e%2e",
    "...",
    " ",
    "\udcff",
    "x" * 250,
]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_verbs_take_any_name_or_refuse_it(
    name: str, tmp_path: Path, paraloom: Callable[..., tuple[int, str, str]]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")  # As Python's own.
    rows = [dict.fromkeys(PAIRS.names, f"{name} {n}".encode(errors="replace").decode()) for n in range(3)]
    table = pa.Table.from_pylist(rows, PAIRS).append_column(
        name.encode(errors="replace").decode(), pa.array([1.0, 2.0, 3.0])
    )
    pq.write_table(table, work / "plain.parquet")
    folder = work / name
    folder.mkdir()
    file = folder / f"{name[:90]}.parquet"
    with file.open("wb") as stream:
        pq.write_table(table, stream)
    pipeline = folder / "p.toml"
    quoted = name.encode(errors="replace").decode().translate({10: " ", 13: " ", 9: " ", 34: " ", 92: " "})
    pipeline.write_text(
        f'name = "{quoted}"\n[[stage]]\nuse = "read-pairs"\nname = "read"\nsource = "../plain.parquet"\n'
        f'[[stage]]\nname = "{quoted}"\nuse = "score"\nscores = ["length"]\n'
    )
    commands = [
        ("head", file),
        ("score", file, "--with", "length", "--engine", "inline", "-o", folder / "scored.parquet"),
        ("filter", file, "--where", "length(src) > 1", "--engine", "inline", "-o", folder / "kept.csv"),
        ("report", file, "-o", folder / "report.html"),
        ("run", pipeline, "-o", folder / "run", "--engine", "inline"),
        ("status", folder / "run"),
        ("report", folder / "run", "-o", folder / "run.html"),
        ("stats", file),
        ("judge", "sample", file, "--by", "length_ratio", "-o", folder / "sheet.tsv"),
    ]
    for arguments in commands:
        status, _, err = paraloom(*arguments)
        assert status in (0, 1, 2), (arguments[0], err)
        assert "Traceback" not in err and "please report" not in err, (arguments[0], err)
        assert status == 0 or err.strip(), arguments[0]
    assert tree(work) == {"plain.parquet", name}, "something was written outside of the folder"
    assert tree(tmp_path) == {"work"}
    for page in folder.rglob("*.html"):
        assert "<b onclick" not in page.read_text(encoding="utf-8")
