"""The variants of one source stand together: where each group begins, and batches that split none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError
from paraloom.core.seen import Seen

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


def whole_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The columns pair_id and text of VARIANTS, cut anew so that no group stands in two batches.

    Raises DataError where a column is missing, a pair_id is null, or a group comes in two places: the figures would be
    those of two smaller ones.

    >>> parts = [pa.RecordBatch.from_pydict({"pair_id": ids, "text": ids}) for ids in (["a", "b"], ["b", "c"])]
    >>> [batch.column("text").to_pylist() for batch in whole_groups(parts)]
    [['a'], ['b', 'b'], ['c']]
    """
    seen = Seen()
    rows = 0
    held: list[pa.RecordBatch] = []  # a group that may go on
    for batch in batches:
        for name in ("pair_id", "text"):
            if name not in batch.schema.names:
                raise DataError(f"column '{name}' is missing; there are {', '.join(batch.schema.names)}")
        batch = batch.select(["pair_id", "text"])
        try:
            bounds = group_bounds(batch.column("pair_id"))
        except DataError as error:
            error.row = rows + (error.row or 0)
            raise
        if not batch.num_rows:
            continue
        begins, last = bounds[:-1], int(bounds[-2])
        goes_on = bool(held) and held[-1].column("pair_id")[-1] == batch.column("pair_id")[0]
        fresh = seen.first(batch.column("pair_id").take(pa.array(begins)))
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


def _joined(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.concat_batches(parts) if len(parts) > 1 else parts[0]
