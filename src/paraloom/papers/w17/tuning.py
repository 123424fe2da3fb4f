"""Tuning of filters: which selection of pairs trains the best encoder, compared with equally large random ones."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from paraloom.api.run import input_stages, run_in
from paraloom.core.config import Config, check_keys, check_range
from paraloom.core.errors import ConfigError
from paraloom.core.stage import Stage
from paraloom.papers.w17.filter_grids import GRIDS, Candidate
from paraloom.pipeline.fit import ARTIFACT
from paraloom.stages.encoders import TrainEncoder
from paraloom.stages.pairs import Filter

RANDOM = "random"
"""Label of the random selection, which every other one is compared with."""


@dataclass(frozen=True, kw_only=True)
class Tuning(Config):
    """Configuration of `compare_candidates`.

    Args:
        pairs: Scored pairs: a corpus folder or a file.
        grids: Names of `filter_grids.GRIDS`.
        sts: Folder of similarity tasks, whose development pairs decide between candidates.
        size: Number of pairs of each selection, drawn at random from those that the filter keeps (24,000 in W17).
        epochs: Maximum number of passes over the pairs; the best one counts.
        seeds: How many times each candidate is drawn and trained.
        random_seeds: How many times the random selection is drawn and trained.
        encoder: Further fields of `paraloom.stages.TrainEncoder`.

    Raises:
        ConfigError: A number is below 1, or a key of `encoder` is unknown.
    """

    pairs: str
    grids: tuple[str, ...]
    sts: Path
    size: int = 24_000
    epochs: int = 10
    seeds: int = 1
    random_seeds: int = 1
    encoder: dict[str, Any] = field(default_factory=dict)

    def validate(self) -> None:
        check_range(self, "size", "epochs", "seeds", "random_seeds", low=1)
        check_keys(TrainEncoder, {"pairs": (), **self.encoder})

    def candidates(self) -> list[Candidate]:
        """The candidates of all grids, without the random selection."""
        return [candidate for grid in self.grids for candidate in GRIDS[grid]]

    @property
    def draws(self) -> dict[str, Candidate]:
        """Name of each draw of a candidate, the random one first → the candidate."""
        counts = [(Candidate(RANDOM), self.random_seeds), *((one, self.seeds) for one in self.candidates())]
        return {f"{_slug(one.label)}-{number + 1}": one for one, count in counts for number in range(count)}


def compare_candidates(
    tuning: Tuning, folder: str | Path, *, engine: str = "local", seed: int = 1
) -> list[dict[str, Any]]:
    """Train an encoder on each candidate and on random pairs (W17 §5), best on development first; it resumes."""
    result = run_in(folder, tuning_stages(tuning), name="tune", seed=seed, engine=engine)
    figures: dict[str, list[float]] = {}
    for name, candidate in tuning.draws.items():
        figure = best_development(result.stage(f"encoder-{name}").folder / ARTIFACT)
        figures.setdefault(candidate.label, []).append(figure)
    rows = [{"selection": label, "dev_pearson": round(fmean(of_draws), 3)} for label, of_draws in figures.items()]
    return sorted(rows, key=lambda row: -float(row["dev_pearson"]))


def best_development(encoder: Path) -> float:
    """The best development figure of a training's epochs; ConfigError if the curve has none."""
    lines = [json.loads(line) for line in (encoder / "curve.jsonl").read_text(encoding="utf-8").splitlines()]
    figures = [line["dev"]["dev_pearson"] for line in lines if line.get("dev")]
    if not figures:
        raise ConfigError("the encoder was trained without development figures", remedy="Set 'sts' in its stage.")
    return float(max(figures))


def tuning_stages(tuning: Tuning) -> list[Stage]:
    """The stages of a tuning: for each draw of a candidate a filter and an encoder."""
    stages, pairs = input_stages(tuning.pairs)
    settings: dict[str, Any] = {"epochs": tuning.epochs, "sts": tuning.sts, "keep": "best", **tuning.encoder}
    for name, candidate in tuning.draws.items():
        stages.append(Filter(name=name, input=pairs, **candidate.settings, sample=tuning.size))
        stages.append(TrainEncoder(name=f"encoder-{name}", pairs=(name,), **settings))
    return stages


def _slug(label: str) -> str:
    """A stage's name made from a label: letters, digits, underscores and hyphens."""
    words = label.lower().replace(".", "p").replace("<=", " upto ").replace(">=", " from ")
    return "-".join("".join(c if c.isalnum() or c == "_" else " " for c in words).split())
