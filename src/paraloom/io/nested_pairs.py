"""Pairs inside records: the texts at two paths, at least one with `*`, of one table or of two with the same rows."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from paraloom.core.errors import DataError, nearest
from paraloom.io.fields import slots, text_paths
from paraloom.io.formats.base import PairRow, ReadOptions, file_stem
from paraloom.io.formats.columns import path_keys
from paraloom.io.formats.names import sides
from paraloom.io.records import Record, read_records

_SEARCHED = 100  # Records whose paths are compared with one that is not there


class RecordPairs(NamedTuple):
    """A record, that of the target side of two tables, and its pairs by name; None where a side has no text."""

    values: dict[str, Any]
    pairs: dict[str, tuple[str, str] | None]


def read(options: ReadOptions) -> Iterator[PairRow]:
    """The pairs of all records in order."""
    for row, record in record_pairs(options):
        for name, pair in record.pairs.items():
            if pair is not None:
                yield PairRow(row, *pair, pair_id=name)


def record_pairs(options: ReadOptions) -> Iterator[tuple[int, RecordPairs]]:
    """The records and their rows; one whose sides have different numbers of texts is rejected.

    The text at a path without `*` is paired with each of the other path. Pairs are named by file, row and number.
    """
    two = sides(options.path)
    paths = (two.src, two.tgt) if two else (options.path,)
    default = ("src", "tgt") if two is None else (options.tgt_column, options.src_column)
    columns = [str(options.src_column or default[0]), str(options.tgt_column or default[1])]
    keys = [path_keys(column) for column in columns]
    seen, known, stem = [False, False], [dict[str, None](), dict[str, None]()], two.stem if two else file_stem(paths[0])
    unread: set[int] = set()

    def on_bad(row: int, reason: str, raw: str) -> None:
        if row not in unread:
            options.reject(row, DataError(reason), raw)
        unread.add(row)

    tables = [read_records(path, on_bad=None if options.on_reject is None else on_bad) for path in paths]
    for row, group in groupby(heapq.merge(*tables, key=lambda record: record.row), key=lambda record: record.row):
        records: list[Record] = list(group)
        if len(records) < len(paths):
            if row not in unread:
                options.reject(row, DataError("only one of the two files has this row"), str(records[0].values))
            continue
        ends = (records[0].values, records[-1].values)
        texts = [[slot.value for slot in slots(values, path)] for values, path in zip(ends, keys, strict=True)]
        for side in (0, 1):
            seen[side] = seen[side] or any(isinstance(text, str) for text in texts[side])
            if len(known[side]) < _SEARCHED and not seen[side]:
                known[side] |= dict.fromkeys(text_paths(ends[side]))
        for side in (0, 1):
            if "*" not in keys[side] and len(texts[side]) == 1:
                texts[side] *= len(texts[1 - side])
        if len(texts[0]) != len(texts[1]):
            counts = [
                f"{len(side)} at '{column}'{'' if side else nearest(column.removeprefix('$.'), [*text_paths(values)])}"
                for side, column, values in zip(texts, columns, ends, strict=True)
            ]
            error = DataError(f"the sides have different numbers of texts: {', '.join(counts)}")
            error.remedy = "Each item needs a text on both sides; null where it has none."
            options.reject(row, error, str(ends[1]))
            continue
        pairs = {
            f"{stem}:{row}:{number}": both if all(isinstance(text, str) and text.strip() for text in both) else None
            for number, both in enumerate(zip(*texts, strict=True), 1)
        }
        yield row, RecordPairs(ends[1], pairs)
    for side in (0, 1):
        if not seen[side]:
            raise missing_path(columns[side], known[side]).at(file=paths[-side])


def missing_path(path: str, known: dict[str, None]) -> DataError:
    """The error of a path where no row has a text, with the nearest of those that do."""
    return DataError(
        f"no row has a text at '{path}'{nearest(path.removeprefix('$.'), list(known))}",
        remedy="Name the keys from the outside in, with * for all items of a list: messages.*.content.",
    )
