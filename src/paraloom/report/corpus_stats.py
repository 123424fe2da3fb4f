"""What a page tells of corpora of any size: counts, quantiles, bins and samples, by streaming over their shards."""

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

# Up to so many values quantiles are exact; beyond, they come from a sketch, whose memory does not grow.
_EXACT = 1_000_000
# The edges of the display: what lies outside them is counted in the first or the last bin.
_DISPLAYED = (0.005, 0.995)


@dataclass(frozen=True)
class Spread:
    """How a column's values are spread.  quantiles: at QUANTILES.  undefined: rows without a value."""

    rows: int
    undefined: int
    quantiles: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """Rows of one group: `rows` as dicts, the same ones whenever they are drawn, out of `of`."""

    group: str
    of: int
    rows: tuple[dict[str, Any], ...]


def edges_of(shards: Sequence[Path], column: str) -> list[float] | None:
    """The k + 1 edges of a column's bins; whole numbers get bins of whole numbers.  None when no value is defined."""
    with _database() as database:
        _open(database, shards, column)
        rows = _one(database, "SELECT count(value) FROM v")[0]
        if not rows:
            return None
        low, high, whole = _one(
            database,
            f"SELECT {_quantile(rows, _DISPLAYED[0])}, {_quantile(rows, _DISPLAYED[1])}, "
            "bool_and(value = floor(value)) FROM v",
        )
    if whole:
        low, high = float(int(low)), float(int(high) + 1)
        step = max(1, -(-int(high - low) // BINS))
        return [low + step * i for i in range(-(-int(high - low) // step) + 1)]
    if low == high:
        low, high = low - 0.5, high + 0.5
    # A share that nearly fills 0 to 1 is shown from 0 to 1.
    if -0.1 < low < 0.15 and 0.85 < high < 1.1:
        low, high = min(low, 0.0), max(high, 1.0)
    return [low + (high - low) * i / BINS for i in range(BINS + 1)]


def spread_of(shards: Sequence[Path], column: str, edges: Sequence[float]) -> Spread:
    """The spread of a column over the bins between `edges`."""
    with _database() as database:
        _open(database, shards, column)
        total, rows = _one(database, "SELECT count(*), count(value) FROM v")
        found = ", ".join(_quantile(rows, share) for share in QUANTILES)
        quantiles = _one(database, f"SELECT {found} FROM v") if rows else ()
        low, width, last = edges[0], (edges[-1] - edges[0]) / (len(edges) - 1), len(edges) - 2
        binned = database.execute(
            "SELECT least(greatest(floor((value - $low) / $width), 0), $last)::INTEGER AS bin, count(*) FROM v "
            "WHERE value IS NOT NULL GROUP BY bin",
            {"low": low, "width": width, "last": last},
        ).fetchall()
    counts = [0] * (last + 1)
    for place, n in binned:
        counts[place] = n
    return Spread(total, total - rows, tuple(quantiles), tuple(counts))


def reasons(shards: Sequence[Path], column: str = "reason", each: int = 2, most: int = 12) -> list[Sample]:
    """The commonest reasons (or errors) of rows set aside, with `each` of their rows; what is left over is 'others'."""
    if not shards:
        return []
    with _database() as database:
        found = _samples(database, shards, f"coalesce(\"{column}\", '')", each)
    found.sort(key=lambda sample: (-sample.of, sample.group))
    if len(found) > most:
        rest = sum(sample.of for sample in found[most:])
        found = [*found[:most], Sample(f"{len(found) - most} other reasons", rest, ())]
    return found


def ranges(shards: Sequence[Path], column: str, bounds: Sequence[float], each: int = 3) -> list[Sample]:
    """Pairs of each range of a column: the k ranges between k + 1 rising bounds, the last one with its upper bound."""
    cases = " ".join(
        f"WHEN \"{column}\" {'<=' if place == len(bounds) - 1 else '<'} {bound!r} THEN '{place}'"
        for place, bound in enumerate(bounds)
        if place
    )
    inside = f'CASE WHEN "{column}" IS NULL OR isnan("{column}") OR "{column}" < {bounds[0]!r} THEN NULL {cases} END'
    with _database() as database:
        found = {sample.group: sample for sample in _samples(database, shards, inside, each)}
    return [found.get(str(place), Sample(str(place), 0, ())) for place in range(1, len(bounds))]


def _samples(database: duckdb.DuckDBPyConnection, shards: Sequence[Path], group: str, each: int) -> list[Sample]:
    names = [row[0] for row in _columns(database, shards)]
    shown = [name for name in names if name not in ("keep", "reason", "error")]
    # The lot is by what the row says, so that neither sharding nor order of rows draws another sample.
    identity = ", ".join(f'"{name}"::VARCHAR' for name in ("pair_id", "rank", "src", "tgt") if name in names)
    lot = f"md5(concat_ws(chr(31), {identity}))" if identity else "'0'"
    fields = ", ".join(
        f'"{name}": {_shortened(name, kind)}' for name, kind in _columns(database, shards) if name in shown
    )
    found = database.execute(
        f"SELECT {group} AS grouped, count(*), arg_min({{{fields}}}, {lot}, {each}) "
        "FROM read_parquet($shards) WHERE grouped IS NOT NULL GROUP BY grouped ORDER BY grouped",
        {"shards": [str(shard) for shard in shards]},
    ).fetchall()
    return [Sample(name, n, tuple(rows)) for name, n, rows in found]


def _shortened(name: str, kind: str) -> str:
    if kind != "VARCHAR":
        return f'"{name}"'
    return f'CASE WHEN length("{name}") > {TEXT_LIMIT} THEN "{name}"[:{TEXT_LIMIT}] || \'…\' ELSE "{name}" END'


def _columns(database: duckdb.DuckDBPyConnection, shards: Sequence[Path]) -> list[tuple[str, str]]:
    described = database.execute("DESCRIBE SELECT * FROM read_parquet($shard)", {"shard": str(shards[0])}).fetchall()
    return [(row[0], row[1]) for row in described]


def _open(database: duckdb.DuckDBPyConnection, shards: Sequence[Path], column: str) -> None:
    """A view `v` of one column: `value`, null where it is undefined."""
    files = ", ".join("'" + str(shard).replace("'", "''") + "'" for shard in shards)
    database.execute(
        f'CREATE VIEW v AS SELECT CASE WHEN isfinite("{column}"::DOUBLE) THEN "{column}"::DOUBLE END AS value '
        f"FROM read_parquet([{files}])"
    )


def _quantile(rows: int, share: float) -> str:
    return f"quantile_cont(value, {share})" if rows <= _EXACT else f"approx_quantile(value, {share})"


def _one(database: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    return tuple(database.execute(query).fetchall()[0])


@contextmanager
def _database() -> Iterator[duckdb.DuckDBPyConnection]:
    # One thread: the sketch of approx_quantile depends on the order in which values arrive.
    database = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "512MB"})
    try:
        yield database
    finally:
        database.close()
