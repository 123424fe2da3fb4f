"""Histograms whose bars are links: bins with round edges, counted on the sample, and the condition of each bar."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.web.dataset import Dataset, Mask
from paraloom.web.formatting import count, number
from paraloom.web.markup import Html, Part, element
from paraloom.web.state import identifier

_MAX_BINS = 28
_RANGE = (0.005, 0.995)
_WIDTH, _HEIGHT, _TOP, _BOTTOM = 360, 150, 6, 22


@dataclass(frozen=True)
class Bins:
    """The bins of a column. The first one also has all lower values, the last one all higher values."""

    column: str
    edges: tuple[float, ...]
    index: npt.NDArray[np.int32]

    @property
    def size(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    def counts(self, rows: Mask | None = None) -> list[int]:
        """Rows of the sample in each bin."""
        index = self.index if rows is None else self.index[rows]
        counts: list[int] = np.bincount(index[index >= 0], minlength=self.size).tolist()
        return counts

    def condition(self, i: int) -> str:
        """The condition that a row is in bin i.

        Example:
            >>> Bins("cosine", (0, 0.5, 1), np.empty(0, np.int32)).condition(0)
            'cosine < 0.5'
        """
        name = identifier(self.column)
        bounds = [f"{name} >= {plain_number(self.edges[i])}"] if i else []
        bounds += [f"{name} < {plain_number(self.edges[i + 1])}"] if i < self.size - 1 else []
        return " and ".join(bounds) or f"{name} is not null"


def find_bins(dataset: Dataset, column: str) -> Bins | None:
    """The bins of a column of numbers; None if the sample has no finite value."""
    taken = dataset.sample.column(column)
    kind = np.float32 if taken.type == pa.float32() else np.float64
    numbers = taken.cast(pa.float32() if kind is np.float32 else pa.float64(), safe=False)
    values = numbers.to_numpy().astype(kind)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    edges = round_edges(finite, pa.types.is_integer(taken.type))
    index = np.searchsorted(np.array(edges, kind), values, side="right") - 1
    index = np.clip(index, 0, len(edges) - 2).astype(np.int32)
    index[np.isnan(values)] = -1
    return Bins(column, edges, index)


def round_edges(values: npt.NDArray[Any], whole: bool) -> tuple[float, ...]:
    """Round edges of at most 28 bins over the range of values, without the outermost half percent on either side.

    Example:
        >>> round_edges(np.arange(5), True), round_edges(np.float64([0, 0.31]), False)[:3]
        ((0.0, 1.0, 2.0, 3.0, 4.0, 5.0), (0.0, 0.02, 0.04))
    """
    low, high = (
        (float(bound) for bound in np.quantile(values, _RANGE))
        if len(values) > 200
        else (
            float(values.min()),
            float(values.max()),
        )
    )
    if low == high:
        low, high = float(values.min()), float(values.max())
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / _MAX_BINS))
    for factor in (1, 2, 5, 10, 20, 50):
        step = max(1.0, factor * power) if whole else factor * power
        step = float(round(step)) if whole else step
        first = math.floor(low / step + 1e-9)
        last = max(first + 1, math.floor(high / step) + 1 if whole else math.ceil(high / step - 1e-9))
        if last - first <= _MAX_BINS:
            break
    return tuple(round(i * step, 12) for i in range(first, last + 1))


def plain_number(value: float) -> str:
    """A number as SQL reads it.

    Example:
        >>> plain_number(2.0), plain_number(0.25), plain_number(1e-7)
        ('2', '0.25', '1e-07')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def linked_histogram(
    bins: Bins,
    before: Sequence[int],
    after: Sequence[int] | None,
    link: Callable[[int], str] | None,
    *,
    faded: tuple[float | None, float | None] = (None, None),
) -> Html:
    """A histogram; where `link` is given, its bars are links, and arrow keys move from bar to bar."""
    top = max([*before, *(after or ()), 1])
    base = _HEIGHT - _BOTTOM
    width = _WIDTH / bins.size
    parts: list[Part] = []
    for i, n in enumerate(before):
        shown = after[i] if after is not None else n
        text = f"{number(bins.edges[i])} to {number(bins.edges[i + 1])}: {count(shown)}"
        text += f" of {count(n)}" if after is not None else ""
        cut = (faded[0] is not None and bins.edges[i + 1] <= faded[0]) or (
            faded[1] is not None and bins.edges[i] >= faded[1]
        )
        bar: list[Part] = [element("title", text)]
        if link is not None:
            bar.append(element("rect", class_="hit", x=_short(i * width), y=0, width=_short(width), height=base))
        for layer, value in (("before", n), ("after", after[i])) if after is not None else (("after", n),):
            tall = max((base - _TOP) * value / top, 1.5) if value else 0.0
            bar.append(
                element(
                    "rect",
                    class_=f"{layer} cut" if cut else layer,
                    x=_short(i * width + 0.5),
                    y=_short(base - tall),
                    width=_short(width - 1),
                    height=_short(tall),
                )
            )
        parts.append(
            element("g", bar) if link is None else element("a", bar, href=link(i), aria_label=text, data_live="")
        )
    parts.append(element("line", class_="axis", x1=0, x2=_WIDTH, y1=base, y2=base))
    low, high = bins.edges[0], bins.edges[-1]
    for x, edge, anchor in (
        (0.0, low, "start"),
        (float(_WIDTH), high, "end"),
        (_WIDTH / 2, (low + high) / 2, "middle"),
    ):
        parts.append(element("text", number(edge), x=_short(x), y=_HEIGHT - 6, text_anchor=anchor))
    return element(
        "svg",
        parts,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="group" if link is not None else "img",
        aria_label=f"Histogram of {bins.column}, {count(sum(before))} values",
        class_="histogram",
        data_bars="" if link is not None else None,
    )


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
