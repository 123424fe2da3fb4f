"""Tables of tab-separated fields, without quoting: a quotation mark is a character like any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.compression import decode, open_write, read_raw_lines
from paraloom.io.formats.base import PROVENANCE, Asked, Column, Pair, raw_text
from paraloom.io.formats.fields import plain_text


def read(asked: Asked) -> Iterator[Pair]:
    """The two columns asked for; by default `src` and `tgt` where the first row says so, else the only two there are.

    Rows count from 1, the header left out.  Raises ConfigError when there are more columns and none is named,
    DataError for a row with another number of fields than the first.
    """
    lines = read_raw_lines(asked.path)
    first = next(lines, None)
    if first is None:
        return
    fields = decode(first, asked.path, 1).split("\t")
    header = _has_header(asked, fields)
    src, tgt = _columns(asked, fields, header)
    # In a table of ours the further columns of a pair are kept as they are.
    further = [fields.index(name) if header and name in fields else None for name in PROVENANCE]
    row = 0
    for line in lines if header else _again(first, lines):
        row += 1
        try:
            found = decode(line, asked.path, row).split("\t")
            if len(found) != len(fields):
                raise DataError(
                    f"the row has {len(found)} fields, the first row has {len(fields)}",
                    remedy="Look for a tab that is missing, or one too many.",
                )
        except DataError as error:
            asked.refuse(row, error, raw_text(line))
            continue
        yield Pair(row, found[src], found[tgt], *(None if at is None else found[at] or None for at in further))


def write(batches: Iterable[pa.RecordBatch], names: Sequence[str], target: str) -> int:
    """A header, then one line a row; DataError for a text with a tab or a line end in it.  Returns the rows."""
    rows = 0
    with open_write(target) as stream:
        stream.write(("\t".join(names) + "\n").encode())
        for batch in batches:
            columns = [plain_text(batch, name, "\t\r\n", target, rows) for name in names]
            stream.write("".join("\t".join(fields) + "\n" for fields in zip(*columns, strict=True)).encode())
            rows += batch.num_rows
    return rows


def number(column: Column) -> int | None:
    """The number that stands for a column, None where it is a name or nothing.

    >>> number(2), number("2"), number("src"), number(None)
    (2, 2, None, None)
    """
    return int(column) if isinstance(column, int) or (column is not None and column.isdecimal()) else None


def _again(first: bytes, lines: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from lines


def _has_header(asked: Asked, fields: list[str]) -> bool:
    wanted = (asked.src_column, asked.tgt_column)
    if wanted == (None, None):
        return "src" in fields and "tgt" in fields
    return any(column is not None and number(column) is None for column in wanted)


def _columns(asked: Asked, fields: list[str], header: bool) -> tuple[int, int]:
    if (asked.src_column is None or asked.tgt_column is None) and not header and len(fields) != 2:
        shown = "  ".join(f"{i}: {field[:40]!r}" for i, field in enumerate(fields, 1))
        if len(fields) == 1:
            raise DataError(
                f"there is one column only: {shown}", file=asked.path, remedy="Separate the sides by a tab."
            )
        raise ConfigError(
            f"there are {len(fields)} columns, which two are meant is not said; the first row is {shown}",
            file=asked.path,
            remedy="Say which, as by: --src-column 1 --tgt-column 2 (or by the names of a header).",
        )
    defaults: tuple[Column, Column] = ("src", "tgt") if header else (1, 2)
    wanted = (asked.src_column or defaults[0], asked.tgt_column or defaults[1])
    src, tgt = (_position(asked, column, fields) for column in wanted)
    return src, tgt


def _position(asked: Asked, column: Column, fields: list[str]) -> int:
    at = number(column)
    if at is not None:
        if not 1 <= at <= len(fields):
            raise ConfigError(f"there is no column {at}; the first row has {len(fields)}", file=asked.path)
        return at - 1
    if column not in fields:
        raise ConfigError(f"the header has no column '{column}'{nearest(str(column), fields)}", file=asked.path)
    return fields.index(str(column))
