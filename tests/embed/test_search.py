"""Search is exact for any block size; mining finds the pairs of an exhaustive comparison."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.errors import ConfigError
from paraloom.embed import search as module
from paraloom.embed.average import Average, SentenceEncoder, normalize_vectors
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import save_encoder
from paraloom.embed.vocabulary import Vocabulary

pytest.importorskip("faiss", reason="search needs faiss: pip install 'paraloom[search]'")


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


def test_mining_finds_the_pairs_of_an_exhaustive_comparison(tmp_path, monkeypatch):
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


@pytest.fixture
def words_encoder(tmp_path):
    words = ["dog", "cat", "runs", "sleeps", "here", "there", "a", "the"]
    table = np.random.default_rng(4).normal(size=(len(words), 16)).astype(np.float32)
    table[1] = table[0] + 0.1
    part = Average(Vocabulary("word", words), table)
    return save_encoder(SentenceEncoder(parse_spec("word"), {"word": part}), tmp_path / "encoder")


def test_the_commands_search_and_mine(words_encoder, paraloom, tmp_path):
    lines = [f"{d} {n} {v} {p}" for d in ("a", "the") for n in ("dog", "cat") for v in ("runs", "sleeps") for p in "xy"]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "query").write_text("the cat sleeps\n")
    status, out, err = paraloom("search", words_encoder, "text.txt", "query", "-k", 2)
    assert status == 0, err
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[:3] for row in rows] == [["the cat sleeps", "1", "1.0000"], ["the cat sleeps", "2", "1.0000"]]
    assert (
        {lines[int(row[3]) - 1] for row in rows} == {row[4] for row in rows} == {"the cat sleeps x", "the cat sleeps y"}
    )
    paraloom("encode", words_encoder, "text.txt", "-o", "text.npy")
    assert paraloom("search", words_encoder, "text.txt", "query", "-k", 2, "--vectors", "text.npy")[1] == out
    (tmp_path / "more.txt").write_text("\n".join([*lines, "a dog"]) + "\n")
    status, _, err = paraloom("search", words_encoder, "more.txt", "query", "--vectors", "text.npy")
    assert (status, "16 vectors stand against 17 lines" in err) == (1, True)
    status, out, err = paraloom("mine", words_encoder, "text.txt", "--above", 0.9, "--below", 1, "-k", 9, "-o", "p.tsv")
    assert status == 0, err
    pairs = [line.split("\t") for line in (tmp_path / "p.tsv").read_text().splitlines()]
    assert pairs[0] == ["src", "tgt", "cosine"]
    assert ["a dog runs x", "a cat runs x"] in [sorted(pair[:2], reverse=True) for pair in pairs[1:]]


def test_the_command_encodes_to_numpy_and_parquet(words_encoder, paraloom, tmp_path):
    import pyarrow.parquet as pq

    (tmp_path / "text.txt").write_text("a dog\nthe cat\n")
    assert paraloom("encode", words_encoder, "text.txt", "-o", "v.npy")[0] == 0
    assert paraloom("encode", words_encoder, "text.txt", "-o", "v.parquet")[0] == 0
    table = pq.read_table(tmp_path / "v.parquet")
    assert table.column("text").to_pylist() == ["a dog", "the cat"]
    assert np.array_equal(np.stack(table.column("vector").to_numpy()), np.load(tmp_path / "v.npy"))
