"""Search is exact for any block size; mining finds the pairs of an exhaustive comparison."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from paraloom import api
from paraloom.api.search import search_lines
from paraloom.core.errors import ConfigError, DataError
from paraloom.embed import search as module
from paraloom.embed.average import normalize_vectors
from paraloom.embed.encoder import Encoder

MISSING = "mining needs faiss: pip install 'paraloom[search]'"


def vectors(count: int, seed: int = 0) -> np.ndarray:
    """Vectors in clusters of about ten, all different."""
    draw = np.random.default_rng(seed)
    centers = draw.normal(size=(count // 10, 24))
    rows = centers[draw.integers(0, len(centers), count)] + 0.25 * draw.normal(size=(count, 24))
    return (rows * draw.uniform(0.5, 3, (count, 1))).astype(np.float32)


@pytest.mark.parametrize("block", [7, 100, 65_536])
def test_search_is_exact(block, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "BLOCK", block)
    corpus, queries = vectors(300), vectors(20, seed=1)
    np.save(tmp_path / "corpus.npy", corpus)
    result = module.search(queries, np.load(tmp_path / "corpus.npy", mmap_mode="r"), k=5, neighbors=0)
    cosines = normalize_vectors(queries) @ normalize_vectors(corpus).T
    expected = np.argsort(-cosines, axis=1)[:, :5]
    assert np.array_equal(result.rows, expected)
    np.testing.assert_allclose(result.cosines, np.take_along_axis(cosines, expected, 1), atol=1e-5)


def margins(queries, corpus, k):
    """The formula of Artetxe and Schwenk 2019, (1) with the ratio, over all pairs."""
    cosines = normalize_vectors(queries) @ normalize_vectors(corpus).T
    forward = np.sort(cosines, axis=1)[:, -k:].mean(axis=1)
    backward = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    return cosines / ((forward[:, None] + backward[None]) / 2)


@pytest.mark.parametrize("block", [7, 65_536])
def test_search_orders_by_the_margin(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    corpus, queries = np.abs(vectors(16)), np.abs(vectors(40, seed=1))  # positive cosines: all margins are defined
    for neighbors in (1, 4):
        result = module.search(queries, corpus, k=5, neighbors=neighbors)
        expected = np.argsort(-margins(queries, corpus, neighbors), axis=1)[:, :5]
        assert np.array_equal(result.rows, expected)
    assert (np.diff(module.search(queries[:1], corpus, k=5).cosines) <= 0).all(), "one query: by cosine"


def test_a_corpus_smaller_than_k():
    result = module.search(vectors(10), vectors(10)[:3], k=5)
    assert (result.rows[:, 3:] == -1).all()
    assert not result.cosines[:, 3:].any()
    with pytest.raises(ConfigError, match="'k' is 0"):
        module.search(vectors(10), vectors(10), k=0)


def test_of_equal_cosines_the_lower_row_is_first(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 4)
    corpus = np.float32([[0, 1], [2, 0], [0, 0], [1, 0]] * 5)
    assert module.search(np.float32([[1, 0], [0, 0]]), corpus, k=4, neighbors=0).rows.tolist() == [
        [1, 3, 5, 7],
        [0, 1, 2, 3],
    ]


def test_mining_finds_the_pairs_of_an_exhaustive_comparison(tmp_path, monkeypatch):
    pytest.importorskip("faiss", reason=MISSING)
    monkeypatch.setattr(module, "BLOCK", 333)
    corpus = vectors(2000)
    cosines = normalize_vectors(corpus) @ normalize_vectors(corpus).T
    nearest = np.argsort(-(cosines - 2 * np.eye(2000)), axis=1)[:, :20]
    expected = {(min(i, j), max(i, j)) for i in range(2000) for j in nearest[i] if cosines[i, j] >= 0.9}
    mined = module.mine_pairs(corpus, tmp_path, above=0.9, k=20, probes=8)
    pairs = set(zip(mined.first.tolist(), mined.second.tolist(), strict=True))
    assert len(pairs & expected) / len(expected) > 0.97
    assert len(pairs) == len(mined.first)
    np.testing.assert_allclose(mined.cosines, cosines[mined.first, mined.second], atol=5e-3)
    assert (np.diff(mined.margins) <= 0).all()
    # With all groups compared, only pairs at the limit of half precision are missed.
    mined = module.mine_pairs(corpus, tmp_path, above=0.9, k=20, probes=10_000)
    pairs = set(zip(mined.first.tolist(), mined.second.tolist(), strict=True))
    assert len(pairs & expected) / len(expected) > 0.995


def test_paraphrases_are_in_the_order_of_their_margin(tmp_path):
    """Computed apart: the mean cosine with the four nearest, of which copies of a row are none."""
    pytest.importorskip("faiss", reason=MISSING)
    corpus = normalize_vectors(vectors(200)[np.r_[:200, :3]])  # three rows are there twice
    nearest = -np.sort(-(corpus @ corpus.T), axis=1)[:, :5]  # itself included
    means = np.nanmean(np.where(nearest < 0.991, nearest, np.nan), axis=1)
    mined = module.mine_pairs(corpus, tmp_path, above=-1, below=0.99, k=3, probes=10_000)
    expected = mined.cosines / ((means[mined.first] + means[mined.second]) / 2)
    np.testing.assert_allclose(mined.margins, expected, atol=5e-3)
    assert (np.diff(mined.margins) <= 0).all() and (np.diff(mined.cosines) > 0).any()


def test_lines_are_read_by_their_number(tmp_path):
    (tmp_path / "a.txt").write_text("eins\nzwöi\n\nvier\n", encoding="utf-8")
    assert list(module.lines_at(tmp_path / "a.txt", np.array([3, 1, 2, 0]))) == ["vier", "zwöi", "", "eins"]


@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38])
@pytest.mark.parametrize("side", ["queries", "corpus"])
def test_vectors_that_are_not_finite_are_an_error(value, side, monkeypatch):
    """They had a cosine of 0 to everything, in silence."""
    monkeypatch.setattr(module, "BLOCK", 7)
    sides = {"queries": vectors(20), "corpus": vectors(20, seed=1)}
    sides[side][9, 3] = value
    with pytest.raises(DataError, match="vector 10 contains values that are not finite"):
        module.search(**sides, k=2)


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        (np.ones((3, 5), np.float32), "expected vectors of 24 dimensions, got 5"),
        (np.ones(24, np.float32), r"a row for each vector, got float32 of shape \(24,\)"),
        (np.full((3, 24), "a"), "expected an array of numbers"),
        (np.ones((3, 24), np.complex64), "expected an array of numbers"),
    ],
)
def test_an_array_of_another_shape_or_type_is_an_error(corpus, message):
    with pytest.raises(DataError, match=message):
        module.search(vectors(10), corpus, k=2)


def test_mining_refuses_vectors_that_are_not_finite(tmp_path):
    pytest.importorskip("faiss", reason=MISSING)
    corpus = vectors(50)
    corpus[20, 0] = np.inf
    with pytest.raises(DataError, match="vector 21 contains"):
        module.mine_pairs(corpus, tmp_path)


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00\xff\xff", b"PK\x03\x04"])
def test_a_file_of_vectors_that_cannot_be_read_is_an_error(content, tmp_path):
    (tmp_path / "corpus.txt").write_text("a\n")
    (tmp_path / "corpus.npy").write_bytes(content)
    encoder = SimpleNamespace(encode=lambda texts: np.ones((len(texts), 3), np.float32), signature="toy")
    with pytest.raises(DataError, match=r"corpus.npy: (the vectors cannot be read|expected one array)"):
        list(
            search_lines(
                encoder, str(tmp_path / "corpus.txt"), str(tmp_path / "corpus.txt"), vectors=tmp_path / "corpus.npy"
            )
        )


def test_vectors_of_another_text_or_encoder_are_an_error(tmp_path):
    texts = {"a": [f"line {number}" for number in range(100)], "b": [f"row {number}" for number in range(100)]}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    api.encode_file("english", tmp_path / "a", tmp_path / "a.npy")
    assert len(list(search_lines("english", tmp_path / "a", tmp_path / "a", k=1, vectors=tmp_path / "a.npy"))) == 100
    with pytest.raises(DataError, match=r"gives other vectors to 64 of 64 lines of .*b, such as line 1: these are of"):
        list(search_lines("english", tmp_path / "b", tmp_path / "a", vectors=tmp_path / "a.npy"))
    (tmp_path / "b").write_text("".join(f"{line}\n" for line in [*texts["a"][:-1], "an edited end"]))
    with pytest.raises(DataError, match=r"other vectors to 1 of 64 lines of .*b, such as line 100"):
        api.mine_lines("english", tmp_path / "b", str(tmp_path / "out.tsv"), vectors=tmp_path / "a.npy")
    half = np.load(tmp_path / "a.npy").astype(np.float16)
    np.save(tmp_path / "half.npy", half)
    assert list(search_lines("english", tmp_path / "a", tmp_path / "a", k=1, vectors=tmp_path / "half.npy"))


def test_vectors_of_another_encoder_are_an_error(tmp_path):
    (tmp_path / "corpus.txt").write_text("a\nb\n")
    np.save(tmp_path / "corpus.npy", np.ones((2, 4), np.float32))
    np.save(tmp_path / "objects.npy", np.array([[1, None]], object), allow_pickle=True)
    encoder = SimpleNamespace(encode=lambda texts: np.ones((len(texts), 3), np.float32), signature="toy")
    text = str(tmp_path / "corpus.txt")
    with pytest.raises(DataError, match="expected vectors of 3 dimensions, got 4"):
        list(search_lines(encoder, text, text, vectors=tmp_path / "corpus.npy"))
    with pytest.raises(DataError, match="the vectors cannot be read"):
        list(search_lines(encoder, text, text, vectors=tmp_path / "objects.npy"))


def test_vectors_of_other_sentences_are_refused() -> None:
    """Only their number was compared: a corpus in another order gave the texts of other rows, in silence."""
    encoder = Encoder.load("english")
    texts = [
        f"Sentence {number} is about {word}." for number, word in enumerate(["cats", "dogs", "trains", "rain", "tea"])
    ]
    stored = encoder.encode(texts)
    assert encoder.search("A train.", texts, 1, vectors=stored.astype(np.float16))[0].row == 2
    for other in (stored[::-1], encoder.encode([text.upper()[::-1] for text in texts])):
        with pytest.raises(DataError, match="the encoder gives sentence 0 another vector"):
            encoder.search("A train.", texts, 1, vectors=other)
    with pytest.raises(DataError, match="4 vectors for 5 sentences"):
        encoder.search("A train.", texts, 1, vectors=stored[:4])
    assert encoder.search("A train.", [], 1, vectors=stored[:0]) == []
