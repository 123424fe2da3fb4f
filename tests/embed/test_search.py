"""Search is exact for any block size; mining finds the pairs of an exhaustive comparison."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.errors import ConfigError
from paraloom.embed import search as module
from paraloom.embed.average import normalize_vectors

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
    result = module.search(queries, np.load(tmp_path / "corpus.npy", mmap_mode="r"), k=5)
    cosines = normalize_vectors(queries) @ normalize_vectors(corpus).T
    expected = np.argsort(-cosines, axis=1)[:, :5]
    assert np.array_equal(result.rows, expected)
    np.testing.assert_allclose(result.cosines, np.take_along_axis(cosines, expected, 1), atol=1e-5)


def test_a_corpus_smaller_than_k():
    result = module.search(vectors(10), vectors(10)[:3], k=5)
    assert (result.rows[:, 3:] == -1).all()
    assert not result.cosines[:, 3:].any()
    with pytest.raises(ConfigError, match="'k' is 0"):
        module.search(vectors(10), vectors(10), k=0)


def test_of_equal_cosines_the_lower_row_is_first(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 4)
    corpus = np.float32([[0, 1], [2, 0], [0, 0], [1, 0]] * 5)
    assert module.search(np.float32([[1, 0], [0, 0]]), corpus, k=4).rows.tolist() == [[1, 3, 5, 7], [0, 1, 2, 3]]


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
    assert (np.diff(mined.cosines) <= 0).all()
    # With all groups compared, only pairs at the limit of half precision are missed.
    mined = module.mine_pairs(corpus, tmp_path, above=0.9, k=20, probes=10_000)
    pairs = set(zip(mined.first.tolist(), mined.second.tolist(), strict=True))
    assert len(pairs & expected) / len(expected) > 0.995


def test_lines_are_read_by_their_number(tmp_path):
    (tmp_path / "a.txt").write_text("eins\nzwöi\n\nvier\n", encoding="utf-8")
    assert list(module.lines_at(tmp_path / "a.txt", np.array([3, 1, 2, 0]))) == ["vier", "zwöi", "", "eins"]
