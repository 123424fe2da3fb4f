"""A set of rows that answers quickly: a memory-mapped copy, sorted row numbers of each score, and a random sample."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.schema import signature_of
from paraloom.core.seeds import generator
from paraloom.io.atomic import disk_full_as_error
from paraloom.io.shards import rebatch
from paraloom.web.scores import FIRST_SCORES
from paraloom.web.sources import RowSource, open_batches, sides_of, without_nan

BATCH_ROWS = 65_536
"""Rows of a batch of the copy; all but the last have as many, so that a row's batch follows from its number."""

SAMPLE_ROWS = 100_000  # Rows of the random sample; smaller sets are their own sample
MAX_VALUES = 1000  # Different values of a text column that can be counted by value
_FEW_VALUES = 12  # Different values up to which comparing with each is the fastest way to count them
RowNumbers: TypeAlias = npt.NDArray[np.int32]  # Numbers of rows, from 0

Mask: TypeAlias = npt.NDArray[np.bool_]

T = TypeVar("T")

_RAW = ("rank", "logprob", "tokens")
_NEVER_TEXT = ("pair_id", "doc_id")


@dataclass(frozen=True)
class Coded:
    """A text column of few different values."""

    values: tuple[str | None, ...]
    codes: npt.NDArray[np.int16]
    counts: npt.NDArray[np.int64]

    def counts_of(self, rows: RowNumbers | Mask) -> npt.NDArray[np.int64]:
        if rows.dtype == bool:
            if len(self.values) <= _FEW_VALUES:
                counts = [np.count_nonzero((self.codes == code) & rows) for code in range(len(self.values))]
                return np.array(counts, np.int64)
            return np.bincount(np.compress(rows.astype(bool, copy=False), self.codes), minlength=len(self.values))
        return np.bincount(np.take(self.codes, rows), minlength=len(self.values))


class Dataset:
    """Rows to explore. Opening reads the source once; afterwards memory holds a sample, and the system's page cache."""

    def __init__(self, source: RowSource, folder: Path) -> None:
        self.source = source
        self.folder = folder
        self.stamp = source.stamp()
        self.rejected: list[tuple[int, str]] = []
        self.rejected_count = 0
        folder.mkdir(parents=True, exist_ok=True)
        # A mapped file stays readable after it is removed; so nothing is left behind, however the process ends.
        copy = self._copy()
        self._batches = _mapped(copy)
        copy.unlink()
        self.schema: pa.Schema = self._batches.schema
        self.table: pa.Table = self._batches.table
        self.rows = self.table.num_rows
        self.sides = sides_of(self.schema)
        if not self.sides:
            raise DataError(
                f"columns src and tgt, or text, not found; the columns are {', '.join(self.schema.names)}",
                file=source.path,
                remedy="Name the columns of the two sides: --src-column, --tgt-column.",
            )
        self.numeric = [field.name for field in self.schema if _is_number(field.type)]
        self.signatures = {f.name: signature_of(f) for f in self.schema if signature_of(f)}
        self.sample_rows = self._sample_rows()
        self.sample = self.gather(self.sample_rows, self.schema.names)
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._locks_lock = threading.Lock()
        self._orders: dict[str, tuple[RowNumbers, int]] = {}
        self._values: dict[str, npt.NDArray[Any]] = {}
        self._coded: dict[str, Coded | None] = {}

    @property
    def is_sampled(self) -> bool:
        return bool(len(self.sample_rows) < self.rows)

    @property
    def scores(self) -> list[str]:
        """Columns of numbers: those that are looked at most, then others with a signature, then the rest."""
        first = [name for name in FIRST_SCORES if name in self.numeric]
        rest = sorted(self.numeric, key=lambda name: (name not in self.signatures, name in _RAW))
        return list(dict.fromkeys([*first, *rest]))

    def take(self, rows: Sequence[int], columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        names = self.schema.names if columns is None else list(columns)
        taken = []
        for row in map(int, rows):
            batch = self._batches.batches[row // BATCH_ROWS]
            taken.append({name: batch.column(name)[row % BATCH_ROWS].as_py() for name in names})
        return taken

    def gather(self, rows: RowNumbers, columns: Sequence[str]) -> pa.Table:
        names = list(columns)
        first, last = (rows[0], rows[-1]) if len(rows) else (0, -1)
        if len(rows) == last - first + 1:
            return self.table.select(names).slice(first, len(rows))
        bounds = np.searchsorted(rows, np.arange(0, self.rows + BATCH_ROWS, BATCH_ROWS))
        parts = [
            self._batches.batches[number].select(names).take(pa.array(rows[start:end] - number * BATCH_ROWS))
            for number, (start, end) in enumerate(pairwise(bounds))
            if end > start
        ]
        return pa.Table.from_batches(parts, pa.schema([self.schema.field(name) for name in names]))

    def values(self, name: str) -> npt.NDArray[Any]:
        """A column of numbers as floats `(n,)`, NaN where it is undefined; float32 where the column is."""
        return self._once("values", name, self._values, self._load_values)

    def order(self, name: str) -> tuple[RowNumbers, int]:
        """The row numbers in increasing order of a column of numbers, undefined last; and how many are defined."""
        return self._once("order", name, self._orders, self._load_order)

    def coded(self, name: str) -> Coded | None:
        """A text or boolean column by value; None if it has too many different values."""
        return self._once("coded", name, self._coded, self._load_coded)

    def categories(self) -> list[str]:
        """Text columns with few different values, by the sample."""
        names = []
        for field in self.schema:
            if field.name in (*self.sides, *_NEVER_TEXT) or not _is_category(field.type):
                continue
            if pc.count_distinct(self.sample.column(field.name), mode="all").as_py() <= MAX_VALUES // 5:
                names.append(field.name)
        return names

    def warm_up(self, stopped: threading.Event | None = None) -> None:
        """Compute what requests would otherwise compute when they first need it."""
        tasks: list[Callable[[], object]] = [partial(self.coded, name) for name in self.categories()]
        tasks += [partial(self.order, name) for name in self.scores]
        for task in tasks:
            if stopped is not None and stopped.is_set():
                return
            task()

    def _once(self, kind: str, name: str, cache: dict[str, T], load: Callable[[str], T]) -> T:
        with self._locks_lock:
            lock = self._locks[f"{kind} {name}"]
        with lock:
            if name not in cache:
                cache[name] = load(name)
        return cache[name]

    def _load_values(self, name: str) -> npt.NDArray[Any]:
        kind = np.float32 if self.schema.field(name).type == pa.float32() else np.float64
        path = self._file(name, "values")
        with disk_full_as_error(path):
            values = np.lib.format.open_memmap(path, "w+", dtype=kind, shape=(self.rows,))
            for start, batch in zip(range(0, self.rows, BATCH_ROWS), self._batches.batches, strict=False):
                column = batch.column(name)
                numbers = column.cast(pa.float64() if kind is np.float64 else pa.float32(), safe=False)
                values[start : start + len(column)] = numbers.to_numpy(zero_copy_only=False)
        path.unlink()
        return values

    def _load_order(self, name: str) -> tuple[RowNumbers, int]:
        values = self.values(name)
        rows = sorted_rows(values)
        path = self._file(name, "order")
        with disk_full_as_error(path):
            # Not read back: NumPy parses the header with `ast`, which Python 3.11 cannot do in two threads at once.
            mapped = np.lib.format.open_memmap(path, "w+", dtype=rows.dtype, shape=rows.shape)
            mapped[:] = rows
        mapped.flags.writeable = False
        path.unlink()
        return mapped, int(self.rows - np.count_nonzero(np.isnan(values)))

    def _load_coded(self, name: str) -> Coded | None:
        index: dict[str | None, int] = {}
        codes = np.empty(self.rows, np.int16)
        for start, batch in zip(range(0, self.rows, BATCH_ROWS), self._batches.batches, strict=False):
            encoded = batch.column(name).cast(pa.string()).dictionary_encode(null_encoding="encode")
            numbers = [index.setdefault(value, len(index)) for value in encoded.dictionary.to_pylist()]
            if len(index) > MAX_VALUES:
                return None
            local = encoded.indices.to_numpy(zero_copy_only=False)
            codes[start : start + len(local)] = np.array(numbers, np.int16)[local]
        counts = np.bincount(codes, minlength=len(index))
        ranking = np.argsort(-counts, kind="stable")
        rank = np.empty(len(index), np.int16)
        rank[ranking] = np.arange(len(index))
        names = list(index)
        return Coded(tuple(names[i] for i in ranking), rank[codes] if len(index) else codes, counts[ranking])

    def _file(self, name: str, kind: str) -> Path:
        return self.folder / f"{self.schema.get_field_index(name)}.{kind}.npy"

    def _sample_rows(self) -> RowNumbers:
        if self.rows <= SAMPLE_ROWS:
            return np.arange(self.rows, dtype=np.int32)
        chosen = generator(1).choice(self.rows, SAMPLE_ROWS, replace=False, shuffle=False)
        return np.sort(chosen).astype(np.int32)

    def _copy(self) -> Path:
        """Copy the source to an uncompressed Arrow file, whose rows can be read in any order."""
        schema, batches, total = open_batches(self.source, self._reject)
        path = self.folder / "rows.arrow"
        _write(path, schema, batches, total)
        if self.source.shards or all(field.type != pa.string() for field in schema):
            return path
        # A table in text form: columns whose values are all numbers become numbers.
        mapped = _mapped(path)
        kinds = {name: kind for name in schema.names if (kind := _kind_of(mapped.table.column(name))) is not None}
        for name in (*(sides_of(schema)), *_NEVER_TEXT):
            kinds.pop(name, None)
        if not kinds:
            return path
        typed = pa.schema([pa.field(f.name, kinds.get(f.name, f.type), metadata=f.metadata) for f in schema])
        target = self.folder / "typed.arrow"
        _write(target, typed, (_typed(batch, typed) for batch in mapped.batches), mapped.table.num_rows)
        path.unlink()
        return target

    def _reject(self, row: int, reason: str) -> None:
        self.rejected_count += 1
        if len(self.rejected) < 20:
            self.rejected.append((row, reason))


@dataclass(frozen=True)
class _Mapped:
    schema: pa.Schema
    batches: list[pa.RecordBatch]
    table: pa.Table


def _mapped(path: Path) -> _Mapped:
    file = pa.ipc.open_file(pa.memory_map(str(path)))
    batches = [file.get_batch(number) for number in range(file.num_record_batches)]
    return _Mapped(file.schema, batches, pa.Table.from_batches(batches, file.schema))


def _write(path: Path, schema: pa.Schema, batches: Iterator[pa.RecordBatch], total: int | None) -> None:
    with (
        disk_full_as_error(path),
        progress("opening", total) as advance,
        pa.OSFile(str(path), "wb") as stream,
        pa.ipc.new_file(stream, schema) as writer,
    ):
        for table in rebatch(batches, schema, BATCH_ROWS):
            for batch in table.to_batches():
                writer.write_batch(batch)
            advance(table.num_rows)


def sorted_rows(values: npt.NDArray[Any]) -> RowNumbers:
    """The row numbers in increasing order of their values; equal values in the order of rows, NaN last."""
    if values.dtype != np.float32:
        return np.argsort(values, kind="stable").astype(np.int32)
    # The bits of a float, with the sign's inverted, sort like the number; the row number follows as the lower half.
    # Adding zero makes -0 equal to 0; all NaNs become the same, positive one.
    bits = np.where(np.isnan(values), np.float32(np.nan), values + np.float32(0)).view(np.uint32)
    keys = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31)).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.arange(len(values), dtype=np.uint64)
    keys.sort()
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def _is_category(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_boolean(kind))


def _kind_of(column: pa.ChunkedArray) -> pa.DataType | None:
    """Whole numbers, other numbers, or truth values, if all values of a text column are such; else None."""
    values = column.drop_null()
    if not len(values):
        return None
    for kind in (pa.int64(), pa.float64(), pa.bool_()):
        if kind == pa.bool_() and not pc.all(pc.is_in(values, pa.array(["true", "false"]))).as_py():
            continue
        try:
            values.cast(kind)
        except pa.ArrowInvalid:
            continue
        return kind
    return None


def _typed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [without_nan(batch.column(field.name).cast(field.type)) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def workers() -> int:
    """Threads that evaluate a condition."""
    return max(1, min(4, os.cpu_count() or 1))
