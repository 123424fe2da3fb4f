"""Tuning: which selection of pairs trains the best encoder, against random selections of the same size."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError
from paraloom.pipeline.definition import Definition
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables
from paraloom.workflows.filter_grids import Candidate, grid
from paraloom.workflows.run import corpus_stages

RANDOM = "random"
"""The label of selections by chance, what every other one is compared with."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What is tried, and how.

    pairs: a scored corpus.  grids: names of paraloom.workflows.filter_grids.GRIDS, or SQL conditions.  sts: a folder of
    similarity tasks, of which `development` decides.  size: pairs of each selection, drawn by chance from what the
    filter keeps (W17: 24,000).  epochs: at most; the best one is taken.  seeds: how many times each is drawn and
    trained; random_seeds: the same for the random selection.  encoder: further fields of `train-encoder`.
    """

    pairs: str
    grids: Sequence[str]
    sts: str
    development: str = "STS-B/dev"
    size: int = 24_000
    epochs: int = 10
    seeds: int = 1
    random_seeds: int = 5
    encoder: dict[str, Any] | None = None

    def candidates(self) -> list[Candidate]:
        """What is tried, the random selection left out.  Raises ConfigError for an unknown grid."""
        return grid(list(self.grids))


@dataclass(frozen=True)
class Tuned:
    """What a tuning found.

    rows: each selection's development figure, the best first, as `compare-selections` writes them.  winner: the best
    one that is not random.  verdict: the winner and random selections, `random_seeds` of each, with test figures and
    their difference.
    """

    rows: list[dict[str, Any]]
    winner: str
    verdict: list[dict[str, Any]]

    def __str__(self) -> str:
        """One sentence for people."""
        by = {row["selection"]: row for row in self.verdict}
        row, chance = by[self.winner], by[RANDOM]
        found = row["difference"]
        interval = f" [{found['low']:+.2f}, {found['high']:+.2f}]" if "low" in found else ""
        said = f"with {row['pairs']:,} pairs, Pearson on the test tasks is {found['mean']:+.2f}{interval}"
        said += f" against {chance['pairs']:,} random pairs"
        if found.get("low", -1) > 0:
            return f"{self.winner} beats random selection: {said}."
        return (
            f"No selection is known to beat random selection. The best on the development task, {self.winner}: {said}."
        )


def tune(tuning: Tuning, folder: Path, *, workers: int | None = None, seed: int = 1) -> Tuned:
    """Try all candidates on the development task, then measure the best one and random pairs on the test tasks.

    The test tasks are looked at for these two alone.  A run folder like any other: stopped, the same call goes on.
    Raises ConfigError for an unknown grid, DataError when the tasks are not there.
    """
    first = run_pipeline(tuning_pipeline(tuning, seed=seed), folder, workers=workers)
    rows = _rows(first.stages[-1].folder)
    winner = next((row["selection"] for row in rows if row["selection"] != RANDOM), None)
    if winner is None:
        raise ConfigError("there is nothing but random selections to compare", remedy="Name a grid or a condition.")
    both = run_pipeline(tuning_pipeline(tuning, winner=winner, seed=seed), folder, workers=workers)
    return Tuned(rows, winner, _rows(both.stages[-1].folder))


def compare(
    tuning: Tuning, folder: Path, *, measured: bool = False, workers: int | None = None, seed: int = 1
) -> list[dict[str, Any]]:
    """The rows of all candidates, the best on the development task first.

    measured: with test figures, for candidates that are to be shown side by side and not chosen from.
    """
    pipeline = tuning_pipeline(tuning, measured=measured, seed=seed)
    return _rows(run_pipeline(pipeline, folder, workers=workers).stages[-1].folder)


def tuning_pipeline(tuning: Tuning, *, winner: str | None = None, measured: bool = False, seed: int = 1) -> Definition:
    """The pipeline of a tuning: for each candidate a filter and an encoder, then `compare-selections`, named `tuned`.

    winner: a candidate's label; it and the random selection are then trained `random_seeds` times each and compared
    once more, on the test tasks, by a last stage `verdict`.  measured: test figures for all of them.
    Raises ConfigError for an unknown grid.
    """
    if min(tuning.size, tuning.epochs, tuning.seeds, tuning.random_seeds) < 1:
        raise ConfigError("size, epochs, seeds and random_seeds are 1 or more")
    stages, pairs = corpus_stages(tuning.pairs)
    candidates = [Candidate(RANDOM), *tuning.candidates()]
    tasks = {"sts": str(Path(tuning.sts).absolute()), "development": tuning.development}
    runs = [_Run(each, number) for each in candidates for number in range(1, _seeds(tuning, each) + 1)]
    last = {each.label: [run for run in runs if run.candidate is each] for each in candidates}
    for run in runs:
        stages += run.stages(tuning, pairs)
    stages.append({"name": "tuned", "use": "compare-selections", **_compared(runs), **(tasks if measured else {})})
    if winner is not None:
        chosen = next(each for each in candidates if each.label == winner)
        more = [_Run(chosen, number) for number in range(tuning.seeds + 1, tuning.random_seeds + 1)]
        for run in more:
            stages += run.stages(tuning, pairs)
        stages.append(
            {
                "name": "verdict",
                "use": "compare-selections",
                **_compared([*last[RANDOM], *last[winner], *more]),
                **tasks,
                "against": RANDOM,
            }
        )
    return pipeline_from_tables(stages, name="tune", seed=seed)


@dataclass(frozen=True)
class _Run:
    """One draw of a candidate and the encoder trained on it."""

    candidate: Candidate
    number: int

    @property
    def name(self) -> str:
        return f"{_slug(self.candidate.label)}-{self.number}"

    def stages(self, tuning: Tuning, pairs: str) -> list[dict[str, Any]]:
        return [
            {"name": self.name, "use": "filter", "input": pairs, **self.candidate.settings, "sample": tuning.size},
            {
                "name": f"encoder-{self.name}",
                "use": "train-encoder",
                "pairs": [self.name],
                "epochs": tuning.epochs,
                "sts": str(Path(tuning.sts).absolute()),
                "development": tuning.development,
                "keep": "best",
                **(tuning.encoder or {}),
            },
        ]


def _seeds(tuning: Tuning, candidate: Candidate) -> int:
    return tuning.random_seeds if candidate.label == RANDOM else tuning.seeds


def _compared(runs: Sequence[_Run]) -> dict[str, list[str]]:
    return {
        "encoders": [f"encoder-{run.name}" for run in runs],
        "selections": [run.name for run in runs],
        "labels": [run.candidate.label for run in runs],
    }


def _rows(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder / "artifact/result.json").read_text(encoding="utf-8"))["selections"]
    return rows


def _slug(label: str) -> str:
    """A stage's name out of a label: letters, digits and hyphens, distinct for distinct labels."""
    words = label.replace("<=", " upto ").replace(">=", " from ").replace(".", "p").lower()
    return "-".join("".join(c if c.isalnum() or c == "_" else " " for c in words).split())
