"""Rows of Parquet files by their numbers: a pass over some columns, or single rows; nothing is copied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError
from paraloom.core.reasons import NOT_SAMPLED, SAMPLE_REASON
from paraloom.io.shards import is_text, open_shard, read_batches
from paraloom.web.sources import REASON, STATUS, RowSource

RowNumbers: TypeAlias = npt.NDArray[np.int32]
"""Numbers of rows, from 0."""

_READ_ROWS = 32_768


class RowFiles:
    """The rows of a source of Parquet files, as if they were one table.

    Args:
        source: The files.
        types: Columns that are read as another type than they are written.
    """

    def __init__(self, source: RowSource, types: Mapping[str, pa.DataType] | None = None) -> None:
        self._source = source
        self._columns: list[dict[str, str]] = []  # Of each file: name of a column here → there
        fields: dict[str, pa.Field] = {}
        groups: list[tuple[int, int, int]] = []
        known: dict[pa.Schema, dict[str, str]] = {}
        for number, (path, status) in enumerate(source.shards):
            with open_shard(path) as file:
                schema = file.schema_arrow
                if schema not in known:
                    known[schema] = _names(schema, source.renames)
                columns = known[schema]
                if status == "failed" and "error" in columns:
                    columns = {**columns, REASON: columns["error"]}
                self._columns.append(columns)
                for name, own in columns.items():
                    field = schema.field(own)
                    kind = (types or {}).get(name) or _plain_type(field.type)
                    fields.setdefault(name, pa.field(name, kind, metadata=field.metadata))
                counts = (file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups))
                groups += [(number, group, rows) for group, rows in enumerate(counts)]
        self._has_splits = any(status != "kept" for _, status in source.shards)
        if self._has_splits:
            fields[STATUS], fields[REASON] = (pa.field(name, pa.string()) for name in (STATUS, REASON))
            fields.pop("error", None)
        self.schema = pa.schema(list(fields.values()))
        self._files, self._groups, sizes = np.array(groups, np.int64).reshape(-1, 3).T
        self.starts = np.array([0, *accumulate(sizes.tolist())], np.int64)
        """The first row of each row group, and the number of all rows `(groups + 1,)`."""

    @property
    def rows(self) -> int:
        return int(self.starts[-1])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return chain.from_iterable(self._read(file, columns) for file in range(len(self._columns)))

    def take(self, rows: RowNumbers, columns: Sequence[str]) -> pa.Table:
        """Rows by their numbers, which ascend."""
        parts: list[pa.RecordBatch] = []
        of_rows = np.searchsorted(self.starts, rows, side="right") - 1
        for file in np.unique(self._files[of_rows]).tolist():
            inside = self._files[of_rows] == file
            groups, which = np.unique(of_rows[inside], return_inverse=True)
            before = np.cumsum([0, *(self.starts[groups + 1] - self.starts[groups])])[which]
            positions = before + rows[inside] - self.starts[groups][which]
            parts += taken(self._read(file, columns, self._groups[groups].tolist()), positions)
        return pa.Table.from_batches(parts, pa.schema([self.schema.field(name) for name in columns]))

    def _read(self, number: int, columns: Sequence[str], groups: list[int] | None = None) -> Iterator[pa.RecordBatch]:
        path, status = self._source.shards[number]
        names = self._columns[number]
        wanted = [*columns, *([REASON] if self._has_splits and STATUS in columns else [])]
        own = list(dict.fromkeys(names[name] for name in wanted if name in names))
        for batch in read_batches(path, own, _READ_ROWS, groups):
            arrays = []
            for name in columns:
                kind = self.schema.field(name).type
                if self._has_splits and name == STATUS:
                    arrays.append(_statuses(batch, status, names))
                elif name not in names:
                    arrays.append(pa.nulls(batch.num_rows, kind))
                else:
                    arrays.append(_as_kind(batch.column(names[name]), kind, name, path))
            yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema([self.schema.field(name) for name in columns]))


def taken(batches: Iterable[pa.RecordBatch], positions: npt.NDArray[np.int64]) -> list[pa.RecordBatch]:
    """The rows at some positions, which ascend."""
    parts, start = [], 0
    for batch in batches:
        low, high = np.searchsorted(positions, (start, start + batch.num_rows))
        if high > low:
            parts.append(batch.take(pa.array(positions[low:high] - start)))
        start += batch.num_rows
    return parts


def _names(schema: pa.Schema, renames: Mapping[str, str]) -> dict[str, str]:
    """Name of each column here → in the file: those that are named as the sides are src and tgt."""
    for given, name in renames.items():
        if given != name and given not in schema.names:
            raise DataError(f"column '{given}' not found; the columns are {', '.join(schema.names)}")
    hidden = {name for given, name in renames.items() if given != name} - renames.keys()
    return {renames.get(name, name): name for name in schema.names if name not in hidden}


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_float16(kind):
        return pa.float32()  # DuckDB and most functions of Arrow have no half precision
    return pa.string() if is_text(kind) else kind


def _as_kind(values: pa.Array, kind: pa.DataType, name: str, path: Path) -> pa.Array:
    try:
        values = without_nan(values.cast(kind))
    except pa.ArrowInvalid as error:
        raise DataError(f"column '{name}' cannot be read: {error}", file=path) from None
    try:
        values.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from None
    return values


def without_nan(values: pa.Array) -> pa.Array:
    """The values, with null instead of NaN, which DuckDB takes for the highest number."""
    if not pa.types.is_floating(values.type) or not len(values):
        return values
    return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)


def _statuses(batch: pa.RecordBatch, status: str, names: Mapping[str, str]) -> pa.Array:
    """The status of each row: that of its file, but for those that a filter's random sample left out."""
    if status != "rejected" or REASON not in names:
        return pa.array([status] * batch.num_rows, pa.string())
    reasons = batch.column(names[REASON]).cast(pa.string())
    unsampled = pc.fill_null(pc.starts_with(reasons, SAMPLE_REASON), False)
    return pc.if_else(unsampled, NOT_SAMPLED, status)
