"""PARK17's Tables 2, 4 and 6 out of the results of its own loop: topics, its aligner, phrase-based translators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from paraloom.core.errors import ConfigError
from paraloom.core.stats import Estimate
from paraloom.papers.measurements import mean_estimate
from paraloom.papers.published import PAPERS, published_figures
from paraloom.papers.result_files import digest_of, read_result, with_half
from paraloom.papers.tables import Figure, ReproducedTable, Row, reproduced
from paraloom.papers.verdicts import Order

LENGTHS, FIRST, SECOND = "lengths alone", "first translator", "after self-training"
_HEADING = "PARK17's own test, JHE"
_ROUNDS = {
    LENGTHS: "lengths alone, true documents",
    FIRST: "PARK17 (topics, θ .5, published λ), aligned by MT⁰",
    SECOND: "PARK17, aligned by MT¹",
}
_OTHERS = (
    "all evidence, no translator, true documents",
    "all evidence, aligned by MT⁰",
    "all evidence, aligned by MT¹",
    "gold beads (oracle)",
)
_COLUMNS = {
    "park17-2": {"F1": "documents, F1"},
    "park17-4": {"F1": "beads, F1"},
    "park17-6": {"JHE, without BC⁰": "BLEU", "JHE": "BLEU, +BC⁰"},
}
_CONDITIONS = (
    ("documents", "3,249 Korean and English news", "123 of NTREX with lines joined and dropped", "theirs are not free"),
    ("first bitext, BC⁰", "of several Korean newswire sites", "1,000 pairs of news", "theirs is not free"),
    ("documents are paired by", "topics (LDA), at least 0.5"),
    ("sentences are aligned by", "λ = .04, .21, .75"),
    ("translator", "phrase-based (Moses)", "phrase-based, weights not tuned", "Moses is not at hand"),
    ("words of Korean", "by a part-of-speech tagger", "between spaces", "no tagger of Korean is at hand"),
    ("BLEU", "on JHE and news", "on JHE", "their news are not free"),
    (
        "intervals",
        "none",
        "of a draw's differences, over draws of joined and dropped lines (Student)",
        "to judge the orders",
    ),
)


def loop_table(folder: Path, name: str) -> ReproducedTable:
    """PARK17 Table 2, 4 or 6: the paper's method by round, and all evidence of Paraloom's aligners below it."""
    file = folder / "self-training.json"
    result = read_result(file, _HEADING)
    figures = {row[0]: _figures(result, row, _COLUMNS[name].values()) for row in result["rows"]}
    rounds = {label: figures[row] for label, row in _ROUNDS.items() if any(figures[row])}
    rows: list[Row] = [(f"{label}, ours", of_round) for label, of_round in rounds.items()]
    rows += [(row, figures[row]) for row in _OTHERS if any(figures.get(row, ()))]
    return reproduced(
        name,
        rows,
        columns=tuple(_COLUMNS[name]),
        conditions=_CONDITIONS,
        orders=list(_orders(name, rounds)),
        seeds=int(result["seeds"]),
        brackets="the mean of the draws less and plus their standard deviation",
        baselines={
            "untrained": f"row *{LENGTHS}*" if LENGTHS in rounds else "does not apply, the first needs a translator",
            "random": "does not apply",
            "identity": "row *gold beads (oracle)*" if name == "park17-6" else "does not apply",
        },
        inputs=digest_of(file),
    )


TABLES: dict[str, Callable[[Path, str], ReproducedTable]] = dict.fromkeys(_COLUMNS, loop_table)
"""Name of a table → the function that makes it from the folder of results."""


def _figures(result: Mapping[str, Any], row: Sequence[str], columns: Iterable[str]) -> list[Figure]:
    """The figures of a row, with those of its draws where the result has them."""
    figures: list[Figure] = []
    for column in columns:
        cell = row[result["columns"].index(column)]
        draws = result.get("draws", {}).get(row[0], {}).get(column)
        if draws:
            figures.append((fmean(draws), fmean(draws) - stdev(draws), fmean(draws) + stdev(draws), *draws))
        else:
            figures.append(with_half(cell.replace("**", "")) if "±" in cell else None)
    return figures


def _orders(name: str, rounds: Mapping[str, Sequence[Figure]]) -> Iterator[Order]:
    """Each column rises from a round to the next, in draws of the same documents."""
    heads, published = PAPERS[name].columns, published_figures(name)
    for (before, first), (after, second) in pairwise(rounds.items()):
        for column, low, high in zip(_COLUMNS[name], first, second, strict=True):
            if isinstance(low, tuple) and isinstance(high, tuple):
                index = heads.index(column)
                rises = [late - early for early, late in zip(low[3:], high[3:], strict=True)]
                if not rises:
                    raise ConfigError(
                        f"the result '{_HEADING}' has no draws",
                        remedy="Run benchmarks/selftraining.py with --record.",
                    )
                ours = mean_estimate([Estimate(rise, rise, rise) for rise in rises])
                rise = published[after][index] - published[before][index]
                yield Order(f"{column}: {after} above {before}", rise, ours, decimals=3)
