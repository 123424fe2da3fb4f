"""What `Pairs` have of a table: rows by number, samples, functions over rows, and a view for notebooks."""

from __future__ import annotations

import random
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import pyarrow as pa

from paraloom.core.errors import ConfigError, nearest
from paraloom.io.corpus import write_corpus

if TYPE_CHECKING:
    from paraloom.api.pairs import Pairs

Row: TypeAlias = dict[str, Any]

_SHOWN = 10
"""Rows of the view for notebooks."""

_DECIDING = ("p_paraphrase", "judge", "paraphrase_score", "bilingual_similarity", "trigram_overlap", "chrf")
"""Scores that the view shows, three of them at most."""


class PairsTable(ABC):
    """Rows by number, samples, functions over rows, and a view for notebooks."""

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows in batches."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Read all rows into memory."""

    @overload
    def __getitem__(self, key: int) -> Row: ...

    @overload
    def __getitem__(self, key: slice) -> Pairs: ...

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    def __getitem__(self, key: int | slice | str) -> Row | Pairs | list[Any]:
        """A row by its number, rows by a slice, or the values of a column by its name."""
        if isinstance(key, str):
            if key not in (names := self._schema().names):
                raise KeyError(f"unknown column '{key}'{nearest(key, names)}")
            return [value for batch in self.batches() for value in batch.column(key).to_pylist()]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return _in_memory(self._slice(start, max(0, stop - start)))
            return _in_memory(self.to_arrow().take(list(range(start, stop, step))))
        number = key + len(self) if key < 0 else key
        rows = self._slice(number, 1).to_pylist() if number >= 0 else []
        if not rows:
            raise IndexError(f"row {key} of {len(self):,}")
        row: Row = rows[0]
        return row

    def head(self, n: int = 5) -> list[Row]:
        """The first rows.

        Args:
            n: Number of rows.

        Returns:
            A dictionary for each row.

        Example:
            >>> from paraloom import as_pairs
            >>> as_pairs([("A cat sleeps.", "The cat is asleep.")]).head(1)[0]["tgt"]
            'The cat is asleep.'
        """
        return list(islice((row for batch in self.batches() for row in batch.to_pylist()), n))

    def sample(self, n: int, *, seed: int = 1) -> Pairs:
        """Rows drawn at random, without repetition, in their order.

        Args:
            n: Number of rows; all of them where there are fewer.
            seed: Seed of the draw.

        Returns:
            The sample, in memory.

        Example:
            >>> from paraloom import as_pairs
            >>> len(as_pairs([("a", "b"), ("c", "d"), ("e", "f")]).sample(2))
            2
        """
        count = len(self)
        chosen = sorted(random.Random(seed).sample(range(count), min(n, count)))
        return _in_memory(self.to_arrow().take(pa.array(chosen, pa.int64())))

    def map(self, function: Callable[[Row], Mapping[str, Any]]) -> Pairs:
        """Change or add columns by a function of one row, in this process.

        Args:
            function: Takes a row as a dictionary, and returns the columns that it changes or adds.

        Returns:
            The pairs, computed when their rows are needed.

        Raises:
            ConfigError: The function returned no columns, or not the same for each row.

        Example:
            >>> from paraloom import as_pairs
            >>> pairs = as_pairs([("A cat sleeps.", "The cat is asleep.")])
            >>> pairs.map(lambda row: {"longer": len(row["tgt"]) > len(row["src"])})[0]["longer"]
            True
        """

        def compute(batch: pa.RecordBatch, _seed: int) -> pa.RecordBatch:
            rows = batch.to_pylist()
            added = [dict(function(row)) for row in rows]
            names = list(added[0]) if added else []
            if added and (not names or any(list(one) != names for one in added)):
                raise ConfigError(
                    "the function of `map` must return the same columns for each row",
                    remedy='Return a dictionary, such as {"score": 0.5}.',
                )
            for name in names:
                values = pa.array([one[name] for one in added])
                if name in batch.schema.names:
                    batch = batch.set_column(batch.schema.get_field_index(name), name, values)
                else:
                    batch = batch.append_column(name, values)
            return batch

        return self._in_process(compute)

    def to_polars(self) -> Any:
        """Read all rows into memory; needs polars.

        Returns:
            A polars DataFrame.
        """
        import polars

        return polars.from_arrow(self.to_arrow())

    def to_dataset(self) -> Any:
        """Read all rows into memory; needs Hugging Face's `datasets`.

        Returns:
            A `datasets.Dataset`.
        """
        import datasets

        return datasets.Dataset(self.to_arrow())

    def _repr_html_(self) -> str:
        """The first pairs side by side, for notebooks."""
        names = self._schema().names
        scores = [name for name in _DECIDING if name in names][:3]
        head = "".join(f"<th>{escape(name)}</th>" for name in ("src", "tgt", *scores))
        left = "<td style='text-align:left'>"
        rows = "".join(
            f"<tr>{left}{escape(row['src'])}</td>{left}{escape(row['tgt'])}</td>"
            f"{''.join(f'<td>{escape(_cell(row[name]))}</td>' for name in scores)}</tr>"
            for row in self.head(_SHOWN)
        )
        more = f", the first {_SHOWN}" if len(self) > _SHOWN else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f"{table}<p>{len(self):,} pairs{more}</p>"

    def _schema(self) -> pa.Schema:
        first = next(iter(self.batches()), None)
        return first.schema if first is not None else pa.schema([])

    def _slice(self, start: int, length: int) -> pa.Table:
        """Rows by number; reads no more batches than needed."""
        taken: list[pa.RecordBatch] = []
        schema = self._schema()
        for batch in self.batches():
            if length <= 0:
                break
            if start < batch.num_rows:
                part = batch.slice(start, length)
                taken.append(part)
                length -= part.num_rows
            start = max(0, start - batch.num_rows)
        return pa.Table.from_batches(taken, schema=schema)

    @abstractmethod
    def _in_process(self, compute: Callable[[pa.RecordBatch, int], pa.RecordBatch]) -> Pairs:
        """Pairs that an object of this process computes from these, when their rows are needed."""


def _in_memory(table: pa.Table) -> Pairs:
    """Pairs of a table, in a temporary folder that lives as long as they do."""
    from paraloom.api.pairs import Pairs

    scratch = tempfile.TemporaryDirectory(prefix="paraloom-")
    write_corpus(Path(scratch.name) / "rows", table.to_batches(max_chunksize=1024), kind="PAIRS")
    pairs = Pairs([], Path(scratch.name) / "rows")
    pairs._scratch = scratch
    return pairs


def _cell(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "" if value is None else str(value)


def by_function(
    function: Callable[[str, str], float | bool], name: str
) -> Callable[[pa.RecordBatch, int], pa.RecordBatch]:
    """A column of what a function of both sides returns, for batches of pairs."""

    def compute(batch: pa.RecordBatch, _seed: int) -> pa.RecordBatch:
        sides = zip(batch.column("src").to_pylist(), batch.column("tgt").to_pylist(), strict=True)
        values = pa.array([float(function(src, tgt)) for src, tgt in sides], pa.float64())
        if name in batch.schema.names:
            return batch.set_column(batch.schema.get_field_index(name), name, values)
        return batch.append_column(name, values)

    return compute


def chosen_by(function: Callable[[Row], bool]) -> Callable[[pa.RecordBatch, int], pa.RecordBatch]:
    """The rows of a batch that a function finds good."""

    def compute(batch: pa.RecordBatch, _seed: int) -> pa.RecordBatch:
        return batch.filter(pa.array([bool(function(row)) for row in batch.to_pylist()], pa.bool_()))

    return compute


def function_name(function: Callable[..., object], number: int) -> str:
    """The column of a function: its name, or a number where it has none."""
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() and name != "<lambda>" else f"score_{number}"


def split_functions(
    scores: Sequence[Any],
) -> tuple[list[Any], list[tuple[str, Callable[[str, str], float]]]]:
    """Names of scores, and functions with the columns that they fill."""
    named = [one for one in scores if not _is_function(one)]
    functions = [(function_name(one, n), one) for n, one in enumerate(scores, start=1) if _is_function(one)]
    return named, functions


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, (str, type)) and not hasattr(value, "compute")
