"""The page of a threshold: how many pairs remain, the pairs on both sides of it, what is lost by source."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from paraloom.core.errors import ConfigError
from paraloom.pairs.scoring.table import COLUMNS
from paraloom.web.bins import linked_histogram, plain_number
from paraloom.web.dataset import Dataset
from paraloom.web.formatting import count, share
from paraloom.web.layout import Frame, View, nothing, plural
from paraloom.web.matching import Matcher, split_point
from paraloom.web.pairs_page import copies, row_table
from paraloom.web.parameters import finite_number
from paraloom.web.row_files import RowNumbers
from paraloom.web.scores_page import ScoreBins
from paraloom.web.state import ViewState, identifier, narrowed
from paraloom.web.templates import draw

_NEAR = 4
_MAX_GROUPS = 12


@dataclass(frozen=True)
class Threshold:
    """A lower or an upper bound of a score."""

    column: str
    value: float
    keeps: str

    @property
    def clause(self) -> str:
        return f"{identifier(self.column)} {'>=' if self.keeps == 'above' else '<='} {plain_number(self.value)}"


@dataclass(frozen=True)
class SplitRows:
    """Effect of a threshold on rows."""

    kept: RowNumbers
    lost: RowNumbers
    undefined: RowNumbers

    @property
    def total(self) -> int:
        return len(self.kept) + len(self.lost) + len(self.undefined)


def apply(dataset: Dataset, rows: RowNumbers, threshold: Threshold) -> SplitRows:
    if threshold.keeps == "above":
        point, defined = split_point(dataset, threshold.column, rows, threshold.value)
        return SplitRows(rows[point:defined], rows[:point], rows[defined:])
    kind = dataset.values(threshold.column).dtype.type
    with np.errstate(over="ignore"):
        above = float(np.nextafter(kind(threshold.value), kind(np.inf)))
    point, defined = split_point(dataset, threshold.column, rows, above)
    return SplitRows(rows[:point], rows[point:defined], rows[defined:])


def threshold_page(matcher: Matcher, bins: ScoreBins, frame: Frame, state: ViewState) -> View:
    dataset = matcher.dataset
    if not dataset.scores:
        return View("Threshold", results=nothing("These rows have no columns of numbers. Add some: paraloom score."))
    column = state.extra.get("score") or dataset.scores[0]
    if column not in dataset.numeric:
        raise ConfigError(f"column '{column}' not found", remedy=f"Columns of numbers: {', '.join(dataset.scores)}.")
    column_bins = bins.get(column)
    rows = matcher.in_order(state.where, state.search, column)
    scale = dataset.rows / max(1, len(dataset.sample_rows))
    low, high = _range(dataset, column)
    value = finite_number(state.extra.get("at", ""))
    if value is None:
        value = _middle(dataset, rows, column, low)
    direction = COLUMNS[column].direction if column in COLUMNS else "higher"
    keeps = state.extra.get("keep") or ("below" if direction == "lower" else "above")
    threshold = Threshold(column, value, "below" if keeps == "below" else "above")
    outcome = apply(dataset, rows, threshold)
    where = narrowed(state.where, threshold.clause)
    chart = None
    if column_bins is not None:
        faded = (threshold.value, None) if threshold.keeps == "above" else (None, threshold.value)
        mask = matcher.sample_mask(state.where, state.search)
        chart = linked_histogram(column_bins, column_bins.counts(mask), None, None, faded=faded)
        # The slider has the range of the bars above it.
        low, high = column_bins.edges[0], column_bins.edges[-1]
    results = draw(
        "threshold",
        *_summary(outcome, scale, dataset),
        chart,
        None if frame.compares else copies(dataset, where),
        state.url("/pairs", where=where),
        bool(state.search),
        _near(dataset, outcome, threshold, state),
        _losses(dataset, rows, outcome, scale, state, threshold),
    )
    return View("Threshold", before=_controls(dataset, state, threshold, low, high), results=results)


def _range(dataset: Dataset, column: str) -> tuple[float, float]:
    order, defined = dataset.order(column)
    if not defined:
        return 0.0, 1.0
    values = dataset.values(column)
    low, high = float(values[order[0]]), float(values[order[defined - 1]])
    return (low if math.isfinite(low) else -1e9), (high if math.isfinite(high) else 1e9)


def _middle(dataset: Dataset, rows: RowNumbers, column: str, low: float) -> float:
    """The median, in three digits."""
    _, defined = split_point(dataset, column, rows, low)
    if not defined:
        return low
    value = float(dataset.values(column)[rows[defined // 2]])
    return float(f"{value:.3g}") if math.isfinite(value) else low


def _controls(dataset: Dataset, state: ViewState, threshold: Threshold, low: float, high: float) -> Markup:
    whole = "int" in str(dataset.schema.field(threshold.column).type)
    step = 1.0 if whole else 10.0 ** math.floor(math.log10(max(high - low, 1e-9) / 500))
    bounds = math.floor(low / step) * step, math.ceil(high / step) * step
    return draw(
        "threshold_form",
        [("corpus", state.corpus), ("where", state.where), ("search", state.search)],
        dataset.scores,
        threshold.column,
        threshold.keeps,
        plain_number(threshold.value),
        *(plain_number(round(value, 12)) for value in (step, *bounds)),
    )


def _summary(outcome: SplitRows, scale: float, dataset: Dataset) -> tuple[str, str]:
    about = "about " if dataset.is_sampled else ""
    kept, total = round(len(outcome.kept) * scale), round(outcome.total * scale)
    lost = round((len(outcome.lost) + len(outcome.undefined)) * scale)
    rest = f" of {count(total)} ({share(kept, total)}) remain; {about}{count(lost)} are lost"
    if len(outcome.undefined):
        rest += f", {count(round(len(outcome.undefined) * scale))} of them because the score is undefined"
    rest += f". Estimated from {dataset.about_sample()}." if dataset.is_sampled else "."
    return about + plural(kept, "pair"), rest


def _near(dataset: Dataset, outcome: SplitRows, threshold: Threshold, state: ViewState) -> list[tuple[str, Markup]]:
    """The pairs just inside and just outside."""
    if threshold.keeps == "above":
        inside, outside = outcome.kept[:_NEAR], outcome.lost[::-1][:_NEAR]
    else:
        inside, outside = outcome.kept[::-1][:_NEAR], outcome.lost[:_NEAR]
    return [
        (
            title,
            row_table(dataset, dataset.sample_rows[rows].tolist(), state, [threshold.column])
            if len(rows)
            else nothing("none"),
        )
        for title, rows in (("Just kept", inside), ("Just lost", outside))
    ]


def _losses(
    dataset: Dataset, rows: RowNumbers, outcome: SplitRows, scale: float, state: ViewState, threshold: Threshold
) -> Markup | None:
    """Lost rows by source, most first."""
    several = {name: one for name in dataset.categories() if (one := dataset.coded(name)) and len(one.values) > 1}
    by = state.extra.get("by") or "origin"
    if by not in dataset.categories():
        by = next(iter(several), "")
    coded = several.get(by)
    if coded is None:
        return None
    total, kept_counts = coded.counts_of(rows), coded.counts_of(outcome.kept)
    kept = dict(zip(coded.values, kept_counts.tolist(), strict=True))
    lost = dict(zip(coded.values, (total - kept_counts).tolist(), strict=True))
    groups = sorted(kept, key=lambda value: -lost[value])
    groups = [value for value in groups if kept[value] + lost[value]][:_MAX_GROUPS]
    lines = [
        (
            "none" if value is None else value,
            round((kept[value] + lost[value]) * scale),
            round(lost[value] * scale),
            share(lost[value], kept[value] + lost[value]),
        )
        for value in groups
    ]
    extra = {"score": threshold.column, "at": plain_number(threshold.value), "keep": threshold.keeps}
    links = [(name, state.url("/threshold", **extra, by=name)) for name in several]
    return draw("losses", by, lines, links)
