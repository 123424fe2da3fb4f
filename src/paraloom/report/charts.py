"""Charts as inline SVG: histograms with two layers, curves, bars.  Colours are the style sheet's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from paraloom.report.figures import count, number, ticks
from paraloom.report.markup import Html, Part, element

_WIDTH, _HEIGHT = 360, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 8, 8, 10, 24


def histogram(
    title: str, edges: Sequence[float], before: Sequence[int], after: Sequence[int] | None, unit: str = ""
) -> Html:
    """Bars of rows in each bin; `after`, those that were kept, stands in front of `before`.

    edges: k + 1 rising values.  before, after: k counts each.  Every bin tells its numbers when pointed at.
    """
    low, high = edges[0], edges[-1]
    top = max([*before, *(after or ()), 1])
    parts: list[Part] = []
    for place, n in enumerate(before):
        left, right = (_x(edge, low, high, _WIDTH, _LEFT) for edge in edges[place : place + 2])
        said = f"{number(edges[place])} to {number(edges[place + 1])}: {count(n)}"
        bars: list[Part] = [element("title", said if after is None else f"{said}, {count(after[place])} of them kept")]
        bars.append(_bar(left, right, n / top, "after" if after is None else "before"))
        if after is not None:
            bars.append(_bar(left, right, after[place] / top, "after"))
        parts.append(element("g", bars))
    parts.append(_x_axis(low, high, _WIDTH, _HEIGHT, _LEFT))
    said = f"Histogram of {sum(before)} values from {number(low)} to {number(high)} {unit}".rstrip()
    if after is not None:
        said += f", and in front of it of the {sum(after)} that were kept"
    return svg(title, said + ".", parts, _WIDTH, _HEIGHT, "histogram")


@dataclass(frozen=True)
class Curve:
    """One line of a chart: its name and its points (x rising, y)."""

    name: str
    points: Sequence[tuple[float, float]]


def curves(title: str, lines: Sequence[Curve], x_name: str, *, logarithmic: bool = False) -> Html:
    """Lines over a common x, each named at its end; at least one line, each of one point or more.

    logarithmic: of y, whose values are above 0 then.  From the fifth line on, lines are broken to be told apart.
    """
    level = math.log10 if logarithmic else float
    width, height, left = 480, 240, 40
    labels = [f"{line.name} {number(line.points[-1][1])}" for line in lines]
    right = max(108, *(16 + 7 * len(label) for label in labels))
    xs = [x for line in lines for x, _ in line.points]
    ys = [level(y) for line in lines for _, y in line.points]
    low, high = min(ys), max(ys)
    margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    low, high = low - margin, high + margin
    first, last = min(xs), max(xs)

    def place(x: float, y: float) -> tuple[float, float]:
        return _x(x, first, last, width, left, right), _y(level(y), low, high, height)

    parts: list[Part] = []
    for mark in round_logarithms(low, high) if logarithmic else ticks(low, high):
        at = _y(level(mark), low, high, height)
        parts.append(element("line", class_="grid", x1=left, x2=width - right, y1=short(at), y2=short(at)))
        parts.append(element("text", number(mark), class_="mark", x=left - 8, y=short(at + 4), text_anchor="end"))
    ends = _apart([place(*line.points[-1])[1] for line in lines], height - _BOTTOM)
    for order, (line, label, end) in enumerate(zip(lines, labels, ends, strict=True)):
        points = [place(*point) for point in line.points]
        path = "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)
        value = number(line.points[-1][1])
        parts.append(
            element(
                "g",
                element("title", f"{line.name}: {value} at the end"),
                element("path", class_="curve", d=path),
                element("circle", cx=short(points[-1][0]), cy=short(points[-1][1]), r=3),
                element("text", label, x=short(points[-1][0] + 8), y=short(end + 4)),
                class_=f"line line-{order % 4}" + (f" broken-{min(order // 4, 2)}" if order > 3 else ""),
            )
        )
    parts.append(_x_axis(first, last, width, height, left, right, x_name))
    said = "; ".join(f"{line.name} from {number(line.points[0][1])} to {number(line.points[-1][1])}" for line in lines)
    return svg(title, f"Curves over {x_name}: {said}.", parts, width, height, "curves")


def number_line(
    title: str,
    rows: Sequence[tuple[str, float, float | None, float | None]],
    *,
    band: tuple[float, float] | None = None,
    marked: str = "",
) -> Html:
    """A line of its own for each row: its name, a dot at its value, and a bar over its interval where it has one.

    rows: (name, value, low, high), from the top.  band: a stretch behind all rows, to compare with.  marked: the name
    of the row that the band is of.
    """
    width, left, step = 640, 280, 17
    height = _TOP + step * len(rows) + _BOTTOM
    bounds = [bound for _, value, low, high in rows for bound in (value, low, high) if bound is not None]
    bounds += list(band or ())
    low_end, high_end = min(bounds), max(bounds)
    margin = (high_end - low_end) * 0.06 or abs(high_end) * 0.1 or 1.0
    low_end, high_end = low_end - margin, high_end + margin

    def place(value: float) -> float:
        return _x(value, low_end, high_end, width, left)

    parts: list[Part] = []
    if band is not None:
        x, span = place(band[0]), place(band[1]) - place(band[0])
        parts.append(
            element(
                "rect", class_="before", x=short(x), y=_TOP, width=short(max(1, span)), height=height - _TOP - _BOTTOM
            )
        )
    for order, (name, value, low, high) in enumerate(rows):
        y = _TOP + step * (order + 0.5)
        interval = f", {number(low)} to {number(high)}" if low is not None and high is not None else ""
        bar: Part = None
        if low is not None and high is not None:
            bar = element("line", class_="axis", x1=short(place(low)), x2=short(place(high)), y1=short(y), y2=short(y))
        parts.append(
            element(
                "g",
                element("title", f"{name}: {number(value)}{interval}"),
                element("text", name, class_="mark", x=left - 8, y=short(y + 4), text_anchor="end"),
                bar,
                element("circle", cx=short(place(value)), cy=short(y), r=4),
                class_=f"line line-{1 if name == marked else 0}",
            )
        )
    parts.append(_x_axis(low_end, high_end, width, height, left))
    said = "; ".join(f"{name} {number(value)}" for name, value, _, _ in rows)
    return svg(title, f"From the top: {said}.", parts, width, height, "curves")


def paired_bars(title: str, rows: Sequence[tuple[str, int, int]]) -> Html:
    """Two bars below each other for each row: a count before, and one after.

    rows: (name, before, after), from the top; one or more.
    """
    width, left, step = 480, 190, 24
    height = _TOP + step * len(rows) + _BOTTOM
    top = max([1, *(n for _, *counts in rows for n in counts)])
    parts: list[Part] = []
    for order, (name, before, after) in enumerate(rows):
        y = _TOP + step * order
        bars = [
            element("rect", class_=layer, x=left, y=y + down, width=short(_x(n, 0, top, width, left) - left), height=9)
            for layer, n, down in (("before", before, 1), ("after", after, 11))
        ]
        label = element("text", name, class_="mark", x=left - 8, y=y + 14, text_anchor="end")
        parts.append(element("g", element("title", f"{name}: {count(before)}, then {count(after)}"), label, bars))
    parts.append(_x_axis(0, top, width, height, left))
    said = "; ".join(f"{name} {before}, then {after}" for name, before, after in rows)
    return svg(title, f"From the top: {said}.", parts, width, height, "curves")


def round_logarithms(low: float, high: float) -> list[float]:
    """Round marks whose logarithms to base 10 lie within [low, high]: 1, 2 and 5 times powers of ten.

    Where the range is too narrow for two of these, round marks of equal distance.

    >>> round_logarithms(0.2, 2.1), round_logarithms(0.75, 0.9)
    ([2, 5, 10, 20, 50, 100], [6, 6.5, 7, 7.5])
    """
    powers = range(math.floor(low), math.ceil(high) + 1)
    marks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    found = [round(mark, 12) for mark in marks if low <= math.log10(mark) <= high]
    found = found if len(found) > 1 else ticks(10**low, 10**high)
    return [int(mark) if mark == int(mark) else mark for mark in found]


def svg(title: str, said: str, parts: Sequence[Part], width: int, height: int, kind: str) -> Html:
    """A picture with a name, and `said` for who cannot see it."""
    return element(
        "svg",
        element("title", title),
        element("desc", said),
        parts,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=f"{title}. {said}",
        class_=kind,
    )


def _bar(left: float, right: float, level: float, layer: str) -> Part:
    """A bar of `level` (0 to 1) of the height; what is there at all is always seen."""
    if level <= 0:
        return None
    height = max(1.0, level * (_HEIGHT - _TOP - _BOTTOM))
    gap = 0.5 if right - left > 3 else 0
    return element(
        "rect",
        class_=layer,
        x=short(left + gap),
        y=short(_HEIGHT - _BOTTOM - height),
        width=short(right - left - 2 * gap),
        height=short(height),
    )


def _x_axis(
    low: float, high: float, width: int, height: int, left: int, right: int = _RIGHT, name: str = ""
) -> list[Part]:
    base = height - _BOTTOM
    parts: list[Part] = [element("line", class_="axis", x1=left, x2=width - right, y1=base, y2=base)]
    for mark in ticks(low, high):
        x = _x(mark, low, high, width, left, right)
        anchor = "start" if x < left + 8 else "end" if x > width - right - 8 and not name else "middle"
        parts.append(element("text", number(mark), class_="mark", x=short(x), y=base + 17, text_anchor=anchor))
    if name:
        parts.append(element("text", name, class_="mark", x=width - right + 26, y=base + 17))
    return parts


def _apart(levels: Sequence[float], floor: float, distance: float = 15) -> list[float]:
    """The same heights, pushed down where labels would touch, and up again from below the floor; their order kept."""
    placed = list(levels)
    order = sorted(range(len(levels)), key=lambda i: levels[i])
    for above, below in pairwise(order):
        placed[below] = max(placed[below], placed[above] + distance)
    for place, i in enumerate(reversed(order)):
        placed[i] = min(placed[i], floor - place * distance)
    return placed


def _x(value: float, low: float, high: float, width: int, left: int, right: int = _RIGHT) -> float:
    return left + (value - low) / ((high - low) or 1) * (width - left - right)


def _y(value: float, low: float, high: float, height: int) -> float:
    return _TOP + (high - value) / ((high - low) or 1) * (height - _TOP - _BOTTOM)


def short(value: float) -> str:
    """A place in a picture, to a tenth of its unit."""
    return f"{value:.1f}".removesuffix(".0")
