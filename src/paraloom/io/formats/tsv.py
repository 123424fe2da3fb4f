"""Tab-separated tables without quoting: a quotation mark is an ordinary character."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.compression import decode, open_write, read_raw_lines
from paraloom.io.formats.base import PROVENANCE, ColumnName, PairRow, ReadOptions, plain_text, raw_text


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read pairs from two columns: by default `src` and `tgt` of the header, or the only two columns.

    Rows count from 1, without the header.

    Args:
        options: What to read.

    Raises:
        ConfigError: There are more columns and none is named, or a named one is not found.
        DataError: A row has another number of fields than the first, or is not valid UTF-8.
    """
    lines = read_raw_lines(options.path)
    first = next(lines, None)
    if first is None:
        return
    fields = decode(first, options.path, 1).split("\t")
    header = _has_header(options, fields)
    src, tgt = _columns(options, fields, header)
    # The optional columns of a table that paraloom wrote are kept as they are.
    provenance = [fields.index(name) if header and name in fields else None for name in PROVENANCE]
    row = 0
    for line in lines if header else _prepend(first, lines):
        row += 1
        try:
            values = decode(line, options.path, row).split("\t")
            if len(values) != len(fields):
                raise DataError(
                    f"expected {len(fields)} fields as in the first row, got {len(values)}",
                    remedy="Look for a missing or an extra tab.",
                )
        except DataError as error:
            options.reject(row, error, raw_text(line))
            continue
        yield PairRow(row, values[src], values[tgt], *(None if i is None else values[i] or None for i in provenance))


def write(batches: Iterable[pa.RecordBatch], names: Sequence[str], target: str) -> int:
    """Write a header and one line per row.

    Args:
        batches: The rows.
        names: Names of their columns.
        target: The file.

    Returns:
        Number of rows.

    Raises:
        DataError: A text has a tab or a line break.
    """
    rows = 0
    with open_write(target) as stream:
        stream.write(("\t".join(names) + "\n").encode())
        for batch in batches:
            columns = [plain_text(batch, name, "\t\r\n", target, rows) for name in names]
            stream.write("".join("\t".join(fields) + "\n" for fields in zip(*columns, strict=True)).encode())
            rows += batch.num_rows
    return rows


def column_number(column: ColumnName) -> int | None:
    """The number of a column given by number, None for a name.

    Example:
        >>> column_number(2), column_number("2"), column_number("src"), column_number(None)
        (2, 2, None, None)
    """
    return int(column) if isinstance(column, int) or (column is not None and column.isdecimal()) else None


def _prepend(first: bytes, lines: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from lines


def _has_header(options: ReadOptions, fields: list[str]) -> bool:
    columns = (options.src_column, options.tgt_column)
    if columns == (None, None):
        return "src" in fields and "tgt" in fields
    return any(column is not None and column_number(column) is None for column in columns)


def _columns(options: ReadOptions, fields: list[str], header: bool) -> tuple[int, int]:
    if (options.src_column is None or options.tgt_column is None) and not header and len(fields) != 2:
        shown = "  ".join(f"{i}: {field[:40]!r}" for i, field in enumerate(fields[:10], 1))
        if len(fields) == 1:
            raise DataError(
                f"expected two columns, got one: {shown}", file=options.path, remedy="Separate the sides by a tab."
            )
        raise ConfigError(
            f"cannot tell which two of {len(fields)} columns to read; the first row is {shown}",
            file=options.path,
            remedy="Set --src-column and --tgt-column to numbers, or to names of the header.",
        )
    defaults: tuple[ColumnName, ColumnName] = ("src", "tgt") if header else (1, 2)
    columns = (options.src_column or defaults[0], options.tgt_column or defaults[1])
    src, tgt = (_position(options, column, fields) for column in columns)
    return src, tgt


def _position(options: ReadOptions, column: ColumnName, fields: list[str]) -> int:
    number = column_number(column)
    if number is not None:
        if not 1 <= number <= len(fields):
            raise ConfigError(f"column {number} not found; the first row has {len(fields)}", file=options.path)
        return number - 1
    if column not in fields:
        raise ConfigError(f"column '{column}' not found in the header{nearest(str(column), fields)}", file=options.path)
    return fields.index(str(column))
