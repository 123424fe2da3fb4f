"""The tables of Zhou et al. (2017), PGRU, out of runs of `examples/pgru.toml`, one for each seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from paraloom.core.digests import signature
from paraloom.papers.measurements import Accuracies, mean_of_seeds
from paraloom.papers.published import PAPERS, published_figures
from paraloom.papers.result_files import FinishedRun
from paraloom.papers.tables import SEED_RANGE, ReproducedTable, Row, reproduced
from paraloom.papers.verdicts import Order

_NEGATIVES = (9, 29, 99)
_SHARES = (1, 10, 100)
_CHOOSING = "choosing among 100"
_TASKS = ("SemEval2013", "Turney2012(5)", "Turney2012(10)")
_TASK_STAGES = ("task-semeval", "task-turney", "task-turney")
_PHRASES_ALONE = "k99-of-100"
_PAIRS_OF_SYSTEMS = (("GRU(PPDB)", "average"), ("task-specific GRU", "GRU(PPDB)"), ("task-specific GRU", "average"))
_AVERAGE = "average of the same vectors, not trained"


class PhraseRuns:
    """The figures of runs of `examples/pgru.toml`, which differ in their seed."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._runs = [FinishedRun(folder, "paraloom run examples/pgru.toml") for folder in folders]
        self.count = len(self._runs)
        self.inputs = {f"run with seed {run.seed}": run.digest for run in self._runs}
        self.signature = signature("pgru", seeds="+".join(str(run.seed) for run in self._runs))

    def results(self, stage: str) -> list[dict[str, Any]]:
        """The result.json of a stage in each run."""
        return [run.result(stage) for run in self._runs]

    def has(self, *stages: str) -> bool:
        """True if every run has all these stages."""
        return all(set(stages) <= set(run.stages) for run in self._runs)

    def choosing(self, stage: str, system: str = "trained") -> Accuracies:
        """Accuracy of a system in choosing the paraphrase among 100."""
        results = self.results(stage)
        return Accuracies([result[system][_CHOOSING] for result in results], results[0]["test"])

    def on_task(self, stage: str, task: str, system: str = "trained") -> Accuracies:
        """Accuracy of a system on a task."""
        rows = [next(row for row in result[system]["rows"] if row["task"] == task) for result in self.results(stage)]
        return Accuracies([row["accuracy"] for row in rows], rows[0]["n"])


def contrasts(runs: PhraseRuns, name: str) -> ReproducedTable:
    """PGRU Figure 2: the accuracy by the number of contrasting phrases and the share of the pairs."""
    gru = {(k, share): runs.choosing(f"k{k}-of-{share}") for k in _NEGATIVES for share in _SHARES}
    average = [runs.choosing(f"k{_NEGATIVES[0]}-of-{share}", "average") for share in _SHARES]
    rows: list[Row] = [
        (f"k = {k}, ours", [mean_of_seeds(gru[k, share].values) for share in _SHARES]) for k in _NEGATIVES
    ]
    rows.append((_AVERAGE, [mean_of_seeds(accuracies.values) for accuracies in average]))
    orders = list(_contrast_orders(gru))
    orders.append(Order("100 % of the pairs, k = 99: GRU above the average", None, gru[99, 100].above(average[-1])))
    return _table(runs, name, rows, orders, "1 by definition")


def _contrast_orders(gru: Mapping[tuple[int, int], Accuracies]) -> Iterator[Order]:
    """PGRU §3.1: more data is better at every k, more contrasting phrases with every share of the data."""
    for k in _NEGATIVES:
        for less, more in pairwise(_SHARES):
            claim = f"k = {k}: {more} % of the pairs above {less} %"
            yield Order(claim, None, gru[k, more].above(gru[k, less]))
    for share in _SHARES:
        for less, more in pairwise(_NEGATIVES):
            claim = f"{share} % of the pairs: k = {more} above k = {less}"
            yield Order(claim, None, gru[more, share].above(gru[less, share]))


def similarity_tasks(runs: PhraseRuns, name: str) -> ReproducedTable:
    """PGRU Table 1: phrase similarity tasks."""
    # Name in orders → row of the paper, of ours, and the accuracies.
    systems = {
        "average": ("SUM, not trained", _AVERAGE, [runs.on_task(_PHRASES_ALONE, task, "average") for task in _TASKS]),
        "GRU(PPDB)": (
            "GRU(PPDB)",
            "GRU of phrase pairs alone, ours",
            [runs.on_task(_PHRASES_ALONE, task) for task in _TASKS],
        ),
    }
    if runs.has(*_TASK_STAGES):
        of_tasks = [runs.on_task(stage, task) for stage, task in zip(_TASK_STAGES, _TASKS, strict=True)]
        label = "GRU of the task's training set alone, ours"
        systems["task-specific GRU"] = ("GRU, task-specific", label, of_tasks)
    rows: list[Row] = [
        (label, [mean_of_seeds(accuracies.values) for accuracies in ours]) for _, label, ours in systems.values()
    ]
    paper = published_figures(name)
    orders = []
    for better, worse in _PAIRS_OF_SYSTEMS:
        if {better, worse} <= set(systems):
            (above, _, ours), (below, _, others) = systems[better], systems[worse]
            for column, task in enumerate(PAPERS[name].columns):
                published = paper[above][column] - paper[below][column]
                orders.append(Order(f"{task}: {better} above {worse}", published, ours[column].above(others[column])))
    return _table(runs, name, rows, orders, "50, 20 and 10 by definition")


TABLES: dict[str, Callable[[PhraseRuns, str], ReproducedTable]] = {
    "pgru-figure-2": contrasts,
    "pgru-1": similarity_tasks,
}
"""Name of a table → the function that makes it from runs."""


def _table(runs: PhraseRuns, name: str, rows: Sequence[Row], orders: Sequence[Order], random: str) -> ReproducedTable:
    counts = runs.results(_PHRASES_ALONE)[0]["pairs"]
    seeds = runs.count
    return reproduced(
        name,
        rows,
        signature=runs.signature,
        conditions=[
            (
                "pairs",
                "406,170 of PPDB S, phrases of any length",
                f"{counts['used']:,}: bigrams of PPDB with a word, phrases of a lexicon by pivoting",
                "no phrases of PPDB S are among our data",
            ),
            ("seeds", "not stated", str(seeds), "to see how much they matter"),
        ],
        orders=orders,
        seeds=seeds,
        brackets=SEED_RANGE if seeds > 1 else "",
        inputs=runs.inputs,
        baselines={"untrained": f"row *{_AVERAGE}*", "random": random, "identity": "does not apply"},
    )
