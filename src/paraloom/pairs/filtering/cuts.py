"""Cuts through a ranked corpus: best share, decile, or random sample of exact size, to compare each row with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Bools, Floats, Ids, Ints
from paraloom.io.database import sql, sql_list, sql_text
from paraloom.pairs.filtering.expressions import evaluate_sql

SortKey: TypeAlias = tuple[float, int]
"""Sort key of rows: a value, then a hash that breaks ties."""

SortKeys: TypeAlias = tuple[Floats, Ids]
"""Sort keys of m rows: values float64 (m,) and hashes uint64 (m,)."""

ROW_ID_COLUMNS = ("pair_id", "rank", "src", "tgt", "doc_id", "sent_id")
"""Columns that identify a row, as far as a corpus has them."""

# Sort keys that are sorted at once.
_IN_MEMORY = 1_000_000
_DIGIT_BITS = 16
_DIGITS = 64 // _DIGIT_BITS


@dataclass(frozen=True)
class Cut:
    """The rows whose sort key is above `lower` and not above `upper`."""

    by: str
    seed: int
    lower: SortKey | None
    upper: SortKey | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Cut:
        """The cut that `to_json` returned, also after a round trip through a file."""
        lower, upper = ((float(b[0]), int(b[1])) if (b := values[key]) else None for key in ("lower", "upper"))
        return cls(by=values["by"], seed=values["seed"], lower=lower, upper=upper)

    def contains(self, batch: pa.RecordBatch) -> Bools:
        value, tiebreak = sort_keys(batch, self.by, self.seed)
        inside = ~np.isnan(value)
        if self.lower is not None:
            inside &= (value > self.lower[0]) | ((value == self.lower[0]) & (tiebreak > np.uint64(self.lower[1])))
        if self.upper is not None:
            inside &= (value < self.upper[0]) | ((value == self.upper[0]) & (tiebreak <= np.uint64(self.upper[1])))
        return inside


def find_cut(
    read: Callable[[], Iterable[pa.RecordBatch]],
    *,
    by: str = "",
    seed: int = 0,
    share: float | None = None,
    size: int | None = None,
    decile: int | None = None,
    highest: bool = False,
) -> Cut:
    """Find the cut that keeps a share, a number or a decile of all rows. Memory does not grow with the corpus."""

    def defined() -> Iterable[SortKeys]:
        for batch in read():
            value, tiebreak = sort_keys(batch, by, seed)
            is_defined = ~np.isnan(value)
            yield value[is_defined], tiebreak[is_defined]

    if size is not None and 0 < size <= _IN_MEMORY and not highest:
        value, tiebreak, total = _smallest(defined(), size)
        return Cut(by, seed, None, (float(value[-1]), int(tiebreak[-1])) if size < total else None)
    total = sum(len(tiebreak) for _, tiebreak in defined())
    if decile is not None:
        start, end = (decile - 1) * total // 10, decile * total // 10
    else:
        kept = min(total, int(np.floor((share or 0) * total + 0.5)) if size is None else size)
        start, end = (total - kept, total) if highest else (0, kept)
    if end == 0:
        # Nothing is to be kept: no row is below the smallest possible value.
        return Cut(by, seed, None, (-np.finfo(np.float64).max, 0))
    lower = nth_smallest(defined, start) if start else None
    return Cut(by, seed, lower, nth_smallest(defined, end) if end < total else None)


def sort_keys(batch: pa.RecordBatch, by: str, seed: int) -> SortKeys:
    value = score_values(batch, by) if by else np.zeros(batch.num_rows)
    return value, row_hashes(batch, ROW_ID_COLUMNS, seed)


def score_values(batch: pa.RecordBatch, by: str) -> Floats:
    """The values of a score, NaN where it is undefined."""
    value = pc.cast(batch.column(by), pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.where(np.isfinite(value), value, np.nan)


def nth_smallest(read: Callable[[], Iterable[SortKeys]], n: int, *, max_in_memory: int = _IN_MEMORY) -> SortKey:
    """Find the n-th smallest of more sort keys than fit in memory.

    If the n smallest fit, one pass finds them. Otherwise keys are counted by their leading 16 bits, then by the next 16
    within the right bucket, until few enough are left to sort: one pass for each 16 bits, then one more. The result is
    exact.
    """
    if n <= max_in_memory:
        value, tiebreak, _ = _smallest(read(), n)
        return float(value[-1]), int(tiebreak[-1])
    prefix: list[int] = []
    remaining = sum(len(tiebreak) for _, tiebreak in read())
    # The key is the n-th of those that begin with the digits in `prefix`.
    while remaining > max_in_memory and len(prefix) < 2 * _DIGITS:
        counts = np.zeros(1 << _DIGIT_BITS, np.int64)
        for value, tiebreak in read():
            words = _sortable_words(value, tiebreak)
            counts += np.bincount(_digit(words, len(prefix))[_begins_with(words, prefix)], minlength=len(counts))
        cumulative = np.cumsum(counts)
        digit = int(np.searchsorted(cumulative, n))
        n -= int(cumulative[digit] - counts[digit])
        remaining = int(counts[digit])
        prefix.append(digit)
    values, tiebreaks = [], []
    for value, tiebreak in read():
        chosen = _begins_with(_sortable_words(value, tiebreak), prefix)
        values.append(value[chosen])
        tiebreaks.append(tiebreak[chosen])
        if len(prefix) == 2 * _DIGITS and values[-1].size:
            # All remaining keys are equal.
            return float(values[-1][0]), int(tiebreaks[-1][0])
    value, tiebreak = np.concatenate(values), np.concatenate(tiebreaks)
    index = np.lexsort((tiebreak, value))[n - 1]
    return float(value[index]), int(tiebreak[index])


def _smallest(chunks: Iterable[SortKeys], n: int) -> tuple[Floats, Ids, int]:
    """The n smallest sort keys in order, or all of fewer, and the number of all keys; holds twice as many at most."""
    kept: list[SortKeys] = [(np.empty(0), np.empty(0, np.uint64))]
    total = waiting = 0
    bound: SortKey | None = None
    for value, tiebreak in chunks:
        total += len(value)
        if bound is not None:
            below = (value < bound[0]) | ((value == bound[0]) & (tiebreak < np.uint64(bound[1])))
            value, tiebreak = value[below], tiebreak[below]
        kept.append((value, tiebreak))
        waiting += len(value)
        if waiting >= n:
            kept, waiting = [_sorted_keys(kept, n)], 0
            bound = float(kept[0][0][-1]), int(kept[0][1][-1])
    return *_sorted_keys(kept, n), total


def _sorted_keys(chunks: Sequence[SortKeys], n: int) -> SortKeys:
    value, tiebreak = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
    order = np.lexsort((tiebreak, value))[:n]
    return value[order], tiebreak[order]


def row_hashes(batch: pa.RecordBatch, columns: Sequence[str], seed: int) -> Ids:
    """Hash the rows of a batch by some columns."""
    rows = batch.select([name for name in columns if name in batch.schema.names])
    # SQL does not tell names apart by case.
    rows = rows.rename_columns([f"c{number}" for number in range(rows.num_columns)])
    texts = (sql("coalesce({}::VARCHAR, '')", name) for name in rows.schema.names)
    parts = sql_list([sql_text(str(int(seed))), *texts])
    # MD5 is the same in every version and on every machine; DuckDB does not promise that of its own hash.
    hashes = evaluate_sql(rows, sql("md5_number_lower(concat_ws(chr(31), {}))", parts)).column(0)
    return np.asarray(hashes, np.uint64)


def _sortable_words(value: Floats, tiebreak: Ids) -> Sequence[Ids]:
    """Both parts of the keys as unsigned integers in the same order; adding 0.0 turns -0.0 into 0.0."""
    bits = (value + 0.0).view(np.uint64)
    negative = (bits >> np.uint64(63)).astype(bool)
    return np.where(negative, ~bits, bits | np.uint64(1 << 63)), tiebreak


def _digit(words: Sequence[Ids], index: int) -> Ints:
    shift = np.uint64(64 - _DIGIT_BITS * (index % _DIGITS + 1))
    return ((words[index // _DIGITS] >> shift) & np.uint64((1 << _DIGIT_BITS) - 1)).astype(np.int64)


def _begins_with(words: Sequence[Ids], prefix: Sequence[int]) -> Bools:
    begins = np.ones(len(words[0]), bool)
    for index, digit in enumerate(prefix):
        begins &= _digit(words, index) == digit
    return begins
