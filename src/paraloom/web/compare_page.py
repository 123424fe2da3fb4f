"""The page that compares: two conditions over the same rows, or two sets of pairs that `merged` has put together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from paraloom.api.yield_curve import presets_for
from paraloom.pairs.filtering.expressions import condition
from paraloom.web.bins import plain_number
from paraloom.web.dataset import Dataset
from paraloom.web.formatting import count, label, number, share
from paraloom.web.layout import Frame, View, nothing
from paraloom.web.matching import Matcher, RowFilter
from paraloom.web.merging import DELTA, FIRST, SECOND
from paraloom.web.pairs_page import row_table
from paraloom.web.row_files import RowNumbers
from paraloom.web.state import ViewState, identifier
from paraloom.web.templates import draw, table

_SHOWN = 5


@dataclass(frozen=True)
class Region:
    """Rows that one condition keeps, or both, or neither."""

    name: str
    condition: str
    rows: RowNumbers
    total: int
    exact: bool


def compare_page(matcher: Matcher, frame: Frame, state: ViewState) -> View:
    """Compare two conditions, or the two sets of a merged dataset."""
    if frame.compares:
        return _sets(matcher, state)
    other = state.extra.get("other", "").strip()
    fields = [("First condition", "where", state.where), ("Second condition", "other", other)]
    before = draw("conditions", state.corpus, fields, _examples(matcher.dataset, state))
    if not state.where or not other:
        hint = (
            "Give two conditions to see which pairs both keep, and which only one. To compare two files or runs, start "
            "with both: paraloom explore FIRST SECOND."
        )
        return View("Compare", before, nothing(hint))
    regions = _regions(matcher, state.where, other, ("First", "Second"))
    return View("Compare", before, _results(matcher.dataset, regions, state), wide=True)


def _examples(dataset: Dataset, state: ViewState) -> list[tuple[str, str]]:
    """Two presets to compare, and two scores from their medians on."""
    presets = [*presets_for(dataset.schema.names).items()]
    pairs = [(f"{presets[0][0]} and {presets[-1][0]}", presets[0][1], presets[-1][1])] if len(presets) > 1 else []
    clauses = []
    for name in dataset.scores[:2]:
        values = dataset.sample.column(name).to_numpy().astype(float)
        if np.isfinite(values).any():
            middle = float(f"{np.median(values[np.isfinite(values)]):.3g}")
            clauses.append(f"{identifier(name)} >= {plain_number(middle)}")
    if len(clauses) > 1:
        pairs.append((" and ".join(clauses), clauses[0], clauses[1]))
    return [(text, state.url("/compare", where=first, other=other)) for text, first, other in pairs]


def _regions(matcher: Matcher, first: str, second: str, names: tuple[str, str]) -> list[Region]:
    """Rows that both keep, that only one keeps, and that neither keeps; null counts as false."""
    # As DuckDB writes them, conditions have no comments, which would hide what follows.
    a, b = (f"coalesce({' AND '.join(f'({c})' for c in condition(text).clauses)}, false)" for text in (first, second))
    signs = [(True, True), (True, False), (False, True), (False, False)]
    titles = ["Both", f"Only {names[0].lower()}", f"Only {names[1].lower()}", "Neither"]
    regions = []
    for title, (in_a, in_b) in zip(titles, signs, strict=True):
        text = f"{'' if in_a else 'not '}{a} and {'' if in_b else 'not '}{b}"
        matches = matcher.matches(RowFilter(where=text))
        rows = matches.page(0, _SHOWN)
        regions.append(Region(title, text, rows, matches.total, matches.is_complete))
    return regions


def _results(
    dataset: Dataset, regions: list[Region], state: ViewState, changes: list[tuple[str, str, str]] | None = None
) -> Markup:
    boxes = [
        (
            region.name,
            count(region.total) if region.exact else f"about {count(region.total)}",
            state.url("/pairs", where=region.condition),
            share(region.total, dataset.rows),
        )
        for region in regions
    ]
    tables = [
        (region.name, row_table(dataset, region.rows.tolist(), state, dataset.scores[:3]))
        for region in regions[1:3]
        if len(region.rows)
    ]
    note = f"By {dataset.about_sample()}." if dataset.is_sampled else ""
    return draw("compared", boxes, changes, _means(dataset, regions[:3]), note, tables)


def _means(dataset: Dataset, regions: list[Region]) -> Markup | None:
    """The means of all scores in each region, by the sample where regions are large."""
    if not dataset.scores:
        return None
    matcher = Matcher(dataset)
    masks = [matcher.sample_mask(region.condition, "") for region in regions]
    lines = []
    for name in dataset.scores[:20]:
        values = dataset.sample.column(name).to_numpy().astype(float)
        lines.append([label(name), *(number(_mean(values[mask])) for mask in masks)])
    return table(["mean", *(region.name for region in regions)], lines)


def _mean(values: npt.NDArray[np.float64]) -> float | None:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else None


def _sets(matcher: Matcher, state: ViewState) -> View:
    dataset = matcher.dataset
    regions = _regions(matcher, FIRST, SECOND, ("in the first", "in the second"))[:3]
    texts = [
        (
            f"Pairs with another {side}",
            state.url("/pairs", where=f"second_{side} is not null and {side} <> second_{side}"),
            "",
        )
        for side in dataset.sides
        if f"second_{side}" in dataset.schema.names
    ]
    changed = [
        (
            f"Largest changes of {label(name)}",
            state.url("/pairs", sort=f"-{DELTA}{name}", where=f"{identifier(DELTA + name)} is not null"),
            f": mean {number(_mean(dataset.sample.column(DELTA + name).to_numpy().astype(float)))}",
        )
        for name in (name.removeprefix(DELTA) for name in dataset.numeric if name.startswith(DELTA))
    ]
    return View("Compare", results=_results(dataset, regions, state, [*texts, *changed]), wide=True)
