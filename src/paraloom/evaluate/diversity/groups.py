"""Groups of variants: where the variants of each source begin, batches that split no group, samples of groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Bools, Ids, Ints
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.hashing import TextSet
from paraloom.text.token_kernels import hash_spans

_REMEDY = "Sort the variants by pair_id."


def group_bounds(pair_ids: pa.Array) -> Ints:
    """Find where groups of consecutive equal ids begin."""
    if pair_ids.null_count:
        row = pc.index(pc.is_null(pair_ids), True).as_py() + 1
        raise DataError("a variant has no pair_id", row=row, remedy="Give the variants of one source one pair_id.")
    n = len(pair_ids)
    changes = pc.not_equal(pair_ids[1:], pair_ids[:-1]).to_numpy(zero_copy_only=False) if n else np.zeros(0, bool)
    return np.concatenate([[0], np.flatnonzero(changes) + 1, [n]] if n else [[0]]).astype(np.int64)


def whole_groups(batches: Iterable[pa.RecordBatch], columns: Sequence[str] = ("text",)) -> Iterator[pa.RecordBatch]:
    """Cut batches of VARIANTS so that no group is in two of them."""
    seen = TextSet()
    rows = 0
    held: list[pa.RecordBatch] = []  # a group that may continue in the next batch
    for batch in batches:
        for name in ("pair_id", *columns):
            if name not in batch.schema.names:
                raise DataError(f"column '{name}' not found{nearest(name, batch.schema.names)}")
        batch = batch.select(["pair_id", *columns])
        try:
            bounds = group_bounds(batch.column("pair_id"))
        except DataError as error:
            error.row = rows + (error.row or 0)
            raise
        if not batch.num_rows:
            continue
        starts, last = bounds[:-1], int(bounds[-2])
        continued = bool(held) and held[-1].column("pair_id")[-1] == batch.column("pair_id")[0]
        _check_new(batch, seen, starts, continued, rows)
        rows += batch.num_rows
        if continued and not last:
            held.append(batch)
            continue
        if continued:
            first = int(bounds[1])
            yield _concatenate([*held, batch.slice(0, first)])
            if last > first:
                yield batch.slice(first, last - first)
        else:
            if held:
                yield _concatenate(held)
            if last:
                yield batch.slice(0, last)
        held = [batch.slice(last)]
    if held:
        yield _concatenate(held)


@dataclass(frozen=True)
class GroupSample:
    """A random sample of groups, by a hash of pair_id: of corpora with the same sources it holds the same sources."""

    cut: int = 2**64 - 1

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch], limit: int) -> GroupSample:
        """Sample `limit` groups, or all of them if there are fewer. Uses 8 bytes of memory per sampled group."""
        if limit < 1:
            raise ConfigError(f"'limit' must be at least 1, got {limit}")
        kept = np.empty(0, np.uint64)
        for batch in batches:
            ids = _hashes(batch.column("pair_id"))
            if len(kept) > limit:
                ids = ids[ids < kept[-1]]
            kept = np.unique(np.concatenate([kept, ids]))[: limit + 1]
        return cls(int(kept[limit - 1])) if len(kept) > limit else cls()

    def contains(self, pair_ids: Texts) -> Bools:
        """Mask of the ids that are in the sample, bool (n,)."""
        inside: Bools = _hashes(pair_ids) <= np.uint64(self.cut)
        return inside


def _check_new(batch: pa.RecordBatch, seen: TextSet, starts: Ints, continued: bool, rows: int) -> None:
    """Raise DataError for the first group that occurred before."""
    fresh = seen.add(batch.column("pair_id").take(pa.array(starts)))
    repeated = np.flatnonzero(~fresh)
    repeated = repeated[1:] if continued else repeated
    if len(repeated):
        row = int(starts[repeated[0]])
        name = batch.column("pair_id")[row].as_py()
        raise DataError(f"the variants of '{name}' are not consecutive rows", row=rows + row + 1, remedy=_REMEDY)


def _hashes(texts: Texts) -> Ids:
    data, offsets = text_buffers(texts)
    ids: Ids = hash_spans(data, offsets[:-1], offsets[1:])
    return ids


def _concatenate(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.concat_batches(parts) if len(parts) > 1 else parts[0]
