"""Pairs inside records: the texts at two paths, at least one with `*`, of one table or of two with the same rows."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    stem = two.stem if two else file_stem(paths[0])
    default = ("src", "tgt") if two is None else (options.tgt_column, options.src_column)
    source, target = _Side(str(options.src_column or default[0])), _Side(str(options.tgt_column or default[1]))
    for row, first, last in _records(paths, options):
        src, tgt = source.texts(first), target.texts(last)
        src, tgt = source.repeated(src, len(tgt)), target.repeated(tgt, len(src))
        if len(src) != len(tgt):
            counts = f"{source.count(src, first)}, {target.count(tgt, last)}"
            error = DataError(f"the sides have different numbers of texts: {counts}")
            error.remedy = "Each item needs a text on both sides; null where it has none."
            options.reject(row, error, str(last))
            continue
        numbered = enumerate(zip(src, tgt, strict=True), 1)
        yield row, RecordPairs(last, {f"{stem}:{row}:{n}": both if _are_texts(both) else None for n, both in numbered})
    for path, file in ((source, paths[0]), (target, paths[-1])):
        if not path.seen:
            raise missing_path(path.column, path.known).at(file=file)


class _Side:
    """The path of a side, whether a record had a text there, and else the paths of texts that records have."""

    def __init__(self, column: str) -> None:
        self.column, self.keys = column, path_keys(column)
        self.seen, self.known = False, dict[str, None]()

    def texts(self, values: Mapping[str, object]) -> list[Any]:
        """What a record has at the path."""
        texts = [slot.value for slot in slots(values, self.keys)]
        self.seen = self.seen or any(isinstance(text, str) for text in texts)
        if not self.seen and len(self.known) < _SEARCHED:
            self.known |= dict.fromkeys(text_paths(values))
        return texts

    def repeated(self, texts: list[Any], count: int) -> list[Any]:
        """The one text of a path without `*`, as often as the other side has texts."""
        return texts * count if "*" not in self.keys and len(texts) == 1 else texts

    def count(self, texts: list[Any], values: dict[str, Any]) -> str:
        """How many texts a record has at the path; where it has none, with the nearest path that it has."""
        near = "" if texts else nearest(self.column.removeprefix("$."), [*text_paths(values)])
        return f"{len(texts)} at '{self.column}'{near}"


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) and value.strip() for value in values)


def _records(paths: Sequence[str], options: ReadOptions) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """The rows of a table, or those that two have both: the row, the source side's record and the target side's."""
    unread: set[int] = set()

    def on_bad(row: int, reason: str, raw: str) -> None:
        if row not in unread:
            options.reject(row, DataError(reason), raw)
        unread.add(row)

    tables = [read_records(path, on_bad=None if options.on_reject is None else on_bad) for path in paths]
    for row, group in groupby(heapq.merge(*tables, key=lambda record: record.row), key=lambda record: record.row):
        records: list[Record] = list(group)
        if len(records) == len(paths):
            yield row, records[0].values, records[-1].values
        elif row not in unread:
            options.reject(row, DataError("only one of the two files has this row"), str(records[0].values))


def missing_path(path: str, known: dict[str, None]) -> DataError:
    """The error of a path where no row has a text, with the nearest of those that do."""
    return DataError(
        f"no row has a text at '{path}'{nearest(path.removeprefix('$.'), list(known))}",
        remedy="Name the keys from the outside in, with * for all items of a list: messages.*.content.",
    )
