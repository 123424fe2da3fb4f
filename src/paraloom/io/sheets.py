"""Sheets that people fill in with a spreadsheet, and their keys: tab-separated, without cells that it would compute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from paraloom.core.errors import ConfigError, DataError
from paraloom.io.atomic import atomic_write_all
from paraloom.io.formats.csv import read_rows
from paraloom.io.quoting import BadRow, quoted_lines

# Other widths of these signs count, too. The empty text is in no such list.
_FORMULA = tuple("=+-@＝＋－＠−'")


Row = Sequence[object]
Numbered = dict[str, dict[str, str]]
"""Number of a row → its cells by column."""


def key_path(sheet: str | Path) -> Path:
    """Path of the key of a sheet, which says what each of its rows is: next to it, with .key.tsv after its name."""
    return Path(f"{sheet}.key.tsv")


def check_new_sheet(*files: Path | None) -> None:
    """Refuse to write a sheet where one is, which somebody may have filled in."""
    for file in files:
        if file is not None and file.exists():
            raise ConfigError("the sheet exists already", file=file, remedy="Name another file, or remove it.")


def write_sheet(
    path: str | Path,
    columns: Sequence[str],
    rows: Iterable[Row],
    key: tuple[Sequence[str], Iterable[Row]] | None = None,
) -> None:
    """Write a sheet, and its key of columns and rows, both or none."""
    tables = [(columns, rows), *([] if key is None else [key])]
    with atomic_write_all([Path(path), key_path(path)][: len(tables)]) as files:
        for file, table in zip(files, tables, strict=True):
            with file.open("w", encoding="utf-8", newline="") as stream:
                stream.writelines(sheet_lines(*table))


def sheet_lines(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
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


def read_numbered(path: str | Path, columns: Sequence[str], *, kind: str, remedy: str) -> Numbered:
    """Read a sheet or a key whose rows have a number each."""
    rows: Numbered = {}
    for row, cells in enumerate(read_sheet(path, columns, kind=kind, remedy=remedy), start=2):
        number = cells["number"]
        if number in rows:
            raise DataError(f"number {number} is in two rows", file=path, row=row, remedy="Remove one of them.")
        rows[number] = cells
    return rows


def check_key(sheet: str | Path, rows: Numbered, key: Mapping[str, object]) -> None:
    """Refuse a key of another sheet."""
    if rows.keys() != key.keys():
        raise DataError(
            f"the sheet has {len(rows)} rows, its key {len(key)}, or other numbers",
            file=sheet,
            remedy="Give the key that was written with the sheet.",
        )


def quote_formula(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would compute (OWASP, "CSV injection"), or what begins with one."""
    return f"'{text}" if text.lstrip()[:1] in _FORMULA else text


def unquote_formula(text: str) -> str:
    """The text that `quote_formula` was given."""
    return text[1:] if text.startswith("'") and text[1:].lstrip()[:1] in _FORMULA else text
