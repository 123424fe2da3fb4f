"""Results of an experiment on back-translation: figures of each method, and the tables that are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from paraloom.core.results import ResultRecord, text_table

Figures = Mapping[str, Any]
"""Figures of a stage by name."""

COMPARISON = "compared-"
"""Prefix of the name of a test, in the name of the stage that compares the methods on it."""

BACK_TRANSLATION = "back-on-"
"""Prefix of the name of a test, in the name of the stage that evaluates the back-translator on it."""

_MEASURES = {"bleu": "BLEU", "chrf": "chrF", "comet": "COMET"}
_PERPLEXITIES = ("train_perplexity", "dev_perplexity")
_DIVERSITY = ("ibleu", "ichrf", "kernel_sst", "cost", "sentence_length", "vocabulary")


@dataclass(frozen=True)
class MethodResult(ResultRecord):
    """Figures of a method: of each seed's translator by test, of its back-translations, and of each seed's training."""

    method: str
    tests: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    diversity: dict[str, Any] = field(default_factory=dict)
    trainings: list[dict[str, Any]] = field(default_factory=list)

    def mean(self, test: str, measure: str) -> float:
        """The mean of a measure over the seeds."""
        return fmean(figures[measure] for figures in self.tests[test])


@dataclass(frozen=True)
class ExperimentResult(ResultRecord):
    """Figures of the methods, of the back-translator by test, which limits them, and differences of BLEU."""

    methods: tuple[MethodResult, ...]
    back_translator: dict[str, dict[str, Any]] = field(default_factory=dict)
    differences: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def from_stages(cls, stages: Mapping[str, Figures], methods: Sequence[str]) -> ExperimentResult:
        """Collect figures by the names of stages."""
        return cls(
            tuple(_method_result(stages, name) for name in methods),
            {name: dict(figures) for name, figures in _with_prefix(stages, BACK_TRANSLATION)},
            {
                name: {pair: str(value) for pair, value in figures.items()}
                for name, figures in _with_prefix(stages, COMPARISON)
            },
        )

    def format(self) -> str:
        """Tables of the methods, the back-translator and the differences."""
        parts = [
            format_methods(self.methods),
            format_back_translator(self.back_translator),
            format_differences(self.differences),
        ]
        return "\n".join(part for part in parts if part)


def format_methods(results: Sequence[MethodResult]) -> str:
    """A row per method: BLEU and chrF on each test, diversity, perplexities.

    Figures of a test are means over the seeds, with their range. ± is half of the mean 95 % interval of one translator,
    by sacreBLEU's bootstrap over the sentences of the test. COMET, BLEU on groups of a test, and the perplexities of
    the last training steps and of the development pairs are included where they were computed.
    """
    tests = list(dict.fromkeys(test for result in results for test in result.tests))
    measures = [(test, measure) for test in tests for measure in _MEASURES if _has(results, test, measure)]
    groups = [(test, group) for test in tests for group in _groups(results, test)]
    diversity = [name for name in _DIVERSITY if any(name in result.diversity for result in results)]
    perplexities = [
        name for name in _PERPLEXITIES if any(name in training for result in results for training in result.trainings)
    ]
    header = ["method", *(f"{test} {_MEASURES[measure]}" for test, measure in measures)]
    header += [*(f"{test} {group} BLEU" for test, group in groups), *diversity, *perplexities]
    rows = [header]
    for result in results:
        row = [result.method, *(_over_seeds(result.tests.get(test, []), measure) for test, measure in measures)]
        row += [_over_seeds(_of_group(result.tests.get(test, []), group), "bleu") for test, group in groups]
        row += [_with_interval(result.diversity, name) for name in diversity]
        rows.append([*row, *(_over_seeds(result.trainings, name) for name in perplexities)])
    return _aligned(rows)


def format_back_translator(figures: Mapping[str, Figures]) -> str:
    """The figures of the back-translator on each test; empty without any."""
    rows = [
        [
            test,
            *(f"{title} {_with_interval(row, name)}" for name, title in _MEASURES.items() if row.get(name) is not None),
        ]
        for test, row in figures.items()
        if any(row.get(name) is not None for name in _MEASURES)
    ]
    width = max((len(row[0]) for row in rows), default=0)
    lines = ["  ".join([test.ljust(width), *cells]) for test, *cells in rows]
    return "\n".join(["Back-translator", *lines] if lines else [])


def format_differences(differences: Mapping[str, Mapping[str, str]]) -> str:
    """A row for each test and pair of methods; empty without any."""
    rows = [[test, pair, value] for test, values in differences.items() for pair, value in values.items()]
    return "\n".join(["Differences of BLEU, with 95 % intervals paired by sentence", _aligned(rows)] if rows else [])


def _method_result(stages: Mapping[str, Figures], name: str) -> MethodResult:
    tests: dict[str, list[dict[str, Any]]] = {}
    for stage, figures in stages.items():
        kind, _, rest = stage.partition("-")
        test, _, method_and_seed = rest.partition("-")
        method, _, seed = method_and_seed.rpartition("-")
        if kind == "test" and method == name and seed.isdecimal():
            tests.setdefault(test, []).append(dict(figures))
    trainings = [dict(figures) for stage, figures in stages.items() if stage.rpartition("-")[0] == f"final-{name}"]
    return MethodResult(name, tests, dict(stages.get(f"diversity-{name}", {})), trainings)


def _with_prefix(stages: Mapping[str, Figures], prefix: str) -> list[tuple[str, Figures]]:
    return [(stage.removeprefix(prefix), figures) for stage, figures in stages.items() if stage.startswith(prefix)]


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Cells in columns, flush left."""
    return "\n".join(text_table(rows[0], rows[1:], left=len(rows[0])))


def _has(results: Sequence[MethodResult], test: str, measure: str) -> bool:
    return any(figures.get(measure) is not None for result in results for figures in result.tests.get(test, []))


def _groups(results: Sequence[MethodResult], test: str) -> list[str]:
    """The groups of a test that were evaluated separately, in order."""
    groups = (figures.get("groups", []) for result in results for figures in result.tests.get(test, []))
    return list(dict.fromkeys(group["group"] for of_seed in groups for group in of_seed))


def _of_group(figures: Sequence[Figures], name: str) -> list[Figures]:
    return [group for of_seed in figures for group in of_seed.get("groups", []) if group["group"] == name]


def _over_seeds(figures: Sequence[Figures], measure: str) -> str:
    values = [of_seed[measure] for of_seed in figures if of_seed.get(measure) is not None]
    if not values:
        return "-"
    interval = f"{measure}_interval"
    halves = [of_seed[interval] for of_seed in figures if of_seed.get(interval) is not None]
    text = f"{fmean(values):.2f}" + (f" ±{fmean(halves):.2f}" if halves else "")
    return text + (f" ({min(values):.2f} to {max(values):.2f})" if len(values) > 1 else "")


def _with_interval(figures: Figures, name: str) -> str:
    """A figure with half of its interval; counts without decimals."""
    value, half = figures.get(name), figures.get(f"{name}_interval")
    if value is None:
        return "-"
    text = f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
    return text if half is None else f"{text} ±{half:.2f}"
