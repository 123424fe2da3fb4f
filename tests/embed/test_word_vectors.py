"""Word vectors: file formats, capitals, headers, invalid files, distillation, and training that starts with them."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.embed.average_training import EmbeddingPenalty
from paraloom.embed.config import EncoderConfig
from paraloom.embed.store import load_encoder
from paraloom.embed.training import train_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.embed.word_vectors import (
    distill_word_vectors,
    read_vector_words,
    read_vectors,
    read_words,
    vector_width,
    write_vectors,
)

WORDS = Vocabulary("word", ["a", "dog", "paris", "sleeps"])


def write(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
@pytest.mark.parametrize("header", ["", "5 2\n"])
def test_words_get_their_vectors(tmp_path: Path, name: str, header: str) -> None:
    text = header + "Dog 9 9\ndog 1 2\nParis 3 4 \nPARIS 7 7\ncat 5 6\nat home 8 8\n"
    pretrained = read_vectors(write(tmp_path / name, text), WORDS, 2)
    assert pretrained.rows.tolist() == [1, 2]
    assert pretrained.vectors.tolist() == [[1, 2], [3, 4]]
    assert pretrained.vectors.dtype == np.float32 and pretrained.lines == 6


@pytest.mark.parametrize(
    ("text", "row", "message"),
    [
        ("a 1 2\ndog 1\n", 2, "expected 2 numbers"),
        ("a 1 2\ndog 1 x\n", 2, "not a number"),
        ("a 1 nan\n", 1, "not finite"),
        ("a 1 2 3\n", 1, "expected vectors of dimension 2, got 3"),
        ("3 2\na 1 2\ndog inf 0\n", 3, "not finite"),
        ("cat 1 2\n", None, "none of the 1 words"),
        ("", None, "empty"),
    ],
)
def test_an_invalid_file_is_an_error_with_its_row(tmp_path: Path, text: str, row: int | None, message: str) -> None:
    path = write(tmp_path / "vectors.txt", text)
    with pytest.raises(DataError, match=message) as error:
        read_vectors(path, WORDS, 2)
    assert error.value.row == row and str(error.value.file).endswith("vectors.txt")


def write_array(folder: Path, words: list[str], vectors: np.ndarray) -> Path:
    (folder / "vectors.txt").write_text("".join(f"{word}\n" for word in words))
    np.save(folder / "vectors.npy", vectors)
    return folder / "vectors.npy"


def test_an_array_gives_the_same_vectors_as_text(tmp_path: Path) -> None:
    words, vectors = ["Dog", "dog", "Paris", "PARIS", "cat"], np.arange(10.0).reshape(5, 2)
    path = write_array(tmp_path, words, vectors)
    pretrained = read_vectors(path, WORDS, 2)
    assert pretrained.rows.tolist() == [1, 2] and pretrained.lines == 5
    assert pretrained.vectors.tolist() == [[2, 3], [4, 5]] and pretrained.vectors.dtype == np.float32
    assert read_vector_words(path) == ["dog", "paris", "cat"]


@pytest.mark.parametrize(
    ("words", "vectors", "message"),
    [
        (["a"], np.ones((2, 2)), "expected 1 rows of numbers"),
        (["a"], np.ones(2), "expected 1 rows of numbers"),
        (["a"], np.ones((1, 3)), "expected vectors of dimension 2, got 3"),
        (["b", "a"], np.array([[1, 2], [np.nan, 1]]), "not finite"),
        (["x"], np.ones((1, 2)), "none of the 1 words"),
        (["a"], np.array([["1", "2"]]), "expected 1 rows of numbers"),
    ],
)
def test_an_invalid_array_is_an_error(tmp_path: Path, words, vectors, message) -> None:
    with pytest.raises(DataError, match=message):
        read_vectors(write_array(tmp_path, words, vectors), WORDS, 2)


def test_an_array_needs_its_words(tmp_path: Path) -> None:
    path = write_array(tmp_path, ["a"], np.ones((1, 2)))
    (tmp_path / "vectors.txt").unlink()
    with pytest.raises(DataError, match=r"words of its rows are missing: 'vectors.txt' not found"):
        read_vectors(path, WORDS)


def test_arrays_are_not_unpickled(tmp_path: Path) -> None:
    path = write_array(tmp_path, ["a"], np.array([[object(), 1]], object))
    with pytest.raises(DataError, match="not an array of numbers"):
        read_vectors(path, WORDS)


PAIRS = pa.table(
    {"src": ["a dog sleeps", "paris is here", "a cat"], "tgt": ["the dog sleeps", "here is paris", "one cat"]}
)


def test_training_starts_with_given_vectors(tmp_path: Path) -> None:
    path = write(tmp_path / "vectors.txt", "dog 1 2\nParis 3 4\nelsewhere 5 6\n")
    # With so small a learning rate nothing changes.
    config = EncoderConfig(spec="word,trigram", dimension=2, epochs=1, relative_learning_rate=1e-9)
    train_encoder(PAIRS.to_batches(), config, tmp_path / "given", vectors=path)
    train_encoder(PAIRS.to_batches(), config, tmp_path / "random")
    given, random = (load_encoder(tmp_path / name).encode(["dog", "Paris", "cat"]) for name in ("given", "random"))
    assert given[:2, :2] == pytest.approx(np.array([[1, 2], [3, 4]]), abs=1e-4)
    assert given[2] == pytest.approx(random[2], abs=1e-4) and given[:, 2:] == pytest.approx(random[:, 2:], abs=1e-4)
    for wrong in ({"init_from": tmp_path / "random"}, {"spec": "trigram"}):
        other = replace(config, spec=wrong.pop("spec", config.spec))
        with pytest.raises(ConfigError, match=r"cannot be combined|reads words"):
            train_encoder(PAIRS.to_batches(), other, tmp_path / "useless", vectors=path, **wrong)
    with pytest.raises(DataError, match="expected vectors of dimension 300"):
        train_encoder(PAIRS.to_batches(), EncoderConfig(spec="word"), tmp_path / "wide", vectors=path)


def test_the_embedding_penalty_is_the_gradient_of_a_square_and_holds_vectors(tmp_path: Path) -> None:
    table = np.random.default_rng(1).normal(size=(4, 3))
    start, moved = table.astype(np.float32), (table + 0.5).astype(np.float32)
    penalty, rows = EmbeddingPenalty(start, 0.1), np.array([1, 3], np.int32)
    gradient = np.ones((2, 3), np.float32)
    penalty.add_gradient(rows, moved, gradient)
    assert gradient == pytest.approx(np.full((2, 3), 1 + 2 * 0.1 * 0.5), abs=1e-6)
    # With a large penalty, vectors stay closer to their initial values.
    config = EncoderConfig(
        spec="word",
        dimension=4,
        epochs=30,
        relative_learning_rate=0.01,
        margin=1.5,
        word_init_std=1.0,
        frequency_damping=0.0,
    )
    for name, weight in (("free", 0.0), ("held", 10.0), ("initial", 0.0)):
        settings = {"embedding_l2": weight} | ({"relative_learning_rate": 1e-9} if name == "initial" else {})
        train_encoder(PAIRS.to_batches(), replace(config, **settings), tmp_path / name)
    free, held, initial = (load_encoder(tmp_path / name).encode(["a", "dog"]) for name in ("free", "held", "initial"))
    assert np.abs(held - initial).max() < np.abs(free - initial).max()


class StubEncoder:
    """An encoder of dimension 32 with a random vector for each text."""

    signature = "stub"
    dimension = 32

    def encode(self, sentences: list[str]) -> np.ndarray:
        rows = [np.random.default_rng(list(text.encode())).normal(size=32) for text in sentences]
        return np.array(rows, np.float32).reshape(-1, 32)


def test_distilled_word_vectors_keep_the_principal_components(tmp_path: Path) -> None:
    encoder = StubEncoder()
    words, counts = ["a", "the", "dog", "cat", "run"], [50, 30, 10, 8, 2]
    vectors = distill_word_vectors(words, counts, encoder, 4, sif_coefficient=0)
    centered = encoder.encode(words) - encoder.encode(words).mean(axis=0)
    # Five centered vectors have rank four: nothing is lost, and products stay the same.
    np.testing.assert_allclose(vectors @ vectors.T, centered @ centered.T, atol=1e-3)
    weighted = distill_word_vectors(words, counts, encoder, 4, sif_coefficient=0.1)
    np.testing.assert_allclose(weighted[0], vectors[0] * 0.1 / (0.1 + 0.5), rtol=1e-4)
    write_vectors(tmp_path / "vectors.txt.gz", words, weighted)
    pretrained = read_vectors(tmp_path, Vocabulary("word", ["dog", "bird", "a"]), 4)
    assert pretrained.rows.tolist() == [0, 2]
    np.testing.assert_allclose(pretrained.vectors, weighted[[2, 0]], rtol=1e-4, atol=1e-6)
    scaled = distill_word_vectors(words, counts, encoder, 4, sif_coefficient=0, norm=2)
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 2, rtol=1e-5)
    np.testing.assert_allclose(scaled * np.linalg.norm(vectors, axis=1, keepdims=True), 2 * vectors, atol=1e-5)
    with pytest.raises(ConfigError, match="32 or fewer"):
        distill_word_vectors(words, counts, encoder, 33)
    padded = distill_word_vectors(words, counts, encoder, 40, sif_coefficient=0, pad_dimensions=True)
    assert padded.shape == (5, 40)
    np.testing.assert_allclose(padded[:, :4], vectors, atol=1e-6)
    assert 0 < np.abs(padded[:, 32:]).std() < np.abs(vectors).std()


def test_word_lists_have_counts_or_follow_zipf(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("the 10\nof 5\n")
    (tmp_path / "b").write_text("the\nof\n")
    (tmp_path / "c").write_text("the 10\nof x\n")
    (tmp_path / "d").write_text("the\nthe\n")
    assert read_words(tmp_path / "a") == (["the", "of"], [10, 5])
    assert read_words(tmp_path / "b") == (["the", "of"], [10**9, 5 * 10**8])
    assert read_words(tmp_path / "a", 1) == (["the"], [10])
    for name in "cd":
        with pytest.raises(DataError) as error:
            read_words(tmp_path / name)
        assert error.value.row == 2


def test_the_width_of_vectors(tmp_path: Path) -> None:
    assert vector_width(write(tmp_path / "plain.txt", "dog 1 2\n")) == 2
    assert vector_width(write(tmp_path / "header.txt.gz", "1 3\ndog 1 2 3\n")) == 3
    np.save(tmp_path / "array.npy", np.zeros((2, 5), np.float32))
    assert vector_width(tmp_path / "array.npy") == 5
    for name, text, message in (("empty.txt", "1 3\n", "no vectors"), ("bad.npy", "text", "not an array of numbers")):
        with pytest.raises(DataError, match=message):
            vector_width(write(tmp_path / name, text))


def test_the_words_of_given_vectors_can_be_the_vocabulary(tmp_path: Path) -> None:
    path = write(tmp_path / "vectors.txt", "dog 1 2\nzebra 3 4\nParis 5 6\n")
    config = EncoderConfig(spec="word", dimension=2, epochs=1)
    figures = train_encoder(PAIRS.to_batches(), config, tmp_path / "encoder", vectors=path, vector_words=True)
    assert figures["entries"] == {"word": 3}
    start = load_encoder(tmp_path / "encoder" / "start").parts["word"]
    assert start.vocabulary.entries == ("dog", "zebra", "paris")
    assert start.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(ConfigError, match="'vector_words' is set without 'vectors'"):
        train_encoder(PAIRS.to_batches(), config, tmp_path / "none", vector_words=True)
