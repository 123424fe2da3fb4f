"""Rows of tables with quotation marks: written so that every reader of CSV gives the same cells back, and read."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from paraloom.core.errors import DataError

ROW_LINES, ROW_CHARACTERS = 1 << 21, 1 << 25
"""Limits of a row after its first line: a quotation mark that is still open then was never closed."""

_QUOTED = re.compile('["\r\n\ufeff#]')
# Up to the mark that closes a field; possessive, so that a field of any length takes constant memory.
_DOUBLED = (re.compile(r'[^"]*+(?:""[^"]*+)*+'), '""')
_ESCAPED = (re.compile(r'[^"\\]*+(?:\\"?[^"\\]*+)*+'), '\\"')
_NOT_CLOSED = "a quotation mark is not closed"
_IN_OTHER_ROW = "a quotation mark is closed in another row only"
_NOT_AT_END = "text follows the quotation mark that closes a field"


class BadRow(NamedTuple):
    error: DataError
    text: str
    is_open: bool = False


def quoted_lines(rows: Iterable[Sequence[object]], delimiter: str = ",") -> Iterator[str]:
    r"""Write rows as lines of CSV, quoting only what needs it.

    The `csv` module of Python before 3.13 leaves a carriage return unquoted, which other readers take for the end of a
    row. Here a cell with any line break is quoted; so are a byte order mark and a row of one blank cell, which readers
    drop, and a number sign, with which comments begin for DuckDB and R.
    """
    for row in rows:
        cells = ["" if cell is None else str(cell) for cell in row]
        line = delimiter.join(cells)
        if len(cells) == 1 and not line.strip():
            line = f'"{line}"'
        elif line.count(delimiter) >= len(cells) or _QUOTED.search(line):
            line = delimiter.join([_quoted(cell, delimiter) for cell in cells])
        yield f"{line}\n"


def _quoted(cell: str, delimiter: str) -> str:
    if delimiter in cell or _QUOTED.search(cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def quoted_rows(lines: Iterable[str], delimiter: str = ",", width: int | None = None) -> Iterator[list[str] | BadRow]:
    r"""Read the rows of a table from its lines; time is linear and memory bounded, whatever marks the lines have.

    A field that begins with a quotation mark ends at the next one that is not doubled, and may have line breaks. Where
    that gives no valid row, marks within a field may follow a backslash instead, as R and Spark write them.

    Where a row is not valid, its first line is rejected and reading continues with the next line. A row is not valid if
    a mark is not closed within `ROW_LINES` and `ROW_CHARACTERS`, if text follows a closing mark, and if it spans
    several lines and does not have `width` fields: a stray mark then ended at that of another row.
    """
    source = _Lines(lines)
    while (line := source.take()) is not None:
        if '"' in line:
            number = source.number
            row = _row(line, source, delimiter, width)
            if isinstance(row, str):
                error = DataError(
                    f"the row is not valid CSV ({row}; it begins in line {number})",
                    remedy="Close quotation marks, and double those within a text.",
                )
                yield BadRow(error, line.rstrip("\r\n"), row.startswith(_NOT_CLOSED))
                continue
        else:
            text = line.rstrip("\r\n")
            row = text.split(delimiter) if text else []
        width = width or len(row) or None
        yield row


class _Lines:
    """Lines that can be given back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._returned: deque[str] = deque()
        self.number = 0

    def take(self) -> str | None:
        """The next line; None at the end."""
        line = self._returned.popleft() if self._returned else next(self._lines, None)
        self.number += line is not None
        return line

    def give_back(self, lines: Sequence[str]) -> None:
        """Take these lines again, the last ones that were taken."""
        self._returned.extendleft(reversed(lines))
        self.number -= len(lines)


def _row(line: str, source: _Lines, delimiter: str, width: int | None) -> list[str] | str:
    """The fields of the row that begins with a line, whose further lines are taken; a text says why it is not valid."""
    taken = [line]
    fields, used = _fields(taken, source, delimiter, width, *_DOUBLED)
    if not _is_valid(fields, width) and any('\\"' in line for line in taken):
        escaped, used_by_escaped = _fields(taken, source, delimiter, width, *_ESCAPED)
        if _is_valid(escaped, width):
            fields, used = escaped, used_by_escaped
    if used > 1 and not isinstance(fields, str) and not _is_valid(fields, width):
        fields = _IN_OTHER_ROW
    source.give_back(taken[1 if isinstance(fields, str) else used :])
    return fields


def _is_valid(fields: list[str] | str, width: int | None) -> bool:
    return not isinstance(fields, str) and width in (None, len(fields))


def _fields(
    taken: list[str], source: _Lines, delimiter: str, width: int | None, inside: re.Pattern[str], mark: str
) -> tuple[list[str] | str, int]:
    fields: list[str] = []
    line, used, at, characters = taken[0], 1, 0, 0
    while True:
        if not line.startswith('"', at):
            end = line.find(delimiter, at)
            if end < 0:
                fields.append(line[at:].rstrip("\r\n"))
                return fields, used
            fields.append(line[at:end])
            at = end + 1
        else:
            at += 1
            parts = []
            while (end := _end(inside, line, at)) == len(line):
                parts.append(line[at:])
                if used == len(taken):
                    more = source.take()
                    if more is None:
                        return _NOT_CLOSED, used
                    taken.append(more)
                line, at = taken[used], 0
                used, characters = used + 1, characters + len(line)
                if used > ROW_LINES or characters > ROW_CHARACTERS:
                    return f"{_NOT_CLOSED} within {ROW_LINES:,} lines or {ROW_CHARACTERS:,} characters", used
            parts.append(line[at:end])
            fields.append("".join(parts).replace(mark, '"'))
            at = end + 1
            if at == len(line) or line.startswith(("\r", "\n"), at):
                return fields, used
            if not line.startswith(delimiter, at):
                return _NOT_AT_END, used
            at += 1
        # A row without end would be read again from each of its lines.
        if used > 1 and width is not None and len(fields) >= width:
            return _IN_OTHER_ROW, used


def _end(inside: re.Pattern[str], line: str, at: int) -> int:
    """Position at which a field that is open in a line is closed; the length of the line if it is not."""
    match = inside.match(line, at)
    assert match is not None, "the pattern matches the empty text"
    return match.end()


def has_breaks_in_quotes(lines: Iterable[str], delimiter: str) -> bool:
    """Whether lines are rows of quoted fields, and delimiters or line breaks stand between quotation marks."""
    rows = list(quoted_rows((f"{line}\n" for line in lines), delimiter))
    fields = [field for row in rows if isinstance(row, list) for field in row]
    return all(isinstance(row, list) for row in rows) and any(delimiter in one or "\n" in one for one in fields)
