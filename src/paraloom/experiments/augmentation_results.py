"""What an experiment with back-translated text found: figures of each method, and a table of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

Figures = Mapping[str, Any]

COMPARED = "compared-"
"""Before the name of a test, in the name of the stage that compares the methods on it."""

BACK = "back-on-"
"""Before the name of a test, in the name of the stage that measures the back-translator on it, turned around."""

_MEASURES = {"bleu": "BLEU", "chrf": "chrF", "comet": "COMET"}
_LEARNED = ("train_perplexity", "dev_perplexity")
_DIVERSITY = ("ibleu", "ichrf", "kernel_sst", "cost", "sentence_length", "vocabulary")


@dataclass(frozen=True)
class Outcome:
    """One method.

    tests: by name of the test, the figures of each seed's translator: bleu, chrf, their intervals and signatures, and
    `groups`.  diversity: of its back-translations (run.stages.diversity); none of the parallel text alone.
    trainings: of each seed, what its training said.
    """

    method: str
    tests: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    diversity: dict[str, Any] = field(default_factory=dict)
    trainings: list[dict[str, Any]] = field(default_factory=list)

    def mean(self, test: str, measure: str) -> float:
        """Over the seeds."""
        return fmean(figures[measure] for figures in self.tests[test])


def collect(found: Mapping[str, Figures], methods: Sequence[str]) -> list[Outcome]:
    """From the figures of the run's stages by their names; see recipes.augment.stages_of for those.

    >>> stages = {"test-news-base-big-1": {"bleu": 3.0}, "test-news-base-big-2": {"bleu": 4.0}}
    >>> [outcome.mean("news", "bleu") for outcome in collect(stages, ["base-big"])]
    [3.5]
    """
    outcomes = []
    for name in methods:
        tests: dict[str, list[dict[str, Any]]] = {}
        for stage, figures in found.items():
            kind, _, rest = stage.partition("-")
            test, _, made_by = rest.partition("-")
            if kind == "test" and made_by.rpartition("-")[0] == name and made_by.rpartition("-")[2].isdecimal():
                tests.setdefault(test, []).append(dict(figures))
        trainings = [dict(figures) for stage, figures in found.items() if stage.rpartition("-")[0] == f"final-{name}"]
        outcomes.append(Outcome(name, tests, dict(found.get(f"diversity-{name}", {})), trainings))
    return outcomes


def render(outcomes: Sequence[Outcome]) -> str:
    """A line a method: BLEU and chrF on each test, the mean over the seeds and how far these lie apart; diversity.

    ± is half of the mean 95 % interval of one translator, by sacreBLEU's bootstrap over the test's sentences.  COMET is
    there where it was measured, BLEU on the parts of a test where it has some, and the perplexity of the last training
    steps (nats are its logarithm) and of the development pairs.
    """
    tests = list(dict.fromkeys(test for outcome in outcomes for test in outcome.tests))
    known = [name for name in _DIVERSITY if any(name in outcome.diversity for outcome in outcomes)]
    measured = [(test, measure) for test in tests for measure in _MEASURES if _has(outcomes, test, measure)]
    parts = [(test, part) for test in tests for part in _parts(outcomes, test)]
    learned = [name for name in _LEARNED if any(name in each for outcome in outcomes for each in outcome.trainings)]
    heads = ["method", *(f"{test} {_MEASURES[measure]}" for test, measure in measured)]
    heads += [*(f"{test} {part} BLEU" for test, part in parts), *known, *learned]
    rows = [heads]
    for outcome in outcomes:
        row = [outcome.method, *(_over_seeds(outcome.tests.get(test, []), measure) for test, measure in measured)]
        row += [_over_seeds(_of_part(outcome.tests.get(test, []), part), "bleu") for test, part in parts]
        row += [_value(outcome.diversity, name) for name in known]
        rows.append([*row, *(_over_seeds(outcome.trainings, name) for name in learned)])
    widths = [max(len(row[place]) for row in rows) for place in range(len(heads))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def render_back(found: Mapping[str, Figures]) -> str:
    """The back-translator on each test, the other way around.

    >>> print(render_back({"back-on-news": {"bleu": 9.1, "bleu_interval": 0.4, "chrf": 31.0}}))
    Back-translator
    news  BLEU 9.10 ±0.40  chrF 31.00
    """
    rows = {stage.removeprefix(BACK): figures for stage, figures in found.items() if stage.startswith(BACK)}
    width = max(map(len, rows), default=0)
    lines = [
        "  ".join([test.ljust(width), *(f"{said} {_value(figures, name)}" for name, said in shown.items())])
        for test, figures in rows.items()
        if (shown := {name: said for name, said in _MEASURES.items() if figures.get(name) is not None})
    ]
    return "\n".join(["Back-translator", *lines] if lines else [])


def render_differences(found: Mapping[str, Figures]) -> str:
    """A line for each pair of methods and test, from the stages that compared them; empty without such stages.

    >>> print(render_differences({"compared-news": {"beam - base": "+0.31 (+0.02 to +0.60)"}}))
    Differences of BLEU, with 95 % intervals paired by sentence
    news  beam - base  +0.31 (+0.02 to +0.60)
    """
    rows = [
        (stage.removeprefix(COMPARED), pair, str(value))
        for stage, figures in found.items()
        if stage.startswith(COMPARED)
        for pair, value in figures.items()
    ]
    widths = [max((len(row[place]) for row in rows), default=0) for place in range(2)]
    lines = [f"{test:<{widths[0]}}  {pair:<{widths[1]}}  {value}" for test, pair, value in rows]
    return "\n".join(["Differences of BLEU, with 95 % intervals paired by sentence", *lines] if lines else [])


def _has(outcomes: Sequence[Outcome], test: str, measure: str) -> bool:
    return any(each.get(measure) is not None for outcome in outcomes for each in outcome.tests.get(test, []))


def _parts(outcomes: Sequence[Outcome], test: str) -> list[str]:
    """The groups of a test's rows that were measured by themselves, in order."""
    found = (each.get("groups", []) for outcome in outcomes for each in outcome.tests.get(test, []))
    return list(dict.fromkeys(group["group"] for groups in found for group in groups))


def _of_part(figures: Sequence[Figures], part: str) -> list[Figures]:
    return [group for each in figures for group in each.get("groups", []) if group["group"] == part]


def _over_seeds(figures: Sequence[Figures], measure: str) -> str:
    values = [each[measure] for each in figures if each.get(measure) is not None]
    if not values:
        return "-"
    text = f"{fmean(values):.2f}"
    halves = [each[f"{measure}_interval"] for each in figures if each.get(f"{measure}_interval") is not None]
    text += f" ±{fmean(halves):.2f}" if halves else ""
    return text + (f" ({min(values):.2f} to {max(values):.2f})" if len(values) > 1 else "")


def _value(figures: Figures, name: str) -> str:
    """A figure with half its interval, as run.stages.diversity writes them; counts are whole.

    >>> _value({"vocabulary": 872, "cost": 2.036, "cost_interval": 0.02}, "vocabulary"), _value({"cost": 2.036}, "cost")
    ('872', '2.04')
    """
    value, half = figures.get(name), figures.get(f"{name}_interval")
    if value is None:
        return "-"
    shown = f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
    return shown if half is None else f"{shown} ±{half:.2f}"
