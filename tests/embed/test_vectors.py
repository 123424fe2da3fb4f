"""Vectors of others: the formats in use, capitals, heads, words with blanks, and files that are wrong."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.embed.average_training import Pull
from paraloom.embed.config import EncoderConfig
from paraloom.embed.store import load_encoder
from paraloom.embed.training import train_encoder
from paraloom.embed.vectors import read_vectors
from paraloom.embed.vocabulary import Vocabulary

WORDS = Vocabulary("word", ["a", "dog", "paris", "sleeps"])


def write(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
@pytest.mark.parametrize("head", ["", "5 2\n"])
def test_words_get_their_vectors(tmp_path: Path, name: str, head: str) -> None:
    text = head + "Dog 9 9\ndog 1 2\nParis 3 4 \nPARIS 7 7\ncat 5 6\nat home 8 8\n"
    given = read_vectors(write(tmp_path / name, text), WORDS, 2)
    assert given.rows.tolist() == [1, 2]
    assert given.vectors.tolist() == [[1, 2], [3, 4]]
    assert given.vectors.dtype == np.float32 and given.lines == 6


@pytest.mark.parametrize(
    ("text", "row", "said"),
    [
        ("a 1 2\ndog 1\n", 2, "1 numbers"),
        ("a 1 2\ndog 1 x\n", 2, "not a number"),
        ("a 1 nan\n", 1, "not finite"),
        ("a 1 2 3\n", 1, "3 numbers"),
        ("3 2\na 1 2\ndog inf 0\n", 3, "not finite"),
        ("cat 1 2\n", None, "none of its 1 words"),
        ("", None, "empty"),
    ],
)
def test_a_wrong_file_is_named_with_its_row(tmp_path: Path, text: str, row: int | None, said: str) -> None:
    path = write(tmp_path / "vectors.txt", text)
    with pytest.raises(DataError, match=said) as caught:
        read_vectors(path, WORDS, 2)
    assert caught.value.row == row and str(caught.value.file).endswith("vectors.txt")


PAIRS = pa.table(
    {"src": ["a dog sleeps", "paris is here", "a cat"], "tgt": ["the dog sleeps", "here is paris", "one cat"]}
)


def test_training_begins_with_them(tmp_path: Path) -> None:
    path = write(tmp_path / "vectors.txt", "dog 1 2\nParis 3 4\nelsewhere 5 6\n")
    # So small a rate that nothing moves.
    config = EncoderConfig(spec="word,trigram", dimension=2, epochs=1, rate=1e-9)
    train_encoder(PAIRS.to_batches(), config, tmp_path / "given", vectors=path)
    train_encoder(PAIRS.to_batches(), config, tmp_path / "random")
    given, random = (load_encoder(tmp_path / name).encode(["dog", "Paris", "cat"]) for name in ("given", "random"))
    assert given[:2, :2] == pytest.approx(np.array([[1, 2], [3, 4]]), abs=1e-4)
    assert given[2] == pytest.approx(random[2], abs=1e-4) and given[:, 2:] == pytest.approx(random[:, 2:], abs=1e-4)
    for wrong in ({"start": tmp_path / "random"}, {"spec": "trigram"}):
        here = replace(config, spec=wrong.pop("spec", config.spec))
        with pytest.raises(ConfigError, match=r"of its own|reads words"):
            train_encoder(PAIRS.to_batches(), here, tmp_path / "useless", vectors=path, **wrong)
    with pytest.raises(DataError, match="300 are wanted"):
        train_encoder(PAIRS.to_batches(), EncoderConfig(spec="word"), tmp_path / "wide", vectors=path)


def test_the_pull_towards_the_start_is_the_gradient_of_its_square(tmp_path: Path) -> None:
    table = np.random.default_rng(1).normal(size=(4, 3))
    start, moved = table.astype(np.float32), (table + 0.5).astype(np.float32)
    pull, rows = Pull(start, 0.1), np.array([1, 3], np.int32)
    gradient = np.ones((2, 3), np.float32)
    pull.add(rows, moved, gradient)
    assert gradient == pytest.approx(np.full((2, 3), 1 + 2 * 0.1 * 0.5), abs=1e-6)
    # Held tightly, vectors stay near where they began.
    config = EncoderConfig(spec="word", dimension=4, epochs=30, rate=0.01, margin=1.5, word_scale=1.0, damping=0.0)
    for name, weight in (("free", 0.0), ("held", 10.0), ("began", 0.0)):
        settings = {"vector_pull": weight} | ({"rate": 1e-9} if name == "began" else {})
        train_encoder(PAIRS.to_batches(), replace(config, **settings), tmp_path / name)
    free, held, began = (load_encoder(tmp_path / name).encode(["a", "dog"]) for name in ("free", "held", "began"))
    assert np.abs(held - began).max() < 0.5 * np.abs(free - began).max()
