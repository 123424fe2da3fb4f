"""The page of scores: a histogram of each column of numbers and bars of each column of few values, as links."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
from markupsafe import Markup

from paraloom.io.database import sql_text
from paraloom.pairs.scoring.table import COLUMNS
from paraloom.web.bins import Bins, find_bins, linked_histogram
from paraloom.web.dataset import Dataset, Mask
from paraloom.web.formatting import share
from paraloom.web.layout import Frame, View, nothing, plural
from paraloom.web.matching import Matcher
from paraloom.web.scores import BETTER
from paraloom.web.state import ViewState, identifier, narrowed
from paraloom.web.templates import draw

_MAX_VALUES = 12


class ScoreBins:
    """The bins of all columns of one dataset, each computed when it is first shown."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._bins: dict[str, Bins | None] = {}

    def get(self, column: str) -> Bins | None:
        """The bins of a column; None if it has no value."""
        if column not in self._bins:
            self._bins[column] = find_bins(self._dataset, column)
        return self._bins[column]


def scores_page(matcher: Matcher, bins: ScoreBins, frame: Frame, state: ViewState) -> View:
    dataset = matcher.dataset
    is_filtered = bool(state.where or state.search)
    matching = matcher.sample_mask(state.where, state.search) if is_filtered else None
    rows = len(dataset.sample_rows)
    matched = rows if matching is None else int(np.count_nonzero(matching))
    rest = f" of {plural(dataset.rows, 'row')}" + ("" if is_filtered else ", without a filter")
    rest += f". Counted on {dataset.about_sample()}." if dataset.is_sampled else "."
    flags = [name for name in dataset.scores if _is_flag(dataset, name)]
    cards = [_score(dataset, bins.get(name), name, matching, state) for name in dataset.scores if name not in flags]
    values = [card for name in (*dataset.categories(), *flags) if (card := _values(dataset, name, matching, state))]
    if not cards and not values:
        return View("Scores", results=nothing("These rows have no columns of numbers. Add some: paraloom score."))
    return View("Scores", results=draw("scores", share(matched, rows), rest, cards, values, state))


def _score(
    dataset: Dataset, bins: Bins | None, name: str, matching: Mask | None, state: ViewState
) -> tuple[str, int, Markup | None, str]:
    """A column, its number, its histogram and a note."""
    number = dataset.schema.get_field_index(name)
    if bins is None:
        return name, number, None, ""
    direction = BETTER[COLUMNS[name].direction] if name in COLUMNS else ""
    undefined = int(np.count_nonzero(bins.index < 0))
    note = f"{share(undefined, len(bins.index))} undefined" if undefined else ""
    after = None if matching is None else bins.counts(matching)
    chart = linked_histogram(bins, bins.counts(), after, partial(_link, bins, state))
    return name, number, chart, "; ".join(filter(None, (direction, note)))


def _is_flag(dataset: Dataset, name: str) -> bool:
    values = dataset.values(name)
    return bool(np.all(np.isnan(values) | (values == 0) | (values == 1)) and {0, 1} <= set(values.tolist()))


def _link(bins: Bins, state: ViewState, i: int) -> str:
    return state.url("/scores", where=narrowed(state.where, bins.condition(i)))


def _values(
    dataset: Dataset, name: str, matching: Mask | None, state: ViewState
) -> tuple[str, str, list[tuple[str, str, str, str]], int] | None:
    """A column of few values: its lines, and how many values are left out."""
    column = dataset.sample.column(name).cast(pa.string())
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    values = encoded.dictionary.to_pylist()
    if len(values) < 2:
        return None
    counts = np.bincount(codes, minlength=len(values))
    after = counts if matching is None else np.bincount(codes[matching], minlength=len(values))
    order = np.argsort(-counts, kind="stable")[:_MAX_VALUES]
    is_text = pa.types.is_string(dataset.schema.field(name).type)
    lines = [
        (
            "none" if values[i] is None else values[i],
            state.url("/scores", where=narrowed(state.where, _equals(name, values[i], is_text))),
            share(int(after[i]), int(counts[i])) if matching is not None else "",
            share(int(counts[i]), len(codes)),
        )
        for i in order
    ]
    return name, "matching" if matching is not None else "", lines, len(values) - len(order)


def _equals(name: str, value: str | None, is_text: bool) -> str:
    if value is None:
        return f"{identifier(name)} is null"
    return f"{identifier(name)} = {sql_text(value) if is_text else value}"
