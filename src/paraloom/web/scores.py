"""The score sections of a report: a histogram and quantiles of each score, and example pairs of its ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.pairs.scoring.table import COLUMNS
from paraloom.web.charts import histogram
from paraloom.web.corpus_stats import QUANTILES, Distribution, distribution, histogram_edges, samples_by_range
from paraloom.web.formatting import count, label, number
from paraloom.web.markup import Html, Part, element, join, table
from paraloom.web.run_folder import RunView, score_columns
from paraloom.web.samples import by_range

_BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}
_BY_TENTHS = ("trigram_overlap",)
_BY_QUANTILES = ("translation_cost",)
_MAX_SCORES = 40


@dataclass(frozen=True)
class ScoreColumn:
    """A score of a run.

    Args:
        name: The column.
        signature: How it was computed.
        before: Shards of the first corpus that has the column.
        after: Shards of the last one, if rows were removed in between; else None.
    """

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


def score_cards(columns: Sequence[ScoreColumn]) -> Part:
    """A card for each score; None without scores."""
    if not columns:
        return None
    legend = None
    if any(column.after for column in columns):
        legend = element(
            "p",
            element("span", element("i", class_="swatch-before"), "all pairs"),
            element("span", element("i", class_="swatch-after"), "kept"),
            class_="legend",
        )
    return join(
        element("p", "The first and the last bar include the lowest and highest 0.5 % of the values.", class_="intro"),
        legend,
        element("div", [score_card(column) for column in columns], class_="scores"),
    )


def score_card(column: ScoreColumn) -> Html:
    """One score: what it means, its histogram, and its quantiles before and after filtering."""
    scorer = COLUMNS.get(column.name)
    title = score_name(column.name)
    meaning = ", ".join(filter(None, [scorer.unit, _BETTER[scorer.direction]])) if scorer else ""
    edges = histogram_edges(column.before, column.name)
    if edges is None:
        chart: Part = element("p", "No pair has a value.", class_="quiet")
    else:
        before = distribution(column.before, column.name, edges)
        after = distribution(column.after, column.name, edges) if column.after else None
        chart = [
            histogram(title, edges, before.counts, after.counts if after else None, scorer.unit if scorer else ""),
            _quantiles(before, after),
            element("p", f"undefined: {count(before.undefined)}", class_="quiet") if before.undefined else None,
        ]
    return element(
        "article",
        element("h3", title, title=column_tooltip(column.name)),
        element("p", scorer.description if scorer else column.signature.split("|")[0], class_="what"),
        element("p", meaning, class_="quiet") if meaning else None,
        chart,
        class_="score",
        id=f"score-{column.name}",
    )


def score_name(name: str) -> str:
    """The plain name of a score.

    Example:
        >>> score_name("src_tokens"), score_name("trigram_overlap")
        ('tokens, first side', 'trigram overlap')
    """
    for prefix, side in (("src_", "first side"), ("tgt_", "second side")):
        if name.startswith(prefix):
            return f"{label(name.removeprefix(prefix))}, {side}"
    return label(name)


def column_tooltip(name: str) -> str:
    """What a column is called in conditions, and the paper that defines it, for the tooltip of its plain name.

    Example:
        >>> column_tooltip("bleu1")
        'Column bleu1. Nakov et al. 2012; Wieting et al. 2017, §5.7'
        >>> column_tooltip("of_my_own")
        'Column of_my_own'
    """
    scorer = COLUMNS.get(name)
    return f"Column {name}. {scorer.reference}" if scorer and scorer.reference else f"Column {name}"


def pairs_by_score(columns: Sequence[ScoreColumn]) -> Part:
    """Example pairs of each range of overlap and of translation cost; None where no pair has these scores."""
    parts: list[Part] = []
    for column in columns:
        if column.name in _BY_TENTHS:
            bounds = [i / 10 for i in range(11)]
        elif column.name in _BY_QUANTILES and (edges := histogram_edges(column.before, column.name)):
            quantiles = distribution(column.before, column.name, edges).quantiles
            bounds = sorted({edges[0], *quantiles, edges[-1]})
        else:
            continue
        samples = samples_by_range(column.before, column.name, bounds)
        if any(sample.rows for sample in samples):
            total = sum(sample.total for sample in samples)
            parts.append(element("h3", f"By {score_name(column.name)}", title=column_tooltip(column.name)))
            parts.append(by_range(column.name, bounds, samples, total))
    if not parts:
        return None
    intro = "Random pairs of each range, before filtering. Words that only one side has are highlighted."
    return join(element("p", intro, class_="intro"), parts)


def _quantiles(before: Distribution, after: Distribution | None) -> Html:
    heads = [
        element("th", element("span", "pairs", class_="unseen"), scope="col"),
        *(element("th", f"{share:.0%}" if share != 0.5 else "median", scope="col", class_="n") for share in QUANTILES),
    ]
    lines = [_line("all" if after else "pairs", before)]
    if after:
        lines.append(_line("kept", after))
    return table(heads, lines, caption="Quantiles", hidden_caption=True)


def _line(name: str, values: Distribution) -> Html:
    quantiles: Sequence[float | None] = values.quantiles or [None] * len(QUANTILES)
    return element(
        "tr",
        element("th", name, scope="row"),
        [element("td", number(value), class_="n") for value in quantiles],
    )
