"""The scores of a run: a histogram of each, all pairs and in front of them those that were kept, with quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.pairs.scoring.table import COLUMNS
from paraloom.report.charts import histogram
from paraloom.report.facts import QUANTILES, Spread, edges_of, spread_of
from paraloom.report.figures import count, number, spoken
from paraloom.report.markup import Html, Part, element

_BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}


@dataclass(frozen=True)
class ScoreColumn:
    """A column to show: its name and signature, the shards that have it first, and those of the last corpus after."""

    name: str
    signature: str
    before: Sequence[Path]
    after: Sequence[Path] | None


def score_card(column: ScoreColumn) -> Html:
    """One column: histogram, what it means, and its quantiles before and after."""
    scorer = COLUMNS.get(column.name)
    title = spoken(column.name)
    meaning = ", ".join(filter(None, [scorer.unit, _BETTER[scorer.better]])) if scorer else ""
    edges = edges_of(column.before, column.name)
    if edges is None:
        chart: Part = element("p", "No pair has a value.", class_="quiet")
    else:
        before = spread_of(column.before, column.name, edges)
        after = spread_of(column.after, column.name, edges) if column.after else None
        chart = [
            histogram(title, edges, before.counts, after.counts if after else None, scorer.unit if scorer else ""),
            _quantiles(before, after),
            element("p", f"without a value: {count(before.undefined)}", class_="quiet") if before.undefined else None,
        ]
    return element(
        "article",
        element("h3", title),
        element("p", scorer.what if scorer else column.signature.split("|")[0], class_="what"),
        element("p", meaning, class_="quiet") if meaning else None,
        chart,
        class_="score",
        id=f"score-{column.name}",
    )


def _quantiles(before: Spread, after: Spread | None) -> Html:
    head = element(
        "tr",
        element("th", element("span", "which", class_="unseen"), scope="col"),
        [element("th", f"{share:.0%}" if share != 0.5 else "median", scope="col", class_="n") for share in QUANTILES],
    )
    lines = [_line("all" if after else "pairs", before)]
    if after:
        lines.append(_line("kept", after))
    caption = element("caption", "Quantiles", class_="unseen")
    return element("table", caption, element("thead", head), element("tbody", lines))


def _line(name: str, spread: Spread) -> Html:
    values: Sequence[float | None] = spread.quantiles or [None] * len(QUANTILES)
    return element(
        "tr",
        element("th", name, scope="row"),
        [element("td", number(value), class_="n") for value in values],
    )
