"""Experiments with back-translated text: diversity against adequacy, training perplexity, and gains by test group."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.evaluate.diversity.names import NAMES, NOTE
from paraloom.mt.presets import METHODS
from paraloom.report.charts import Bar, Curve, Point, curves, group_bars, scatter
from paraloom.report.formatting import count, number
from paraloom.report.markup import Html, Part, element, join, table
from paraloom.report.run_folder import RunView, StageView
from paraloom.report.training import read_curve, thinned

PARALLEL = "none"
"""The method of the translators that are trained on parallel data only, which all others are compared with."""

_FINAL = "final-"
_SEED = re.compile(r"-\d+$")
_TEST = re.compile(rf"test-(?P<test>.+)-(?P<method>{'|'.join([PARALLEL, *METHODS])})-(?P<seed>\d+)")
_ALL = "whole test set"


def augmentation(run: RunView) -> Part:
    """All sections that the stages of a run allow; None for a run without any of them."""
    points = {stage.name: read_curve(run.artifact(stage) / "curve.jsonl") for stage in run.stages if _is_final(stage)}
    parts = [diversity_table(run.stages), frontier(run.stages), perplexities(points), gains(run.stages)]
    return join([part for part in parts if part is not None]) or None


def diversity_table(stages: Sequence[StageView]) -> Html | None:
    """The figures of all `measure-diversity` stages, one corpus per row; None without such a stage.

    Reference:
        BBH22, Tables 1 to 4.
    """
    measured = _measured(stages)
    columns = [name for name in NAMES if any(figures.get(name) is not None for figures in measured.values())]
    if not columns:
        return None
    rows = []
    for corpus, figures in measured.items():
        counts = [count(figures[name]) if name in figures else "–" for name in ("groups", "alone")]
        cells = [*counts, *(_diversity_cell(figures, name) for name in columns)]
        row = [element("th", corpus, scope="row"), *(element("td", cell, class_="n") for cell in cells)]
        rows.append(element("tr", row))
    heads = _heads("corpus", "sources", "alone", *(NAMES[name] for name in columns))
    return element(
        "section",
        element("h3", "Diversity"),
        element("div", table(heads, rows), class_="wide"),
        element("p", NOTE.replace("\n", " "), class_="quiet"),
        class_="augmented",
    )


def frontier(stages: Sequence[StageView]) -> Html | None:
    """A scatter plot of the measured corpora: i-BLEU against chrF to the reference, or against likelihood.

    If fewer than two corpora have chrF, all are plotted by their negated translation cost.  Corpora without one of the
    two figures are listed below the plot.

    Returns:
        The section; None for fewer than two measured corpora.
    """
    measured = _measured(stages)
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
    return _section(
        "Diversity and adequacy",
        "Further right, the translations of one source overlap less; further up, they are "
        + ("closer to the reference. " if by_chrf else "more likely according to their translator. ")
        + "Crosses are 95 % confidence intervals.",
        scatter("Diversity and adequacy of variants", points, "i-BLEU", y_name),
        element("p", "Not plotted because a figure is missing: ", missing, class_="quiet") if missing else None,
    )


def perplexities(records: Mapping[str, Sequence[Mapping[str, float]]]) -> Html | None:
    """Training perplexity of each final translator over its steps, averaged over seeds.

    Args:
        records: Stage name, `final-NAME` or `final-NAME-SEED` → records of its training curve.

    Returns:
        The section; None without a curve.

    Reference:
        BBH22, Figure 4.
    """
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
    return _section(
        "Training perplexity",
        "Perplexity of the target tokens during training, with dropout and the full softmax, on a logarithmic scale. "
        "Text with a lower perplexity is easier to learn.",
        curves("Training perplexity of the final translators", lines, "step", logarithmic=True),
    )


def gains(stages: Sequence[StageView]) -> Html | None:
    """Relative gain in BLEU over parallel data only, by group of each test set; means over seeds.

    Args:
        stages: Stages of a run; `evaluate-translator` stages are named test-TEST-METHOD-SEED.

    Returns:
        The section; None unless a test set has been translated by method `none` and by another method.

    Reference:
        BBH22, Figure 5.
    """
    tests: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for stage in stages:
        match = _TEST.fullmatch(stage.name)
        if match and _use(stage) == "evaluate-translator" and "bleu" in stage.figures:
            tests.setdefault(match["test"], {}).setdefault(match["method"], []).append(stage.figures)
    parts: list[Part] = []
    for test, methods in tests.items():
        if PARALLEL in methods and len(methods) > 1:
            parts += [element("h4", test), _gains_of(test, methods)]
    if not parts:
        return None
    intro = "Change in BLEU, in % of the BLEU of a translator trained on parallel data only. Lines span the seeds."
    return _section("Gain by test group", intro, parts)


def _gains_of(test: str, methods: Mapping[str, Sequence[Mapping[str, Any]]]) -> Part:
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
        values_shown = [str(len(methods[method])), *map(_one_decimal, cells), _one_decimal(chrf)]
        name = "parallel data only" if method == PARALLEL else method
        row = [element("th", name, scope="row"), *(element("td", value, class_="n") for value in values_shown)]
        rows.append(element("tr", row))
    scores_table = table(_heads("method", "seeds", *(f"BLEU, {group}" for group in groups), "chrF"), rows)
    chart = group_bars(f"Gain in BLEU on {test}", blocks, "% of BLEU") if blocks else None
    return join(chart, element("div", scores_table, class_="wide"))


def _measured(stages: Sequence[StageView]) -> dict[str, Mapping[str, Any]]:
    return {stage.name: stage.figures for stage in stages if _use(stage) == "measure-diversity"}


def _diversity_cell(figures: Mapping[str, Any], name: str) -> str:
    value, half = figures.get(name), figures.get(f"{name}_interval")
    if value is None:
        return "–"
    if name.endswith("vocabulary"):
        return count(int(value))
    return f"{value:.2f}" + (f" ± {half:.2f}" if half else "")


def _heads(*names: str) -> list[Html]:
    """Header cells: a column of names, then columns of numbers."""
    return [element("th", name, scope="col", class_="n" if i else None) for i, name in enumerate(names)]


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


def _section(title: str, intro: str, *parts: Part) -> Html:
    return element("section", element("h3", title), element("p", intro, class_="intro"), parts, class_="augmented")
