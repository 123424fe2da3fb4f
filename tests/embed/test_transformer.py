"""Transformers: a tiny sentence-transformers model, converted, with the same vectors as the library computes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ctranslate2
import numpy as np
import pytest
from tiny_transformer import save_tiny_transformer

from paraloom.core.errors import ConfigError, ModelError
from paraloom.embed.encoder import open_encoder
from paraloom.embed.transformer import SentenceTransformerEncoder, TransformerEncoder, convert_transformer

pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")

TEXTS = ["a dog runs", "the cat", "", "a dog and the cat run and run " * 12, "unseen words"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """Folder of a tiny sentence-transformers model."""
    return save_tiny_transformer(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def converted(tiny, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("converted")
    convert_transformer(tiny, folder, precision="float32")
    return folder


def test_vectors_equal_those_of_sentence_transformers(tiny, converted):
    ours, theirs = TransformerEncoder(converted, threads=2), SentenceTransformerEncoder(str(tiny))
    assert ours.dimension == theirs.dimension == 32
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=1e-4)
    assert ours.encode([]).shape[0] == 0


class OnGpu:
    """An encoder whose states are on a GPU, in bfloat16, where NumPy cannot read them."""

    device = "cuda"

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def forward_batch(self, ids: list[list[int]]) -> Any:
        states = self.encoder.forward_batch(ids).last_hidden_state
        return SimpleNamespace(last_hidden_state=StatesOnGpu(states.to(ctranslate2.DataType.bfloat16)))


class StatesOnGpu:
    def __init__(self, states: Any) -> None:
        self.states = states

    def to(self, kind: Any) -> StatesOnGpu:
        return StatesOnGpu(self.states.to(kind))

    def to_device(self, device: Any) -> Any:
        assert device == ctranslate2.Device.cpu
        return self.states

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("Cannot get __array_interface__ when the StorageView is viewing a CUDA array")


def test_states_of_a_gpu_are_fetched(converted):
    encoder = TransformerEncoder(converted)
    expected = encoder.encode(TEXTS)
    encoder._encoder = OnGpu(encoder._encoder)
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=0.05)


def test_an_unknown_pooling_is_an_error(tiny, tmp_path):
    folder = tmp_path / "other"
    shutil.copytree(tiny, folder)
    (pooling,) = folder.glob("1_*/config.json")
    pooling.write_text(json.dumps({"word_embedding_dimension": 32, "pooling_mode_max_tokens": True}))
    with pytest.raises(ConfigError, match="max_tokens"):
        convert_transformer(folder, tmp_path / "to")
    with pytest.raises(ModelError, match=r"modules\.json"):
        convert_transformer(tmp_path, tmp_path / "to")


def test_every_kind_of_model_is_opened(tiny, converted, tmp_path):
    assert isinstance(open_encoder(converted), TransformerEncoder)
    assert isinstance(open_encoder(tiny), SentenceTransformerEncoder)
    with pytest.raises(ModelError, match=r"config\.json"):
        open_encoder(tmp_path)


def test_folders_of_version_0_1_load(converted, tmp_path):
    shutil.copytree(converted, tmp_path / "old")
    config = json.loads((tmp_path / "old" / "transformer.json").read_text())
    config["longest"] = config.pop("max_length")
    (tmp_path / "old" / "transformer.json").write_text(json.dumps(config))
    np.testing.assert_array_equal(
        TransformerEncoder(tmp_path / "old").encode(TEXTS), TransformerEncoder(converted).encode(TEXTS)
    )
