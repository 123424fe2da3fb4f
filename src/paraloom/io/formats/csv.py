"""Comma-separated tables, as spreadsheets write them: with quoting, and with commas, semicolons or tabs."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.io.compression import check_text, open_read, open_write, utf8_error
from paraloom.io.formats.base import PairRow, ReadOptions, text_column
from paraloom.io.formats.tsv import table_columns
from paraloom.io.quoting import ROW_CHARACTERS, ROW_LINES, BadRow, quoted_lines, quoted_rows

_DELIMITERS = ",;\t"
_PEEK_LINES = 20
# Of each of these lines, on average.
_PEEK_CHARACTERS = 1 << 16


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read pairs from two columns, as `tsv.read` does; fields may be quoted, and then have line breaks.

    The delimiter is the one of comma, semicolon and tab that cuts most of the first lines into equally many fields:
    two, or the next larger number. Rows count from 1, without the header. A blank line is a row of empty texts. A stray
    quotation mark costs its line only: see `quoted_rows`.
    """
    records = read_rows(options.path)
    first = next(records, None)
    if first is None:
        return
    if isinstance(first, BadRow):
        raise first.error.at(file=options.path, row=1)
    second = next(records, None)
    below = [second.text] if isinstance(second, BadRow) else [] if second is None else second or [""]
    columns = table_columns(options, first, below)
    rows = [record for record in ((second,) if columns.header else (first, second)) if record is not None]
    for row, record in enumerate(chain(rows, records), 1):
        if isinstance(record, BadRow):
            options.reject(row, record.error, record.text)
        elif not any(map(str.strip, record)):
            yield PairRow(row, "", "")
        elif len(record) != len(first):
            error = DataError(
                f"expected {len(first)} fields as in the first row, got {len(record)}",
                remedy="Put texts with a comma or a semicolon in quotation marks.",
            )
            options.reject(row, error, ",".join(record))
        else:
            yield columns.pair(row, record)


def read_rows(path: str | Path) -> Iterator[list[str] | BadRow]:
    """Read all rows of a table, the first one included, without looking for pairs."""
    with open_read(path) as stream:
        # Bytes that are not UTF-8 become surrogates, so that one bad row does not end the file.
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        first = next(text, "")
        check_text(first.encode(errors="surrogateescape"), path)
        peeked, delimiter, width = _layout(chain([first], text))
        for row in quoted_rows(chain(peeked, text), delimiter, width):
            yield _decoded(row, delimiter)
        text.detach()


def write(batches: Iterable[pa.RecordBatch], names: Sequence[str], target: str) -> int:
    """Write a header and one record per row, separated by commas; only what needs quotes is quoted."""
    rows = 0
    with open_write(target) as stream:
        stream.write("".join(quoted_lines([names])).encode())
        for batch in batches:
            columns = [text_column(batch.column(name)).to_pylist() for name in names]
            stream.write("".join(quoted_lines(zip(*columns, strict=True))).encode())
            rows += batch.num_rows
    return rows


def _layout(lines: Iterator[str]) -> tuple[list[str], str, int | None]:
    """Peek at the first lines, and at all of a first row that is longer."""
    peeked: list[str] = []
    enough, characters = _PEEK_LINES, 0
    while True:
        before = len(peeked)
        while len(peeked) < enough and characters < enough * _PEEK_CHARACTERS and (line := next(lines, "")):
            peeked.append(line)
            characters += len(line)
        widths = {delimiter: _widths(peeked, delimiter) for delimiter in _DELIMITERS}
        if any(widths.values()) or len(peeked) == before or enough > ROW_LINES or characters > ROW_CHARACTERS:
            break
        enough *= _PEEK_LINES
    return peeked, *_delimiter(peeked, widths)


def _delimiter(peeked: Sequence[str], widths: Mapping[str, Sequence[int]]) -> tuple[str, int | None]:
    """The delimiter with which most of these lines have the same number of fields, and that number, if any."""
    candidates = []
    for delimiter, counted in widths.items():
        width, count = Counter(counted).most_common(1)[0] if counted else (0, 0)
        if width > 1:
            candidates.append((-count / len(counted), width, delimiter))
    if candidates:
        _, width, delimiter = min(candidates)
        return delimiter, width
    return next((delimiter for delimiter in _DELIMITERS if peeked and delimiter in peeked[0]), ","), None


def _widths(lines: Sequence[str], delimiter: str) -> list[int]:
    """Number of fields of each row of the first lines, 0 of one that is not valid."""
    widths = []
    for row in quoted_rows(lines, delimiter):
        if isinstance(row, BadRow) and row.is_open:
            break  # It is longer than these lines; the next ones are part of it.
        if isinstance(row, BadRow) or any(row):
            widths.append(0 if isinstance(row, BadRow) else len(row))
    return widths


def _decoded(row: list[str] | BadRow, delimiter: str) -> list[str] | BadRow:
    """A row as it is, with an error where it is not valid UTF-8."""
    text = row.text if isinstance(row, BadRow) else delimiter.join(row)
    if text.isascii():
        return row
    try:
        text.encode()
        return row
    except UnicodeEncodeError as error:
        raw = text.encode(errors="surrogateescape")
        problem = row.error if isinstance(row, BadRow) else utf8_error(raw, len(text[: error.start].encode()))
        return BadRow(problem, raw.decode(errors="backslashreplace"))
