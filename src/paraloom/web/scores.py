"""The scores of a report: a table with a sparkline and quantiles of each, and the counts of those with few values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from paraloom.pairs.scoring.table import COLUMNS
from paraloom.web.charts import sparkline
from paraloom.web.corpus_stats import Distribution, distributions
from paraloom.web.formatting import count, number, score_name
from paraloom.web.run_folder import RunView, score_columns
from paraloom.web.templates import draw

FIRST_SCORES = (
    "p_paraphrase",
    "paraphrase_score",
    "bilingual_similarity",
    "trigram_overlap",
    "chrf",
    "bleu1",
    "translation_cost",
    "length_ratio",
)
"""Scores that are looked at most."""

BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}
_MAX_SCORES = 40


@dataclass(frozen=True)
class ScoreColumn:
    """A score, with the shards of the first corpus that has it, and of the last one if rows were removed between."""

    name: str
    signature: str
    before: Sequence[Path]
    after: Sequence[Path] | None


def scores_of(run: RunView) -> list[ScoreColumn]:
    corpora = [corpus for stage in run.stages if (corpus := run.corpus(stage)) is not None]
    first: dict[str, tuple[str, Sequence[Path], int]] = {}
    last: dict[str, tuple[Sequence[Path], int]] = {}
    for corpus in corpora:
        for name, signature in score_columns(corpus.schema).items():
            first.setdefault(name, (signature, corpus.shards, corpus.rows))
            last[name] = (corpus.shards, corpus.rows)
    columns = [
        ScoreColumn(name, signature, shards, last[name][0] if last[name][1] < rows else None)
        for name, (signature, shards, rows) in first.items()
        if rows
    ]
    known = list(COLUMNS)
    columns.sort(key=lambda column: known.index(column.name) if column.name in known else len(known))
    return columns[:_MAX_SCORES]


def scores_table(columns: Sequence[ScoreColumn]) -> Markup | None:
    """A row for each score, those that matter most first, and a list of the flags and constants; None without any."""
    lines: list[tuple[str, str, Markup, Sequence[str]]] = []
    constants: list[tuple[str, str, str]] = []
    order = {name: position for position, name in enumerate(FIRST_SCORES)}
    first = _read((column.name, column.before, None) for column in columns)
    drawn = {name: before for name, before in first.items() if before and not _is_constant(before)}
    last = _read(
        (column.name, column.after, drawn[column.name].edges)
        for column in columns
        if column.name in drawn and column.after
    )
    for column in sorted(columns, key=lambda column: order.get(column.name, len(order))):
        before = first[column.name]
        if before is None:
            constants.append((column.name, _meaning(column), "undefined in all pairs"))
        elif column.name in drawn:
            lines.append((column.name, _meaning(column), *_drawn(column.name, before, last.get(column.name))))
        else:
            constants.append((column.name, _meaning(column), _counts(before)))
    return draw("scores_table", lines, constants, any(column.after for column in columns)) if columns else None


def _read(columns: Iterable[tuple[str, Sequence[Path], tuple[float, ...] | None]]) -> dict[str, Distribution | None]:
    """Distributions by name: what is in the same shards is read together."""
    together: dict[tuple[Path, ...], dict[str, tuple[float, ...] | None]] = {}
    for name, shards, edges in columns:
        together.setdefault(tuple(shards), {})[name] = edges
    return {name: one for shards, edges in together.items() for name, one in distributions(shards, edges).items()}


def _is_constant(values: Distribution) -> bool:
    """True for a flag, too: nothing to draw."""
    return len(values.counts) <= 2 or sum(map(bool, values.counts)) == 1


def _drawn(name: str, before: Distribution, after: Distribution | None) -> tuple[Markup, Sequence[str]]:
    low, _, median, _, high = before.quantiles
    figures = [
        number(low),
        number(median),
        number(high),
        number(after.quantiles[2]) if after and after.quantiles else "",
    ]
    spark = sparkline(score_name(name), before.edges, before.counts, after.counts if after else None)
    return spark, [*figures, count(before.undefined) if before.undefined else ""]


def _meaning(column: ScoreColumn) -> str:
    scorer = COLUMNS.get(column.name)
    if scorer is None:
        return column.signature.split("|")[0]
    return "; ".join(filter(None, [scorer.description, scorer.unit, BETTER[scorer.direction]]))


def _counts(values: Distribution) -> str:
    """How many pairs have each value of a flag or constant."""
    if len(values.counts) > 2:
        return f"{number(values.quantiles[0])} in all {count(sum(values.counts))}"
    parts = [f"{number(edge)} in {count(n)}" for edge, n in zip(values.edges, values.counts, strict=False) if n]
    return ", ".join([*parts, *([f"undefined in {count(values.undefined)}"] if values.undefined else [])])
