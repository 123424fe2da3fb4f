"""Tuning of filters: which selection of pairs trains the best encoder, compared with equally large random ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from paraloom.api.filter_grids import Candidate, expand_grids
from paraloom.api.run import input_stages, run_in
from paraloom.core.config import Config, check_keys, check_range
from paraloom.core.errors import ConfigError
from paraloom.core.stage import Ref, Stage
from paraloom.evaluate.development import DEVELOPMENT
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.result import RunResult
from paraloom.stages.encoders import CompareSelections, TrainEncoder
from paraloom.stages.pairs import Filter

RANDOM = "random"
"""Label of the random selection, which every other one is compared with."""


@dataclass(frozen=True, kw_only=True)
class Tuning(Config):
    """Configuration of `tune`.

    Args:
        pairs: Scored pairs: a corpus folder or a file.
        grids: Conditions in SQL, or names of sets of them: w17-overlap, w17-length, pnmt-tenths … They are
            `paraloom.api.filter_grids.GRIDS`.
        sts: Folder of similarity tasks.
        development: The tasks that decide between candidates, as of `paraloom.stages.TrainEncoder`; by default they
            share no pair with the test tasks.
        size: Number of pairs of each selection, drawn at random from those that the filter keeps (24,000 in W17).
        epochs: Maximum number of passes over the pairs; the best one counts.
        seeds: How many times each candidate is drawn and trained.
        random_seeds: How many times the random selection is drawn and trained, and the best candidate in the end.
        encoder: Further fields of `paraloom.stages.TrainEncoder`.
        bad_rows: 'stop' at a row of the pairs that cannot be read, or 'reject' it.

    Raises:
        ConfigError: A number is below 1, or a key of `encoder` is unknown.
    """

    pairs: str
    grids: tuple[str, ...] = ("w17-overlap",)
    sts: Path
    development: str = DEVELOPMENT
    size: int = 24_000
    epochs: int = 10
    seeds: int = 1
    random_seeds: int = 5
    encoder: dict[str, Any] = field(default_factory=dict)
    bad_rows: Literal["stop", "reject"] = "stop"

    def validate(self) -> None:
        check_range(self, "size", "epochs", "seeds", "random_seeds", low=1)
        check_keys(TrainEncoder, {"pairs": (), **self.encoder})

    def candidates(self) -> list[Candidate]:
        """The candidates of all grids, without the random selection; ConfigError for an unknown grid."""
        return expand_grids(self.grids)


@dataclass(frozen=True)
class TuningResult:
    """Result of `tune`.

    Args:
        selections: A row per selection, the best on the development tasks first, as the stage `CompareSelections`
            writes them.
        winner: Label of the best selection that is not random.
        verdict: Rows of the winner and the random selection, `random_seeds` trainings of each, with figures on the test
            tasks and their difference.
    """

    selections: list[dict[str, Any]]
    winner: str
    verdict: list[dict[str, Any]]

    @property
    def beats_random(self) -> bool:
        """Whether the best selection is known to be better than random pairs: the interval is above zero."""
        difference = next(row["difference"] for row in self.verdict if row["selection"] == self.winner)
        return bool(difference.get("low", -1) > 0)

    def to_dict(self) -> dict[str, Any]:
        """All rows, and the sentence that sums them up."""
        return {
            "selections": self.selections,
            "winner": self.winner,
            "verdict": self.verdict,
            "conclusion": self.conclusion(),
        }

    def format(self) -> str:
        """A table of the selections, the test figures beside those of the untrained encoders, and the conclusion."""
        lines = [f"{'selection':<44} {'pairs':>8} {'epoch':>6} {'Pearson':>8}"]
        for row in self.selections:
            interval = f"  [{row['low']:.2f}, {row['high']:.2f}] over {row['seeds']} seeds" if "low" in row else ""
            figures = f"{row['pairs']:>8,} {row['epoch']:>6} {row['dev_pearson']:>8.2f}"
            lines.append(f"{row['selection']:<44} {figures}{interval}")
        for row in self.verdict:
            if "test_pearson" in row:
                untrained = (
                    f", untrained {row['untrained_test_pearson']:.2f}" if "untrained_test_pearson" in row else ""
                )
                lines.append(f"{row['selection']} on the test tasks: {row['test_pearson']:.2f}{untrained}")
        return "\n".join([*lines, self.conclusion()])

    def conclusion(self) -> str:
        """One sentence: does the best selection beat random selection on the test tasks?"""
        by_label = {row["selection"]: row for row in self.verdict}
        row, random = by_label[self.winner], by_label[RANDOM]
        difference = row["difference"]
        interval = f" [{difference['low']:+.2f}, {difference['high']:+.2f}]" if "low" in difference else ""
        figures = (
            f"with {row['pairs']:,} pairs, Pearson on the test tasks is {difference['mean']:+.2f}{interval} "
            f"against {random['pairs']:,} random pairs"
        )
        start = ""
        if "untrained_test_pearson" in row:
            gain = row["test_pearson"] - row["untrained_test_pearson"]
            start = f" Against the untrained encoder that its trainings started from it is {gain:+.2f}."
        if self.beats_random:
            return f"{self.winner} beats random selection: {figures}.{start}"
        return (
            "No selection is known to beat random selection. The best on the development tasks, "
            f"{self.winner}: {figures}.{start}"
        )


def tune(tuning: Tuning, folder: str | Path, *, workers: int | None = None, seed: int = 1) -> TuningResult:
    """Find the filter whose pairs train the best encoder; if stopped, the same call resumes.

    All candidates are compared on the development tasks; only the best one and the random selection are evaluated on
    the test tasks.

    Reference:
        Wieting et al. (2017), §5.
    """
    rows = _rows(run_in(folder, tuning_stages(tuning), name="tune", seed=seed, workers=workers))
    winner = next((row["selection"] for row in rows if row["selection"] != RANDOM), None)
    if winner is None:
        raise ConfigError("no candidates to compare with the random selection", remedy="Name a grid or a condition.")
    stages = tuning_stages(tuning, winner=winner)
    return TuningResult(rows, winner, _rows(run_in(folder, stages, name="tune", seed=seed, workers=workers)))


def compare_candidates(
    tuning: Tuning,
    folder: str | Path,
    *,
    test_figures: bool = False,
    engine: str = "local",
    workers: int | None = None,
    seed: int = 1,
) -> list[dict[str, Any]]:
    """Train an encoder on each candidate and on random pairs, without choosing one."""
    stages = tuning_stages(tuning, test_figures=test_figures)
    return _rows(run_in(folder, stages, name="tune", seed=seed, engine=engine, workers=workers))


def tuning_stages(tuning: Tuning, *, winner: str | None = None, test_figures: bool = False) -> list[Stage]:
    """The stages of a tuning: for each candidate a filter and an encoder, then their comparison, named `tuned`."""
    stages, pairs = input_stages(tuning.pairs, on_error=tuning.bad_rows)
    tasks: dict[str, Any] = {"sts": tuning.sts, "development": tuning.development}
    trainings: dict[str, list[_Training]] = {}
    for candidate in [Candidate(RANDOM), *tuning.candidates()]:
        count = tuning.random_seeds if candidate.label == RANDOM else tuning.seeds
        trainings[candidate.label] = [_Training(candidate, number) for number in range(1, count + 1)]
    everything = [training for of_label in trainings.values() for training in of_label]
    for training in everything:
        stages += training.stages(tuning, pairs)
    stages.append(CompareSelections(name="tuned", **_compared(everything), **(tasks if test_figures else {})))
    if winner is not None:
        candidate = trainings[winner][0].candidate
        further = [_Training(candidate, number) for number in range(tuning.seeds + 1, tuning.random_seeds + 1)]
        for training in further:
            stages += training.stages(tuning, pairs)
        both = _compared([*trainings[RANDOM], *trainings[winner], *further])
        stages.append(CompareSelections(name="verdict", **both, **tasks, against=RANDOM))
    return stages


@dataclass(frozen=True)
class _Training:
    """One draw of a candidate, and the encoder that is trained on it."""

    candidate: Candidate
    number: int

    @property
    def name(self) -> str:
        return f"{_slug(self.candidate.label)}-{self.number}"

    def stages(self, tuning: Tuning, pairs: Ref) -> list[Stage]:
        settings: dict[str, Any] = {
            "epochs": tuning.epochs,
            "sts": tuning.sts,
            "development": tuning.development,
            "keep": "best",
            **tuning.encoder,
        }
        return [
            Filter(name=self.name, input=pairs, **self.candidate.settings, sample=tuning.size),
            TrainEncoder(name=f"encoder-{self.name}", pairs=(self.name,), **settings),
        ]


def _compared(trainings: Sequence[_Training]) -> dict[str, Any]:
    return {
        "encoders": tuple(f"encoder-{training.name}" for training in trainings),
        "selections": tuple(training.name for training in trainings),
        "labels": tuple(training.candidate.label for training in trainings),
    }


def _rows(result: RunResult) -> list[dict[str, Any]]:
    """The rows that the last stage of a run wrote."""
    text = (result.stages[-1].folder / ARTIFACT / "result.json").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)["selections"]
    return rows


def _slug(label: str) -> str:
    """A stage's name made from a label: letters, digits, underscores and hyphens."""
    words = label.lower().replace(".", "p")
    for symbol, word in {"<=": "upto", ">=": "from", "<>": "not", "!=": "not", "<": "below", ">": "above"}.items():
        words = words.replace(symbol, f" {word} ")
    return "-".join("".join(c if c.isalnum() or c == "_" else " " for c in words).split())
