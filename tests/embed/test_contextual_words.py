"""Word vectors out of contexts: states against the transformers library, components against their definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tiny_transformer import save_tiny_transformer

from paraloom.core.errors import ConfigError
from paraloom.core.schema import SENTENCES
from paraloom.core.stage import StageContext
from paraloom.embed.contextual_words import contextual_word_vectors, reduce_by_sentences, sentence_means
from paraloom.embed.transformer import TransformerEncoder, convert_transformer
from paraloom.embed.vocabulary import Vocabulary
from paraloom.embed.word_vectors import read_vectors
from paraloom.io import write_corpus
from paraloom.stages import DistillWords

pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return save_tiny_transformer(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def converted(tiny, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("converted")
    convert_transformer(tiny, folder, precision="float32")
    return folder


def states_of(tiny: Path, sentence: str) -> np.ndarray:
    """Last states of the tokens of a sentence, by the transformers library, special tokens included."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(tiny), device="cpu").encode(sentence, output_value="token_embeddings").numpy()


def test_a_word_is_the_mean_of_its_pieces_in_its_sentence(tiny, converted):
    positions, states = TransformerEncoder(converted).word_states([["the", "dogs", "run"], []])[0]
    expected = states_of(tiny, "the dogs run")
    assert positions.tolist() == [0, 1, 2]
    wanted = [expected[1], (expected[2] + expected[3]) / 2, expected[4]]  # [CLS] the dog ##s run [SEP]
    np.testing.assert_allclose(states, wanted, atol=1e-4)


def test_words_beyond_the_maximal_length_are_left_out(converted):
    ((positions, states), (none, empty)) = TransformerEncoder(converted, threads=2).word_states([["dog"] * 40, []])
    assert positions.tolist() == list(range(22)) and states.shape == (22, 32)
    assert not len(none) and empty.shape == (0, 32)


def test_contexts_are_averaged_up_to_their_number(tiny, converted):
    texts = [pa.array(["the dog run", "a cat"], pa.large_string()), pa.array(["the cat", "the dog"], pa.large_string())]
    words = ["dog", "cat", "the", "elk"]
    result = contextual_word_vectors(TransformerEncoder(converted), texts, words, 2)
    assert result.counts.tolist() == [2, 2, 2, 0]
    first, second = states_of(tiny, "the dog run"), states_of(tiny, "the dog")
    np.testing.assert_allclose(result.vectors[0], (first[2] + second[2]) / 2, atol=1e-4)
    np.testing.assert_allclose(result.vectors[2], (first[1] + states_of(tiny, "the cat")[1]) / 2, atol=1e-4)
    assert not result.vectors[3].any()


def test_the_strongest_components_of_sentences_are_removed():
    draw = np.random.default_rng(0)
    means = (draw.normal(size=(4000, 5)) @ draw.normal(size=(5, 5)) + 7).astype(np.float32)
    vectors = draw.normal(size=(6, 5)).astype(np.float32)
    _, _, directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
    expected = (vectors - means.mean(axis=0)) @ directions[1:3].T
    np.testing.assert_allclose(np.abs(reduce_by_sentences(vectors, means, 2, 1)), np.abs(expected), atol=1e-3)
    with pytest.raises(ConfigError, match="cannot be kept"):
        reduce_by_sentences(vectors, means, 5, 1)


def test_means_of_sentences_are_units_and_unknown_sentences_are_left_out():
    vectors = np.float32([[3, 0], [0, 4]])
    means = sentence_means([pa.array(["a b a", "x", "b"], pa.large_string())], ["a", "b"], vectors)
    np.testing.assert_allclose(means, [[6 / np.hypot(6, 4), 4 / np.hypot(6, 4)], [0, 1]], rtol=1e-6)


def test_the_stage_writes_vectors_of_words_in_context(converted, tmp_path):
    texts = ["the dog and a cat run", "a dog run", "the cats and the dogs", "a cat and the dog run"] * 20
    columns = {"doc_id": ["a"] * 80, "sent_id": range(80), "lang": ["en"] * 80, "text": texts}
    write_corpus(tmp_path / "corpus", pa.table(columns, SENTENCES).to_batches(), kind="SENTENCES")
    stage = DistillWords(
        encoder=converted, corpora=[tmp_path / "corpus"], dimension=4, contexts=5, num_removed=1, norm=1.0,
        sif_coefficient=0.0,
    )  # fmt: skip
    inputs = {"encoder": converted, "corpora.0": tmp_path / "corpus"}
    figures = stage.fit(tmp_path, StageContext(seed=1, inputs=inputs))
    assert figures["in_context"] == figures["words"] == 8
    vectors = read_vectors(tmp_path, Vocabulary("word", ["dog", "cat"]), 4).vectors
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"contexts": 5}, "without 'corpora'"), ({"num_removed": 1, "corpora": ["a"]}, "without 'contexts'")],
)
def test_settings_that_need_others(settings, message):
    with pytest.raises(ConfigError, match=message):
        DistillWords(encoder="teacher", words="words.txt", **settings)
