"""What back-translation brought, over all stages of a run: diversity against adequacy, perplexity, gains by group."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.mt.presets import METHODS
from paraloom.report.charts import Curve, curves
from paraloom.report.diversity import side_by_side
from paraloom.report.figures import number
from paraloom.report.markup import Html, Part, element, join
from paraloom.report.plots import Bar, Point, group_bars, scatter
from paraloom.report.run_folder import RunView, StageView
from paraloom.report.training import records_of, thinned

PARALLEL = "none"
"""The method of a translator that was trained on parallel data alone, with which the others are compared."""

_FINAL = "final-"
_SEED = re.compile(r"-\d+$")
_TEST = re.compile(rf"test-(?P<test>.+)-(?P<method>{'|'.join([PARALLEL, *METHODS])})-(?P<seed>\d+)")
_ALL = "all of the test"


def augmented(run: RunView) -> Part:
    """The parts of the page that the stages of a run allow; None where there are none."""
    points = {stage.name: records_of(run.artifact(stage) / "curve.jsonl") for stage in run.stages if _is_final(stage)}
    parts = [side_by_side(run.stages), frontier(run.stages), perplexities(points), gains(run.stages)]
    return join([part for part in parts if part is not None]) or None


def frontier(stages: Sequence[StageView]) -> Html | None:
    """Each measured corpus of variants as a point: i-BLEU across, chrF to the reference upwards, or likelihood.

    None for fewer than two.  Where fewer than two have chrF, all are placed by −cost.  Corpora that have not what they
    would be placed by are named.
    """
    measured = {stage.name: stage.figures for stage in stages if _use(stage) == "measure-diversity"}
    if len(measured) < 2:
        return None
    shown = {name: figures for name, figures in measured.items() if figures.get("ibleu") is not None}
    by_chrf = sum(figures.get("chrf") is not None for figures in shown.values()) > 1
    figure, y_name = ("chrf", "chrF to the reference") if by_chrf else ("cost", "−cost, nats a token")
    names = dict(zip(measured, _without_common_start(list(measured)), strict=True))
    points = [
        Point(
            names[name],
            figures["ibleu"],
            figures[figure] if by_chrf else -figures[figure],
            figures.get("ibleu_interval") or 0.0,
            figures.get(f"{figure}_interval") or 0.0,
        )
        for name, figures in shown.items()
        if figures.get(figure) is not None
    ]
    if not points:
        return None
    absent = sorted(set(names.values()) - {point.name for point in points})
    missing = element("p", "Without a figure to place them by: ", ", ".join(absent), class_="quiet") if absent else None
    return _section(
        "Diversity and adequacy",
        "To the right, translations of one source overlap less; upwards, they are "
        + ("nearer to the reference. " if by_chrf else "likelier to their translator. ")
        + "Crosses are 95 % intervals.",
        scatter("Diversity and adequacy of variants", points, "i-BLEU", y_name),
        missing,
    )


def perplexities(records: Mapping[str, Sequence[Mapping[str, float]]]) -> Html | None:
    """Training perplexity of each final translator over its steps (BBH22 Figure 4), seeds of one name averaged.

    records: name of the stage, `final-NAME` or `final-NAME-SEED` → the points of its curve.  None without a curve.
    """
    of_name: dict[str, dict[float, list[float]]] = {}
    seeds: dict[str, int] = {}
    for stage, points in records.items():
        found = [(point["step"], point["train_perplexity"]) for point in points if _drawable(point)]
        if not found:
            continue
        name = _SEED.sub("", stage.removeprefix(_FINAL))
        seeds[name] = seeds.get(name, 0) + 1
        for step, value in found:
            of_name.setdefault(name, {}).setdefault(step, []).append(value)
    lines = []
    for name, steps in of_name.items():
        # Where some seeds stopped earlier, a mean of the others would jump.
        means = [(step, _mean(values)) for step, values in sorted(steps.items()) if len(values) == seeds[name]]
        if means:
            lines.append(Curve(name, thinned(means)))
    if not lines:
        return None
    lines.sort(key=lambda line: -line.points[-1][1])
    return _section(
        "Training perplexity",
        "Of the words to be said, with dropout, over all words; low is easy to learn. The scale is logarithmic.",
        curves("Training perplexity of the final translators", lines, "step", logarithmic=True),
    )


def gains(stages: Sequence[StageView]) -> Html | None:
    """BLEU gained over parallel data alone, in per cent, by group of each test set (BBH22 Figure 5); means over seeds.

    Stages are named test-TEST-METHOD-SEED; tests without METHOD none are left out.  None where there is no other.
    """
    tests: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for stage in stages:
        told = _TEST.fullmatch(stage.name)
        if told and _use(stage) == "evaluate-translator" and "bleu" in stage.figures:
            tests.setdefault(told["test"], {}).setdefault(told["method"], []).append(stage.figures)
    parts: list[Part] = []
    for test, methods in tests.items():
        if PARALLEL in methods and len(methods) > 1:
            parts += [element("h4", test), _gains_of(test, methods)]
    if not parts:
        return None
    intro = "Change of BLEU, in per cent of that of a translator from parallel data alone; lines span the seeds."
    return _section("Gain by group of the test", intro, parts)


def _gains_of(test: str, methods: Mapping[str, Sequence[Mapping[str, Any]]]) -> Part:
    """A chart of one test set, and the scores behind it."""
    bleu = {method: [_by_group(figures, "bleu") for figures in seeds] for method, seeds in methods.items()}
    groups = _outermost(bleu[PARALLEL][0])
    order = [name for name in (*METHODS, PARALLEL) if name in methods]
    blocks = []
    for group in groups:
        base = _mean([found[group] for found in bleu[PARALLEL] if group in found])
        bars = []
        for method in order[:-1]:
            values = [100 * (found[group] / base - 1) for found in bleu[method] if group in found] if base else []
            if values:
                bars.append(Bar(method, _mean(values), min(values), max(values)))
        if bars:
            blocks.append((group, bars))
    heads = ["method", "seeds", *(f"BLEU, {group}" for group in groups), "chrF"]
    rows = []
    for method in order:
        cells = [_mean([found[group] for found in bleu[method] if group in found]) for group in groups]
        chrf = _mean([figures["chrf"] for figures in methods[method] if figures.get("chrf") is not None])
        shown = [str(len(methods[method])), *map(_tenth, cells), _tenth(chrf)]
        name = "parallel data alone" if method == PARALLEL else method
        row = [element("th", name, scope="row"), *(element("td", each, class_="n") for each in shown)]
        rows.append(element("tr", row))
    head = [element("th", name, scope="col", class_="n" if place else None) for place, name in enumerate(heads)]
    table = element("table", element("thead", element("tr", head)), element("tbody", rows))
    chart = group_bars(f"Gain in BLEU on {test}", blocks, "% of BLEU") if blocks else None
    return join(chart, element("div", table, class_="wide"))


def _by_group(figures: Mapping[str, Any], name: str) -> dict[str, float]:
    """A figure over all of a test set, and over each of its groups."""
    groups = {str(each["group"]): each.get(name) for each in figures.get("groups") or []}
    return {group: float(value) for group, value in {_ALL: figures[name], **groups}.items() if value is not None}


def _outermost(groups: Mapping[str, float]) -> list[str]:
    """Names without those of sets within them, `eng-isl/news` in `eng-isl`."""
    return [name for name in groups if name.rpartition("/")[0] not in groups]


def _without_common_start(names: Sequence[str]) -> list[str]:
    """Names without the words that all begin with: measure-a, measure-b-c → a, b-c."""
    words = [name.split("-") for name in names]
    while all(len(each) > 1 and each[0] == words[0][0] for each in words):
        words = [each[1:] for each in words]
    return ["-".join(each) for each in words]


def _drawable(point: Mapping[str, float]) -> bool:
    return "step" in point and point.get("train_perplexity", 0) > 0


def _is_final(stage: StageView) -> bool:
    return stage.name.startswith(_FINAL) and _use(stage) == "train-translator"


def _use(stage: StageView) -> str:
    return stage.what or stage.name


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _tenth(value: float) -> str:
    return f"{value:.1f}" if value == value else number(None)


def _section(title: str, intro: str, *parts: Part) -> Html:
    return element("section", element("h3", title), element("p", intro, class_="intro"), parts, class_="augmented")
