"""The variants of one source stand together: where each group begins, batches that split none, groups by lot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError
from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.hashing import TextSet
from paraloom.text.token_kernels import hash_spans

_REMEDY = "Sort the variants by pair_id."


def group_bounds(pair_ids: pa.Array) -> npt.NDArray[np.int64]:
    """Where groups of neighbouring equal ids begin, and the end: int64 (groups + 1,).

    Raises DataError where an id is null.

    >>> group_bounds(pa.array(["a", "a", "b"])).tolist()
    [0, 2, 3]
    """
    if pair_ids.null_count:
        row = pc.index(pc.is_null(pair_ids), True).as_py() + 1
        raise DataError("a variant has no pair_id", row=row, remedy="Give the variants of one source one pair_id.")
    n = len(pair_ids)
    changes = pc.not_equal(pair_ids[1:], pair_ids[:-1]).to_numpy(zero_copy_only=False) if n else np.zeros(0, bool)
    return np.concatenate([[0], np.flatnonzero(changes) + 1, [n]] if n else [[0]]).astype(np.int64)


def whole_groups(batches: Iterable[pa.RecordBatch], columns: Sequence[str] = ("text",)) -> Iterator[pa.RecordBatch]:
    """The column pair_id and those of `columns`, cut anew so that no group of VARIANTS stands in two batches.

    Raises DataError where a column is missing, a pair_id is null, or a group comes in two places: the figures would be
    those of two smaller ones.

    >>> parts = [pa.RecordBatch.from_pydict({"pair_id": ids, "text": ids}) for ids in (["a", "b"], ["b", "c"])]
    >>> [batch.column("text").to_pylist() for batch in whole_groups(parts)]
    [['a'], ['b', 'b'], ['c']]
    """
    seen = TextSet()
    rows = 0
    held: list[pa.RecordBatch] = []  # a group that may go on
    for batch in batches:
        for name in ("pair_id", *columns):
            if name not in batch.schema.names:
                raise DataError(f"column '{name}' is missing; there are {', '.join(batch.schema.names)}")
        batch = batch.select(["pair_id", *columns])
        try:
            bounds = group_bounds(batch.column("pair_id"))
        except DataError as error:
            error.row = rows + (error.row or 0)
            raise
        if not batch.num_rows:
            continue
        begins, last = bounds[:-1], int(bounds[-2])
        goes_on = bool(held) and held[-1].column("pair_id")[-1] == batch.column("pair_id")[0]
        fresh = seen.add(batch.column("pair_id").take(pa.array(begins)))
        again = np.flatnonzero(~fresh)
        again = again[1:] if goes_on else again
        if len(again):
            row = int(begins[again[0]])
            name = batch.column("pair_id")[row].as_py()
            raise DataError(f"the variants of '{name}' stand in two places", row=rows + row + 1, remedy=_REMEDY)
        rows += batch.num_rows
        if goes_on and not last:
            held.append(batch)
            continue
        if goes_on:
            first = int(bounds[1])
            yield _joined([*held, batch.slice(0, first)])
            if last > first:
                yield batch.slice(first, last - first)
        else:
            if held:
                yield _joined(held)
            if last:
                yield batch.slice(0, last)
        held = [batch.slice(last)]
    if held:
        yield _joined(held)


@dataclass(frozen=True)
class Drawn:
    """Groups drawn by lot, by a hash of pair_id: of corpora with the same sources, those of the same sources.

    cut: the largest hash that is in.
    """

    cut: int = 2**64 - 1

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch], limit: int) -> Drawn:
        """`limit` groups of those in the column pair_id of `batches`; all of them where there are no more.

        Memory is 8 bytes a group drawn.  Raises ConfigError for a limit below 1.

        >>> ids = pa.RecordBatch.from_pydict({"pair_id": ["a", "a", "b", "c"]})
        >>> sum(Drawn.of([ids], 2).holds(["a", "b", "c"]).tolist()), Drawn.of([ids], 3) == Drawn()
        (2, True)
        """
        if limit < 1:
            raise ConfigError(f"a limit of groups is 1 or more, not {limit}")
        kept = np.empty(0, np.uint64)
        for batch in batches:
            ids = _hashes(batch.column("pair_id"))
            if len(kept) > limit:
                ids = ids[ids < kept[-1]]
            kept = np.unique(np.concatenate([kept, ids]))[: limit + 1]
        return cls(int(kept[limit - 1])) if len(kept) > limit else cls()

    def holds(self, pair_ids: Texts) -> npt.NDArray[np.bool_]:
        """Which ids are drawn, bool (n,)."""
        drawn: npt.NDArray[np.bool_] = _hashes(pair_ids) <= np.uint64(self.cut)
        return drawn


def _hashes(texts: Texts) -> npt.NDArray[np.uint64]:
    data, offsets = text_buffers(texts)
    ids: npt.NDArray[np.uint64] = hash_spans(data, offsets[:-1], offsets[1:])
    return ids


def _joined(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.concat_batches(parts) if len(parts) > 1 else parts[0]
