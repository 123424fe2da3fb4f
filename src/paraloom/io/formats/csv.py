"""Comma-separated tables, as spreadsheets write them: with quoting, and with commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.io.compression import open_read, open_write, utf8_error
from paraloom.io.file_kinds import check_text
from paraloom.io.formats.base import PairRow, ReadOptions, text_column
from paraloom.io.formats.tsv import table_columns

_DELIMITERS = ",;\t"
_PEEK_LINES = 20


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read pairs from two columns, as `tsv.read` does; fields may be quoted, and then have line breaks.

    The delimiter is the one of comma, semicolon and tab that cuts the first lines into equally many fields: two, or the
    next larger number. Rows count from 1, without the header. A blank line is a row of empty texts.

    Args:
        options: What to read.

    Raises:
        ConfigError: There are more columns and none is named, or a named one is not found.
        DataError: A row has another number of fields than the first, its quotes are not closed, or it is not valid
            UTF-8.
    """
    with open_read(options.path) as stream:
        # Bytes that are not UTF-8 become surrogates, so that one bad row does not end the file.
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        peeked = _first_lines(text, options.path)
        records = _records(chain(peeked, text), _delimiter(peeked))
        first = next(records, None)
        if first is None:
            text.detach()
            return
        second = next(records, None)
        fields = _checked(first)
        columns = table_columns(options, fields, second if isinstance(second, list) else [])
        rows = [record for record in ((second,) if columns.header else (first, second)) if record is not None]
        for row, record in enumerate(chain(rows, records), 1):
            try:
                values = _checked(record)
                if not any(value.strip() for value in values):
                    yield PairRow(row, "", "")
                    continue
                if len(values) != len(fields):
                    raise DataError(
                        f"expected {len(fields)} fields as in the first row, got {len(values)}",
                        remedy="Put texts with a comma or a semicolon in quotation marks.",
                    )
            except DataError as error:
                raw = ",".join(record) if isinstance(record, list) else ""
                options.reject(row, error, raw.encode(errors="surrogateescape").decode(errors="backslashreplace"))
                continue
            yield columns.pair(row, values)
        text.detach()


def read_rows(path: str | Path) -> Iterator[list[str] | DataError]:
    """Read all rows of a table, the first one included, without looking for pairs.

    Args:
        path: The file, plain or compressed.

    Returns:
        The fields of each row; in the position of a row that cannot be parsed or is not valid UTF-8, the error.
    """
    with open_read(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        peeked = _first_lines(text, path)
        for record in _records(chain(peeked, text), _delimiter(peeked)):
            try:
                yield _checked(record)
            except DataError as error:
                yield error
        text.detach()


def _first_lines(text: io.TextIOWrapper, path: str | Path) -> list[str]:
    """The lines that the delimiter is found by; DataError if they are not text."""
    peeked = list(islice(text, _PEEK_LINES))
    check_text("".join(peeked[:1]).encode(errors="surrogateescape"), path)
    return peeked


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
        for batch in chain([None], batches):
            text = io.StringIO(newline="")
            writer = csv.writer(text, lineterminator="\n")
            if batch is None:
                writer.writerow(names)
            else:
                columns = [text_column(batch.column(name)).to_pylist() for name in names]
                writer.writerows(zip(*columns, strict=True))
                rows += batch.num_rows
            stream.write(text.getvalue().encode())
    return rows


def _records(lines: Iterable[str], delimiter: str) -> Iterator[list[str] | DataError]:
    """The records of a file; in the position of one that cannot be parsed, the error."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield DataError(
                f"the row is not valid CSV ({error}; it ends in line {reader.line_num})",
                remedy="Close quotation marks, and double those within a text.",
            )


def _delimiter(lines: Sequence[str]) -> str:
    """The delimiter that cuts lines into equally many fields, two or the next larger number; a comma if none does."""
    widths: dict[str, int] = {}
    for delimiter in _DELIMITERS:
        records = [record for record in _records(lines, delimiter) if isinstance(record, list) and any(record)]
        if len({len(record) for record in records[:-1] or records}) == 1 and len(records[0]) > 1:
            widths[delimiter] = len(records[0])
    if widths:
        return min(widths, key=lambda delimiter: widths[delimiter])
    return next((delimiter for delimiter in _DELIMITERS if lines and delimiter in lines[0]), ",")


def _checked(record: list[str] | DataError) -> list[str]:
    """The fields of a record; DataError where it could not be parsed or is not valid UTF-8."""
    if isinstance(record, DataError):
        raise record
    for field in record:
        try:
            field.encode()
        except UnicodeEncodeError as error:
            raw = field.encode(errors="surrogateescape")
            raise utf8_error(raw, len(field[: error.start].encode())) from None
    return record
