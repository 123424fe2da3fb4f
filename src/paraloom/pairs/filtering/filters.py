"""Filter criteria: a condition, the best of each source, a best share or decile, a random sample; and a preview."""

from __future__ import annotations

import math
import warnings
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Bools, Ids
from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError
from paraloom.core.reasons import DISTINCT, not_best, not_sampled
from paraloom.core.schema import with_reasons
from paraloom.core.sorted_ids import find_ids
from paraloom.io.database import sql
from paraloom.pairs.filtering.cuts import ROW_ID_COLUMNS, Cut, find_cut, row_hashes, score_values
from paraloom.pairs.filtering.expressions import check_columns, condition, evaluate, evaluate_sql
from paraloom.pairs.filtering.promised_precision import PromisedCut, Target, promised_cut
from paraloom.pairs.scoring.table import COLUMNS, missing_column

DECIDING = ("judge", "p_paraphrase")
"""Scores that a precision is promised by, the better one first."""


ReadColumns: TypeAlias = Callable[[Sequence[str]], Iterable[pa.RecordBatch]]
"""Returns the batches of a corpus with the named columns, from the start each time; `Corpus.batches` is one."""


@dataclass(frozen=True, kw_only=True)
class Criteria(Config):
    """Criteria of a filter, in the order of their names below, `precision` in the place of `top`; a row must meet all.

    Args:
        where: SQL condition over the columns of a row, true for the rows to keep. A row for which it is undefined
            (null or NaN) is rejected. Default: all rows.
        per_source: Rows to keep of each source, at most: those left by `where` with the best values of `by`. A source
            is what consecutive rows with one `pair_id` have in common, as several translations of a sentence do. 0
            keeps all.
        distinct: Keep one of the rows with the same two texts, in either order; case and white space do not matter.
        top: Share of the rows left so far, above 0 to 1, taken from the better end of `by`.
        decile: Decile of the rows left so far, ranked by `by`: 1 (lowest values) to 10 (highest values), as in
            PNMT Table 5. Cannot be combined with `top`.
        by: Column that `per_source`, `top`, `decile` and `precision` rank by; in commands and `Pairs.filter` also
            'NAME?best=lowest'. Default of `precision`: judge, where it is there, or p_paraphrase.
        best: Which end of `by` is the better one, 'lowest' or 'highest'. Default: the direction of the score.
        sample: Random sample of the rows left by the other criteria: their number (int) or share (float, above 0
            to 1).
        precision: Share of right pairs, between 0 and 1, that is promised for those that are kept: the most that
            `labels` certify, from the better end of `by`. Pairs that are labeled wrong are rejected.
        confidence: Probability that the promise holds.
        labels: Sheets of pairs that `paraloom filter --draw` wrote, filled in: further sheets, or those of several
            raters, whose majority decides.

    Raises:
        ConfigError: A value is out of range, or the criteria do not fit together.

    Example:
        >>> Criteria(where="trigram_overlap <= 0.7", top=0.5, by="translation_cost", sample=1000).top
        0.5
    """

    where: str = ""
    per_source: int = 0
    distinct: bool = False
    top: float | None = None
    decile: int | None = None
    by: str = ""
    best: Literal["", "lowest", "highest"] = ""
    sample: int | float | None = None
    precision: float | None = None
    confidence: float = 0.95
    labels: tuple[Path, ...] = ()

    def validate(self) -> None:
        check_range(self, "per_source", low=0)
        self._check_together()
        self._check_values()
        if self.where:
            condition(self.where)
        if self.by and (self.decile is None or self.per_source):  # a decile counts from the lowest values
            self.prefers_highest()

    def _check_together(self) -> None:
        """Check that every criterion has what it needs, and none that contradicts it."""
        top, decile, precision = (value is not None for value in (self.top, self.decile, self.precision))
        share = top or decile
        ranked = share or self.per_source > 0
        if top and decile:
            raise ConfigError("'top' and 'decile' cannot be combined", remedy="Give one of them.")
        if ranked and not self.by:
            raise ConfigError(
                "'per_source', 'top' and 'decile' need 'by'", remedy="Set 'by' (--by) to the column to rank by."
            )
        if precision and share:
            raise ConfigError(
                "'precision' cannot be combined with 'top' or 'decile'", remedy="Filter twice, or give one of them."
            )
        if self.by and not ranked and not precision:
            raise ConfigError(
                "'by' needs 'per_source', 'top', 'decile' or 'precision'", remedy="Give one of them, or leave out 'by'."
            )
        if self.labels and not precision:
            raise ConfigError("'labels' need 'precision'", remedy="Say which precision is to be promised.")

    def _check_values(self) -> None:
        for name, value in (("precision", self.precision), ("confidence", self.confidence)):
            if value is not None and not 0 < value < 1:
                raise ConfigError(f"'{name}' must be between 0 and 1, not {value:g}")
        if self.top is not None and not 0 < self.top <= 1:
            raise ConfigError(f"'top' must be a share above 0 to 1, not {self.top}")
        if self.decile is not None and self.decile not in range(1, 11):
            raise ConfigError(f"'decile' must be 1 (lowest values) to 10 (highest values), not {self.decile}")
        if self.sample is not None and not 0 < self.sample <= (1 if isinstance(self.sample, float) else math.inf):
            raise ConfigError(f"'sample' must be a number of rows or a share above 0 to 1, not {self.sample}")

    def target(self, columns: Sequence[str]) -> Target:
        """What is promised of which column."""
        by = self.by or next((name for name in DECIDING if name in columns), "")
        if not by:
            raise ConfigError(
                f"a precision needs a score to rank by: column {' or '.join(DECIDING)} not found",
                remedy="Add one, such as `paraloom score PAIRS --with judge`, or name a column: 'by' (--by).",
            )
        return Target(by, replace(self, by=by).prefers_highest(), self.precision or 0.0, self.confidence, self.labels)

    def prefers_highest(self) -> bool:
        """True if the best rows are at the upper end of `by`."""
        direction = COLUMNS[self.by].direction if self.by in COLUMNS else "none"
        if not self.best and direction == "none":
            raise ConfigError(
                f"it is unknown which end of '{self.by}' is the better one",
                remedy=f"Say it with the column: --by '{self.by}?best=lowest', or highest (best = \"lowest\" in TOML).",
            )
        return (self.best or {"higher": "highest", "lower": "lowest"}[direction]) == "highest"


def survey(
    criteria: Criteria, schema: pa.Schema, read: ReadColumns, seed: int = 0, flags: Bools | None = None
) -> dict[str, Any]:
    """Compute the cuts that `select` must know, in one or a few readings; a byte a row for `per_source`."""
    check(criteria, schema)
    columns = required_columns(criteria, schema)
    cuts: dict[str, Any] = {}
    flags = best_of_sources(criteria, read(columns)) if flags is None else flags

    def remaining() -> Iterable[pa.RecordBatch]:
        for batch, best in _with_best(read(columns), flags):
            yield batch.filter(select(criteria, batch, cuts, best).column("keep"))

    if criteria.distinct:
        cuts["repeats"] = find_repeats(remaining(), seed)
    if criteria.precision is not None:
        target = criteria.target(schema.names)
        if not target.labels:
            raise ConfigError(
                "a precision is promised by labels, and none are given",
                remedy="Draw pairs to label with --draw SHEET.tsv, and give the sheet to --labels.",
            )
        cuts["precision"] = promised_cut(remaining(), target).to_json()
    elif criteria.top is not None or criteria.decile is not None:
        cuts["rank"] = find_cut(
            remaining,
            by=criteria.by,
            seed=seed,
            share=criteria.top,
            decile=criteria.decile,
            highest=criteria.top is not None and criteria.prefers_highest(),
        ).to_json()
    if isinstance(criteria.sample, float):
        cuts["sample"] = find_cut(remaining, seed=seed, share=criteria.sample).to_json()
    elif criteria.sample is not None:
        cuts["sample"] = find_cut(remaining, seed=seed, size=criteria.sample).to_json()
    return cuts


def best_of_sources(criteria: Criteria, batches: Iterable[pa.RecordBatch]) -> Bools | None:
    """Flags bool `(rows,)` of the best `per_source` rows of each source that meet `where`; None if it is 0."""
    if not criteria.per_source:
        return None
    condition_only = Criteria(where=criteria.where)
    sources, values, last, count = [np.zeros(0, np.int64)], [np.zeros(0)], None, 0
    first_rows = [np.zeros(0, np.uint64)]
    for batch in batches:
        ids = pc.fill_null(batch.column("pair_id"), "")
        new = np.ones(len(ids), np.int64)
        new[1:] = pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
        if len(ids):
            new[0], last = ids[0].as_py() != last, ids[-1].as_py()
        first_rows.append(row_hashes(batch.filter(pa.array(new.astype(bool))), ["pair_id"], 0))
        sources.append(count + np.cumsum(new))
        count += int(new.sum())
        value = score_values(batch, criteria.by)
        kept = select(condition_only, batch).column("keep").to_numpy(zero_copy_only=False)
        values.append(np.where(kept & ~np.isnan(value), -value if criteria.prefers_highest() else value, np.inf))
    if apart := count - len(np.unique(np.concatenate(first_rows))):
        text = "the rows of one pair_id do not follow each other, and count as several sources"
        warnings.warn(f"{text}, {apart:,} too many: sort by pair_id for the best of each", stacklevel=2)
    source, rank_by = np.concatenate(sources), np.concatenate(values)
    order = np.lexsort((rank_by, source))
    starts = np.flatnonzero(np.diff(source[order], prepend=0))
    position = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    flags = np.zeros(len(order), np.bool_)
    flags[order[position < criteria.per_source]] = True
    return flags & np.isfinite(rank_by)


def _with_best(batches: Iterable[pa.RecordBatch], flags: Bools | None) -> Iterator[tuple[pa.RecordBatch, Bools | None]]:
    """Batches, each with its part of `best_of_sources`."""
    at = 0
    for batch in batches:
        yield batch, None if flags is None else flags[at : at + batch.num_rows]
        at += batch.num_rows


def kept_rows(criteria: Criteria, schema: pa.Schema, read: ReadColumns, seed: int = 0) -> Iterator[pa.RecordBatch]:
    """The rows that meet all criteria, with the columns that these read."""
    columns = required_columns(criteria, schema)
    flags = best_of_sources(criteria, read(columns))
    cuts = survey(criteria, schema, read, seed, flags)
    for batch, best in _with_best(read(columns), flags):
        yield batch.filter(select(criteria, batch, cuts, best).column("keep"))


def required_columns(criteria: Criteria, schema: pa.Schema) -> list[str]:
    """The columns of a corpus that `select` reads."""
    columns = [name for name in ROW_ID_COLUMNS if name in schema.names]
    if criteria.precision is not None:
        columns += ["src", "tgt", criteria.target(schema.names).by]
    elif criteria.by:
        columns.append(criteria.by)
    if criteria.where:
        in_condition = {name.lower() for name in condition(criteria.where).columns}
        columns += [name for name in schema.names if name.lower() in in_condition]
    return list(dict.fromkeys(columns))


def check(criteria: Criteria, schema: pa.Schema) -> None:
    """Check criteria against the columns of a corpus, before any row is read."""
    if criteria.where:
        check_columns(condition(criteria.where), schema)
    if criteria.per_source and "pair_id" not in schema.names:
        raise missing_column("pair_id", schema.names, "to find the rows of a source")
    by = criteria.by if criteria.precision is None else criteria.target(schema.names).by
    sides = {"of the labeled pairs": criteria.precision is not None, "to find repeated pairs": criteria.distinct}
    for purpose in (text for text, needed in sides.items() if needed):
        for name in ("src", "tgt"):
            if name not in schema.names:
                raise missing_column(name, schema.names, purpose)
    if by:
        if by not in schema.names:
            raise missing_column(by, schema.names, "to rank by")
        kind = schema.field(by).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise ConfigError(f"cannot rank by column '{by}': expected a number, got {kind}")


def select(
    criteria: Criteria, batch: pa.RecordBatch, cuts: Mapping[str, Any] | None = None, best: Bools | None = None
) -> pa.RecordBatch:
    """Mark the rows of a batch that meet all criteria; `best` is its part of `best_of_sources`."""
    cuts = cuts or {}
    reasons: list[str] = []
    first_reason = np.full(batch.num_rows, -1, np.int32)  # Number of a row's reason; -1 where it is kept

    def reject(rows: Bools, why: str) -> None:
        first_reason[(first_reason < 0) & rows] = len(reasons)
        reasons.append(why)

    if criteria.where:
        parsed = condition(criteria.where)
        for clause, holds in zip(parsed.clauses, evaluate(parsed, batch), strict=True):
            reject(pc.is_null(holds).to_numpy(zero_copy_only=False), f"undefined: {clause}")
            reject(~pc.fill_null(holds, True).to_numpy(zero_copy_only=False), f"not: {clause}")
    if best is not None:
        reject(np.isnan(score_values(batch, criteria.by)), f"undefined: {criteria.by}")
        reject(~best, not_best(criteria.per_source, criteria.by))
    if "repeats" in cuts:
        reject(is_repeat(batch, cuts["repeats"]), f"not: {DISTINCT}")
    if "rank" in cuts:
        if criteria.decile is not None:
            part = f"in decile {criteria.decile}"
        else:
            part = f"among the {'highest' if criteria.prefers_highest() else 'lowest'} {criteria.top:.4g}"
        reject(np.isnan(score_values(batch, criteria.by)), f"undefined: {criteria.by}")
        reject(~Cut.from_json(cuts["rank"]).contains(batch), f"not: {part} by {criteria.by}")
    if "precision" in cuts:
        promised = PromisedCut.from_json(cuts["precision"])
        reject(np.isnan(score_values(batch, promised.by)), f"undefined: {promised.by}")
        reject(~promised.contains(batch), f"not: {promised.clause}")
        reject(promised.labeled_wrong(batch), "labeled wrong")
    if "sample" in cuts:
        reject(~Cut.from_json(cuts["sample"]).contains(batch), not_sampled(criteria.sample or 0))
    numbers = pa.array(first_reason, mask=first_reason < 0)
    return with_reasons(batch, pa.array(reasons, pa.string()).take(numbers))


@dataclass(frozen=True)
class CriterionCount:
    """Counts of rows that one criterion of a filter keeps."""

    criterion: str
    rows: int
    alone: int
    together: int


def preview_filter(criteria: Criteria, schema: pa.Schema, read: ReadColumns, seed: int = 0) -> list[CriterionCount]:
    """Preview a filter: count the rows that each criterion keeps. The corpus is read a few times for each of them."""
    rows = sum(batch.num_rows for batch in read(schema.names[:1]))
    counts = []
    before: dict[str, Any] = {}
    for name, part in _parts(criteria):
        where = " and ".join(f"({clause})" for clause in (before.get("where"), part.get("where")) if clause)
        before |= {**part, "where": where}
        kept = [kept_rows(Criteria(**fields), schema, read, seed) for fields in (part, before)]
        alone, together = (sum(batch.num_rows for batch in batches) for batches in kept)
        counts.append(CriterionCount(name, rows, alone, together))
    return counts


def format_preview(counts: Sequence[CriterionCount]) -> str:
    """Format the counts of a preview as a plain-text table."""
    width = max(len("criterion"), *(len(count.criterion) for count in counts)) if counts else len("criterion")
    lines = [f"{'criterion':<{width}}  {'alone':>11}           with those before"]
    for count in counts:
        alone, together = (100 * kept / max(1, count.rows) for kept in (count.alone, count.together))
        lines.append(
            f"{count.criterion:<{width}}  {count.alone:>11,} {alone:>6.1f} % {count.together:>9,} {together:>6.1f} %"
        )
    return "\n".join(lines)


def summarize_preview(counts: Sequence[CriterionCount]) -> str:
    """Say how many rows all criteria together keep, and which one costs most."""
    last, costliest = counts[-1], min(counts, key=lambda count: count.alone)
    share = 100 * last.together / max(1, last.rows)
    lost = f"; {costliest.criterion} rejects most: {costliest.rows - costliest.alone:,}"
    return f"together: {last.together:,} of {last.rows:,} pairs ({share:.1f} %){lost}"


def _parts(criteria: Criteria) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each criterion by itself: its text, and its fields."""
    by = {"by": criteria.by, "best": criteria.best}
    if criteria.where:
        yield from ((clause, {"where": clause}) for clause in condition(criteria.where).clauses)
    if criteria.per_source:
        name = f"best {criteria.per_source} of each source by {criteria.by}"
        yield name, {"per_source": criteria.per_source, **by}
    if criteria.distinct:
        yield DISTINCT, {"distinct": True}
    if criteria.decile is not None:
        yield f"decile {criteria.decile} by {criteria.by}", {"decile": criteria.decile, **by}
    if criteria.top is not None:
        yield f"top {criteria.top:g} by {criteria.by}", {"top": criteria.top, **by}
    if criteria.precision is not None:
        promise = {name: getattr(criteria, name) for name in ("precision", "confidence", "labels")}
        yield f"precision {criteria.precision:g}", {**promise, **by}
    if criteria.sample is not None:
        yield f"sample of {criteria.sample:g}", {"sample": criteria.sample}


def find_repeats(batches: Iterable[pa.RecordBatch], seed: int) -> dict[str, Any]:
    """For each repeated pair the row to keep, the one of the smallest hash; memory is 16 bytes a row."""
    none = np.zeros(0, np.uint64)
    hashed = [(none, none)]
    hashed += [(_pair_hashes(batch), row_hashes(batch, ROW_ID_COLUMNS, seed)) for batch in batches]
    pairs, rows = (np.concatenate(parts) for parts in zip(*hashed, strict=True))
    order = np.lexsort((rows, pairs))
    pairs, rows = pairs[order], rows[order]
    starts = np.flatnonzero(np.diff(pairs, prepend=np.uint64(0)).astype(bool) | (np.arange(len(pairs)) == 0))
    repeated = starts[np.diff(np.append(starts, len(pairs))) > 1]
    return {"seed": seed, "pairs": _packed(pairs[repeated]), "rows": _packed(rows[repeated])}


def is_repeat(batch: pa.RecordBatch, repeats: dict[str, Any]) -> Bools:
    """The rows whose pair another row stands for."""
    known, kept = _unpacked(repeats["pairs"]), _unpacked(repeats["rows"])
    if not len(known):
        return np.zeros(batch.num_rows, np.bool_)
    repeated, places = find_ids(known, _pair_hashes(batch))
    return repeated & (kept[places] != row_hashes(batch, ROW_ID_COLUMNS, repeats["seed"]))


def _pair_hashes(batch: pa.RecordBatch) -> Ids:
    sides = [sql(r"lower(trim(regexp_replace(coalesce({}, ''), '\s+', ' ', 'g')))", name) for name in ("src", "tgt")]
    hashed = sql("md5_number_lower(concat_ws(chr(31), least({0}, {1}), greatest({0}, {1})))", *sides)
    return np.asarray(evaluate_sql(batch.select(["src", "tgt"]), hashed).column(0), np.uint64)


def _packed(hashes: Ids) -> str:
    return b64encode(hashes.astype("<u8").tobytes()).decode()


@lru_cache(maxsize=8)
def _unpacked(text: str) -> Ids:
    return np.frombuffer(b64decode(text), "<u8").astype(np.uint64)
