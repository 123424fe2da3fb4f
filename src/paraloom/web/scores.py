"""The score sections of a report: a histogram and quantiles of each score, and example pairs of its ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from paraloom.pairs.scoring.table import COLUMNS
from paraloom.web.charts import histogram
from paraloom.web.corpus_stats import QUANTILES, Distribution, distribution, histogram_edges, samples_by_range
from paraloom.web.formatting import number, score_name
from paraloom.web.run_folder import RunView, score_columns
from paraloom.web.samples import pair
from paraloom.web.templates import draw, table

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
_BY_TENTHS = ("trigram_overlap",)
_BY_QUANTILES = ("translation_cost",)
_MAX_SCORES, _SHOWN_AT_ONCE = 40, 12


@dataclass(frozen=True)
class ScoreColumn:
    """A score, with the shards of the first corpus that has it, and of the last one if rows were removed between."""

    name: str
    signature: str
    before: Sequence[Path]
    after: Sequence[Path] | None


def scores_of(run: RunView) -> list[ScoreColumn]:
    """All scores of a run, in the order of the table of scorers."""
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


def score_cards(columns: Sequence[ScoreColumn]) -> Markup | None:
    """A card for each score, the dozen that matter most at once; None without scores."""
    if not columns:
        return None
    shown = sorted(columns, key=lambda column: column.name not in FIRST_SCORES)[:_SHOWN_AT_ONCE]
    cards = [[score_card(column) for column in columns if (column in shown) == chosen] for chosen in (True, False)]
    return draw("score_cards", *cards, any(column.after for column in columns))


def score_card(column: ScoreColumn) -> Markup:
    """One score: what it means, its histogram, and its quantiles before and after filtering."""
    scorer = COLUMNS.get(column.name)
    meaning = ", ".join(filter(None, [scorer.unit, BETTER[scorer.direction]])) if scorer else ""
    description = scorer.description if scorer else column.signature.split("|")[0]
    edges = histogram_edges(column.before, column.name)
    if edges is None:
        return draw("score_card", column.name, description, meaning, None, None, 0)
    before = distribution(column.before, column.name, edges)
    after = distribution(column.after, column.name, edges) if column.after else None
    unit = scorer.unit if scorer else ""
    chart = histogram(score_name(column.name), edges, before.counts, after.counts if after else None, unit=unit)
    return draw("score_card", column.name, description, meaning, chart, _quantiles(before, after), before.undefined)


def pairs_by_score(columns: Sequence[ScoreColumn]) -> Markup | None:
    """Example pairs of each range of overlap and of translation cost; None where no pair has these scores."""
    parts = []
    for column in columns:
        if column.name in _BY_TENTHS:
            bounds = [i / 10 for i in range(11)]
        elif column.name in _BY_QUANTILES and (edges := histogram_edges(column.before, column.name)):
            quantiles = distribution(column.before, column.name, edges).quantiles
            bounds = sorted({edges[0], *quantiles, edges[-1]})
        else:
            continue
        samples = samples_by_range(column.before, column.name, bounds)
        groups = [
            (low, high, sample, [pair(row) for row in sample.rows])
            for low, high, sample in zip(bounds[:-1], bounds[1:], samples, strict=True)
            if sample.rows
        ]
        if groups:
            parts.append((column.name, sum(sample.total for sample in samples), groups))
    return draw("ranges", parts) if parts else None


def _quantiles(before: Distribution, after: Distribution | None) -> Markup:
    heads = ["pairs", *(f"{share:.0%}" if share != 0.5 else "median" for share in QUANTILES)]
    lines = [("all" if after else "pairs", before), *([("kept", after)] if after else [])]
    rows = [[name, *map(number, values.quantiles or [None] * len(QUANTILES))] for name, values in lines]
    return table(heads, rows, "Quantiles", hidden=True)
