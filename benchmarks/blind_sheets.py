"""Sheets for readers who do not see which system wrote an output: written shuffled with a key, read, and counted."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from paraloom.core.digests import digest
from paraloom.core.stats import cohen_kappa, wilson_interval
from paraloom.io.sheets import read_sheet, write_sheet

Rows = dict[str, dict[str, str]]
"""Identifier of a row → its cells by column."""


def identifier(src: str, tgt: str) -> str:
    """A name of a pair by its content: verdicts hold for it alone."""
    return digest([src, tgt])[:16]


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a table with a header."""
    return read_sheet(path, (), kind="table of a benchmark", remedy="Give a file that `draw` wrote, filled in.")


def write_table(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table with a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_sheet(path, names, rows)
    print(path)


def draw_sheet(
    folder: Path,
    columns: Sequence[str],
    pairs: Mapping[str, tuple[str, str]],
    key: tuple[Sequence[str], Iterable[Sequence[str]]],
) -> None:
    """Write each pair once, shuffled, with empty cells to fill in, and the key, which says whose each is."""
    order = sorted(pairs)
    random.Random(1).shuffle(order)
    empty = [""] * (len(columns) - 3)
    write_table(folder / "sheet.tsv", columns, ([name, *pairs[name], *empty] for name in order))
    write_table(folder / "key.tsv", *key)
    print(f"{len(order)} to read")


def rows_of(sheet: Path, column: str = "id") -> Rows:
    """The rows of a sheet by what identifies them."""
    return {row[column]: row for row in table(sheet)}


def verdicts_of(sheet: Path) -> dict[str, bool]:
    """Identifier → whether a reader called the pair right; the two columns of a table without a header."""
    rows = (line.split("\t") for line in sheet.read_text("utf-8").splitlines())
    return {row[0]: row[1].strip() == "1" for row in rows}


def share(verdicts: Sequence[bool]) -> str:
    """How many, per cent, and the 95 % interval; a dash of none."""
    if not verdicts:
        return "–"
    low, high = wilson_interval(sum(verdicts), len(verdicts))
    return f"{sum(verdicts)}: {100 * sum(verdicts) / len(verdicts):.0f}% [{100 * low:.0f}, {100 * high:.0f}]"


def agreement(first: Sequence[str], second: Sequence[str]) -> tuple[float, float]:
    """Share of equal labels, and Cohen's kappa, 1 where all labels are one."""
    kappa = cohen_kappa(first, second)
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first), 1.0 if kappa is None else kappa
