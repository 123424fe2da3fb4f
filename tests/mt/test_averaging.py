"""Averages of checkpoints: the mean by hand, and what cannot be averaged."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from commands import Command
from safetensors.torch import load_file, save_file

from paraloom import Translator
from paraloom.core.errors import ConfigError, ModelError
from paraloom.mt.averaging import average_checkpoints, mean_weights


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


def test_the_average_of_a_translator_with_itself_is_that_translator(toy_translator: Path, tmp_path: Path) -> None:
    figures = average_checkpoints([toy_translator, toy_translator], tmp_path / "average")
    assert figures["models"] == 2
    own, averaged = (load_file(f / "huggingface" / "model.safetensors") for f in (toy_translator, tmp_path / "average"))
    assert all(torch.equal(own[name], averaged[name]) for name in own)
    translator, expected = Translator.load(tmp_path / "average"), Translator.load(toy_translator)
    assert translator.translate(["mi lo ka"]) == expected.translate(["mi lo ka"])
    assert (translator.source, translator.target) == (expected.source, expected.target)


def test_what_cannot_be_averaged(toy_translator: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="got 1"):
        average_checkpoints([toy_translator], tmp_path / "average")
    with pytest.raises(ConfigError, match="precision"):
        average_checkpoints([toy_translator] * 2, tmp_path / "average", precision="int3")


def test_the_commands(toy_translator: Path, tmp_path: Path, paraloom: Command) -> None:
    paraloom("average-checkpoints", toy_translator, toy_translator, "-o", tmp_path / "average")
    text = tmp_path / "text.txt"
    text.write_text("mi lo ka\n")
    members = f"{toy_translator}+{tmp_path / 'average'}"
    paraloom("translate", members, text, "-o", tmp_path / "out.txt", "--no-language-check", "--decode", "beam:2")
    expected = Translator.load(toy_translator, decode="beam:2").translate("mi lo ka")[0].text
    assert (tmp_path / "out.txt").read_text() == f"{expected}\n"
