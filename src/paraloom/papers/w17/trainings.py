"""The encoders of W17, AVG and GRAN: how they are trained, and the conditions that their tables print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.papers.conditions import W17, conditions
from paraloom.papers.study import Study
from paraloom.papers.trainings import Training

KINDS = {"GRAN": "gran", "AVG": "word"}
"""W17's encoders and their architectures."""

W17_EPOCHS = {"GRAN": 3, "AVG": 20}
"""Passes over the pairs in W17."""


def w17_training(study: Study, kind: str, corpora: Sequence[Path], size: int, **criteria: Any) -> Training:
    """A training of AVG or GRAN as in W17: its loss, negatives from the batch, the best epoch on development pairs."""
    settings = {
        **w17_settings(study),
        "epochs": min(W17_EPOCHS[kind], study.epochs),
        "sts": Path(study.sts).absolute(),
        "keep": "best",
    }
    return Training(spec=KINDS[kind], corpora=corpora, size=size, criteria=criteria, settings=settings)


def w17_settings(study: Study) -> dict[str, Any]:
    """Fields of `TrainEncoder` as in W17."""
    return {"max_tokens": 100, "megabatch_size": 1, "two_sided": True}


def kinds(study: Study) -> list[str]:
    """W17's encoders that the study trains."""
    return list(KINDS) if study.size_of_recurrent else ["AVG"]


def w17_conditions(study: Study) -> list[tuple[str, ...]]:
    """The conditions of AVG and GRAN in W17's tables."""
    return conditions(study, W17, {kind: (KINDS[kind], W17_EPOCHS[kind]) for kind in kinds(study)})
