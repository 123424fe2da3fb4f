"""The encoders of PNMT: how they are trained, and the conditions that several of their tables print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.papers.study import Study, is_recurrent
from paraloom.papers.trainings import Training

PNMT_EPOCHS = 5
"""Passes over the pairs in PNMT."""

SCRAMBLE = 0.3
"""Share of the sentences whose words LSTMs read in random order, in PNMT."""

LSTM_900 = "LSTM, 900"
"""The LSTM of 900 dimensions; the others have 300."""

SPECS = {
    "WORD": "word",
    "TRIGRAM": "trigram",
    "LSTM": "lstm",
    LSTM_900: "lstm",
    "BLSTM, 900": "blstm",
    "WORD+TRIGRAM": "word+trigram",
    "WORD+TRIGRAM+LSTM": "word+trigram+lstm",
    "WORD,TRIGRAM": "word,trigram",
    "WORD,TRIGRAM,LSTM": "word,trigram,lstm",
}
"""PNMT's encoders and their architectures."""

SINGLE = ("WORD", "TRIGRAM", "LSTM")
"""Those of one part."""

POOLED = (
    "source",
    "CzEng 1.6",
    "all sources, equally many pairs of each as far as it has them",
    "one source has too few",
)
"""The condition of a training on pairs of all sources."""

WITHOUT_2016 = "STS 2016 and 2017 are not among our data"
"""Why a table is tested on other tasks than in the paper."""


def trained_specs(study: Study, names: Sequence[str]) -> list[str]:
    """Those of the encoders that the study trains: all, or without recurrent parts if it has no pairs for them."""
    return [name for name in names if study.size_of_recurrent or not is_recurrent(SPECS[name])]


def pnmt_training(study: Study, spec: str, corpora: Sequence[Path], size: int, **settings: Any) -> Training:
    """A training as in PNMT: the last of five epochs, with negatives from 20 mini-batches, LSTMs on scrambled words."""
    scramble = {"scramble": SCRAMBLE} if is_recurrent(SPECS[spec]) else {}
    epochs = min(PNMT_EPOCHS, study.epochs)
    return Training(spec=SPECS[spec], corpora=corpora, size=size, settings={"epochs": epochs, **scramble, **settings})
