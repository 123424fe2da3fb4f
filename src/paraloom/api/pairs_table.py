"""What `Pairs` have of a table: rows by number, samples, functions over rows, and a view for notebooks."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import pyarrow as pa

from paraloom.core.errors import ConfigError, MissingExtraError, nearest
from paraloom.core.lazy import load_object
from paraloom.core.schema import DECIDING, with_column, with_reasons

if TYPE_CHECKING:
    import datasets
    import polars

    from paraloom.api.memory import Compute
    from paraloom.api.pairs import Pairs

Row: TypeAlias = dict[str, Any]

PairFunction: TypeAlias = Callable[[str, str], "float | None"]
"""Scores a pair, by its two texts."""

RowFunction: TypeAlias = Callable[[Row], Any]
"""Says whether to keep a row, by what it returns being true."""

_SHOWN = 10
"""Rows of the view for notebooks."""


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
                raise KeyError(f"column '{key}' not found{nearest(key, names)}")
            return [value for batch in self.batches() for value in batch.column(key).to_pylist()]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._of_table(self._slice(start, max(0, stop - start)))
            return self._of_table(self.to_arrow().take(list(range(start, stop, step))))
        try:
            number = index(key)
        except TypeError:
            kind = type(key).__name__
            raise TypeError(f"rows are known by number or slice, columns by name; got {kind}") from None
        number += len(self) if number < 0 else 0
        rows = self._slice(number, 1).to_pylist() if number >= 0 else []
        if not rows:
            raise IndexError(f"no row {key}: there are {len(self):,} rows")
        row: Row = rows[0]
        return row

    def head(self, n: int = 5) -> list[Row]:
        """The first rows.

        Args:
            n: Number of rows.

        Returns:
            A dictionary for each row.

        Raises:
            ValueError: `n` is less than 0.

        Example:
            >>> from paraloom import as_pairs
            >>> as_pairs([("A cat sleeps.", "The cat is asleep.")]).head(1)[0]["tgt"]
            'The cat is asleep.'
        """
        if index(n) < 0:
            raise ValueError(f"'n' must be 0 or more, not {n}")
        return list(islice((row for batch in self.batches() for row in batch.to_pylist()), n))

    def sample(self, n: int, *, seed: int = 1) -> Pairs:
        """Rows drawn at random, without repetition, in their order.

        Args:
            n: Number of rows; all of them where there are fewer.
            seed: Seed of the draw.

        Returns:
            The sample, in memory.

        Raises:
            ValueError: `n` is less than 0.

        Example:
            >>> from paraloom import as_pairs
            >>> len(as_pairs([("a", "b"), ("c", "d"), ("e", "f")]).sample(2))
            2
        """
        if index(n) < 0:
            raise ValueError(f"'n' must be 0 or more, not {n}")
        count = len(self)
        chosen = sorted(random.Random(seed).sample(range(count), min(n, count)))
        return self._of_table(self.to_arrow().take(pa.array(chosen, pa.int64())))

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
                batch = with_column(batch, name, pa.array([one[name] for one in added]))
            return batch

        return self._in_process(compute)

    def to_polars(self) -> polars.DataFrame:
        """Read all rows into memory; needs polars.

        Returns:
            A polars DataFrame.

        Raises:
            MissingExtraError: polars is not installed.
        """
        try:
            import polars
        except ImportError:
            raise _not_installed("to_polars", "polars") from None
        return polars.from_arrow(self.to_arrow())

    def to_dataset(self) -> datasets.Dataset:
        """Read all rows into memory; needs Hugging Face's `datasets`.

        Returns:
            A `datasets.Dataset`.

        Raises:
            MissingExtraError: `datasets` is not installed.
        """
        try:
            import datasets
        except ImportError:
            raise _not_installed("to_dataset", "datasets") from None
        return datasets.Dataset(self.to_arrow())

    def explore(self, **options: object) -> Any:
        """Open a local page over the pairs: search, sort and filter them, drag thresholds, judge; see `explore`.

        Args:
            **options: Those of `paraloom.explore`, such as `browser=False`.

        Returns:
            The page, as an object with `url`, `wait()` and `close()`; a notebook shows it as a link.

        Example:
            >>> from paraloom import as_pairs
            >>> with as_pairs([("A cat sleeps.", "The cat is asleep.")]).explore(browser=False) as page:
            ...     page.url.startswith("http://127.0.0.1:")
            True
        """
        return load_object("paraloom.web.explorer:explore")(self, **options)

    def _repr_html_(self) -> str:
        """The first pairs side by side, for notebooks."""
        from html import escape

        names = self._schema().names
        scores = [name for name in DECIDING if name in names][:3]
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

    @abstractmethod
    def _schema(self) -> pa.Schema: ...

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
    def _in_process(self, compute: Compute) -> Pairs:
        """Pairs that an object of this process computes from these, when their rows are needed."""

    @abstractmethod
    def _of_table(self, table: pa.Table) -> Pairs:
        """Pairs of a table, in a temporary folder that lives as long as they do."""


def _not_installed(method: str, package: str) -> MissingExtraError:
    return MissingExtraError(f"{method} needs {package}, which is not installed", remedy=f"pip install {package}")


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "" if value is None else str(value)


def columns_of_functions(functions: Sequence[tuple[str, PairFunction]]) -> Compute:
    def compute(batch: pa.RecordBatch, _seed: int) -> pa.RecordBatch:
        sides = list(zip(batch.column("src").to_pylist(), batch.column("tgt").to_pylist(), strict=True))
        for name, function in functions:
            values = pa.array([_number(function(src, tgt), name) for src, tgt in sides], pa.float64())
            batch = with_column(batch, name, values)
        return batch

    return compute


def chosen_by(function: RowFunction) -> Compute:
    """Rows of a batch with marks: those that a function of a row finds good, and a reason for the others."""
    reason = f"not: {getattr(function, '__name__', 'function').strip('<>')}"

    def compute(batch: pa.RecordBatch, _seed: int) -> pa.RecordBatch:
        return with_reasons(batch, [None if function(row) else reason for row in batch.to_pylist()])

    return compute


def split_scores(scores: Any) -> tuple[list[str], list[Any], list[tuple[str, PairFunction]]]:
    """Names of scores, scorers, and functions with the columns that they fill, of one of these or several."""
    given = _as_scores(scores)
    texts = [one for one in given if isinstance(one, str)]
    scorers = [one for one in given if not (isinstance(one, str) or _is_function(one))]
    functions = [(_column_name(one, n), one) for n, one in enumerate(given, start=1) if _is_function(one)]
    names = [name for name, _ in functions]
    if doubled := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"two functions are called '{doubled}'", remedy="Give them names that differ.")
    return texts, scorers, functions


def _as_scores(scores: Any) -> list[Any]:
    if isinstance(scores, str) or hasattr(scores, "compute") or _is_function(scores):
        return [scores]
    given = list(scores) if isinstance(scores, Iterable) and not isinstance(scores, (bytes, Mapping)) else [scores]
    for one in given:
        if not isinstance(one, str) and not hasattr(one, "compute") and not _is_function(one):
            raise TypeError(f"'scores' must be names of scores, scorers or functions, got {type(one).__name__}")
    return given


def _column_name(function: Callable[..., object], number: int) -> str:
    """The column of a function: its name, or a number where it has none."""
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() else f"score_{number}"


def _number(value: Any, name: str) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        raise ConfigError(
            f"the function of the score '{name}' returned {value!r}", remedy="Return a number, or None if undefined."
        ) from None


def _is_function(value: Any) -> bool:
    """True for a function of two texts, as opposed to the name of a score or a scorer."""
    return callable(value) and not isinstance(value, type) and not hasattr(value, "compute")
