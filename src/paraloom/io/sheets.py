"""Sheets that people fill in with a spreadsheet: tab-separated, without cells that it would compute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from paraloom.core.errors import DataError
from paraloom.io.formats.csv import read_rows
from paraloom.io.quoting import BadRow, quoted_lines

# Other widths of these signs count, too. The empty text is in no such list.
_FORMULA = tuple("=+-@＝＋－＠−'")


def sheet_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Write the lines of a sheet; texts that a spreadsheet would take for a formula are quoted (`quote_formula`)."""
    cells = ([quote_formula(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return quoted_lines(chain([columns], cells), "\t")


def read_sheet(path: str | Path, columns: Sequence[str], *, kind: str, remedy: str) -> list[dict[str, str]]:
    """Read a sheet as `sheet_lines` writes it, or as a spreadsheet saves it; blank rows are skipped."""
    if not Path(path).is_file():
        raise DataError("file not found", file=path, remedy=remedy)
    rows = read_rows(path)
    try:
        header = next(rows, [])
    except DataError as error:
        raise DataError(f"not a {kind}: {error.what}", file=path, remedy=error.remedy) from None
    names = [] if isinstance(header, BadRow) else [name.strip() for name in header]
    if missing := [name for name in columns if name not in names]:
        raise DataError(f"not a {kind}: column '{missing[0]}' not found", file=path, remedy=remedy)
    sheet = []
    for number, cells in enumerate(rows, start=2):
        if isinstance(cells, BadRow):
            raise cells.error.at(file=path, row=number)
        if any(cells[len(names) :]):
            raise DataError(f"expected {len(names)} cells, got {len(cells)}", file=path, row=number, remedy=remedy)
        if any(cells):
            padded = [*map(unquote_formula, cells), *[""] * (len(names) - len(cells))]
            sheet.append(dict(zip(names, padded, strict=False)))
    return sheet


def quote_formula(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would compute (OWASP, "CSV injection"), or what begins with one."""
    return f"'{text}" if text.lstrip()[:1] in _FORMULA else text


def unquote_formula(text: str) -> str:
    """The text that `quote_formula` was given."""
    return text[1:] if text.startswith("'") and text[1:].lstrip()[:1] in _FORMULA else text
