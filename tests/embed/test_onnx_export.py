"""Export to ONNX: onnxruntime gives the vectors of `encode` for every kind of part."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError, ModelError
from paraloom.embed.average import SentenceEncoder, quantize
from paraloom.embed.config import EncoderConfig
from paraloom.embed.encoder import open_encoder
from paraloom.embed.onnx_export import FILE, export_onnx, onnx_inputs
from paraloom.embed.store import load_encoder
from paraloom.embed.training import train_encoder

runtime = pytest.importorskip("onnxruntime", reason="pip install 'paraloom[onnx,dev]'")

TEXTS = ["a dog runs in the park", "dog", "the cat", "", "quux", "the the the dog , a cat in the park !"]
SPECS = ("word", "trigram", "subword", "word,trigram", "word+trigram,subword")


def trained(spec: str, folder: Path) -> SentenceEncoder:
    pairs = [
        ("a dog runs in the park", "in the park runs a dog"),
        ("the cat sleeps", "a cat is asleep"),
        ("a man reads", "the man is reading !"),
    ] * 8
    src, tgt = zip(*pairs, strict=True)
    config = EncoderConfig(spec=spec, dimension=6, epochs=2, batch_size=8, megabatch_size=1, subword_vocab_size=40)
    train_encoder(pa.table({"src": src, "tgt": tgt}).to_batches(), config, folder, seed=2)
    return load_encoder(folder)


def vectors(folder, encoder, texts):
    session = runtime.InferenceSession(str(folder / FILE), providers=["CPUExecutionProvider"])
    return session.run(["vectors"], onnx_inputs(encoder, texts))[0]


@pytest.mark.filterwarnings("ignore:.*unknown tokens")
@pytest.mark.parametrize("spec", SPECS)
def test_the_graph_computes_the_vectors_of_encode(spec, tmp_path):
    encoder = trained(spec, tmp_path / "encoder")
    export_onnx(encoder, tmp_path / "onnx")
    expected = encoder.encode(TEXTS)
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(vectors(tmp_path / "onnx", encoder, TEXTS), expected, atol=1e-5)
    assert not vectors(tmp_path / "onnx", encoder, ["", ""]).any()
    assert all(rows.shape == (0, 1) for rows in onnx_inputs(encoder, []).values())
    assert f"`{spec}`" in (tmp_path / "encoder" / "README.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "onnx" / "config.json").read_text())["signature"] == encoder.signature


@pytest.mark.filterwarnings("ignore:.*unknown tokens")
def test_the_graph_of_a_quantized_encoder_computes_its_vectors(tmp_path):
    encoder = quantize(trained("word,trigram", tmp_path / "encoder"))
    export_onnx(encoder, tmp_path / "onnx")
    np.testing.assert_allclose(vectors(tmp_path / "onnx", encoder, TEXTS), encoder.encode(TEXTS), atol=1e-5)


def test_the_folder_has_the_vocabularies_and_other_folders_stay_unchanged(tmp_path):
    encoder = trained("word", tmp_path / "encoder")
    export_onnx(encoder, tmp_path / "onnx")
    words = (tmp_path / "onnx" / "word.vocabulary.txt").read_text(encoding="utf-8").splitlines()
    assert tuple(words) == encoder.parts["word"].vocabulary.entries
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("keep")
    with pytest.raises(ConfigError):
        export_onnx(encoder, tmp_path / "other")
    assert (tmp_path / "other" / "notes.txt").read_text() == "keep"


@pytest.mark.parametrize("spec", ["word", "word,trigram"])
def test_an_exported_graph_is_an_encoder(spec: str, tmp_path: Path) -> None:
    encoder = trained(spec, tmp_path / "encoder")
    export_onnx(encoder, tmp_path / "onnx")
    opened = open_encoder(tmp_path / "onnx")
    assert (opened.dimension, opened.signature) == (encoder.dimension, encoder.signature)
    np.testing.assert_allclose(opened.encode(TEXTS), encoder.encode(TEXTS), atol=1e-6)
    assert opened.encode([]).shape == (0, encoder.dimension)


def test_graphs_that_cannot_be_opened_say_why(tmp_path: Path) -> None:
    export_onnx(trained("subword", tmp_path / "encoder"), tmp_path / "onnx")
    with pytest.raises(ConfigError, match="an ONNX folder does not have their model"):
        open_encoder(tmp_path / "onnx")
    export_onnx(trained("word", tmp_path / "words"), tmp_path / "other")
    (tmp_path / "other" / "word.vocabulary.txt").unlink()
    with pytest.raises(ModelError, match=r"word\.vocabulary\.txt not found"):
        open_encoder(tmp_path / "other")
    (tmp_path / "words").rename(tmp_path / "again")
    export_onnx(load_encoder(tmp_path / "again"), tmp_path / "damaged")
    (tmp_path / "damaged" / FILE).write_bytes(b"not a graph")
    with pytest.raises(ModelError, match="onnxruntime cannot load it"):
        open_encoder(tmp_path / "damaged")


def test_networks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the part 'gran' of type Recurrent cannot be exported to ONNX"):
        export_onnx(trained("word,gran", tmp_path / "encoder"), tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()
