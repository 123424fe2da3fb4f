"""The papers' tables of tuned filters: W17 Tables 5, 6, 7 and 12, PNMT Table 5."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paraloom.experiments.published import PAPERS, PaperTable
from paraloom.experiments.study import Study
from paraloom.experiments.tables import Figure, ReproducedTable, format_figure
from paraloom.workflows.tuning import RANDOM, compare_candidates, tune

_W17 = {"spec": "word", "max_tokens": 100, "megabatch_size": 1, "two_sided": True}
"""W17's average of word vectors and its loss, with negatives from the mini-batch."""


def length_ranges(study: Study, name: str) -> ReproducedTable:
    """W17 Table 5: encoders trained on pairs of four ranges of length."""
    tuning = study.tuning(["w17-length-parts"], _W17, seeds=study.seeds)
    rows = compare_candidates(tuning, study.folder / name, test_figures=True, workers=study.workers, seed=study.seed)
    by_label = {row["selection"]: row for row in rows}
    ranges = [by_label[candidate.label] for candidate in tuning.candidates()]
    pairs = ", ".join(f"{row['pairs']:,}" for row in ranges)
    conclusion = (
        compare_order("range", PAPERS[name].columns, [row["test_pearson"] for row in ranges])
        + f" Random pairs: {format_figure(_test_figure(by_label[RANDOM]))}."
        + f" Pairs of each range: {pairs}."
    )
    return ReproducedTable(name, PAPERS[name], [("WORD, ours", [_test_figure(row) for row in ranges])], conclusion)


def tuned_filters(*grids: str) -> Callable[[Study, str], ReproducedTable]:
    """Make a table of tuned filters, a grid per column, compared with random pairs (W17 Tables 6, 7 and 12)."""

    def reproduce(study: Study, name: str) -> ReproducedTable:
        results = [
            tune(study.tuning([grid], _W17), study.folder / "tuned" / grid, workers=study.workers, seed=study.seed)
            for grid in grids
        ]
        verdicts = [{row["selection"]: row for row in result.verdict} for result in results]
        winners = [rows[result.winner] for rows, result in zip(verdicts, results, strict=True)]
        figures = [_test_figure(row) for row in (verdicts[0][RANDOM], *winners)]
        conclusion = compare_gains(PAPERS[name], [(row["selection"], row["difference"]) for row in winners])
        return ReproducedTable(name, PAPERS[name], [("WORD, ours", figures)], conclusion)

    return reproduce


def deciles(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 5: encoders trained on each tenth of the pairs by translation cost, overlap and paraphrase score."""
    specs = ("word", "trigram")
    tables: list[dict[str, float]] = []
    for spec in specs:
        tuning = study.tuning(["pnmt-tenths"], {"spec": spec}, epochs=1)
        rows = compare_candidates(tuning, study.folder / name / spec, workers=study.workers, seed=study.seed)
        tables.append({row["selection"]: row["dev_pearson"] for row in rows})
    mean = {label: sum(table[label] for table in tables) / len(tables) for label in tables[0]}
    columns = ("translation_cost", "trigram_overlap", "paraphrase_score")
    rows_of_deciles = [
        (f"tenth {decile}", [mean[f"{column}, tenth {decile}"] for column in columns]) for decile in range(1, 11)
    ]
    best = [max((figures[column], label) for label, figures in rows_of_deciles) for column in range(len(columns))]
    ours = [("mean of WORD and TRIGRAM, best tenth", [figure for figure, _ in best]), *rows_of_deciles]
    return ReproducedTable(name, PAPERS[name], ours, _best_deciles(columns, best, mean[RANDOM]))


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {
    "w17-5": length_ranges,
    "w17-6": tuned_filters("w17-length"),
    "w17-7": tuned_filters("w17-cost", "w17-lm", "w17-classifier"),
    "w17-12": tuned_filters("w17-overlap-1", "w17-overlap-2", "w17-overlap-3", "w17-bleu"),
    "pnmt-5": deciles,
}
"""Name of a table → the function that makes it."""


def compare_order(noun: str, labels: Sequence[str], values: Sequence[float]) -> str:
    """Compare figures with the claim that they decrease from the first to the last.

    Args:
        noun: What has these figures.
        labels: Its names.
        values: A figure for each of them.

    Example:
        >>> compare_order("range", ["short", "long"], [60.0, 61.5])
        'The paper: the first range is best, the last worst. Here the best is long (61.5), the worst short (60.0).'
    """
    best, worst = max(range(len(values)), key=values.__getitem__), min(range(len(values)), key=values.__getitem__)
    claim = f"The paper: the first {noun} is best, the last worst."
    if best == 0 and worst == len(values) - 1:
        return f"{claim} Here too ({values[best]:.1f} and {values[worst]:.1f})."
    return (
        f"{claim} Here the best is {labels[best]} ({values[best]:.1f}), "
        f"the worst {labels[worst]} ({values[worst]:.1f})."
    )


def compare_gains(paper: PaperTable, winners: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """Compare the gains of tuned filters over random pairs with a paper's.

    Args:
        paper: A table whose first column is random selection.
        winners: For each further column the selected filter, and its difference from random pairs as `mean`, with the
            interval from `low` to `high` if there is one.
    """
    random, *tuned = (figure or 0.0 for figure in paper.rows[0][1])
    parts = []
    for column, value, (label, difference) in zip(paper.columns[1:], tuned, winners, strict=True):
        interval = f" [{difference['low']:+.2f}, {difference['high']:+.2f}]" if "low" in difference else ""
        parts.append(
            f"{column} {value - random:+.1f} in the paper, here {difference['mean']:+.2f}{interval} with {label}, "
            f"{_verdict(difference)}"
        )
    return "Compared with random pairs: " + "; ".join(parts) + "."


def _verdict(difference: Mapping[str, Any]) -> str:
    if "low" not in difference:
        return "not tested, as there is one draw of each"
    if difference["low"] > 0:
        return "a gain"
    return "a loss" if difference["high"] < 0 else "no significant difference"


def _best_deciles(columns: Sequence[str], best: Sequence[tuple[float, str]], random: float) -> str:
    """The conclusion of PNMT Table 5."""
    first = max(range(len(columns)), key=lambda column: best[column][0])
    parts = ", ".join(f"{column} {label} ({value:.1f})" for column, (value, label) in zip(columns, best, strict=True))
    return (
        "The paper: the best tenths by the three filters are within 0.2 of each other, that by paraphrase score is "
        f"best. Here: {parts}; {columns[first]} is best, random pairs are at {random:.1f}."
    )


def _test_figure(row: Mapping[str, Any]) -> Figure:
    """The test figure of a selection, with its interval if it was drawn several times."""
    return (row["test_pearson"], row["test_low"], row["test_high"]) if "test_low" in row else row["test_pearson"]
