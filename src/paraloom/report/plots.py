"""Charts as inline SVG for comparing ways to make data: points with error bars, and bars to either side of nought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from paraloom.report.charts import short, svg
from paraloom.report.figures import number, ticks
from paraloom.report.markup import Html, Part, element

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 52, 16, 14, 40
_STEP = 17

_Placing: TypeAlias = Callable[[float], float]
"""From a figure to its place in the picture."""


@dataclass(frozen=True)
class Point:
    """A named pair of figures, each with half the width of its interval, 0 where there is none."""

    name: str
    x: float
    y: float
    x_half: float = 0.0
    y_half: float = 0.0


@dataclass(frozen=True)
class Bar:
    """A named figure, and the lowest and the highest that it is the mean of."""

    name: str
    value: float
    low: float
    high: float


def scatter(title: str, points: Sequence[Point], x_name: str, y_name: str) -> Html:
    """Each point with its error bars and its name beside it; at least one point."""
    height = 340
    x_low, x_high = _range([bound for p in points for bound in (p.x - p.x_half, p.x + p.x_half)], 0.08)
    y_low, y_high = _range([bound for p in points for bound in (p.y - p.y_half, p.y + p.y_half)], 0.08)

    def across(x: float) -> float:
        return _LEFT + (x - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)

    def down(y: float) -> float:
        return _TOP + (y_high - y) / (y_high - y_low) * (height - _TOP - _BOTTOM)

    parts: list[Part] = []
    for mark in ticks(y_low, y_high):
        y = down(mark)
        parts.append(element("line", class_="grid", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=short(y), y2=short(y)))
        parts.append(element("text", number(mark), class_="mark", x=_LEFT - 8, y=short(y + 4), text_anchor="end"))
    base = height - _BOTTOM
    parts.append(element("line", class_="axis", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=base, y2=base))
    for mark in ticks(x_low, x_high, 8):
        parts.append(
            element("text", number(mark), class_="mark", x=short(across(mark)), y=base + 17, text_anchor="middle")
        )
    parts.append(element("text", x_name, class_="mark", x=_WIDTH - _RIGHT, y=base + 34, text_anchor="end"))
    parts.append(element("text", y_name, class_="mark", x=_LEFT, y=_TOP - 2))
    for point, (x_label, y_label, anchor) in zip(points, _labels(points, across, down, height), strict=True):
        x, y = across(point.x), down(point.y)
        left, right = across(point.x - point.x_half), across(point.x + point.x_half)
        top, bottom = down(point.y + point.y_half), down(point.y - point.y_half)
        parts.append(
            element(
                "g",
                element("title", f"{point.name}: {_said(point, x_name, y_name)}"),
                element("line", class_="error", x1=short(left), x2=short(right), y1=short(y), y2=short(y)),
                element("line", class_="error", x1=short(x), x2=short(x), y1=short(top), y2=short(bottom)),
                element("circle", cx=short(x), cy=short(y), r=4),
                element("text", point.name, x=short(x_label), y=short(y_label), text_anchor=anchor),
                class_="line line-0",
            )
        )
    told = "; ".join(f"{point.name}: {_said(point, x_name, y_name)}" for point in points)
    return svg(title, f"{told}.", parts, _WIDTH, height, "plot")


def group_bars(title: str, groups: Sequence[tuple[str, Sequence[Bar]]], unit: str) -> Html:
    """For each group a block of bars below each other, each with its name, its value and a line from low to high.

    groups: (name, bars), from the top; at least one bar.  Bars of negative values go to the left of nought.
    """
    left, right = 150, 70
    height = _TOP + sum(_STEP * (len(bars) + 1) + 10 for _, bars in groups) + _BOTTOM
    bounds = [0.0, *(bound for _, bars in groups for bar in bars for bound in (bar.low, bar.high, bar.value))]
    low, high = min(bounds), max(bounds)
    high = high if high > low else low + 1

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * (_WIDTH - left - right)

    base = height - _BOTTOM
    parts: list[Part] = []
    for mark in ticks(low, high, 6):
        x = short(across(mark))
        parts.append(element("line", class_="axis" if mark == 0 else "grid", x1=x, x2=x, y1=_TOP, y2=base))
        parts.append(element("text", number(mark), class_="mark", x=x, y=base + 17, text_anchor="middle"))
    parts.append(element("text", unit, class_="mark", x=_WIDTH - right, y=base + 34, text_anchor="end"))
    y = float(_TOP)
    for name, bars in groups:
        parts.append(element("text", name, class_="block", x=8, y=short(y + 12)))
        y += _STEP
        for bar in bars:
            parts.append(_bar(bar, y, across, left))
            y += _STEP
        y += 10
    told = "; ".join(
        f"{name}: " + ", ".join(f"{bar.name} {_signed(bar.value)}" for bar in bars) for name, bars in groups
    )
    return svg(title, f"{unit}. {told}.", parts, _WIDTH, height, "plot")


def _bar(bar: Bar, y: float, across: _Placing, left: int) -> Html:
    start, end = sorted((across(0), across(bar.value)))
    low, high = across(bar.low), across(bar.high)
    width = max(1.0, end - start)
    spread: Part = None
    between = ""
    if high > low:
        ends = {"x1": short(low), "x2": short(high), "y1": short(y + 8), "y2": short(y + 8)}
        # The halo parts the line from the bar, in light and dark.
        spread = [element("line", class_=kind, **ends) for kind in ("halo", "error")]
        between = f", {_signed(bar.low)} to {_signed(bar.high)}"
    return element(
        "g",
        element("title", f"{bar.name}: {_signed(bar.value)}{between}"),
        element("text", bar.name, class_="mark", x=left - 8, y=short(y + 12), text_anchor="end"),
        element("rect", class_="after", x=short(start), y=short(y + 2), width=short(width), height=12),
        spread,
        element("text", _signed(bar.value), class_="mark", x=short(max(high, end) + 6), y=short(y + 12)),
    )


def _labels(points: Sequence[Point], across: _Placing, down: _Placing, height: int) -> list[tuple[float, float, str]]:
    """Where the name of each point stands, x, y and anchor: beside it, where it covers no other name or point."""
    taken = [(across(p.x) - 5, down(p.y) - 5, across(p.x) + 5, down(p.y) + 5) for p in points]
    found = []
    for point in points:
        x, y, width = across(point.x), down(point.y), 6.8 * len(point.name)
        rows = (-5, 14, -20, 29, -35, 44, -50, 59)
        places = [(x + side, y + row, anchor) for row in rows for side, anchor in ((9, "start"), (-9, "end"))]
        boxes = [_box(place, width) for place in places]
        free = [
            order
            for order, box in enumerate(boxes)
            if _inside(box, height) and not any(_overlap(box, other) for other in taken)
        ]
        chosen = free[0] if free else int(x + 9 + width > _WIDTH)
        taken.append(boxes[chosen])
        found.append(places[chosen])
    return found


def _box(place: tuple[float, float, str], width: float) -> tuple[float, float, float, float]:
    x, y, anchor = place
    left = {"start": x, "end": x - width, "middle": x - width / 2}[anchor]
    return left, y - 11, left + width, y + 3


def _inside(box: tuple[float, float, float, float], height: int) -> bool:
    return box[0] >= _LEFT and box[1] >= _TOP and box[2] <= _WIDTH and box[3] <= height - _BOTTOM


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _range(bounds: Sequence[float], share: float) -> tuple[float, float]:
    """The least and the greatest with a margin."""
    low, high = min(bounds), max(bounds)
    margin = (high - low) * share or abs(high) * 0.1 or 1.0
    return low - margin, high + margin


def _said(point: Point, x_name: str, y_name: str) -> str:
    halves = [f" ±{number(half)}" if half else "" for half in (point.x_half, point.y_half)]
    return f"{x_name} {number(point.x)}{halves[0]}, {y_name} {number(point.y)}{halves[1]}"


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)
