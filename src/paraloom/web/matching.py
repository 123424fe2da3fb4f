"""Rows that match a condition and a search, in order; long searches proceed from request to request."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Sequence
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

from paraloom.core.errors import ConfigError
from paraloom.pairs.filtering.condition_tree import COMPARED_CHARACTERS
from paraloom.pairs.filtering.expressions import check_columns, condition, evaluate
from paraloom.web.dataset import BATCH_ROWS, Coded, Dataset, Mask, RowNumbers, workers
from paraloom.web.limits import check_limit

EXACT_ROWS = 400_000  # Rows whose texts are searched at once; of more, a request searches as many as it has time for
BUDGET = 0.12  # Seconds that a request searches texts at most

K = TypeVar("K")
V = TypeVar("V")

_STEP = 20_000
_SLICE = 16 * BATCH_ROWS
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
        """Mask of the rows that it is true for."""
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
    """The rows that match a filter, found as far as somebody asked for them."""

    def __init__(
        self,
        dataset: Dataset,
        candidates: RowNumbers,
        slow: Sequence[_Predicate] = (),
        mask: Mask | None = None,
        share: float = 1.0,
    ) -> None:
        self._dataset = dataset
        self._candidates = candidates
        self._slow = tuple(slow)
        self._mask = mask
        self._share = share
        self._parts: list[RowNumbers] = []
        self._count = 0 if slow else len(candidates)
        self.searched = 0 if slow else len(candidates)
        self._lock = threading.Lock()
        self._group_counts: dict[str, npt.NDArray[np.int64]] = {}

    @property
    def candidates(self) -> int:
        return len(self._candidates)

    @property
    def is_complete(self) -> bool:
        return self.searched == len(self._candidates)

    @property
    def total(self) -> int:
        """Rows that match: their number, or an estimate while the search is not complete."""
        if self.is_complete:
            return self._count
        return max(self._count, round(self._share * len(self._candidates)))

    def first(self, count: int) -> RowNumbers:
        """The first rows that match, as many as were found in the time."""
        self.advance(until=count)
        return self.all_found()[:count]

    def advance(self, seconds: float = BUDGET, until: int | None = None) -> None:
        deadline = time.monotonic() + seconds
        with self._lock:
            while not self.is_complete and (until is None or self._count < until):
                check_limit()
                part = self._candidates[self.searched : self.searched + _STEP]
                hits = part[_test(self._dataset, self._slow, part)]
                self._parts.append(hits)
                self._count += len(hits)
                self.searched += len(part)
                if time.monotonic() >= deadline:
                    break

    def group_counts(self, column: str, coded: Coded) -> npt.NDArray[np.int64]:
        """Number of matching rows with each value of a column; the search must be complete."""
        if column not in self._group_counts:
            # In the order of the file, which is much faster than in the order of a score.
            rows = self.all_found() if self._slow or self._mask is None else self._mask
            is_all = not self._slow and len(self._candidates) == self._dataset.rows
            self._group_counts[column] = coded.counts if is_all else coded.counts_of(rows)
        return self._group_counts[column]

    def all_found(self) -> RowNumbers:
        """All rows found so far, in order."""
        if not self._slow:
            return self._candidates
        with self._lock:
            if len(self._parts) > 1:
                self._parts = [np.concatenate(self._parts)]
            return self._parts[0] if self._parts else np.empty(0, np.int32)


class Matcher:
    """Answers filters over one dataset, and keeps recent answers."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._masks: OrderedDict[_Predicate, Mask] = OrderedDict()
        self._matches: OrderedDict[RowFilter, Matches] = OrderedDict()
        self._samples: OrderedDict[tuple[str, str], Mask] = OrderedDict()
        self._lock = threading.Lock()

    def matches(self, chosen: RowFilter) -> Matches:
        known = self._recall(self._matches, chosen)
        return known or self._keep(self._matches, chosen, self._compute(chosen), _KEPT_MATCHES)

    def sample_mask(self, where: str, search: str) -> Mask:
        """Mask of the rows of the sample that match."""
        known = self._recall(self._samples, (where, search))
        if known is not None:
            return known
        mask = np.ones(len(self.dataset.sample_rows), bool)
        for predicate in self.predicates(where, search):
            mask &= predicate.test(_columns(self.dataset.sample, predicate))
        return self._keep(self._samples, (where, search), mask, _KEPT_MASKS)

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
        predicates = self.predicates(chosen.where, chosen.search)
        order = self._order(chosen.sort)
        small = dataset.rows <= EXACT_ROWS
        quick = [predicate for predicate in predicates if small or self._is_quick(predicate)]
        slow = [predicate for predicate in predicates if predicate not in quick]
        masks = [self._mask(predicate) for predicate in quick]
        if not masks:
            mask = None
            candidates = np.arange(dataset.rows, dtype=np.int32) if order is None else order
        else:
            mask = masks[0] if len(masks) == 1 else np.logical_and.reduce(masks)
            # np.take and np.compress: half the time of order[mask[order]].
            candidates = (
                np.flatnonzero(mask).astype(np.int32) if order is None else np.compress(np.take(mask, order), order)
            )
        if not slow:
            return Matches(dataset, candidates, mask=mask)
        if len(candidates) <= EXACT_ROWS // 4:
            return Matches(dataset, candidates[_test(dataset, slow, candidates)])
        all_of = self.sample_mask(chosen.where, chosen.search)
        before = np.ones(len(all_of), bool)
        for quick_mask in masks:
            before &= quick_mask[dataset.sample_rows]
        share = int(np.count_nonzero(all_of)) / max(1, int(np.count_nonzero(before)))
        return Matches(dataset, candidates, slow, share=share)

    def _order(self, sort: str) -> RowNumbers | None:
        dataset = self.dataset
        if not sort or (sort == FILE_ORDER and sort not in dataset.schema.names):
            return None
        name, is_descending = sort_column(sort, dataset)
        if name in dataset.numeric:
            order, defined = dataset.order(name)
            return np.concatenate([order[:defined][::-1], order[defined:]]) if is_descending else order
        if name not in dataset.schema.names:
            raise ConfigError(f"cannot sort by '{name}': column not found", remedy="Choose a column of the table.")
        if dataset.rows > EXACT_ROWS or not pa.types.is_string(dataset.schema.field(name).type):
            raise ConfigError(
                f"cannot sort by '{name}'", remedy=f"Text is sorted up to {EXACT_ROWS:,} rows; sort by a number."
            )
        direction = "descending" if is_descending else "ascending"
        # Arrow would take a name such as "a.b" for a path.
        column = dataset.table.select([name]).rename_columns(["values"])
        sorted_indices = pc.sort_indices(column, sort_keys=[("values", direction)])
        rows: RowNumbers = sorted_indices.to_numpy().astype(np.int32)
        return rows

    def _is_quick(self, predicate: _Predicate) -> bool:
        """True if a predicate reads numbers only, or one column of few values."""
        if predicate.is_search:
            return False
        fields = [self.dataset.schema.field(name) for name in predicate.columns]
        if not any(pa.types.is_string(field.type) or pa.types.is_nested(field.type) for field in fields):
            return True
        return len(fields) == 1 and pa.types.is_string(fields[0].type) and self._is_coded(fields[0].name)

    def _is_coded(self, name: str) -> bool:
        return name in self.dataset.categories() and self.dataset.coded(name) is not None

    def _mask(self, predicate: _Predicate) -> Mask:
        known = self._recall(self._masks, predicate)
        if known is not None:
            return known
        dataset = self.dataset
        coded = dataset.coded(predicate.columns[0]) if self._uses_codes(predicate) else None
        if coded is not None:
            name = predicate.columns[0]
            values = pa.table({name: pa.array(coded.values, pa.string())})
            mask: Mask = predicate.test(values)[coded.codes] if coded.values else np.zeros(dataset.rows, bool)
        else:
            table = _columns(dataset.table, predicate)
            starts = range(0, max(1, dataset.rows), _SLICE)
            with ThreadPoolExecutor(workers()) as pool:
                # A context each: it has the limit of the request, and one thread can be in it at a time.
                tests = [pool.submit(copy_context().run, predicate.test, table.slice(n, _SLICE)) for n in starts]
                parts = [test.result() for test in tests]
            mask = np.concatenate(parts)
        return self._keep(self._masks, predicate, mask, _KEPT_MASKS)

    def _uses_codes(self, predicate: _Predicate) -> bool:
        if predicate.is_search or len(predicate.columns) != 1 or self.dataset.rows <= EXACT_ROWS:
            return False
        name = predicate.columns[0]
        return pa.types.is_string(self.dataset.schema.field(name).type) and self._is_coded(name)

    def _recall(self, cache: OrderedDict[K, V], key: K) -> V | None:
        with self._lock:
            if key in cache:
                cache.move_to_end(key)
                return cache[key]
            return None

    def _keep(self, cache: OrderedDict[K, V], key: K, value: V, limit: int) -> V:
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
    """Where a value divides rows that are sorted by a column."""
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


def _test(dataset: Dataset, predicates: Sequence[_Predicate], rows: RowNumbers) -> Mask:
    """Mask of the rows, in any order, that meet all predicates."""
    order = np.argsort(rows, kind="stable")
    ascending = rows[order]
    mask = np.ones(len(rows), bool)
    for predicate in predicates:
        names = predicate.columns or dataset.schema.names[:1]
        mask &= predicate.test(dataset.gather(ascending, names))
    result = np.empty(len(rows), bool)
    result[order] = mask
    return result
