"""Charts as inline SVG: histograms, sparklines, curves, and the flow of rows; style.css has their colors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from paraloom.api.yield_curve import Yield
from paraloom.web.formatting import count, number, ticks
from paraloom.web.templates import draw

_WIDTH, _HEIGHT = 360, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 8, 8, 10, 24

LINES = 28  # Lines of the flow for the corpus with the most rows


@dataclass(frozen=True)
class Mark:
    """An SVG element; its name and attributes are ours, its text may be anybody's."""

    tag: str
    attributes: Mapping[str, Any]
    text: str = ""


@dataclass(frozen=True)
class Group:
    """Marks with a tooltip; where `link` is given they lead there."""

    marks: Sequence[Mark]
    tooltip: str
    class_name: str = ""
    link: str | None = None


@dataclass(frozen=True)
class Chart:
    """A picture with a title and a description for screen readers."""

    title: str
    description: str
    width: int
    height: int
    kind: str
    marks: Sequence[Mark | Group]

    @property
    def has_links(self) -> bool:
        """True if a group is a link."""
        return any(isinstance(mark, Group) and mark.link is not None for mark in self.marks)

    def draw(self) -> Markup:
        return draw("svg", self)


@dataclass(frozen=True)
class Curve:
    """A curve: at least one point (x, y), in increasing order of x."""

    name: str
    points: Sequence[tuple[float, float]]


def mark(tag: str, text: str = "", **attributes: object) -> Mark:
    """An SVG element: `class_` becomes `class`, other underscores hyphens; coordinates get one decimal."""
    return Mark(
        tag,
        {
            key.rstrip("_").replace("_", "-"): short(value) if isinstance(value, float) else value
            for key, value in attributes.items()
        },
        text,
    )


def histogram(
    title: str,
    edges: Sequence[float],
    before: Sequence[int],
    after: Sequence[int] | None = None,
    *,
    links: Sequence[str] | None = None,
    is_cut: Sequence[bool] = (),
    is_fluid: bool = False,
) -> Markup:
    """A histogram, the rows that match in front of all; bars may be links, a fluid one is as wide as its place."""
    width, left_margin, right_margin, unit = (100, 0, 0, "%") if is_fluid else (_WIDTH, _LEFT, _RIGHT, "")
    places = [scale(edge, edges[0], edges[-1], width, left_margin, right_margin) for edge in edges]
    top = max([*before, *(after or ()), 1])
    groups: list[Mark | Group] = []
    for i, (left, right) in enumerate(pairwise(places)):
        tooltip = f"{number(edges[i])} to {number(edges[i + 1])}: "
        layers = [("after", before[i])] if after is None else [("before", before[i]), ("after", after[i])]
        tooltip += count(layers[-1][1]) + f" of {count(before[i])}" if links else count(before[i])
        bars = [_bar(left, right, n / top, layer + " cut" * any(is_cut[i : i + 1]), unit) for layer, n in layers]
        if links:
            bars.insert(0, mark("rect", class_="hit", x=left, y=0, width=right - left, height=_HEIGHT - _BOTTOM))
        groups.append(Group([bar for bar in bars if bar], tooltip, link=links[i] if links else None))
    description = f"Histogram of {count(sum(before))} values from {number(edges[0])} to {number(edges[-1])}."
    axis = x_axis(edges[0], edges[-1], width, _HEIGHT, left_margin, right_margin, unit=unit)
    return Chart(title, description, 0 if is_fluid else width, _HEIGHT, "histogram", [*groups, *axis]).draw()


def sparkline(title: str, edges: Sequence[float], before: Sequence[int], after: Sequence[int] | None) -> Markup:
    """A histogram without axes, as high as a line of text; where rows were removed, those kept in front."""
    width, height, top = 4 * len(before), 20, max(before)
    layers = [("after", before)] if after is None else [("before", before), ("after", after)]
    paths = [
        mark("path", class_=layer, d="".join(_spark(4 * i, n / top * height, height) for i, n in enumerate(counts)))
        for layer, counts in layers
    ]
    description = f"Histogram of {count(sum(before))} values from {number(edges[0])} to {number(edges[-1])}."
    return Chart(title, description, width, height, "spark", paths).draw()


def _spark(x: int, level: float, height: int) -> str:
    """A bar of a sparkline, at least one unit high where there are pairs."""
    return f"M{x} {height}v-{short(max(1.0, level))}h3.4V{height}z" if level else ""


def yield_curve(thresholds: Sequence[Yield], presets: Sequence[Yield]) -> Markup:
    """Estimated precision over the share of pairs that a threshold keeps, with the presets marked."""
    width, height, left, right = 480, 220, 44, 16
    low = min(point.precision for point in (*thresholds, *presets))
    low, high = math.floor(min(low, 0.9) * 10) / 10, 1.0

    def across(point: Yield) -> float:
        return scale(point.share, 0, 1, width, left, right)

    def down(precision: float) -> float:
        return _TOP + (high - precision) / (high - low) * (height - _TOP - _BOTTOM)

    marks: list[Mark | Group] = []
    for value in ticks(low, high):
        marks.append(mark("line", class_="grid", x1=left, x2=width - right, y1=down(value), y2=down(value)))
        marks.append(mark("text", f"{value:.0%}", class_="mark", x=left - 6, y=down(value) + 4, text_anchor="end"))
    path = "M" + "L".join(f"{short(across(point))} {short(down(point.precision))}" for point in thresholds)
    marks.append(Group([mark("path", class_="curve", d=path)], "Every threshold", "line line-0"))
    # Below the points, as presets reject more than a threshold and are below its curve.
    levels = _spread_out([down(point.precision) + 15 for point in presets], height - _BOTTOM)
    for point, level in zip(presets, levels, strict=True):
        text = f"{point.name} {count(point.rows)}"
        drawn = [
            mark("circle", cx=across(point), cy=down(point.precision), r=4),
            mark("text", text, x=across(point) + 5.0, y=level),
        ]
        tooltip = f"{text}: {point.share:.0%} of all pairs, {point.precision:.0%} probably right"
        marks.append(Group(drawn, tooltip, "line line-1"))
    axis = x_axis(0, 1, width, height, left, right, as_share=True)
    ends = " to ".join(f"{point.share:.0%} at {point.precision:.0%}" for point in (thresholds[0], thresholds[-1]))
    description = f"Estimated precision over the share of pairs kept, from {ends}"
    return Chart("Yield and precision", f"{description}.", width, height, "curves", [*marks, *axis]).draw()


def compared_histogram(
    title: str, edges: Sequence[float], first: Sequence[int], second: Sequence[int], names: tuple[str, str]
) -> Markup:
    """The histograms of two texts side by side, as shares of each, so that their sizes do not matter."""
    shares = [[n / sum(counts) for n in counts] for counts in (first, second)]
    top = max(max(of_text) for of_text in shares)
    groups: list[Mark | Group] = []
    for i, pair in enumerate(zip(*shares, strict=True)):
        left, right = (scale(edge, edges[0], edges[-1], _WIDTH, _LEFT) for edge in edges[i : i + 2])
        middle = (left + right) / 2
        values = ", ".join(f"{name} {share:.1%}" for name, share in zip(names, pair, strict=True))
        bars = [_bar(left, middle, pair[0] / top, "before"), _bar(middle, right, pair[1] / top, "after")]
        groups.append(Group([bar for bar in bars if bar], f"{number(edges[i])} to {number(edges[i + 1])}: {values}"))
    sizes = " and ".join(f"{count(sum(n))} of {name}" for name, n in zip(names, (first, second), strict=True))
    description = f"Histograms of {sizes} from {number(edges[0])} to {number(edges[-1])}."
    axis = x_axis(edges[0], edges[-1], _WIDTH, _HEIGHT, _LEFT)
    return Chart(title, description, _WIDTH, _HEIGHT, "histogram", [*groups, *axis]).draw()


def curves(title: str, lines: Sequence[Curve], x_name: str, *, logarithmic: bool = False) -> Markup:
    """Curves over a common x axis, each labeled at its end; from the fifth on they are dashed."""
    level = math.log10 if logarithmic else float
    width, height, left = 480, 240, 40
    labels = [f"{line.name} {number(line.points[-1][1])}" for line in lines]
    right = max(108, *(16 + 7 * len(label) for label in labels))
    low, high = padded([level(y) for line in lines for _, y in line.points], 0.06)
    xs = [x for line in lines for x, _ in line.points]

    def across(x: float) -> float:
        return scale(x, min(xs), max(xs), width, left, right)

    def down(y: float) -> float:
        return _TOP + (high - level(y)) / ((high - low) or 1) * (height - _TOP - _BOTTOM)

    marks: list[Mark | Group] = []
    for value in logarithmic_ticks(low, high) if logarithmic else ticks(low, high):
        marks.append(mark("line", class_="grid", x1=left, x2=width - right, y1=down(value), y2=down(value)))
        marks.append(mark("text", number(value), class_="mark", x=left - 8, y=down(value) + 4, text_anchor="end"))
    ends = _spread_out([down(line.points[-1][1]) for line in lines], height - _BOTTOM)
    for order, (line, label, end) in enumerate(zip(lines, labels, ends, strict=True)):
        path = "M" + "L".join(f"{short(across(x))} {short(down(y))}" for x, y in line.points)
        x, y = line.points[-1]
        drawn = [
            mark("path", class_="curve", d=path),
            mark("circle", cx=across(x), cy=down(y), r=3),
            mark("text", label, x=across(x) + 8.0, y=end + 4),
        ]
        style = f"line line-{order % 4}" + (f" dashed-{min(order // 4, 2)}" if order > 3 else "")
        marks.append(Group(drawn, f"{line.name}: final value {number(y)}", style))
    marks += x_axis(min(xs), max(xs), width, height, left, right, x_name)
    ranges = "; ".join(f"{n.name} from {number(n.points[0][1])} to {number(n.points[-1][1])}" for n in lines)
    return Chart(title, f"Curves over {x_name}: {ranges}.", width, height, "curves", marks).draw()


def paired_bars(title: str, rows: Sequence[tuple[str, int, int]]) -> Markup:
    """Two bars for each row: a count before and a count after."""
    width, left, step = 480, 190, 24
    height = _TOP + step * len(rows) + _BOTTOM
    top = max([1, *(n for _, *counts in rows for n in counts)])
    marks: list[Mark | Group] = []
    for order, (name, before, after) in enumerate(rows):
        y = _TOP + step * order
        drawn = [mark("text", name, class_="mark", x=left - 8, y=y + 14, text_anchor="end")]
        drawn += [
            mark("rect", class_=layer, x=left, y=y + down, width=scale(n, 0, top, width, left) - left, height=9)
            for layer, n, down in (("before", before, 1), ("after", after, 11))
        ]
        marks.append(Group(drawn, f"{name}: {count(before)} before, {count(after)} after"))
    values = "; ".join(f"{name} {before} before, {after} after" for name, before, after in rows)
    axis = x_axis(0, top, width, height, left)
    return Chart(title, f"From top to bottom: {values}.", width, height, "curves", [*marks, *axis]).draw()


Path = tuple[str, str]  # A line of the flow, and what happens to its rows


def passing_lines(rows: int, largest: int) -> tuple[list[Path], list[Path]]:
    """The lines of a stage that writes a model: rows that pass it by, and a dot; and those lines alone."""
    passing = [(f"M{_flow_x(line)} 0V100", "passing") for line in range(_lines(rows, largest))]
    middle = (_flow_x(max(0, len(passing) - 1)) + _flow_x(0)) / 2
    return [*passing, (f"M{middle:.1f} 50v0.01", "model")], passing


def stage_lines(
    read: int, out: int, failed: int, unsampled: int, largest: int, *, is_source: bool, splits: tuple[str, str]
) -> tuple[list[Path], list[Path]]:
    """The lines of one stage: what happens to the rows above, then straight lines down to the next stage."""
    incoming, outgoing = _lines(read, largest), _lines(out, largest)
    failures = min(incoming, _lines(failed, largest))
    left_out = min(incoming - failures, _lines(unsampled, largest))
    turn: list[Path] = []
    for line in range(max(incoming, outgoing)):
        x = _flow_x(line)
        if is_source:
            turn += [(f"M{x} 25V100", "kept")] if line < outgoing else []
        elif line < min(incoming, outgoing):
            turn.append((f"M{x} 0V100", "kept"))
        elif line < incoming:
            split = splits[0] if line < incoming - failures - left_out else splits[1]
            split = "failed" if line >= incoming - failures else split
            turn.append((f"M{x} 0V20C{x} 55 {(x + 100) / 2:.1f} 72 100 78", split))
        else:
            parent = _flow_x(line % max(1, incoming))
            turn.append((f"M{parent} 20C{parent} 60 {x} 40 {x} 80V100", "kept"))
    return turn, [(f"M{_flow_x(line)} 0V100", "kept") for line in range(outgoing)]


def _lines(rows: int, largest: int) -> int:
    """Lines for so many rows: at least one unless the number is 0."""
    return max(1, round(LINES * rows / largest)) if rows else 0


def _flow_x(line: int) -> float:
    return round(3 + line * 88 / (LINES - 1), 1)


def logarithmic_ticks(low: float, high: float) -> list[float]:
    """Round ticks whose base-10 logarithms are in [low, high]: 1, 2 and 5 times powers of ten, else evenly spaced."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    candidates = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    marks = [round(value, 12) for value in candidates if low <= math.log10(value) <= high]
    marks = marks if len(marks) > 1 else ticks(10**low, 10**high)
    return [int(value) if value == int(value) else value for value in marks]


def x_axis(
    low: float,
    high: float,
    width: int,
    height: int,
    left: int,
    right: int = _RIGHT,
    name: str = "",
    *,
    as_share: bool = False,
    unit: str = "",
) -> list[Mark]:
    """A line with round ticks below a chart."""
    base = height - _BOTTOM
    marks = [mark("line", class_="axis", x1=f"{left}{unit}", x2=f"{width - right}{unit}", y1=base, y2=base)]
    for value in ticks(low, high):
        x = scale(value, low, high, width, left, right)
        anchor = "start" if x < left + 8 else "end" if x > width - right - 8 and not name else "middle"
        text = f"{value:.0%}" if as_share else number(value)
        marks.append(mark("text", text, class_="mark", x=f"{short(x)}{unit}", y=base + 17, text_anchor=anchor))
    return [*marks, mark("text", name, class_="mark", x=width - right + 26, y=base + 17)] if name else marks


def padded(values: Sequence[float], share: float) -> tuple[float, float]:
    """The range of values, with a margin of `share` of its width on both sides."""
    low, high = min(values), max(values)
    margin = (high - low) * share or abs(high) * 0.1 or 1.0
    return low - margin, high + margin


def scale(value: float, low: float, high: float, width: int, left: int, right: int = _RIGHT) -> float:
    return left + (value - low) / ((high - low) or 1) * (width - left - right)


def short(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def _bar(left: float, right: float, level: float, layer: str, unit: str = "") -> Mark | None:
    """A bar of `level` (0 to 1) times the height, at least one pixel high unless `level` is 0."""
    if level <= 0:
        return None
    height = max(1.0, level * (_HEIGHT - _TOP - _BOTTOM))
    gap = 0.1 if unit else 0.5 if right - left > 3 else 0.0
    x, width = (f"{value:.2f}{unit}" if unit else value for value in (left + gap, right - left - 2 * gap))
    return mark("rect", class_=layer, x=x, y=_HEIGHT - _BOTTOM - height, width=width, height=height)


def _spread_out(levels: Sequence[float], bottom: float) -> list[float]:
    """The levels in the same order, at least 15 apart and above `bottom`, so that labels do not touch."""
    moved = list(levels)
    order = sorted(range(len(levels)), key=lambda i: levels[i])
    for above, below in pairwise(order):
        moved[below] = max(moved[below], moved[above] + 15)
    for rank, i in enumerate(reversed(order)):
        moved[i] = min(moved[i], bottom - rank * 15)
    return moved
