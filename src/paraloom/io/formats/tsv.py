"""Tab-separated tables without quoting: a quotation mark is an ordinary character."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.compression import decode, open_write, read_raw_lines
from paraloom.io.formats.base import (
    PROVENANCE,
    ColumnName,
    PairRow,
    ReadOptions,
    find_header,
    plain_text,
    raw_text,
    repeated_column,
)


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read pairs from two columns, named by a header or the only two; rows, blank ones too, count from 1 without it."""
    lines = read_raw_lines(options.path)
    first = next(lines, None)
    if first is None:
        return
    second = next(lines, None)
    fields = decode(first, options.path, 1).split("\t")
    columns = table_columns(options, fields, [] if second is None else raw_text(second).split("\t"))
    rows = [line for line in ((second,) if columns.header else (first, second)) if line is not None]
    for row, line in enumerate(chain(rows, lines), 1):
        try:
            if not line.strip() and b"\t" not in line:
                yield PairRow(row, "", "")
                continue
            values = decode(line, options.path, row).split("\t")
            if len(values) != len(fields):
                raise DataError(
                    f"expected {len(fields)} fields as in the first row, got {len(values)}",
                    remedy="Look for a missing or an extra tab.",
                )
        except DataError as error:
            options.reject(row, error, raw_text(line))
            continue
        yield columns.pair(row, values)


def write(batches: Iterable[pa.RecordBatch], names: Sequence[str], target: str) -> int:
    if bad := [name for name in names if any(character in name for character in "\t\r\n")]:
        raise DataError(
            f"the column {bad[0]!r} has a tab or a line break in its name, which this format cannot represent",
            file=target,
            remedy="Rename it, or write .csv, .jsonl or .parquet.",
        )
    rows = 0
    with open_write(target) as stream:
        stream.write(("\t".join(names) + "\n").encode())
        for batch in batches:
            columns = [plain_text(batch, name, "\t\r\n", target, rows) for name in names]
            stream.write("".join("\t".join(fields) + "\n" for fields in zip(*columns, strict=True)).encode())
            rows += batch.num_rows
    return rows


def column_number(column: ColumnName) -> int | None:
    """The number of a column given by number, None for a name."""
    return int(column) if isinstance(column, int) or (column is not None and column.isdecimal()) else None


class TableColumns(NamedTuple):
    """Positions of the sides and the optional columns of a table."""

    header: bool
    src: int
    tgt: int
    src_lang: str | None
    tgt_lang: str | None
    provenance: tuple[int | None, ...]

    def pair(self, row: int, values: Sequence[str]) -> PairRow:
        """The pair of a row with as many fields as the first one."""
        kept = [None if index is None else values[index] or None for index in self.provenance]
        langs = (kept[0] or self.src_lang, kept[1] or self.tgt_lang)
        return PairRow(row, values[self.src], values[self.tgt], *langs, *kept[2:])


def table_columns(options: ReadOptions, fields: list[str], below: list[str]) -> TableColumns:
    """Find the header, if there is one, and the columns of a table."""
    named = (options.src_column, options.tgt_column)
    noticed = find_header(fields, below, options) if named == (None, None) else None
    if noticed is not None:
        src, tgt, *langs = noticed
        header = True
    else:
        header = any(column is not None and column_number(column) is None for column in named)
        src, tgt = _columns(options, fields, header)
        langs = [None, None]
    # The optional columns of a table that paraloom wrote are kept as they are.
    provenance = tuple(fields.index(name) if header and name in fields else None for name in PROVENANCE)
    return TableColumns(header, src, tgt, langs[0], langs[1], provenance)


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
            remedy="Set --src-column and --tgt-column to numbers, or to names of the header; a command without them "
            "needs a file of these two columns (cut -f).",
        )
    defaults: tuple[ColumnName, ColumnName] = ("src", "tgt") if header else (1, 2)
    given = (options.src_column, options.tgt_column)
    columns = [default if column is None else column for column, default in zip(given, defaults, strict=True)]
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
    if fields.count(str(column)) > 1:
        raise repeated_column(str(column), fields, options)
    return fields.index(str(column))
