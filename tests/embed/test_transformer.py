"""Transformers: a tiny sentence-transformers model, converted, with the same vectors as the library computes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, ModelError
from paraloom.embed.encoder import open_encoder
from paraloom.embed.store import load_encoder
from paraloom.embed.transformer import SentenceTransformerEncoder, TransformerEncoder, convert_transformer

pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")

TEXTS = ["a dog runs", "the cat", "", "a dog and the cat run and run " * 12, "unseen words"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """Folder of a sentence-transformers model: BERT with two small layers, random weights, mean pooling."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "the", "dog", "cat", "and", "run", "##s"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
    )
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"), max_seq_length=24)
    pooling = Pooling(32, pooling_mode="mean")
    SentenceTransformer(modules=[transformer, pooling], device="cpu").save(str(folder / "model"))
    return folder / "model"


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


@pytest.mark.slow
def test_the_commands_distill_an_encoder_and_word_vectors(tiny, paraloom, tmp_path):
    lines = [f"the {a} and a {b} run" for a in ("dog", "cat", "run") for b in ("dog", "cat", "a")]
    (tmp_path / "text.txt").write_text("\n".join([*lines, lines[0], ""]) + "\n")
    status, out, err = paraloom("distil", "encoder", tiny, "text.txt", "--steps", 30, "--dimension", 8, "-o", "student")
    assert (status, err) == (0, ""), err
    assert "'used': 9" in out
    assert load_encoder(tmp_path / "student").encode(["a dog"]).shape == (1, 16)
    (tmp_path / "words").write_text("dog 5\ncat 4\nrun 1\n")
    status, out, err = paraloom("distil", "words", tiny, "words", "--dimension", 2, "-o", "vectors")
    assert (status, out) == (0, "3 vectors in vectors/vectors.txt.gz\n"), err
    (tmp_path / "pairs.tsv").write_text("src\ttgt\n" + "a dog\tthe dog\nthe cat\ta cat\n" * 3)
    wide = paraloom("distil", "words", tiny, "words", "--dimension", 3, "-o", "wide")
    train = ["train", "encoder", "--pairs", "pairs.tsv", "--spec", "word", "--dimension", 3, "--epochs", 1]
    assert paraloom(*train, "--vectors", "wide", "-o", "started")[0] == wide[0] == 0
    status, _, err = paraloom("distil", "encoder", "no/such-model", "text.txt", "-o", "student")
    assert status == 1
    assert "cannot load it" in err or "needs" in err
