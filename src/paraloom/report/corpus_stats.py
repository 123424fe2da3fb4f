"""Statistics and samples of corpora of any size: quantiles, histograms, reasons and example rows, by streaming."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 40
TEXT_LIMIT = 400
"""Characters of a sentence that a page shows."""

# Up to this many values quantiles are exact; beyond, they come from a sketch of constant memory.
_EXACT = 1_000_000
_IN_MEMORY = 20_000_000
# Quantiles between which a histogram is drawn; values beyond are counted in the first or the last bin.
_HISTOGRAM_RANGE = (0.005, 0.995)


@dataclass(frozen=True)
class Distribution:
    """The distribution of a column's values.

    Args:
        rows: Number of rows.
        undefined: Rows without a finite value.
        quantiles: Values at QUANTILES; empty without any value.
        counts: Rows in each bin of the histogram.
    """

    rows: int
    undefined: int
    quantiles: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """Example rows of a group.

    Args:
        group: Name of the group, such as a reason.
        total: Number of rows in the group.
        rows: Some of them, chosen by a hash of their content, so that the choice is reproducible.
    """

    group: str
    total: int
    rows: tuple[dict[str, Any], ...]


def histogram_edges(shards: Sequence[Path], column: str) -> list[float] | None:
    """The edges of a column's histogram bins, in increasing order; None if no value is defined.

    Integer columns get bins of whole numbers.

    Args:
        shards: Parquet files.
        column: A numeric column.
    """
    with _database() as database:
        _open(database, shards, column)
        rows = _one(database, "SELECT count(value) FROM v")[0]
        if not rows:
            return None
        low, high, whole = _one(
            database,
            f"SELECT {_quantile(rows, _HISTOGRAM_RANGE[0])}, {_quantile(rows, _HISTOGRAM_RANGE[1])}, "
            "bool_and(value = floor(value)) FROM v",
        )
    if whole:
        low, high = float(int(low)), float(int(high) + 1)
        step = max(1, -(-int(high - low) // BINS))
        return [low + step * i for i in range(-(-int(high - low) // step) + 1)]
    if low == high:
        low, high = low - 0.5, high + 0.5
    # Values that nearly span 0 to 1 are shown from 0 to 1.
    if -0.1 < low < 0.15 and 0.85 < high < 1.1:
        low, high = min(low, 0.0), max(high, 1.0)
    return [low + (high - low) * i / BINS for i in range(BINS + 1)]


def distribution(shards: Sequence[Path], column: str, edges: Sequence[float]) -> Distribution:
    """The distribution of a column.

    Args:
        shards: Parquet files.
        column: A numeric column.
        edges: The edges of equally wide bins, from `histogram_edges`.
    """
    with _database() as database:
        _open(database, shards, column)
        total, rows = _one(database, "SELECT count(*), count(value) FROM v")
        selected = ", ".join(_quantile(rows, share) for share in QUANTILES)
        quantiles = _one(database, f"SELECT {selected} FROM v") if rows else ()
        low, width, last = edges[0], (edges[-1] - edges[0]) / (len(edges) - 1), len(edges) - 2
        binned = database.execute(
            "SELECT least(greatest(floor((value - $low) / $width), 0), $last)::INTEGER AS bin, count(*) FROM v "
            "WHERE value IS NOT NULL GROUP BY bin",
            {"low": low, "width": width, "last": last},
        ).fetchall()
    counts = [0] * (last + 1)
    for i, n in binned:
        counts[i] = n
    return Distribution(total, total - rows, tuple(quantiles), tuple(counts))


def reasons(shards: Sequence[Path], column: str = "reason", examples: int = 2, max_reasons: int = 12) -> list[Sample]:
    """The most frequent reasons of rejected rows, or errors of failed ones, with example rows.

    Args:
        shards: Parquet files of the rejected or failed rows.
        column: The column of reasons.
        examples: Example rows of each reason.
        max_reasons: Reasons that are listed; the rest is summed up in a last sample without rows.
    """
    if not shards:
        return []
    with _database() as database:
        samples = _samples(database, shards, f"coalesce(\"{column}\", '')", examples)
    samples.sort(key=lambda sample: (-sample.total, sample.group))
    if len(samples) > max_reasons:
        rest = sum(sample.total for sample in samples[max_reasons:])
        samples = [*samples[:max_reasons], Sample(f"{len(samples) - max_reasons} other reasons", rest, ())]
    return samples


def samples_by_range(shards: Sequence[Path], column: str, bounds: Sequence[float], examples: int = 3) -> list[Sample]:
    """Example rows of each range of a column.

    Args:
        shards: Parquet files.
        column: A numeric column.
        bounds: The k + 1 increasing bounds of k ranges; a range includes its lower bound, the last one both.
        examples: Example rows of each range.

    Returns:
        A sample for each of the k ranges, named 1 to k.
    """
    cases = " ".join(
        f"WHEN \"{column}\" {'<=' if i == len(bounds) - 1 else '<'} {bound!r} THEN '{i}'"
        for i, bound in enumerate(bounds)
        if i
    )
    inside = f'CASE WHEN "{column}" IS NULL OR isnan("{column}") OR "{column}" < {bounds[0]!r} THEN NULL {cases} END'
    with _database() as database:
        samples = {sample.group: sample for sample in _samples(database, shards, inside, examples)}
    return [samples.get(str(i), Sample(str(i), 0, ())) for i in range(1, len(bounds))]


def best_rows(shards: Sequence[Path], column: str, examples: int, *, lowest: bool = False) -> list[dict[str, Any]]:
    """The rows with the highest or lowest values of a column.

    Args:
        shards: Parquet files.
        column: A numeric column; rows without a value are left out.
        examples: Number of rows.
        lowest: Take the lowest values.

    Returns:
        The rows, the most extreme first; of equal ones by a hash of their content.
    """
    with _database() as database:
        columns = _columns(database, shards)
        names = [name for name, _ in columns]
        if column not in names:
            return []
        fields = ", ".join(f'{_truncated(name, kind)} AS "{name}"' for name, kind in columns)
        identity = ", ".join(f'"{name}"::VARCHAR' for name in ("pair_id", "rank", "src", "tgt") if name in names)
        rows = database.execute(
            f'SELECT {fields} FROM read_parquet($shards) WHERE isfinite("{column}"::DOUBLE) '
            f'ORDER BY "{column}" {"ASC" if lowest else "DESC"}, md5(concat_ws(chr(31), {identity})) LIMIT {examples}',
            {"shards": [str(shard) for shard in shards]},
        ).fetchall()
    return [dict(zip(names, row, strict=True)) for row in rows]


def _samples(database: duckdb.DuckDBPyConnection, shards: Sequence[Path], group: str, examples: int) -> list[Sample]:
    """Rows grouped by an SQL expression, with `examples` rows of each group."""
    names = [row[0] for row in _columns(database, shards)]
    shown = [name for name in names if name not in ("keep", "reason", "error")]
    # Chosen by a hash of the row's content, so that sharding and row order do not change the sample.
    identity = ", ".join(f'"{name}"::VARCHAR' for name in ("pair_id", "rank", "src", "tgt") if name in names)
    order = f"md5(concat_ws(chr(31), {identity}))" if identity else "'0'"
    fields = ", ".join(
        f'"{name}": {_truncated(name, kind)}' for name, kind in _columns(database, shards) if name in shown
    )
    grouped = database.execute(
        f"SELECT {group} AS grouped, count(*), arg_min({{{fields}}}, {order}, {examples}) "
        "FROM read_parquet($shards) WHERE grouped IS NOT NULL GROUP BY grouped ORDER BY grouped",
        {"shards": [str(shard) for shard in shards]},
    ).fetchall()
    return [Sample(name, n, tuple(rows)) for name, n, rows in grouped]


def _truncated(name: str, kind: str) -> str:
    if kind != "VARCHAR":
        return f'"{name}"'
    return f'CASE WHEN length("{name}") > {TEXT_LIMIT} THEN "{name}"[:{TEXT_LIMIT}] || \'…\' ELSE "{name}" END'


def _columns(database: duckdb.DuckDBPyConnection, shards: Sequence[Path]) -> list[tuple[str, str]]:
    described = database.execute("DESCRIBE SELECT * FROM read_parquet($shard)", {"shard": str(shards[0])}).fetchall()
    return [(row[0], row[1]) for row in described]


def _open(database: duckdb.DuckDBPyConnection, shards: Sequence[Path], column: str) -> None:
    """Make `v`, with one column, `value`, which is null where the value is not finite; a table is read only once."""
    files = ", ".join("'" + str(shard).replace("'", "''") + "'" for shard in shards)
    (rows,) = _one(database, f"SELECT count(*) FROM read_parquet([{files}])")
    database.execute(
        f"CREATE {'TABLE' if rows <= _IN_MEMORY else 'VIEW'} v AS "
        f'SELECT CASE WHEN isfinite("{column}"::DOUBLE) THEN "{column}"::DOUBLE END AS value '
        f"FROM read_parquet([{files}])"
    )


def _quantile(rows: int, share: float) -> str:
    return f"quantile_cont(value, {share})" if rows <= _EXACT else f"approx_quantile(value, {share})"


def _one(database: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    return tuple(database.execute(query).fetchall()[0])


@contextmanager
def _database() -> Iterator[duckdb.DuckDBPyConnection]:
    # One thread: approx_quantile depends on the order in which values arrive.
    database = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "512MB"})
    try:
        yield database
    finally:
        database.close()
