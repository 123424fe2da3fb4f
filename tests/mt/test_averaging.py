"""Averages of checkpoints: the mean by hand; ensembles are gone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from commands import Command
from safetensors.torch import save_file

from paraloom.core.errors import ConfigError, ModelError
from paraloom.mt.averaging import mean_weights
from paraloom.mt.loading import open_translator
from paraloom.pipeline.registry import load_stage


def test_the_mean_by_hand(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.safetensors" for number in range(3)]
    for number, path in enumerate(files):
        save_file({"a": torch.tensor([1.0, 2.0]) * number, "n": torch.tensor([7])}, path)
    mean = mean_weights(files)
    assert mean["a"].tolist() == [1.0, 2.0]
    assert mean["n"].tolist() == [7]
    save_file({"a": torch.zeros(3), "n": torch.tensor([7])}, files[1])
    with pytest.raises(ModelError, match=r"'a' has the shape \(3,\), not \(2,\)"):
        mean_weights(files)
    save_file({"b": torch.zeros(2), "n": torch.tensor([7])}, files[1])
    with pytest.raises(ModelError, match="'a' is not in all checkpoints"):
        mean_weights(files)


def test_ensembles_are_gone(tmp_path: Path, paraloom: Command) -> None:
    (tmp_path / "text.txt").write_text("mi lo ka\n")
    status, _, err = paraloom("translate", "de-en+de-en", tmp_path / "text.txt", "-o", tmp_path / "out.txt")
    assert status == 1 and "ensembles are gone" in err and "Name one translator" in err
    assert paraloom("average-checkpoints", "a", "b", "-o", "c")[0] == 2
    with pytest.raises(ConfigError, match="stage 'load-ensemble' is gone"):
        load_stage("load-ensemble")
    (tmp_path / "ensemble.json").write_text("{}")
    with pytest.raises(ModelError, match="ensembles are gone"):
        open_translator(tmp_path, "beam:5")
