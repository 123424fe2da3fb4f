"""Tuning of filters: which selection of pairs trains the best encoder, compared with equally large random ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from paraloom.api.run import input_stages, run_in
from paraloom.core.config import Config, check_keys, check_range
from paraloom.core.stage import Ref, Stage
from paraloom.evaluate.development import DEVELOPMENT
from paraloom.papers.w17.compare_selections import CompareSelections
from paraloom.papers.w17.filter_grids import Candidate, expand_grids
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.result import RunResult
from paraloom.stages.encoders import TrainEncoder
from paraloom.stages.pairs import Filter

RANDOM = "random"
"""Label of the random selection, which every other one is compared with."""


@dataclass(frozen=True, kw_only=True)
class Tuning(Config):
    """Configuration of `compare_candidates`.

    Args:
        pairs: Scored pairs: a corpus folder or a file.
        grids: Conditions in SQL, or names of sets of them: w17-overlap, w17-length, pnmt-tenths … They are
            `paraloom.papers.w17.filter_grids.GRIDS`.
        sts: Folder of similarity tasks.
        development: The tasks that decide between candidates, as of `paraloom.stages.TrainEncoder`; by default they
            share no pair with the test tasks.
        size: Number of pairs of each selection, drawn at random from those that the filter keeps (24,000 in W17).
        epochs: Maximum number of passes over the pairs; the best one counts.
        seeds: How many times each candidate is drawn and trained.
        random_seeds: How many times the random selection is drawn and trained.
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


def compare_candidates(
    tuning: Tuning,
    folder: str | Path,
    *,
    test_figures: bool = False,
    engine: str = "local",
    workers: int | None = None,
    seed: int = 1,
) -> list[dict[str, Any]]:
    """Train an encoder on each candidate and on random pairs; the rows have the best on the development tasks first.

    If stopped, the same call resumes.

    Reference:
        Wieting et al. (2017), §5.
    """
    stages = tuning_stages(tuning, test_figures=test_figures)
    return _rows(run_in(folder, stages, name="tune", seed=seed, engine=engine, workers=workers))


def tuning_stages(tuning: Tuning, *, test_figures: bool = False) -> list[Stage]:
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
