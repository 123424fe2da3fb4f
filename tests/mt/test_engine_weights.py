"""A training starts from converted weights: they are read back as transformers has them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from paraloom.core.digests import file_digest
from paraloom.core.errors import ModelError
from paraloom.mt.checkpoint import CHECKPOINT, convert

pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")

import torch
from tiny_translators import write_checkpoint

from paraloom.mt.engine_weights import with_checkpoint
from paraloom.mt.network import load_model


def converted(toy_translator: Path, folder: Path, precision: str) -> Path:
    """The toy translator in a precision, without its checkpoint."""
    convert(toy_translator / CHECKPOINT, folder, precision=precision)
    return folder


# A row of int8 weights is stored as 127 steps to either side of 0.
@pytest.mark.parametrize(("precision", "step"), [("float32", 0.0), ("float16", 2**-11), ("int8", 0.51 / 127)])
def test_weights_are_what_was_converted(toy_translator: Path, tmp_path: Path, precision: str, step: float) -> None:
    restored = with_checkpoint(converted(toy_translator, tmp_path / "engine", precision), tmp_path / "start")
    expected = dict(load_model(toy_translator / CHECKPOINT).named_parameters())
    restored_weights = dict(load_model(restored / CHECKPOINT).named_parameters())
    assert restored_weights.keys() == expected.keys()
    for name, value in restored_weights.items():
        largest = expected[name].detach().abs().amax(-1, keepdim=True)
        assert torch.all((value - expected[name]).abs() <= step * largest), name


def test_weights_that_are_converted_again_are_the_same_bytes(toy_translator: Path, tmp_path: Path) -> None:
    engine = converted(toy_translator, tmp_path / "engine", "int8")
    restored = with_checkpoint(engine, tmp_path / "start")
    convert(restored / CHECKPOINT, tmp_path / "again", precision="int8")
    for name in ("model.bin", "shared_vocabulary.json", "source.spm"):
        assert file_digest(tmp_path / "again" / name) == file_digest(engine / name), name


def test_a_translator_with_a_checkpoint_stays_as_it_is(toy_translator: Path, tmp_path: Path) -> None:
    assert with_checkpoint(toy_translator, tmp_path / "start") == toy_translator
    assert not (tmp_path / "start").exists()


def test_weights_of_another_kind_are_refused(tmp_path: Path) -> None:
    convert(write_checkpoint("nllb", tmp_path / "nllb"), tmp_path / "engine", precision="int8")
    with pytest.raises(ModelError, match="not those of a translator that Paraloom trained"):
        with_checkpoint(tmp_path / "engine", tmp_path / "start")


def test_damaged_weights_are_an_error(toy_translator: Path, tmp_path: Path) -> None:
    engine = converted(toy_translator, tmp_path / "engine", "int8")
    damaged = shutil.copytree(engine, tmp_path / "damaged")
    (damaged / "model.bin").write_bytes((engine / "model.bin").read_bytes()[:5000])
    with pytest.raises(ModelError, match="its weights cannot be read"):
        with_checkpoint(damaged, tmp_path / "start")
