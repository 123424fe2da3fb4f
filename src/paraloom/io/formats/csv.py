"""Comma-separated tables, as spreadsheets write them: with quoting, and with commas, semicolons or tabs."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.io.compression import open_read, open_write, utf8_error
from paraloom.io.file_kinds import check_text
from paraloom.io.formats.base import PairRow, ReadOptions, text_column
from paraloom.io.formats.tsv import table_columns
from paraloom.io.quoting import BadRow, quoted_lines, quoted_rows

_DELIMITERS = ",;\t"
_PEEK_LINES = 20


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read pairs from two columns, as `tsv.read` does; fields may be quoted, and then have line breaks.

    The delimiter is the one of comma, semicolon and tab that cuts most of the first lines into equally many fields: two,
    or the next larger number. Rows count from 1, without the header. A blank line is a row of empty texts. A stray
    quotation mark costs its line only: see `quoted_rows`.

    Args:
        options: What to read.

    Raises:
        ConfigError: There are more columns and none is named, or a named one is not found.
        DataError: The first row cannot be read; or another one has another number of fields, its quotes are not closed,
            or it is not valid UTF-8.
    """
    records = read_rows(options.path)
    first = next(records, None)
    if first is None:
        return
    if isinstance(first, BadRow):
        raise first.error.at(file=options.path, row=1)
    second = next(records, None)
    columns = table_columns(options, first, second if isinstance(second, list) else [])
    rows = [record for record in ((second,) if columns.header else (first, second)) if record is not None]
    for row, record in enumerate(chain(rows, records), 1):
        if isinstance(record, BadRow):
            options.reject(row, record.error, record.text)
        elif not any(value.strip() for value in record):
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
    """Read all rows of a table, the first one included, without looking for pairs.

    Args:
        path: The file, plain or compressed.

    Returns:
        The fields of each row; in the position of a row that cannot be parsed or is not valid UTF-8, the error.
    """
    with open_read(path) as stream:
        # Bytes that are not UTF-8 become surrogates, so that one bad row does not end the file.
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        peeked = list(islice(text, _PEEK_LINES))
        check_text("".join(peeked[:1]).encode(errors="surrogateescape"), path)
        delimiter, width = _layout(peeked)
        for row in quoted_rows(chain(peeked, text), delimiter, width):
            yield _decoded(row, delimiter)
        text.detach()


def write(batches: Iterable[pa.RecordBatch], names: Sequence[str], target: str) -> int:
    """Write a header and one record per row, separated by commas; only what needs quotes is quoted.

    Args:
        batches: The rows.
        names: Names of their columns.
        target: The file.

    Returns:
        Number of rows.
    """
    rows = 0
    with open_write(target) as stream:
        stream.write("".join(quoted_lines([names])).encode())
        for batch in batches:
            columns = [text_column(batch.column(name)).to_pylist() for name in names]
            stream.write("".join(quoted_lines(zip(*columns, strict=True))).encode())
            rows += batch.num_rows
    return rows


def _layout(lines: Sequence[str]) -> tuple[str, int | None]:
    """The delimiter that cuts most of the first lines into equally many fields, two or more; and how many."""
    found: list[tuple[float, int, str]] = []
    for delimiter in _DELIMITERS:
        widths: list[int] = []
        for row in quoted_rows(lines, delimiter):
            if isinstance(row, BadRow):
                # The rest of a row that is longer than what was peeked at is not a row.
                if row.is_open:
                    break
                widths.append(0)
            elif any(row):
                widths.append(len(row))
        width, count = Counter(widths).most_common(1)[0] if widths else (0, 0)
        if width > 1:
            found.append((-count / len(widths), width, delimiter))
    if found:
        _, width, delimiter = min(found)
        return delimiter, width
    return next((delimiter for delimiter in _DELIMITERS if lines and delimiter in lines[0]), ","), None


def _decoded(row: list[str] | BadRow, delimiter: str) -> list[str] | BadRow:
    """A row as it is, with an error where it is not valid UTF-8."""
    text = row.text if isinstance(row, BadRow) else delimiter.join(row)
    try:
        text.encode()
        return row
    except UnicodeEncodeError as error:
        raw = text.encode(errors="surrogateescape")
        problem = row.error if isinstance(row, BadRow) else utf8_error(raw, len(text[: error.start].encode()))
        return BadRow(problem, raw.decode(errors="backslashreplace"))
