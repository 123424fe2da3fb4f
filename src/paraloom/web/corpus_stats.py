"""Statistics and samples of corpora of any size: quantiles, histograms, reasons and example rows, by streaming."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
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
# So many columns are read at once: while quantiles are exact, their values are in memory.
_COLUMNS = 8
# Quantiles between which a histogram is drawn; values beyond are counted in the first or the last bin.
_HISTOGRAM_RANGE = (0.005, 0.995)


@dataclass(frozen=True)
class Distribution:
    """The distribution of a column's values; the outermost bins also have the values beyond their edges."""

    rows: int
    undefined: int
    quantiles: tuple[float, ...]
    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """Example rows of a group."""

    group: str
    total: int
    rows: tuple[dict[str, Any], ...]


def distributions(
    shards: Sequence[Path], columns: Mapping[str, Sequence[float] | None]
) -> dict[str, Distribution | None]:
    """Distributions of columns, read once, or twice to choose bins without edges; None where no value is defined."""
    names, result = list(columns), dict[str, Distribution | None]()
    with _database() as database:
        known = register_shards(database, "shards", shards)
        (rows,) = _one(database, sql("SELECT count(*) FROM shards"))
        for start in range(0, len(names), _COLUMNS):
            group = {name: known[name].name for name in names[start : start + _COLUMNS]}
            result |= _read(database, group, {name: columns[name] for name in group}, rows)
    return result


def _read(
    database: Connection, names: Mapping[str, str], given: Mapping[str, Sequence[float] | None], rows: int
) -> dict[str, Distribution | None]:
    values = {
        name: sql("CASE WHEN isfinite({0}::DOUBLE) THEN {0}::DOUBLE END", column) for name, column in names.items()
    }
    shares = (*_HISTOGRAM_RANGE, *QUANTILES)
    facts = _selected(
        database,
        {
            name: sql(
                "row(count({0}), bool_and({0} = floor({0})), {1}, {2})",
                value, _quantiles(value, rows, shares), _binned(value, given[name]),
            )
            for name, value in values.items()
        },
    )  # fmt: skip
    # Sketches of columns that have few values are not used.
    few = {name: values[name] for name, (defined, *_) in facts.items() if 0 < defined <= _EXACT < rows}
    exact = _selected(database, {name: _quantiles(value, 0, shares) for name, value in few.items()})
    quantiles = {name: exact.get(name, sketched) for name, (_, _, sketched, _) in facts.items()}
    edges = {
        name: tuple(given[name] or _edges(quantiles[name][0], quantiles[name][1], whole))
        for name, (defined, whole, _, _) in facts.items()
        if defined
    }
    chosen = {name: _binned(values[name], edges[name]) for name in edges if given[name] is None}
    bins = {name: binned for name, (*_, binned) in facts.items()} | _selected(database, chosen)
    result: dict[str, Distribution | None] = dict.fromkeys(facts)
    for name, ends in edges.items():
        counts = tuple(bins[name].get(number, 0) for number in range(len(ends) - 1))
        result[name] = Distribution(rows, rows - facts[name][0], tuple(quantiles[name][2:]), ends, counts)
    return result


def _edges(low: float, high: float, whole: bool) -> list[float]:
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


def _binned(value: Sql, edges: Sequence[float] | None) -> Sql:
    """The numbers of bins, from 0 → how many values they have."""
    if edges is None:
        return Sql("NULL")
    low, width, last = edges[0], (edges[-1] - edges[0]) / (len(edges) - 1), len(edges) - 2
    # Without the filter, the least of 'null' and a number is the number.
    return sql(
        "histogram(least(greatest(floor(({0} - {1}) / {2}), 0), {3})::INTEGER) FILTER ({0} IS NOT NULL)",
        value, low, width, last,
    )  # fmt: skip


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


def _quantiles(value: Sql, rows: int, shares: Sequence[float]) -> Sql:
    # One call for all: each sorts the values, or sketches them, on its own.
    function = Sql("quantile_cont" if rows <= _EXACT else "approx_quantile")
    return sql("{}({}, [{}])", function, value, sql_list(shares))


def _selected(database: Connection, columns: Mapping[str, Sql]) -> dict[str, Any]:
    """What a query over all shards has for each of some names."""
    if not columns:
        return {}
    query = sql("SELECT {} FROM shards", sql_list(columns.values()))
    return dict(zip(columns, _one(database, query), strict=True))


def _one(database: Connection, query: Sql) -> tuple[Any, ...]:
    return tuple(database.execute(query).fetchall()[0])


def _database() -> AbstractContextManager[Connection]:
    # One thread: approx_quantile depends on the order in which values arrive.
    return open_database(memory="512MB")
