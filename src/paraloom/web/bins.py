"""Histograms whose bars are links: bins with round edges, counted on the sample, and the condition of each bar."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from markupsafe import Markup

from paraloom.core.array_types import AnyFloats
from paraloom.web.charts import histogram
from paraloom.web.dataset import Dataset, Mask
from paraloom.web.state import identifier

_MAX_BINS = 28
_RANGE = (0.005, 0.995)


@dataclass(frozen=True)
class Bins:
    """The bins of a column. The first one also has all lower values, the last one all higher values."""

    column: str
    edges: tuple[float, ...]
    index: npt.NDArray[np.int8]

    @property
    def size(self) -> int:
        return len(self.edges) - 1

    def counts(self, rows: Mask | None = None) -> list[int]:
        index = self.index if rows is None else self.index[rows]
        counts: list[int] = np.bincount(index + 1, minlength=self.size + 1)[1:].tolist()
        return counts

    def condition(self, i: int) -> str:
        name = identifier(self.column)
        bounds = [f"{name} >= {plain_number(self.edges[i])}"] if i else []
        bounds += [f"{name} < {plain_number(self.edges[i + 1])}"] if i < self.size - 1 else []
        return " and ".join(bounds) or f"{name} is not null"


def find_bins(dataset: Dataset, column: str) -> Bins | None:
    """The bins of a column of numbers; None if the sample has no finite value."""
    values = dataset.values(column)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    edges = round_edges(finite, pa.types.is_integer(dataset.schema.field(column).type))
    index = np.searchsorted(np.array(edges, values.dtype), values, side="right") - 1
    bins = np.clip(index, 0, len(edges) - 2).astype(np.int8)
    bins[np.isnan(values)] = -1
    return Bins(column, edges, bins)


def round_edges(values: AnyFloats, whole: bool) -> tuple[float, ...]:
    """Round edges of at most 28 bins over the range of values, without the outermost half percent on either side."""
    low, high = (
        (float(bound) for bound in np.quantile(values, _RANGE))
        if len(values) > 200
        else (float(values.min()), float(values.max()))
    )
    if low == high:
        low, high = float(values.min()), float(values.max())
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / _MAX_BINS))
    for factor in (1, 2, 5, 10, 20, 50):
        step = max(1.0, factor * power) if whole else factor * power
        step = float(round(step)) if whole else step
        first = math.floor(low / step + 1e-9)
        last = max(first + 1, math.floor(high / step) + 1 if whole else math.ceil(high / step - 1e-6))
        if last - first <= _MAX_BINS:
            break
    return tuple(round(i * step, 12) for i in range(first, last + 1))


def plain_number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def linked_histogram(
    bins: Bins,
    before: Sequence[int],
    after: Sequence[int] | None,
    link: Callable[[int], str] | None,
    *,
    faded: tuple[float | None, float | None] = (None, None),
) -> Markup:
    """A histogram whose bars lead to `link`; bars below and from the values of `faded` on are shown as cut."""
    cut = [
        (faded[0] is not None and high <= faded[0]) or (faded[1] is not None and low >= faded[1])
        for low, high in pairwise(bins.edges)
    ]
    title, links = f"Histogram of {bins.column}", None if link is None else [link(i) for i in range(bins.size)]
    return histogram(title, bins.edges, before, after, links=links, is_cut=cut, is_fluid=link is None)
