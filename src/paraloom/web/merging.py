"""Puts two sets of pairs together, so that they can be compared with the pages of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError
from paraloom.core.schema import signature_of
from paraloom.io.shards import write_shard
from paraloom.web.dataset import Dataset
from paraloom.web.sources import RowSource

FIRST, SECOND = "in_first", "in_second"  # Columns that say which of the sets has a pair
OTHER, DELTA = "second_", "delta_"  # Prefix of the second set's columns, and of the differences: second minus first


def merge(first: RowSource, second: RowSource, scratch: Path) -> RowSource:
    """Write the pairs of two sets to one table: n-th rows of a pair_id, or else of the same texts, belong together."""
    a, b = Dataset(first, scratch / "first"), Dataset(second, scratch / "second")
    if a.sides != b.sides:
        raise ConfigError(
            f"cannot compare: {first.name} has the columns {', '.join(a.sides)}, {second.name} {', '.join(b.sides)}",
            remedy="Name two sets of the same kind.",
        )
    rows = _matched_rows(a, b)
    fields, parts = _columns(a, b, rows)
    schema = pa.schema(fields)
    path = scratch / "merged.parquet"
    batches = (
        pa.RecordBatch.from_arrays([part(start) for part in parts], schema=schema)
        for start in range(0, max(1, len(rows[0])), _BATCH_ROWS)
    )
    write_shard(path, batches, schema)
    return replace(first, name=f"{first.name} and {second.name}", shards=((path, "kept"),))


_BATCH_ROWS = 65_536

_Rows = npt.NDArray[np.int64]


def _matched_rows(a: Dataset, b: Dataset) -> tuple[_Rows, _Rows]:
    """The row of each pair in both sets, -1 where a set lacks it; first those of the first set, in its order."""
    keys = _ids(a, b) or (_texts(a), _texts(b))
    both = pa.chunked_array([chunk for key in keys for chunk in key.cast(pa.large_string()).chunks], pa.large_string())
    codes = pc.dictionary_encode(both.combine_chunks(), "encode").indices.to_numpy()
    first, second = (_numbered(part) for part in np.split(codes.astype(np.int64), [len(keys[0])]))
    _, rows, others = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    matches = np.full(len(first), -1)
    matches[rows] = others
    rest = np.setdiff1d(np.arange(len(second)), others)
    return np.append(np.arange(len(first)), np.full(len(rest), -1)), np.append(matches, rest)


def _ids(a: Dataset, b: Dataset) -> tuple[pa.ChunkedArray, pa.ChunkedArray] | None:
    """The pair_ids of both sets, None if no pair has the same in both."""
    if "pair_id" not in a.schema.names or "pair_id" not in b.schema.names:
        return None
    first, second = (_column(dataset, "pair_id").cast(pa.large_string()) for dataset in (a, b))
    return (first, second) if pc.any(pc.is_in(first, second)).as_py() else None


def _texts(dataset: Dataset) -> pa.ChunkedArray:
    columns = [pc.fill_null(_column(dataset, name), "") for name in dataset.sides]
    return pc.binary_join_element_wise(*columns, "\t") if len(columns) > 1 else columns[0]


def _column(dataset: Dataset, name: str) -> pa.ChunkedArray:
    return pa.concat_tables([dataset.sample.select([name]).slice(0, 0), *dataset.steps([name])]).column(0)


def _numbered(codes: _Rows) -> _Rows:
    """Keys of the rows of a set: the code of each, and which of the rows with this code it is."""
    order = np.argsort(codes, kind="stable")
    keys = codes << 32
    keys[order] += np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    return keys


_Part = Callable[[int], pa.Array]
"""A column of the table: the first row of a batch → its values."""


def _taken(dataset: Dataset, name: str, rows: _Rows, other: _Part | None = None) -> _Part:
    """A column of one set; where it lacks a row, the values of the other one, if that is given."""

    def values(start: int) -> pa.Array:
        of_batch = rows[start : start + _BATCH_ROWS]
        taken = _take(dataset, name, of_batch)
        return taken if other is None else pc.if_else(pa.array(of_batch >= 0), taken, other(start))

    return values


def _presence(rows: _Rows) -> _Part:
    return lambda start: pa.array(rows[start : start + _BATCH_ROWS] >= 0)


def _difference(first: _Part, second: _Part) -> _Part:
    """A column of the second set minus that of the first."""

    def values(start: int) -> pa.Array:
        before, after = (part(start).cast(pa.float64(), safe=False) for part in (first, second))
        return pc.subtract(after, before).cast(pa.float32())

    return values


def _take(dataset: Dataset, name: str, rows: _Rows) -> pa.Array:
    kind = dataset.schema.field(name).type
    present = np.flatnonzero(rows >= 0)
    order = np.argsort(rows[present], kind="stable")
    taken = dataset.gather(rows[present][order].astype(np.int32), [name]).column(0).combine_chunks()
    position = np.full(len(rows), -1)
    position[present[order]] = np.arange(len(present))
    indices = pa.array(position, mask=position < 0)
    return taken.take(indices) if len(taken) else pa.nulls(len(rows), kind)


def _columns(a: Dataset, b: Dataset, rows: tuple[_Rows, _Rows]) -> tuple[list[pa.Field], list[_Part]]:
    fields: list[pa.Field] = []
    parts: list[_Part] = []

    def add(field: pa.Field, part: _Part) -> None:
        fields.append(field)
        parts.append(part)

    for field in a.schema:
        other = None
        if field.name in b.schema.names and b.schema.field(field.name).type == field.type:
            # Texts and ids of pairs that only the second set has; scores of the first set are null there.
            other = _taken(b, field.name, rows[1]) if field.name not in a.numeric else None
        add(field, _taken(a, field.name, rows[0], other))
    for name, own in ((FIRST, rows[0]), (SECOND, rows[1])):
        add(pa.field(name, pa.bool_()), _presence(own))
    for name in a.sides:
        texts = _taken(b, name, rows[1])
        if _differs(_taken(a, name, rows[0]), texts, len(rows[0])):
            add(pa.field(OTHER + name, pa.string()), texts)
    for name in b.numeric:
        values = _taken(b, name, rows[1])
        signature = signature_of(b.schema.field(name))
        add(b.schema.field(name).with_name(OTHER + name), values)
        if name in a.numeric:
            metadata = {"signature": f"difference of {signature}"} if signature else None
            difference = _difference(_taken(a, name, rows[0]), values)
            add(pa.field(DELTA + name, pa.float32(), metadata=metadata), difference)
    return fields, parts


def _differs(first: _Part, second: _Part, rows: int) -> bool:
    return any(pc.any(pc.not_equal(first(at), second(at))).as_py() for at in range(0, rows, _BATCH_ROWS))
