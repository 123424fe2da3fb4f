"""Tuning: which selection of pairs trains the best encoder, against random selections of the same size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError
from paraloom.recipes.grids import Candidate, grid
from paraloom.recipes.verbs import compose, corpus_stages
from paraloom.run.pipeline import Pipeline, parse_pipeline

RANDOM = "random"
"""The label of selections by chance, what every other one is compared with."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What is tried, and how.

    pairs: a scored corpus.  grids: names of paraloom.recipes.grids.GRIDS, or SQL conditions.  sts: a folder of
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


def tuning_pipeline(tuning: Tuning, *, seed: int = 1) -> Pipeline:
    """The pipeline of a tuning: for each candidate a filter and an encoder, then `compare-selections`, named `tuned`.

    Run it with `run_pipeline`: what is done stays done, and more candidates may join later.
    Raises ConfigError for an unknown grid.
    """
    if min(tuning.size, tuning.epochs, tuning.seeds, tuning.random_seeds) < 1:
        raise ConfigError("size, epochs, seeds and random_seeds are 1 or more")
    stages, pairs = corpus_stages(tuning.pairs)
    encoders, selections, labels = [], [], []
    candidates = [
        (Candidate(RANDOM), tuning.random_seeds),
        *((each, tuning.seeds) for each in grid(list(tuning.grids))),
    ]
    for candidate, seeds in candidates:
        for number in range(1, seeds + 1):
            name = _slug(candidate.label) + f"-{number}"
            stages.append({"name": name, "use": "filter", "input": pairs, **candidate.settings, "sample": tuning.size})
            stages.append(
                {
                    "name": f"encoder-{name}",
                    "use": "train-encoder",
                    "pairs": [name],
                    "epochs": tuning.epochs,
                    "sts": str(Path(tuning.sts).absolute()),
                    "development": tuning.development,
                    **(tuning.encoder or {}),
                }
            )
            selections.append(name)
            encoders.append(f"encoder-{name}")
            labels.append(candidate.label)
    stages.append(
        {
            "name": "tuned",
            "use": "compare-selections",
            "encoders": encoders,
            "selections": selections,
            "labels": labels,
        }
    )
    return parse_pipeline(compose(stages, seed=seed), file=Path.cwd() / "tune.toml")


def _slug(label: str) -> str:
    """A stage's name out of a label: letters, digits and hyphens, distinct for distinct labels."""
    words = label.replace("<=", " upto ").replace(">=", " from ").replace(".", "p").lower()
    return "-".join("".join(c if c.isalnum() or c == "_" else " " for c in words).split())
