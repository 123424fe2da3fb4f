"""Section of a report on experiments with back-translated text: adequacy, training perplexity, gains by test group."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from paraloom.mt.presets import METHODS
from paraloom.web.charts import Chart, Curve, Group, Mark, curves, logarithmic_ticks, mark, padded
from paraloom.web.formatting import number, ticks
from paraloom.web.run_folder import RunView, StageView
from paraloom.web.templates import draw, table
from paraloom.web.training import read_curve, thinned

PARALLEL = "none"
"""The method of the translators that are trained on parallel data only, which all others are compared with."""

_FINAL = "final-"
_SEED = re.compile(r"-\d+$")
_TEST = re.compile(rf"test-(?P<test>.+)-(?P<method>{'|'.join([PARALLEL, *METHODS])})-(?P<seed>\d+)")
_ALL = "whole test set"
_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM, _BAR_STEP = 640, 52, 16, 14, 40, 17


@dataclass(frozen=True)
class Point:
    """A point of a scatter plot, with half the widths of its intervals, 0 for none."""

    name: str
    x: float
    y: float
    x_half: float = 0.0
    y_half: float = 0.0


@dataclass(frozen=True)
class Bar:
    """A mean, and the lowest and highest of the values that it is the mean of."""

    name: str
    value: float
    low: float
    high: float


def sections(run: RunView) -> list[Markup]:
    """All sections that the stages of a run allow."""
    points = {stage.name: read_curve(run.artifact(stage) / "curve.jsonl") for stage in run.stages if _is_final(stage)}
    parts = [frontier(run.stages), perplexities(points), gains(run.stages)]
    return [part for part in parts if part is not None]


def frontier(stages: Sequence[StageView]) -> Markup | None:
    """A scatter plot of the measured corpora: i-BLEU against chrF to the reference, or against likelihood.

    If fewer than two corpora have chrF, all are plotted by their negated translation cost.  Corpora without one of the
    two figures are listed below the plot.
    """
    measured = {stage.name: stage.figures for stage in stages if _use(stage) == "measure-diversity"}
    if len(measured) < 2:
        return None
    candidates = {name: figures for name, figures in measured.items() if figures.get("ibleu") is not None}
    by_chrf = sum(figures.get("chrf") is not None for figures in candidates.values()) > 1
    figure, y_name = ("chrf", "chrF to the reference") if by_chrf else ("cost", "−cost, nats per token")
    names = dict(zip(measured, _without_common_prefix(list(measured)), strict=True))
    points = [
        Point(
            names[name],
            figures["ibleu"],
            figures[figure] if by_chrf else -figures[figure],
            figures.get("ibleu_interval") or 0.0,
            figures.get(f"{figure}_interval") or 0.0,
        )
        for name, figures in candidates.items()
        if figures.get(figure) is not None
    ]
    if not points:
        return None
    missing = ", ".join(sorted(set(names.values()) - {point.name for point in points}))
    return draw(
        "section",
        "Diversity and adequacy",
        "Further right, the translations of one source overlap less; further up, they are "
        + ("closer to the reference. " if by_chrf else "more likely according to their translator. ")
        + "Crosses are 95 % confidence intervals.",
        [scatter("Diversity and adequacy of variants", points, "i-BLEU", y_name)],
        f"Not plotted because a figure is missing: {missing}" if missing else "",
    )


def perplexities(records: Mapping[str, Sequence[Mapping[str, float]]]) -> Markup | None:
    """Training perplexity of each stage `final-NAME[-SEED]` over its steps, averaged over seeds (BBH22, Figure 4)."""
    of_name: dict[str, dict[float, list[float]]] = {}
    seeds: dict[str, int] = {}
    for stage, points in records.items():
        values = [(point["step"], point["train_perplexity"]) for point in points if _has_perplexity(point)]
        if not values:
            continue
        name = _SEED.sub("", stage.removeprefix(_FINAL))
        seeds[name] = seeds.get(name, 0) + 1
        for step, value in values:
            of_name.setdefault(name, {}).setdefault(step, []).append(value)
    lines = []
    for name, steps in of_name.items():
        # Where some seeds stopped earlier, the mean of the others would jump.
        means = [(step, _mean(values)) for step, values in sorted(steps.items()) if len(values) == seeds[name]]
        if means:
            lines.append(Curve(name, thinned(means)))
    if not lines:
        return None
    lines.sort(key=lambda line: -line.points[-1][1])
    return draw(
        "section",
        "Training perplexity",
        "Perplexity of the target tokens during training, with dropout and the full softmax, on a logarithmic scale. "
        "Text with a lower perplexity is easier to learn.",
        [curves("Training perplexity of the final translators", lines, "step", logarithmic=True)],
    )


def gains(stages: Sequence[StageView]) -> Markup | None:
    """Relative gain in BLEU over parallel data only, by group of each test set; means over seeds (BBH22, Figure 5).

    The stages are named test-TEST-METHOD-SEED; None unless a test set has method `none` and another one.
    """
    tests: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for stage in stages:
        match = _TEST.fullmatch(stage.name)
        if match and _use(stage) == "evaluate-translator" and "bleu" in stage.figures:
            tests.setdefault(match["test"], {}).setdefault(match["method"], []).append(stage.figures)
    parts: list[Markup] = []
    for test, methods in tests.items():
        if PARALLEL in methods and len(methods) > 1:
            parts += [draw("heading", test), *_gains_of(test, methods)]
    if not parts:
        return None
    intro = "Change in BLEU, in % of the BLEU of a translator trained on parallel data only. Lines span the seeds."
    return draw("section", "Gain by test group", intro, parts)


def _gains_of(test: str, methods: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Markup]:
    """The chart of one test set, and its scores as a table."""
    bleu = {method: [_by_group(figures, "bleu") for figures in seeds] for method, seeds in methods.items()}
    groups = _outermost(bleu[PARALLEL][0])
    order = [name for name in (*METHODS, PARALLEL) if name in methods]
    blocks = []
    for group in groups:
        base = _mean([scores[group] for scores in bleu[PARALLEL] if group in scores])
        bars = []
        for method in order[:-1]:
            values = [100 * (scores[group] / base - 1) for scores in bleu[method] if group in scores] if base else []
            if values:
                bars.append(Bar(method, _mean(values), min(values), max(values)))
        if bars:
            blocks.append((group, bars))
    rows = []
    for method in order:
        cells = [_mean([scores[group] for scores in bleu[method] if group in scores]) for group in groups]
        chrf = _mean([figures["chrf"] for figures in methods[method] if figures.get("chrf") is not None])
        name = "parallel data only" if method == PARALLEL else method
        rows.append([name, str(len(methods[method])), *map(_one_decimal, cells), _one_decimal(chrf)])
    scores_table = table(("method", "seeds", *(f"BLEU, {group}" for group in groups), "chrF"), rows, wide=True)
    return [*([group_bars(f"Gain in BLEU on {test}", blocks, "% of BLEU")] if blocks else []), scores_table]


def scatter(title: str, points: Sequence[Point], x_name: str, y_name: str, *, logarithmic: bool = False) -> Markup:
    """A scatter plot with error bars and labels that do not overlap where there is space."""
    height = 340
    level = math.log10 if logarithmic else float
    x_low, x_high = padded([level(bound) for p in points for bound in (p.x - p.x_half, p.x + p.x_half)], 0.08)
    y_low, y_high = padded([bound for p in points for bound in (p.y - p.y_half, p.y + p.y_half)], 0.08)

    def across(x: float) -> float:
        return _LEFT + (level(x) - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)

    def down(y: float) -> float:
        return _TOP + (y_high - y) / (y_high - y_low) * (height - _TOP - _BOTTOM)

    marks: list[Mark | Group] = []
    for value in ticks(y_low, y_high):
        marks.append(mark("line", class_="grid", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=down(value), y2=down(value)))
        marks.append(mark("text", number(value), class_="mark", x=_LEFT - 8, y=down(value) + 4, text_anchor="end"))
    base = height - _BOTTOM
    marks.append(mark("line", class_="axis", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=base, y2=base))
    for value in logarithmic_ticks(x_low, x_high) if logarithmic else ticks(x_low, x_high, 8):
        marks.append(mark("text", number(value), class_="mark", x=across(value), y=base + 17, text_anchor="middle"))
    marks.append(mark("text", x_name, class_="mark", x=_WIDTH - _RIGHT, y=base + 34, text_anchor="end"))
    marks.append(mark("text", y_name, class_="mark", x=_LEFT, y=_TOP - 2))
    for point, (x_label, y_label, anchor) in zip(points, _label_positions(points, across, down, height), strict=True):
        x, y = across(point.x), down(point.y)
        left, right = across(point.x - point.x_half), across(point.x + point.x_half)
        top, bottom = down(point.y + point.y_half), down(point.y - point.y_half)
        drawn = [
            mark("line", class_="error", x1=left, x2=right, y1=y, y2=y),
            mark("line", class_="error", x1=x, x2=x, y1=top, y2=bottom),
            mark("circle", cx=x, cy=y, r=4),
            mark("text", point.name, x=x_label, y=y_label, text_anchor=anchor),
        ]
        marks.append(Group(drawn, f"{point.name}: {_values(point, x_name, y_name)}", "line line-0"))
    values = "; ".join(f"{point.name}: {_values(point, x_name, y_name)}" for point in points)
    return Chart(title, f"{values}.", _WIDTH, height, "plot", marks).draw()


def group_bars(title: str, groups: Sequence[tuple[str, Sequence[Bar]]], unit: str) -> Markup:
    """Groups of horizontal bars around zero, each with its value and a line from its lowest to its highest value."""
    left, right = 150, 70
    height = _TOP + sum(_BAR_STEP * (len(bars) + 1) + 10 for _, bars in groups) + _BOTTOM
    bounds = [0.0, *(bound for _, bars in groups for bar in bars for bound in (bar.low, bar.high, bar.value))]
    low, high = min(bounds), max(bounds)
    high = high if high > low else low + 1

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * (_WIDTH - left - right)

    base = height - _BOTTOM
    marks: list[Mark | Group] = []
    for value in ticks(low, high, 6):
        x = across(value)
        marks.append(mark("line", class_="axis" if value == 0 else "grid", x1=x, x2=x, y1=_TOP, y2=base))
        marks.append(mark("text", number(value), class_="mark", x=x, y=base + 17, text_anchor="middle"))
    marks.append(mark("text", unit, class_="mark", x=_WIDTH - right, y=base + 34, text_anchor="end"))
    y = float(_TOP)
    for name, bars in groups:
        marks.append(mark("text", name, class_="block", x=8, y=y + 12))
        y += _BAR_STEP
        for bar in bars:
            marks.append(_group_bar(bar, y, across, left))
            y += _BAR_STEP
        y += 10
    values = "; ".join(
        f"{name}: " + ", ".join(f"{bar.name} {_signed(bar.value)}" for bar in bars) for name, bars in groups
    )
    return Chart(title, f"{unit}. {values}.", _WIDTH, height, "plot", marks).draw()


def _group_bar(bar: Bar, y: float, across: Callable[[float], float], left: int) -> Group:
    start, end = sorted((across(0), across(bar.value)))
    low, high = across(bar.low), across(bar.high)
    drawn = [
        mark("text", bar.name, class_="mark", x=left - 8, y=y + 12, text_anchor="end"),
        mark("rect", class_="after", x=start, y=y + 2, width=max(1.0, end - start), height=12),
    ]
    interval = ""
    if high > low:
        # The halo separates the line from the bar in light and dark mode.
        drawn += [mark("line", class_=kind, x1=low, x2=high, y1=y + 8, y2=y + 8) for kind in ("halo", "error")]
        interval = f", {_signed(bar.low)} to {_signed(bar.high)}"
    drawn.append(mark("text", _signed(bar.value), class_="mark", x=max(high, end) + 6, y=y + 12))
    return Group(drawn, f"{bar.name}: {_signed(bar.value)}{interval}")


def _label_positions(
    points: Sequence[Point], across: Callable[[float], float], down: Callable[[float], float], height: int
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
        chosen = free[0] if free else int(x + 9 + width > _WIDTH)
        taken.append(boxes[chosen])
        positions.append(candidates[chosen])
    return positions


def _box(position: tuple[float, float, str], width: float) -> tuple[float, float, float, float]:
    x, y, anchor = position
    left = x if anchor == "start" else x - width
    return left, y - 11, left + width, y + 3


def _inside(box: tuple[float, float, float, float], height: int) -> bool:
    return box[0] >= _LEFT and box[1] >= _TOP and box[2] <= _WIDTH and box[3] <= height - _BOTTOM


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _values(point: Point, x_name: str, y_name: str) -> str:
    halves = [f" ±{number(half)}" if half else "" for half in (point.x_half, point.y_half)]
    return f"{x_name} {number(point.x)}{halves[0]}, {y_name} {number(point.y)}{halves[1]}"


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)


def _by_group(figures: Mapping[str, Any], name: str) -> dict[str, float]:
    """A figure on the whole test set and on each of its groups."""
    groups = {str(group["group"]): group.get(name) for group in figures.get("groups") or []}
    return {group: float(value) for group, value in {_ALL: figures[name], **groups}.items() if value is not None}


def _outermost(groups: Mapping[str, float]) -> list[str]:
    """Groups that are not within another one, as `eng-isl/news` is within `eng-isl`."""
    return [name for name in groups if name.rpartition("/")[0] not in groups]


def _without_common_prefix(names: Sequence[str]) -> list[str]:
    """Names without the words that all of them start with: measure-a, measure-b-c → a, b-c."""
    words = [name.split("-") for name in names]
    while all(len(parts) > 1 and parts[0] == words[0][0] for parts in words):
        words = [parts[1:] for parts in words]
    return ["-".join(parts) for parts in words]


def _has_perplexity(point: Mapping[str, float]) -> bool:
    return "step" in point and point.get("train_perplexity", 0) > 0


def _is_final(stage: StageView) -> bool:
    return stage.name.startswith(_FINAL) and _use(stage) == "train-translator"


def _use(stage: StageView) -> str:
    return stage.use or stage.name


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _one_decimal(value: float) -> str:
    return f"{value:.1f}" if value == value else number(None)
