"""Encoders of the sentence-transformers library: made small here, converted, and the same vectors as the library's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.embed.loading import open_encoder
from paraloom.embed.sentence_transformer import SentenceTransformerEncoder
from paraloom.embed.store import load_encoder
from paraloom.embed.transformer import TransformerEncoder, convert_transformer
from paraloom.embed.vectors import read_vectors
from paraloom.embed.vocabulary import Vocabulary
from paraloom.embed.word_vectors import read_words, word_vectors, write_vectors

pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")

TEXTS = ["a dog runs", "the cat", "", "a dog and the cat run and run " * 12, "unseen words"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """A sentence-transformers folder: BERT with two small layers, random weights, mean pooling."""
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


def test_vectors_are_the_librarys(tiny, converted):
    ours, theirs = TransformerEncoder(converted, threads=2), SentenceTransformerEncoder(str(tiny))
    assert ours.dimension == theirs.dimension == 32
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=1e-4)
    assert ours.encode([]).shape[0] == 0


def test_a_pooling_that_is_not_known_is_named(tiny, tmp_path):
    import shutil

    folder = tmp_path / "other"
    shutil.copytree(tiny, folder)
    (pooling,) = folder.glob("1_*/config.json")
    pooling.write_text(json.dumps({"word_embedding_dimension": 32, "pooling_mode_max_tokens": True}))
    with pytest.raises(ConfigError, match="max_tokens"):
        convert_transformer(folder, tmp_path / "to")
    with pytest.raises(ModelError, match=r"modules\.json"):
        convert_transformer(tmp_path, tmp_path / "to")


def test_whatever_encodes_is_opened(tiny, converted, tmp_path):
    assert isinstance(open_encoder(converted), TransformerEncoder)
    assert isinstance(open_encoder(tiny), SentenceTransformerEncoder)
    with pytest.raises(ModelError, match=r"config\.json"):
        open_encoder(tmp_path)


def test_word_vectors_keep_the_strongest_directions(converted, tmp_path):
    encoder = TransformerEncoder(converted)
    words, counts = ["a", "the", "dog", "cat", "run"], [50, 30, 10, 8, 2]
    found = word_vectors(words, counts, encoder, 4, rarity=0)
    centred = encoder.encode(words) - encoder.encode(words).mean(axis=0)
    # Five centred vectors have rank four: nothing is lost, so products are as before.
    np.testing.assert_allclose(found @ found.T, centred @ centred.T, atol=1e-3)
    weighted = word_vectors(words, counts, encoder, 4, rarity=0.1)
    np.testing.assert_allclose(weighted[0], found[0] * 0.1 / (0.1 + 0.5), rtol=1e-4)
    write_vectors(tmp_path / "vectors.txt.gz", words, weighted)
    given = read_vectors(tmp_path, Vocabulary("word", ["dog", "bird", "a"]), 4)
    assert given.rows.tolist() == [0, 2]
    np.testing.assert_allclose(given.vectors, weighted[[2, 0]], rtol=1e-4, atol=1e-6)
    even = word_vectors(words, counts, encoder, 4, rarity=0, length=2)
    np.testing.assert_allclose(np.linalg.norm(even, axis=1), 2, rtol=1e-5)
    np.testing.assert_allclose(even * np.linalg.norm(found, axis=1, keepdims=True), 2 * found, atol=1e-5)
    with pytest.raises(ConfigError, match="32 or fewer"):
        word_vectors(words, counts, encoder, 33)
    wide = word_vectors(words, counts, encoder, 40, rarity=0, widen=True)
    assert wide.shape == (5, 40)
    np.testing.assert_allclose(wide[:, :4], found, atol=1e-6)
    assert 0 < np.abs(wide[:, 32:]).std() < np.abs(found).std()


def test_word_lists(tmp_path):
    (tmp_path / "a").write_text("the 10\nof 5\n")
    (tmp_path / "b").write_text("the\nof\n")
    (tmp_path / "c").write_text("the 10\nof x\n")
    (tmp_path / "d").write_text("the\nthe\n")
    assert read_words(tmp_path / "a") == (["the", "of"], [10, 5])
    assert read_words(tmp_path / "b") == (["the", "of"], [10**9, 5 * 10**8])
    assert read_words(tmp_path / "a", 1) == (["the"], [10])
    for name in "cd":
        with pytest.raises(DataError, match="2") as error:
            read_words(tmp_path / name)
        assert error.value.row == 2


def test_the_verbs_go_from_a_model_to_an_encoder_and_its_vectors(tiny, paraloom, tmp_path):
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
