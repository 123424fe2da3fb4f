"""The file of an interrupted training: tensors and counters come back, of the same training only."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")

import torch

from paraloom.mt.training_state import load_state, save_state


@dataclass
class Counts:
    """Counters of a trainer."""

    step: int = 0
    epoch: int = 0
    position: int = 0
    tokens: int = 0
    evaluations_without_gain: int = 0
    seconds: float = 0.0
    best_loss: float = float("inf")


def test_round_trip(tmp_path: Path) -> None:
    path, saved = tmp_path / "state.safetensors", Counts(1, 2, 3, 4, 5, 0.1, 1 / 3)
    save_state(path, {"a": torch.arange(3)}, "one", saved)
    other = Counts()
    assert load_state(path, "another", other) is None and load_state(tmp_path / "none", "one", other) is None
    assert other == Counts()
    tensors = load_state(path, "one", other)
    assert tensors is not None and tensors["a"].tolist() == [0, 1, 2]
    assert other == saved and [type(value) for value in astuple(other)] == [int] * 5 + [float] * 2
    save_state(path, {}, "one", Counts())
    load_state(path, "one", other)
    assert other == Counts()  # also the infinite loss before the first evaluation
