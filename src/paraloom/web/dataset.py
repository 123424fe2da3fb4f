"""A set of rows to explore: in memory where it is small, else a sample of it, and passes over its files."""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import AnyFloats
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.schema import signature_of
from paraloom.core.seeds import generator
from paraloom.web.formatting import count
from paraloom.web.row_files import RowFiles, RowNumbers, taken
from paraloom.web.scores import FIRST_SCORES
from paraloom.web.sources import RowSource, sides_of
from paraloom.web.text_rows import NEVER_NUMBERS, as_parquet

WHOLE_ROWS, WHOLE_BYTES = 1_000_000, 400_000_000
"""Larger sets are not held in memory."""

SAMPLE_ROWS = 100_000
_READ_GROUPS, _READ_ROWS = (16, 256), 3_200_000  # Row groups that a sample is read from, and the rows in them

STEP_ROWS, _STEP_BYTES = 262_144, 64_000_000
"""Rows of a step of a pass, and their size."""

MAX_VALUES = 1000  # Different values of a text column that can be counted by value

Mask: TypeAlias = npt.NDArray[np.bool_]

T = TypeVar("T")

_RAW = ("rank", "logprob", "tokens")


@dataclass(frozen=True)
class Coded:
    """A text column of few different values."""

    values: tuple[str | None, ...]
    codes: npt.NDArray[np.int16]

    def counts_of(self, rows: RowNumbers) -> npt.NDArray[np.int64]:
        return np.bincount(np.take(self.codes, rows), minlength=len(self.values))


class Dataset:
    """Rows to explore; where `sample` does not have all of them, what is counted by it is said to be of a sample."""

    def __init__(self, source: RowSource, folder: Path) -> None:
        self.source = source
        self.stamp = source.stamp()
        self.rejected: list[tuple[int, str]] = []
        self.rejected_count = 0
        copy = folder / "rows.parquet"
        if source.shards:
            self._files = RowFiles(source)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            self._files = RowFiles(*as_parquet(source, copy, self._reject))
        if self.rejected:
            row, reason = self.rejected[0]
            remedy = "Correct the file, and open it again, to have all of its rows."
            error = DataError(f"{reason} ({self.left_out()})", file=source.path, row=row, remedy=remedy)
            warnings.warn(str(error), stacklevel=2)
        self.schema = self._files.schema
        self.rows = self._files.rows
        self.sides = sides_of(self.schema)
        if not self.sides:
            raise DataError(
                f"columns src and tgt, or text, not found; the columns are {', '.join(self.schema.names)}",
                file=source.path,
                remedy="Name the columns of the two sides: --src-column, --tgt-column.",
            )
        self.numeric = [field.name for field in self.schema if _is_number(field.type)]
        self.signatures = {f.name: signature_of(f) for f in self.schema if signature_of(f)}
        whole = self._whole()
        self.is_sampled = whole is None
        self.sample_rows = self._sample_rows() if whole is None else np.arange(self.rows, dtype=np.int32)
        self.sample: pa.Table = self._files.take(self.sample_rows, self.schema.names) if whole is None else whole
        if not self.is_sampled:
            copy.unlink(missing_ok=True)
        self._locks: defaultdict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)
        self._computed: dict[tuple[str, str], Any] = {}

    @property
    def scores(self) -> list[str]:
        """Columns of numbers: those that are looked at most, then others with a signature, then the rest."""
        first = [name for name in FIRST_SCORES if name in self.numeric]
        rest = sorted(self.numeric, key=lambda name: (name not in self.signatures, name in _RAW))
        return list(dict.fromkeys([*first, *rest]))

    def left_out(self) -> str:
        """How many rows cannot be read."""
        n = self.rejected_count
        return f"{count(n)} {'rows' if n > 1 else 'row'} cannot be read and {'are' if n > 1 else 'is'} left out"

    def take(self, rows: Sequence[int], columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        numbers, where = np.unique(np.asarray(rows, np.int32), return_inverse=True)
        table = self.gather(numbers, self.schema.names if columns is None else list(columns))
        records = table.to_pylist()
        return [records[i] for i in where.tolist()]

    def gather(self, rows: RowNumbers, columns: Sequence[str]) -> pa.Table:
        """Rows by their numbers, which ascend."""
        # Rows that are shown are often of the sample.
        at = np.searchsorted(self.sample_rows, rows)
        if not np.array_equal(self.sample_rows[np.minimum(at, len(self.sample_rows) - 1)] if len(at) else rows, rows):
            return self._files.take(rows, columns)
        table = self.sample.select(list(columns))
        return pa.Table.from_batches(taken(table.to_batches(), at), table.schema)

    def steps(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """All rows in order, some columns of them, so many at a time that a step takes a fraction of a second."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        pending: list[pa.RecordBatch] = []
        rows = size = 0
        whole = None if self.is_sampled else self.sample.select(list(columns)).to_batches()
        for batch in self._files.batches(columns) if whole is None else whole:
            pending.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= STEP_ROWS or size >= _STEP_BYTES:
                yield pa.Table.from_batches(pending, schema)
                pending, rows, size = [], 0, 0
        if pending:
            yield pa.Table.from_batches(pending, schema)

    def values(self, name: str) -> AnyFloats:
        """A column of numbers of the sample as floats `(n,)`, NaN where it is undefined."""
        return self._once("values", name, lambda: floats(self.sample.column(name)))

    def order(self, name: str) -> tuple[RowNumbers, int]:
        """The rows of the sample in increasing order of a column, undefined last; and how many are defined."""
        return self._once("order", name, lambda: self._order(name))

    def coded(self, name: str) -> Coded | None:
        """A text or boolean column of the sample by value; None if it has too many different values."""
        return self._once("coded", name, lambda: self._coded(name))

    def categories(self) -> list[str]:
        """Text columns with few different values, by the sample."""
        return self._once("categories", "", self._categories)

    def about_sample(self) -> str:
        """What the sample is, where it has not all rows."""
        groups = len(self._files.starts) - 1
        return f"a sample of {count(len(self.sample_rows))} rows, in {count(self._drawn)} of {count(groups)} row groups"

    def _once(self, kind: str, name: str, compute: Callable[[], T]) -> T:
        key = kind, name
        with self._locks[key]:
            if key not in self._computed:
                self._computed[key] = compute()
        value: T = self._computed[key]
        return value

    def _order(self, name: str) -> tuple[RowNumbers, int]:
        column = self.sample.column(name)
        if name not in self.numeric:
            order = pc.sort_indices(column).to_numpy().astype(np.int32)
            return order, len(column) - column.null_count
        values = self.values(name)
        return np.argsort(values, kind="stable").astype(np.int32), int(np.count_nonzero(~np.isnan(values)))

    def _coded(self, name: str) -> Coded | None:
        encoded = self.sample.column(name).cast(pa.string()).combine_chunks().dictionary_encode("encode")
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        if len(encoded.dictionary) > MAX_VALUES:
            return None
        return Coded(tuple(encoded.dictionary.to_pylist()), encoded.indices.to_numpy().astype(np.int16))

    def _categories(self) -> list[str]:
        names = []
        for field in self.schema:
            if field.name in (*self.sides, *NEVER_NUMBERS) or not _is_category(field.type):
                continue
            if pc.count_distinct(self.sample.column(field.name), mode="all").as_py() <= MAX_VALUES // 5:
                names.append(field.name)
        return names

    def _whole(self) -> pa.Table | None:
        """All rows, None if there are too many of them."""
        batches: list[pa.RecordBatch] = []
        size = 0
        if self.rows > WHOLE_ROWS:
            return None
        with progress("opening", self.rows) as advance:
            for batch in self._files.batches(self.schema.names):
                batches.append(batch)
                size += batch.nbytes
                if size > WHOLE_BYTES:
                    return None
                advance(batch.num_rows)
        return pa.Table.from_batches(batches, self.schema)

    def _sample_rows(self) -> RowNumbers:
        """Rows by chance, as many of each of some row groups by chance: reading rows of all would read all."""
        draw = generator(1)
        starts = self._files.starts
        groups = len(starts) - 1
        self._drawn = min(groups, int(np.clip(_READ_ROWS * groups // self.rows, *_READ_GROUPS)))
        parts = np.sort(draw.choice(groups, self._drawn, replace=False))
        rows = np.concatenate([np.arange(starts[part], starts[part + 1]) for part in parts])
        chosen = draw.choice(len(rows), min(SAMPLE_ROWS, len(rows)), replace=False, shuffle=False)
        return rows[np.sort(chosen)].astype(np.int32)

    def _reject(self, row: int, reason: str) -> None:
        self.rejected_count += 1
        if len(self.rejected) < 20:
            self.rejected.append((row, reason))


def floats(column: pa.ChunkedArray) -> AnyFloats:
    """Numbers as floats `(n,)`, NaN where they are undefined; float32 where the column is."""
    kind = pa.float32() if column.type == pa.float32() else pa.float64()
    values: AnyFloats = column.cast(kind, safe=False).to_numpy()
    return values


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def _is_category(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_boolean(kind))
