"""Charts as inline SVG: histograms, curves, bars, dots with intervals, and scatter plots.  Colors are in style.css."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from paraloom.web.formatting import count, number, ticks
from paraloom.web.markup import Html, Part, element

_WIDTH, _HEIGHT = 360, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 8, 8, 10, 24

# Scatter plots and grouped bars have axis names below, and are wider.
_PLOT_WIDTH, _PLOT_LEFT, _PLOT_RIGHT, _PLOT_TOP, _PLOT_BOTTOM = 640, 52, 16, 14, 40
_BAR_STEP = 17

_Scale: TypeAlias = Callable[[float], float]
"""From a value to its coordinate in the picture."""


@dataclass(frozen=True)
class Curve:
    """A curve of a chart.

    Args:
        name: Its name.
        points: Points (x, y), in increasing order of x.
    """

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Point:
    """A point of a scatter plot.

    Args:
        name: Its name.
        x: Horizontal value.
        y: Vertical value.
        x_half: Half the width of the interval of `x`; 0 for none.
        y_half: Half the width of the interval of `y`; 0 for none.
    """

    name: str
    x: float
    y: float
    x_half: float = 0.0
    y_half: float = 0.0


@dataclass(frozen=True)
class Bar:
    """A bar of a group.

    Args:
        name: Its name.
        value: A mean.
        low: The lowest of the values that it is the mean of.
        high: The highest of them.
    """

    name: str
    value: float
    low: float
    high: float


def histogram(
    title: str, edges: Sequence[float], before: Sequence[int], after: Sequence[int] | None, unit: str = ""
) -> Html:
    """A histogram, with the kept rows in front of all rows.

    Args:
        title: Name of the quantity.
        edges: The k + 1 edges of the bins, in increasing order.
        before: Rows in each of the k bins.
        after: Of these, the rows that were kept; None to draw one layer.
        unit: Unit of the values.
    """
    low, high = edges[0], edges[-1]
    top = max([*before, *(after or ()), 1])
    parts: list[Part] = []
    for i, n in enumerate(before):
        left, right = (_x(edge, low, high, _WIDTH, _LEFT) for edge in edges[i : i + 2])
        tooltip = f"{number(edges[i])} to {number(edges[i + 1])}: {count(n)}"
        bars: list[Part] = [element("title", tooltip if after is None else f"{tooltip}, {count(after[i])} kept")]
        bars.append(_histogram_bar(left, right, n / top, "after" if after is None else "before"))
        if after is not None:
            bars.append(_histogram_bar(left, right, after[i] / top, "after"))
        parts.append(element("g", bars))
    parts.append(_x_axis(low, high, _WIDTH, _HEIGHT, _LEFT))
    description = f"Histogram of {sum(before)} values from {number(low)} to {number(high)} {unit}".rstrip()
    if after is not None:
        description += f"; {sum(after)} of them kept"
    return _svg(title, description + ".", parts, _WIDTH, _HEIGHT, "histogram")


def compared_histogram(
    title: str, edges: Sequence[float], first: Sequence[int], second: Sequence[int], names: tuple[str, str]
) -> Html:
    """The histograms of two texts side by side, as shares of each, so that their sizes do not matter.

    Args:
        title: Name of the quantity.
        edges: The k + 1 edges of the bins, in increasing order.
        first: Rows of the first text in each of the k bins, at least one in all.
        second: Those of the second.
        names: Names of the two texts.
    """
    low, high = edges[0], edges[-1]
    shares = [[n / sum(counts) for n in counts] for counts in (first, second)]
    top = max(max(of_text) for of_text in shares)
    parts: list[Part] = []
    for i, pair in enumerate(zip(*shares, strict=True)):
        left, right = (_x(edge, low, high, _WIDTH, _LEFT) for edge in edges[i : i + 2])
        middle = (left + right) / 2
        values = ", ".join(f"{name} {share:.1%}" for name, share in zip(names, pair, strict=True))
        bars: list[Part] = [element("title", f"{number(edges[i])} to {number(edges[i + 1])}: {values}")]
        bars.append(_histogram_bar(left, middle, pair[0] / top, "before"))
        bars.append(_histogram_bar(middle, right, pair[1] / top, "after"))
        parts.append(element("g", bars))
    parts.append(_x_axis(low, high, _WIDTH, _HEIGHT, _LEFT))
    sizes = " and ".join(f"{count(sum(n))} of {name}" for name, n in zip(names, (first, second), strict=True))
    description = f"Histograms of {sizes} from {number(low)} to {number(high)}."
    return _svg(title, description, parts, _WIDTH, _HEIGHT, "histogram")


def curves(title: str, lines: Sequence[Curve], x_name: str, *, logarithmic: bool = False) -> Html:
    """Curves over a common x axis, each labeled at its end; from the fifth on they are dashed.

    Args:
        title: Name of the quantity.
        lines: At least one curve, each with at least one point.
        x_name: Name of the x axis.
        logarithmic: Whether the y axis is logarithmic; all values are then above 0.
    """
    level = math.log10 if logarithmic else float
    width, height, left = 480, 240, 40
    labels = [f"{line.name} {number(line.points[-1][1])}" for line in lines]
    right = max(108, *(16 + 7 * len(label) for label in labels))
    xs = [x for line in lines for x, _ in line.points]
    ys = [level(y) for line in lines for _, y in line.points]
    low, high = _padded(min(ys), max(ys), 0.06)
    first, last = min(xs), max(xs)

    def position(x: float, y: float) -> tuple[float, float]:
        return _x(x, first, last, width, left, right), _y(level(y), low, high, height)

    parts: list[Part] = []
    for mark in logarithmic_ticks(low, high) if logarithmic else ticks(low, high):
        y = _y(level(mark), low, high, height)
        parts.append(element("line", class_="grid", x1=left, x2=width - right, y1=_short(y), y2=_short(y)))
        parts.append(element("text", number(mark), class_="mark", x=left - 8, y=_short(y + 4), text_anchor="end"))
    ends = _spread_out([position(*line.points[-1])[1] for line in lines], height - _BOTTOM)
    for order, (line, label, end) in enumerate(zip(lines, labels, ends, strict=True)):
        points = [position(*point) for point in line.points]
        path = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
        value = number(line.points[-1][1])
        parts.append(
            element(
                "g",
                element("title", f"{line.name}: final value {value}"),
                element("path", class_="curve", d=path),
                element("circle", cx=_short(points[-1][0]), cy=_short(points[-1][1]), r=3),
                element("text", label, x=_short(points[-1][0] + 8), y=_short(end + 4)),
                class_=f"line line-{order % 4}" + (f" dashed-{min(order // 4, 2)}" if order > 3 else ""),
            )
        )
    parts.append(_x_axis(first, last, width, height, left, right, x_name))
    ranges = "; ".join(
        f"{line.name} from {number(line.points[0][1])} to {number(line.points[-1][1])}" for line in lines
    )
    return _svg(title, f"Curves over {x_name}: {ranges}.", parts, width, height, "curves")


def number_line(
    title: str,
    rows: Sequence[tuple[str, float, float | None, float | None]],
    *,
    band: tuple[float, float] | None = None,
    marked: str = "",
) -> Html:
    """A dot for each row at its value, with a line for its confidence interval.

    Args:
        title: Name of the quantity.
        rows: Name, value, and the bounds of the interval or None, from the top.
        band: A range behind all rows, to compare with.
        marked: Name of the row that the band belongs to.
    """
    width, left, step = 640, 280, 17
    height = _TOP + step * len(rows) + _BOTTOM
    bounds = [bound for _, value, low, high in rows for bound in (value, low, high) if bound is not None]
    bounds += list(band or ())
    low_end, high_end = _padded(min(bounds), max(bounds), 0.06)

    def position(value: float) -> float:
        return _x(value, low_end, high_end, width, left)

    parts: list[Part] = []
    if band is not None:
        x, span = position(band[0]), position(band[1]) - position(band[0])
        area = {"x": _short(x), "y": _TOP, "width": _short(max(1, span)), "height": height - _TOP - _BOTTOM}
        parts.append(element("rect", class_="before", **area))
    for order, (name, value, low, high) in enumerate(rows):
        y = _TOP + step * (order + 0.5)
        interval = ""
        bar: Part = None
        if low is not None and high is not None:
            interval = f", {number(low)} to {number(high)}"
            ends = {"x1": _short(position(low)), "x2": _short(position(high))}
            bar = element("line", class_="axis", **ends, y1=_short(y), y2=_short(y))
        parts.append(
            element(
                "g",
                element("title", f"{name}: {number(value)}{interval}"),
                element("text", name, class_="mark", x=left - 8, y=_short(y + 4), text_anchor="end"),
                bar,
                element("circle", cx=_short(position(value)), cy=_short(y), r=4),
                class_=f"line line-{1 if name == marked else 0}",
            )
        )
    parts.append(_x_axis(low_end, high_end, width, height, left))
    values = "; ".join(f"{name} {number(value)}" for name, value, _, _ in rows)
    return _svg(title, f"From top to bottom: {values}.", parts, width, height, "curves")


def paired_bars(title: str, rows: Sequence[tuple[str, int, int]]) -> Html:
    """Two bars for each row: a count before and a count after.

    Args:
        title: What is counted.
        rows: Name, count before and count after, from the top; at least one.
    """
    width, left, step = 480, 190, 24
    height = _TOP + step * len(rows) + _BOTTOM
    top = max([1, *(n for _, *counts in rows for n in counts)])
    parts: list[Part] = []
    for order, (name, before, after) in enumerate(rows):
        y = _TOP + step * order
        bars = [
            element("rect", class_=layer, x=left, y=y + down, width=_short(_x(n, 0, top, width, left) - left), height=9)
            for layer, n, down in (("before", before, 1), ("after", after, 11))
        ]
        label = element("text", name, class_="mark", x=left - 8, y=y + 14, text_anchor="end")
        tooltip = element("title", f"{name}: {count(before)} before, {count(after)} after")
        parts.append(element("g", tooltip, label, bars))
    parts.append(_x_axis(0, top, width, height, left))
    values = "; ".join(f"{name} {before} before, {after} after" for name, before, after in rows)
    return _svg(title, f"From top to bottom: {values}.", parts, width, height, "curves")


def scatter(title: str, points: Sequence[Point], x_name: str, y_name: str, *, logarithmic: bool = False) -> Html:
    """A scatter plot with error bars and labels that do not overlap where there is space.

    Args:
        title: What is compared.
        points: At least one point.
        x_name: Name of the x axis.
        y_name: Name of the y axis.
        logarithmic: Whether the x axis is logarithmic; all its values, and the lower ends of intervals, are above 0.
    """
    height = 340
    level = math.log10 if logarithmic else float
    x_bounds = [level(bound) for p in points for bound in (p.x - p.x_half, p.x + p.x_half)]
    y_bounds = [bound for p in points for bound in (p.y - p.y_half, p.y + p.y_half)]
    x_low, x_high = _padded(min(x_bounds), max(x_bounds), 0.08)
    y_low, y_high = _padded(min(y_bounds), max(y_bounds), 0.08)

    def across(x: float) -> float:
        return _PLOT_LEFT + (level(x) - x_low) / (x_high - x_low) * (_PLOT_WIDTH - _PLOT_LEFT - _PLOT_RIGHT)

    def down(y: float) -> float:
        return _PLOT_TOP + (y_high - y) / (y_high - y_low) * (height - _PLOT_TOP - _PLOT_BOTTOM)

    parts: list[Part] = []
    for mark in ticks(y_low, y_high):
        y, line_end = down(mark), _PLOT_WIDTH - _PLOT_RIGHT
        parts.append(element("line", class_="grid", x1=_PLOT_LEFT, x2=line_end, y1=_short(y), y2=_short(y)))
        parts.append(element("text", number(mark), class_="mark", x=_PLOT_LEFT - 8, y=_short(y + 4), text_anchor="end"))
    base = height - _PLOT_BOTTOM
    parts.append(element("line", class_="axis", x1=_PLOT_LEFT, x2=_PLOT_WIDTH - _PLOT_RIGHT, y1=base, y2=base))
    for mark in logarithmic_ticks(x_low, x_high) if logarithmic else ticks(x_low, x_high, 8):
        x_mark = _short(across(mark))
        parts.append(element("text", number(mark), class_="mark", x=x_mark, y=base + 17, text_anchor="middle"))
    parts.append(element("text", x_name, class_="mark", x=_PLOT_WIDTH - _PLOT_RIGHT, y=base + 34, text_anchor="end"))
    parts.append(element("text", y_name, class_="mark", x=_PLOT_LEFT, y=_PLOT_TOP - 2))
    for point, (x_label, y_label, anchor) in zip(points, _label_positions(points, across, down, height), strict=True):
        x, y = across(point.x), down(point.y)
        left, right = across(point.x - point.x_half), across(point.x + point.x_half)
        top, bottom = down(point.y + point.y_half), down(point.y - point.y_half)
        parts.append(
            element(
                "g",
                element("title", f"{point.name}: {_values(point, x_name, y_name)}"),
                element("line", class_="error", x1=_short(left), x2=_short(right), y1=_short(y), y2=_short(y)),
                element("line", class_="error", x1=_short(x), x2=_short(x), y1=_short(top), y2=_short(bottom)),
                element("circle", cx=_short(x), cy=_short(y), r=4),
                element("text", point.name, x=_short(x_label), y=_short(y_label), text_anchor=anchor),
                class_="line line-0",
            )
        )
    values = "; ".join(f"{point.name}: {_values(point, x_name, y_name)}" for point in points)
    return _svg(title, f"{values}.", parts, _PLOT_WIDTH, height, "plot")


def group_bars(title: str, groups: Sequence[tuple[str, Sequence[Bar]]], unit: str) -> Html:
    """Groups of horizontal bars around zero, each with its value and a line from its lowest to its highest value.

    Args:
        title: What is compared.
        groups: Name and bars of each group, from the top; at least one bar.
        unit: Unit of the values.
    """
    left, right = 150, 70
    height = _PLOT_TOP + sum(_BAR_STEP * (len(bars) + 1) + 10 for _, bars in groups) + _PLOT_BOTTOM
    bounds = [0.0, *(bound for _, bars in groups for bar in bars for bound in (bar.low, bar.high, bar.value))]
    low, high = min(bounds), max(bounds)
    high = high if high > low else low + 1

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * (_PLOT_WIDTH - left - right)

    base = height - _PLOT_BOTTOM
    parts: list[Part] = []
    for mark in ticks(low, high, 6):
        x = _short(across(mark))
        parts.append(element("line", class_="axis" if mark == 0 else "grid", x1=x, x2=x, y1=_PLOT_TOP, y2=base))
        parts.append(element("text", number(mark), class_="mark", x=x, y=base + 17, text_anchor="middle"))
    parts.append(element("text", unit, class_="mark", x=_PLOT_WIDTH - right, y=base + 34, text_anchor="end"))
    y = float(_PLOT_TOP)
    for name, bars in groups:
        parts.append(element("text", name, class_="block", x=8, y=_short(y + 12)))
        y += _BAR_STEP
        for bar in bars:
            parts.append(_group_bar(bar, y, across, left))
            y += _BAR_STEP
        y += 10
    values = "; ".join(
        f"{name}: " + ", ".join(f"{bar.name} {_signed(bar.value)}" for bar in bars) for name, bars in groups
    )
    return _svg(title, f"{unit}. {values}.", parts, _PLOT_WIDTH, height, "plot")


def logarithmic_ticks(low: float, high: float) -> list[float]:
    """Round ticks whose base-10 logarithms are in [low, high]: 1, 2 and 5 times powers of ten.

    If the range is too narrow for two of these, evenly spaced ticks are returned.

    Example:
        >>> logarithmic_ticks(0.2, 2.1), logarithmic_ticks(0.75, 0.9)
        ([2, 5, 10, 20, 50, 100], [6, 6.5, 7, 7.5])
    """
    powers = range(math.floor(low), math.ceil(high) + 1)
    candidates = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    marks = [round(mark, 12) for mark in candidates if low <= math.log10(mark) <= high]
    marks = marks if len(marks) > 1 else ticks(10**low, 10**high)
    return [int(mark) if mark == int(mark) else mark for mark in marks]


def _svg(title: str, description: str, parts: Sequence[Part], width: int, height: int, kind: str) -> Html:
    """A picture with a title and a description for screen readers."""
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        parts,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=f"{title}. {description}",
        class_=kind,
    )


def _histogram_bar(left: float, right: float, level: float, layer: str) -> Part:
    """A bar of `level` (0 to 1) times the height, at least one pixel high unless `level` is 0."""
    if level <= 0:
        return None
    height = max(1.0, level * (_HEIGHT - _TOP - _BOTTOM))
    gap = 0.5 if right - left > 3 else 0
    return element(
        "rect",
        class_=layer,
        x=_short(left + gap),
        y=_short(_HEIGHT - _BOTTOM - height),
        width=_short(right - left - 2 * gap),
        height=_short(height),
    )


def _group_bar(bar: Bar, y: float, across: _Scale, left: int) -> Html:
    start, end = sorted((across(0), across(bar.value)))
    low, high = across(bar.low), across(bar.high)
    width = max(1.0, end - start)
    span: Part = None
    interval = ""
    if high > low:
        ends = {"x1": _short(low), "x2": _short(high), "y1": _short(y + 8), "y2": _short(y + 8)}
        # The halo separates the line from the bar in light and dark mode.
        span = [element("line", class_=kind, **ends) for kind in ("halo", "error")]
        interval = f", {_signed(bar.low)} to {_signed(bar.high)}"
    return element(
        "g",
        element("title", f"{bar.name}: {_signed(bar.value)}{interval}"),
        element("text", bar.name, class_="mark", x=left - 8, y=_short(y + 12), text_anchor="end"),
        element("rect", class_="after", x=_short(start), y=_short(y + 2), width=_short(width), height=12),
        span,
        element("text", _signed(bar.value), class_="mark", x=_short(max(high, end) + 6), y=_short(y + 12)),
    )


def _label_positions(
    points: Sequence[Point], across: _Scale, down: _Scale, height: int
) -> list[tuple[float, float, str]]:
    """x, y and anchor of each point's label: next to the point, where it covers no other label or point."""
    taken = [(across(p.x) - 5, down(p.y) - 5, across(p.x) + 5, down(p.y) + 5) for p in points]
    positions = []
    for point in points:
        x, y, width = across(point.x), down(point.y), 6.8 * len(point.name)
        rows = (-5, 14, -20, 29, -35, 44, -50, 59)
        candidates = [(x + side, y + row, anchor) for row in rows for side, anchor in ((9, "start"), (-9, "end"))]
        boxes = [_box(candidate, width) for candidate in candidates]
        free = [
            order
            for order, box in enumerate(boxes)
            if _inside(box, height) and not any(_overlap(box, other) for other in taken)
        ]
        chosen = free[0] if free else int(x + 9 + width > _PLOT_WIDTH)
        taken.append(boxes[chosen])
        positions.append(candidates[chosen])
    return positions


def _box(position: tuple[float, float, str], width: float) -> tuple[float, float, float, float]:
    x, y, anchor = position
    left = {"start": x, "end": x - width, "middle": x - width / 2}[anchor]
    return left, y - 11, left + width, y + 3


def _inside(box: tuple[float, float, float, float], height: int) -> bool:
    right, bottom = _PLOT_WIDTH, height - _PLOT_BOTTOM
    return box[0] >= _PLOT_LEFT and box[1] >= _PLOT_TOP and box[2] <= right and box[3] <= bottom


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _values(point: Point, x_name: str, y_name: str) -> str:
    halves = [f" ±{number(half)}" if half else "" for half in (point.x_half, point.y_half)]
    return f"{x_name} {number(point.x)}{halves[0]}, {y_name} {number(point.y)}{halves[1]}"


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)


def _x_axis(
    low: float, high: float, width: int, height: int, left: int, right: int = _RIGHT, name: str = ""
) -> list[Part]:
    base = height - _BOTTOM
    parts: list[Part] = [element("line", class_="axis", x1=left, x2=width - right, y1=base, y2=base)]
    for mark in ticks(low, high):
        x = _x(mark, low, high, width, left, right)
        anchor = "start" if x < left + 8 else "end" if x > width - right - 8 and not name else "middle"
        parts.append(element("text", number(mark), class_="mark", x=_short(x), y=base + 17, text_anchor=anchor))
    if name:
        parts.append(element("text", name, class_="mark", x=width - right + 26, y=base + 17))
    return parts


def _spread_out(levels: Sequence[float], bottom: float, distance: float = 15) -> list[float]:
    """The levels in the same order, moved at least `distance` apart and above `bottom`, so that labels do not touch."""
    moved = list(levels)
    order = sorted(range(len(levels)), key=lambda i: levels[i])
    for above, below in pairwise(order):
        moved[below] = max(moved[below], moved[above] + distance)
    for rank, i in enumerate(reversed(order)):
        moved[i] = min(moved[i], bottom - rank * distance)
    return moved


def _padded(low: float, high: float, share: float) -> tuple[float, float]:
    """A range with a margin of `share` of its width on both sides."""
    margin = (high - low) * share or abs(high) * 0.1 or 1.0
    return low - margin, high + margin


def _x(value: float, low: float, high: float, width: int, left: int, right: int = _RIGHT) -> float:
    return left + (value - low) / ((high - low) or 1) * (width - left - right)


def _y(value: float, low: float, high: float, height: int) -> float:
    return _TOP + (high - value) / ((high - low) or 1) * (height - _TOP - _BOTTOM)


def _short(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
