"""COMET scores of translations, by a model in a local folder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.errors import DataError
from paraloom.core.stats import Moments
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.translation import format_margin
from paraloom.text.learned_metrics import Comet


@dataclass(frozen=True)
class COMETResult(EvaluationResult):
    """Result of `evaluate_comet`."""

    # Of each sentence, higher is better; about 0 to 1 for most models; NaN where a text is empty.
    scores: tuple[float, ...]
    signature: str

    def select(self, rows: Sequence[int]) -> COMETResult:
        return COMETResult(tuple(self.scores[row] for row in rows), self.signature)

    def to_dict(self) -> dict[str, Any]:
        """The mean, half the width of its 95 % interval (None for a single sentence) and the signature."""
        known = [score for score in self.scores if not math.isnan(score)]
        mean = Moments.of(np.array(known)).estimate()
        half = mean.high - mean.value
        return {
            "n": len(known),
            "comet": mean.value,
            "comet_interval": half if math.isfinite(half) else None,
            "comet_signature": self.signature,
        }

    def format(self) -> str:
        figures = self.to_dict()
        return f"COMET {figures['comet']:.4f}{format_margin(figures['comet_interval'], 4)}   {self.signature}"


def evaluate_comet(
    sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str], *, model: str | Path
) -> COMETResult:
    """Score translations with the COMET model of a folder (Rei et al. 2020); some models do without references."""
    if not len(sources) == len(hypotheses) == len(references):
        raise DataError(
            f"expected one hypothesis and one reference for each source, got {len(sources)} sources, "
            f"{len(hypotheses)} hypotheses and {len(references)} references",
            remedy="Give as many of each, in the same order.",
        )
    if not sources:
        raise DataError("no sentences to score", remedy="Give one sentence or more.")
    comet = Comet.load(model)
    return COMETResult(tuple(comet.predict(sources, hypotheses, references).tolist()), comet.signature)
