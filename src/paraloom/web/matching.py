"""Rows that match a condition and a search, in order; those of large sets are searched from request to request."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import AnyFloats
from paraloom.core.errors import ConfigError, DataError
from paraloom.pairs.filtering.condition_tree import COMPARED_CHARACTERS
from paraloom.pairs.filtering.expressions import check_columns, condition, evaluate
from paraloom.web.dataset import STEP_ROWS, WHOLE_ROWS, Dataset, Mask, floats
from paraloom.web.limits import check_limit
from paraloom.web.row_files import RowNumbers

KEPT_ROWS = 1_000_000  # Rows of an order that can be shown of a large set
BUDGET = 0.4  # Seconds that a request searches a large set at most

K = TypeVar("K")
V = TypeVar("V")

_THREADS = max(1, min(4, os.cpu_count() or 1))
_KEPT_MASKS, _KEPT_MATCHES = 24, 6

# What is computed between two moments at which a query can be interrupted: bytes that are searched; and cells of the
# matrix of an edit distance, the slowest function of a condition, some 0.1 s.
_SEARCHED, _CELLS = 16e6, 2e7


FILE_ORDER = "row"  # The order of the file, where another one is the default


@dataclass(frozen=True)
class RowFilter:
    """A selection of rows, and their order."""

    where: str = ""
    search: str = ""
    sort: str = ""


@dataclass(frozen=True)
class _Predicate:
    """One clause of a condition, or the search."""

    text: str
    columns: tuple[str, ...]
    is_search: bool = False

    def test(self, rows: pa.Table) -> Mask:
        costs = self._costs(rows)
        pieces = [rows] if costs is None else list(_pieces(rows, costs))
        if self.is_search:
            return np.concatenate([self._contains(piece) for piece in pieces])
        # DuckDB can be interrupted between the batches of a table.
        table = pa.Table.from_batches([batch for piece in pieces for batch in piece.to_batches()], rows.schema)
        return _as_mask(reduce(pc.and_, evaluate(condition(self.text), table)).fill_null(False))

    def _contains(self, rows: pa.Table) -> Mask:
        check_limit()
        hits = [
            pc.match_substring(rows.column(name), self.text, ignore_case=True).fill_null(False) for name in self.columns
        ]
        return _as_mask(hits[0] if len(hits) == 1 else pc.or_(hits[0], hits[1]))

    def _costs(self, rows: pa.Table) -> npt.NDArray[np.float64] | None:
        """The cost of each row `(n,)`, where 1 is as much as may be computed without a check; None for numbers only."""
        texts = [column for column in rows.columns if pa.types.is_string(column.type)]
        lists = [column for column in rows.columns if pa.types.is_nested(column.type)]
        if not texts and not lists:
            return None
        sizes = np.full(rows.num_rows, sum(column.nbytes for column in lists) / max(1, rows.num_rows))
        for column in texts:
            sizes += pc.fill_null(pc.binary_length(column), 0).to_numpy()
        if self.is_search:
            return sizes / _SEARCHED
        # Two texts of half the size each have the most cells; every call of a function may be that of a distance.
        calls = 1 + self.text.count("(") + self.text.count("||")
        return calls * np.maximum(sizes / _SEARCHED, np.minimum(sizes / 2, COMPARED_CHARACTERS) ** 2 / _CELLS)


class Matches:
    """The rows that match a filter, in order."""

    def __init__(self, rows: RowNumbers) -> None:
        self.is_complete = True
        self.is_sorted = False
        self.total = self.searched = self.reachable = len(rows)
        self._rows = rows

    def page(self, start: int, count: int) -> RowNumbers:
        """Some of the rows, as far as they were found in the time."""
        return self._rows[start : start + count]

    def advance(self, seconds: float, until: int | None = None) -> None:
        """Search on for some seconds, or until so many rows are found."""


class AllRows(Matches):
    """All rows of a large set, in its order."""

    def __init__(self, rows: int) -> None:
        super().__init__(np.empty(0, np.int32))
        self.total = self.searched = self.reachable = rows

    def page(self, start: int, count: int) -> RowNumbers:
        return np.arange(start, min(start + count, self.total), dtype=np.int32)


class Search(Matches):
    """A search of a large set: one pass, as far as somebody asked for it, which keeps the first rows of the order."""

    def __init__(
        self, dataset: Dataset, predicates: Sequence[_Predicate], sort: tuple[str, bool] | None, share: float
    ) -> None:
        super().__init__(np.empty(0, np.int32))
        names = [name for predicate in predicates for name in predicate.columns]
        names += [] if sort is None else [sort[0]]
        self.is_complete = False
        self.is_sorted = sort is not None
        self._all, self._predicates, self._sort, self._share = dataset.rows, predicates, sort, share
        self._steps = dataset.steps(list(dict.fromkeys(names)) or dataset.schema.names[:1])
        self._step: pa.Table | None = None
        self._values: AnyFloats = np.empty(0)
        self._worst = np.nan  # Of the rows that are kept, once there are enough
        self._count = 0
        self._lock = threading.Lock()

    def page(self, start: int, count: int) -> RowNumbers:
        self.advance(BUDGET, until=start + count)
        with self._lock:
            if self._sort is None:
                return self._rows[start : start + count]
            return self._rows[_ordering(self._values, self._sort[1])[start : start + count]]

    def advance(self, seconds: float, until: int | None = None) -> None:
        deadline = time.monotonic() + seconds
        with self._lock:
            while not self.is_complete and (self.is_sorted or until is None or self._count < until):
                check_limit()
                # A step whose request ends before it is searched is searched by the next one.
                self._step = self._step or next(self._steps, None)
                if self._step is None:
                    raise DataError("the files have changed", remedy="Start paraloom explore again.")
                self._search(self._step)
                self.searched += self._step.num_rows
                self._step = None
                self.is_complete = self.searched == self._all
                self.total = self._count if self.is_complete else max(self._count, round(self._share * self._all))
                self.reachable = min(self.total, KEPT_ROWS)
                if time.monotonic() >= deadline:
                    break

    def _search(self, rows: pa.Table) -> None:
        mask = np.ones(rows.num_rows, bool)
        for predicate in self._predicates:
            mask &= predicate.test(_columns(rows, predicate))
        self._count += int(np.count_nonzero(mask))
        if self._sort is None:
            hits = np.flatnonzero(mask)[: max(0, KEPT_ROWS - len(self._rows))]
            self._rows = np.append(self._rows, (self.searched + hits).astype(np.int32))
            return
        name, is_descending = self._sort
        values = floats(rows.column(name))
        if not np.isnan(self._worst):
            mask &= values > self._worst if is_descending else values < self._worst
        hits = np.flatnonzero(mask)
        self._rows = np.append(self._rows, (self.searched + hits).astype(np.int32))
        self._values = np.append(self._values.astype(values.dtype, copy=False), values[hits])
        if len(self._rows) > 2 * KEPT_ROWS:
            best = _ordering(self._values, is_descending)[:KEPT_ROWS]
            self._worst = self._values[best[-1]]
            best.sort()
            self._rows, self._values = self._rows[best], self._values[best]


class Matcher:
    """Answers filters over one dataset, and keeps recent answers."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._masks: OrderedDict[_Predicate, Mask] = OrderedDict()
        self._matches: OrderedDict[RowFilter, Matches] = OrderedDict()
        self._lock = threading.Lock()

    def matches(self, chosen: RowFilter) -> Matches:
        return self._recall(self._matches, chosen, lambda: self._compute(chosen), _KEPT_MATCHES)

    def sample_mask(self, where: str, search: str) -> Mask:
        masks = [self._mask(predicate) for predicate in self.predicates(where, search)]
        return np.logical_and.reduce(masks) if masks else np.ones(len(self.dataset.sample_rows), bool)

    def in_order(self, where: str, search: str, column: str, is_descending: bool = False) -> RowNumbers:
        """Positions in the sample of the rows that match, in the order of a column, undefined last."""
        order, defined = self.dataset.order(column)
        if is_descending:
            order = np.concatenate([order[:defined][::-1], order[defined:]])
        # np.take and np.compress: half the time of order[mask[order]].
        return np.compress(np.take(self.sample_mask(where, search), order), order)

    def predicates(self, where: str, search: str) -> list[_Predicate]:
        """The clauses of a condition and the search; raises ConfigError."""
        schema = self.dataset.schema
        predicates = []
        if where.strip():
            parsed = condition(where)
            check_columns(parsed, schema)
            for clause in parsed.clauses:
                check_limit()
                predicates.append(_Predicate(clause, _spelled(condition(clause).columns, schema.names)))
        if search.strip():
            predicates.append(_Predicate(search.strip(), self.dataset.sides, is_search=True))
        return predicates

    def _compute(self, chosen: RowFilter) -> Matches:
        dataset = self.dataset
        sort = self._sort(chosen.sort)
        if not dataset.is_sampled:
            if sort is None:
                return Matches(np.flatnonzero(self.sample_mask(chosen.where, chosen.search)).astype(np.int32))
            return Matches(self.in_order(chosen.where, chosen.search, *sort))
        predicates = self.predicates(chosen.where, chosen.search)
        if not predicates and sort is None:
            return AllRows(dataset.rows)
        share = float(np.mean(self.sample_mask(chosen.where, chosen.search)))
        return Search(dataset, predicates, sort, share)

    def _sort(self, sort: str) -> tuple[str, bool] | None:
        """The column of an order, and whether the order is descending; None for that of the file."""
        dataset = self.dataset
        if not sort or (sort == FILE_ORDER and sort not in dataset.schema.names):
            return None
        name, is_descending = sort_column(sort, dataset)
        if name in dataset.numeric:
            return name, is_descending
        if name not in dataset.schema.names:
            raise ConfigError(f"cannot sort by '{name}': column not found", remedy="Choose a column of the table.")
        if dataset.is_sampled or not pa.types.is_string(dataset.schema.field(name).type):
            raise ConfigError(
                f"cannot sort by '{name}'", remedy=f"Text is sorted up to {WHOLE_ROWS:,} rows; sort by a number."
            )
        return name, is_descending

    def _mask(self, predicate: _Predicate) -> Mask:
        return self._recall(self._masks, predicate, lambda: self._tested(predicate), _KEPT_MASKS)

    def _tested(self, predicate: _Predicate) -> Mask:
        table = _columns(self.dataset.sample, predicate)
        starts = range(0, max(1, table.num_rows), STEP_ROWS)
        with ThreadPoolExecutor(_THREADS) as pool:
            # A context each: it has the limit of the request, and one thread can be in it at a time.
            tests = [pool.submit(copy_context().run, predicate.test, table.slice(n, STEP_ROWS)) for n in starts]
            return np.concatenate([test.result() for test in tests])

    def _recall(self, cache: OrderedDict[K, V], key: K, compute: Callable[[], V], limit: int) -> V:
        with self._lock:
            if key in cache:
                cache.move_to_end(key)
                return cache[key]
        value = compute()
        with self._lock:
            cache[key] = value
            while len(cache) > limit:
                cache.popitem(last=False)
        return value


def sort_column(sort: str, dataset: Dataset) -> tuple[str, bool]:
    """The column of an order, and whether the order is descending; a column may be named "-x"."""
    is_descending = sort.startswith("-") and sort not in dataset.schema.names
    return sort.removeprefix("-") if is_descending else sort, is_descending


def split_point(dataset: Dataset, column: str, rows: RowNumbers, value: float) -> tuple[int, int]:
    """Where a value divides rows of the sample that are sorted by a column."""
    values = dataset.values(column)
    with np.errstate(over="ignore"):
        bound = values.dtype.type(value)
    defined = bisect_left(rows, True, key=lambda row: bool(np.isnan(values[row])))
    return bisect_left(rows, bound, hi=defined, key=lambda row: values[row]), defined


def _spelled(columns: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a condition, which `check_columns` has found, as the data spell them."""
    known = {name.lower(): name for name in names}
    spelled = {name if name in names else known[name.lower()] for name in columns}
    return tuple(name for name in names if name in spelled)


def _as_mask(values: pa.ChunkedArray) -> Mask:
    mask: Mask = values.to_numpy(zero_copy_only=False).astype(bool, copy=False)
    return mask


def _pieces(rows: pa.Table, costs: npt.NDArray[np.float64]) -> Iterator[pa.Table]:
    """The rows in pieces that cost up to 1 each, or are one row."""
    bounds = np.flatnonzero(np.diff(np.floor(np.cumsum(costs)))) + 1
    for start, end in pairwise([0, *bounds.tolist(), rows.num_rows]):
        yield rows.slice(start, end - start)


def _columns(table: pa.Table, predicate: _Predicate) -> pa.Table:
    return table.select(list(predicate.columns) or table.schema.names[:1])


def _ordering(values: AnyFloats, is_descending: bool) -> npt.NDArray[np.int64]:
    """The positions of values in their order, undefined last."""
    order = np.argsort(values, kind="stable")
    if not is_descending:
        return order
    defined = len(values) - int(np.count_nonzero(np.isnan(values)))
    return np.concatenate([order[:defined][::-1], order[defined:]])
