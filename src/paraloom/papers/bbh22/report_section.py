"""Section of a report on experiments with back-translated text: training perplexity, gains by test group."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from paraloom.mt.presets import METHODS
from paraloom.web.charts import Chart, Curve, Group, Mark, curves, mark
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
_WIDTH, _TOP, _BOTTOM, _BAR_STEP = 640, 14, 40, 17


@dataclass(frozen=True)
class Bar:
    """A mean, and the lowest and highest of the values that it is the mean of."""

    name: str
    value: float
    low: float
    high: float


def sections(run: RunView) -> list[Markup]:
    """All sections that the stages of a run allow."""
    final = [stage for stage in run.stages if stage.name.startswith(_FINAL) and _use(stage) == "train-translator"]
    points = {stage.name: read_curve(run.artifact(stage) / "curve.jsonl") for stage in final}
    parts = [perplexities(points), gains(run.stages)]
    return [part for part in parts if part is not None]


def perplexities(records: Mapping[str, Sequence[Mapping[str, float]]]) -> Markup | None:
    """Training perplexity of each stage `final-NAME[-SEED]` over its steps, averaged over seeds (BBH22, Figure 4)."""
    of_name: dict[str, dict[float, list[float]]] = {}
    seeds: dict[str, int] = {}
    for stage, points in records.items():
        known = (point for point in points if "step" in point and point.get("train_perplexity", 0) > 0)
        values = [(point["step"], point["train_perplexity"]) for point in known]
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
    """Relative gain in BLEU over parallel data only, by group of each test set (BBH22, Figure 5); None without it."""
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


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)


def _by_group(figures: Mapping[str, Any], name: str) -> dict[str, float]:
    """A figure on the whole test set and on each of its groups."""
    groups = {str(group["group"]): group.get(name) for group in figures.get("groups") or []}
    return {group: float(value) for group, value in {_ALL: figures[name], **groups}.items() if value is not None}


def _outermost(groups: Mapping[str, float]) -> list[str]:
    """Groups that are not within another one, as `eng-isl/news` is within `eng-isl`."""
    return [name for name in groups if name.rpartition("/")[0] not in groups]


def _use(stage: StageView) -> str:
    return stage.use or stage.name


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _one_decimal(value: float) -> str:
    return f"{value:.1f}" if value == value else number(None)
