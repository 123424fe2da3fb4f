"""Statistics and samples of corpora of any size: quantiles, histograms, reasons and example rows, by streaming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.io.database import Connection, ShardColumn, Sql, open_database, register_shards, sql, sql_list
from paraloom.io.shards import is_text

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 40
TEXT_LIMIT = 400  # Characters of a sentence that a page shows

# Up to this many values quantiles are exact; beyond, they come from a sketch of constant memory.
_EXACT = 1_000_000
_IN_MEMORY = 20_000_000
# Quantiles between which a histogram is drawn; values beyond are counted in the first or the last bin.
_HISTOGRAM_RANGE = (0.005, 0.995)


@dataclass(frozen=True)
class Distribution:
    """The distribution of a column's values."""

    rows: int
    undefined: int
    quantiles: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """Example rows of a group."""

    group: str
    total: int
    rows: tuple[dict[str, Any], ...]


def histogram_edges(shards: Sequence[Path], column: str) -> list[float] | None:
    """The edges of a column's histogram bins, in increasing order; None if no value is defined.

    Integer columns get bins of whole numbers.
    """
    with _values(shards, column) as database:
        rows = _one(database, sql("SELECT count(value) FROM v"))[0]
        if not rows:
            return None
        (low, high), whole = _one(
            database, sql("SELECT {}, bool_and(value = floor(value)) FROM v", _quantiles(rows, _HISTOGRAM_RANGE))
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
    with _values(shards, column) as database:
        total, rows = _one(database, sql("SELECT count(*), count(value) FROM v"))
        (quantiles,) = _one(database, sql("SELECT {} FROM v", _quantiles(rows, QUANTILES))) if rows else ((),)
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


def reasons(shards: Sequence[Path], column: str = "reason", max_reasons: int = 12) -> list[Sample]:
    """The most frequent reasons of rejected rows, or errors of failed ones, with example rows."""
    if not shards:
        return []
    samples = _samples(shards, column)
    samples.sort(key=lambda sample: (-sample.total, sample.group))
    if len(samples) > max_reasons:
        rest = sum(sample.total for sample in samples[max_reasons:])
        samples = [*samples[:max_reasons], Sample(f"{len(samples) - max_reasons} other reasons", rest, ())]
    return samples


def _samples(shards: Sequence[Path], column: str) -> list[Sample]:
    """Rows grouped by a column, with two rows of each group."""
    with _database() as database:
        columns = register_shards(database, "shards", shards)
        shown = {name: col for name, col in columns.items() if name not in ("keep", "reason", "error")}
        grouped = database.execute(
            sql(
                "SELECT name, count(*), arg_min(shown, tiebreak, 2) "
                "FROM (SELECT coalesce({value}, '') AS name, row({shown}) AS shown, {tiebreak} AS tiebreak "
                "FROM shards) WHERE name IS NOT NULL GROUP BY name ORDER BY name",
                shown=sql_list(map(_shown, shown.values())),
                tiebreak=_content_hash(columns),
                value=columns[column].name,
            )
        ).fetchall()
    return [Sample(name, n, tuple(dict(zip(shown, row, strict=True)) for row in rows)) for name, n, rows in grouped]


def _content_hash(columns: Mapping[str, ShardColumn]) -> Sql:
    """A hash of a row's content, so that sharding and the order of rows do not change a sample."""
    names = [columns[name].name for name in ("pair_id", "rank", "src", "tgt") if name in columns]
    if not names:
        return sql("'0'")
    return sql("md5(concat_ws(chr(31), {}))", sql_list(sql("{}::VARCHAR", name) for name in names))


def _shown(column: ShardColumn) -> Sql:
    """A column of an example row; long texts are cut."""
    if not is_text(column.type):
        return sql("{}", column.name)
    cut = sql("{}[:{}] || '…'", column.name, TEXT_LIMIT)
    return sql("CASE WHEN length({0}) > {1} THEN {2} ELSE {0} END", column.name, TEXT_LIMIT, cut)


@contextmanager
def _values(shards: Sequence[Path], column: str) -> Iterator[Connection]:
    """A database with `v`: one column, `value`, null where it is not finite; a table is read only once."""
    with _database() as database:
        name = register_shards(database, "shards", shards)[column].name
        (rows,) = _one(database, sql("SELECT count(*) FROM shards"))
        kind = Sql("TABLE" if rows <= _IN_MEMORY else "VIEW")
        value = sql("CASE WHEN isfinite({0}::DOUBLE) THEN {0}::DOUBLE END AS value", name)
        database.execute(sql("CREATE {} v AS SELECT {} FROM shards", kind, value))
        yield database


def _quantiles(rows: int, shares: Sequence[float]) -> Sql:
    # One call for all: each sorts the values, or sketches them, on its own.
    function = Sql("quantile_cont" if rows <= _EXACT else "approx_quantile")
    return sql("{}(value, [{}])", function, sql_list(shares))


def _one(database: Connection, query: Sql) -> tuple[Any, ...]:
    return tuple(database.execute(query).fetchall()[0])


def _database() -> AbstractContextManager[Connection]:
    # One thread: approx_quantile depends on the order in which values arrive.
    return open_database(memory="512MB")
