"""Mining of translations: margins by hand and against a plain computation, graphs, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.embed import mining
from paraloom.embed.mining import MinedBitext, bitext_neighbors, select_pairs


def mine_bitext(source, target, *, k=mining.NEIGHBORS, index="auto", **selection) -> MinedBitext:
    return select_pairs(bitext_neighbors(source, target, k=k, index=index), **selection)


def vectors(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """300 source and 250 target vectors; the first 100 are near to each other."""
    draw = np.random.default_rng(seed)
    source = draw.normal(0.3, 1, (300, 16)).astype(np.float32)
    noisy = source[:100] + draw.normal(0, 0.3, (100, 16))
    return source, np.concatenate([noisy, draw.normal(0.3, 1, (150, 16))]).astype(np.float32)


def plain_margins(source: np.ndarray, target: np.ndarray, k: int) -> np.ndarray:
    """The formula of Artetxe and Schwenk (2019) over all pairs."""
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (source, target)]
    cosines = units[0] @ units[1].T
    of_sources = np.sort(cosines, axis=1)[:, -k:].sum(axis=1) / (2 * k)
    of_targets = np.sort(cosines, axis=0)[-k:].sum(axis=0) / (2 * k)
    return cosines / (of_sources[:, None] + of_targets[None])


def test_the_margin_by_hand() -> None:
    # Cosines: 1 and 0.6 for the first source; 0 and 0.8 for the second. With k = 2 their means are 0.8 and 0.4, those
    # of the targets 0.5 and 0.7.
    source, target = np.float32([[1, 0], [0, 2]]), np.float32([[3, 0], [0.6, 0.8]])
    mined = mine_bitext(source, target, k=2, threshold=0)
    assert list(zip(mined.sources.tolist(), mined.targets.tolist(), strict=True)) == [(0, 0), (1, 1)]
    np.testing.assert_allclose(mined.margins, [1 / 0.65, 0.8 / 0.55], rtol=1e-6)
    np.testing.assert_allclose(mined.cosines, [1, 0.8], rtol=1e-6)


@pytest.mark.parametrize("k", [1, 4, 7])
@pytest.mark.parametrize("blocks", [(4096, 8192), (37, 23)])
def test_pairs_are_those_of_all_comparisons(monkeypatch, k: int, blocks: tuple[int, int]) -> None:
    monkeypatch.setattr(mining, "_ROWS", blocks[0])
    monkeypatch.setattr(mining, "_COLUMNS", blocks[1])
    source, target = vectors()
    cosines = plain_margins(source, target, k)
    neighbors = bitext_neighbors(source, target, k=k)
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (source, target)]
    all_cosines = units[0] @ units[1].T
    np.testing.assert_array_equal(neighbors.forward.rows, np.argsort(-all_cosines, axis=1)[:, :k])
    np.testing.assert_array_equal(neighbors.backward.rows, np.argsort(-all_cosines.T, axis=1)[:, :k])
    best = select_pairs(neighbors, threshold=-np.inf)
    np.testing.assert_allclose(best.margins, cosines[best.sources, best.targets], rtol=1e-5)
    # The best pair of each row in both directions, by falling margin, as long as both sides are free.
    ours = [(i, max(rows, key=cosines[i].__getitem__)) for i, rows in enumerate(neighbors.forward.rows.tolist())]
    theirs = [(max(rows, key=cosines[:, j].__getitem__), j) for j, rows in enumerate(neighbors.backward.rows.tolist())]
    chosen, taken = set[tuple[int, int]](), (set[int](), set[int]())
    for i, j in sorted({*ours, *theirs}, key=lambda pair: -cosines[pair]):
        if i not in taken[0] and j not in taken[1]:
            chosen.add((i, j))
            taken[0].add(i)
            taken[1].add(j)
    assert set(zip(best.sources.tolist(), best.targets.tolist(), strict=True)) == chosen
    assert (np.diff(best.margins) <= 0).all()


def test_the_threshold_separates_translations() -> None:
    source, target = vectors()
    mined = mine_bitext(source, target)
    pairs = set(zip(mined.sources.tolist(), mined.targets.tolist(), strict=True))
    assert len(pairs) == len(mined.sources) and (mined.margins >= mining.MARGIN_THRESHOLD).all()
    # Translations are mined where their margin is the highest of either side, and those alone that reach the threshold.
    margins = plain_margins(source, target, mining.NEIGHBORS)
    best = (margins == margins.max(axis=1, keepdims=True)) & (margins == margins.max(axis=0))
    sure = {(i, i) for i in range(100) if best[i, i] and margins[i, i] > mining.MARGIN_THRESHOLD + 1e-5}
    assert sure <= pairs and len(sure) > 80
    # Of orthogonal vectors and their copies all are mined: their margin is 1 / (1 / k) = 4.
    mined = mine_bitext(np.eye(100, dtype=np.float32), np.eye(100, dtype=np.float32)[::-1])
    assert sorted(mined.sources) == list(range(100)) and (mined.targets == 99 - mined.sources).all()
    np.testing.assert_allclose(mined.margins, 4, rtol=1e-6)


@pytest.mark.slow
def test_a_graph_finds_nearly_the_same_each_time() -> None:
    pytest.importorskip("faiss")
    draw = np.random.default_rng(4)
    source, target = (draw.normal(size=(count, 16)).astype(np.float32) for count in (5000, 4500))
    exact, graph, again = (bitext_neighbors(source, target, index=index) for index in ("exact", "graph", "graph"))
    for sides in zip(exact, graph, again, strict=True):
        np.testing.assert_array_equal(sides[1].rows, sides[2].rows)
        same = sides[1].rows == sides[0].rows
        assert same.mean() > 0.95
        np.testing.assert_allclose(sides[1].cosines[same], sides[0].cosines[same], atol=1e-5)


def test_a_graph_of_fewer_vectors_than_neighbors() -> None:
    pytest.importorskip("faiss")
    source, target = vectors()
    cosines = np.stack([row / np.linalg.norm(row) for row in source[:3]])
    cosines = cosines @ np.stack([row / np.linalg.norm(row) for row in target]).T
    neighbors = bitext_neighbors(source[:3], target, index="graph")
    # A graph of three is walked to its end.
    assert neighbors.backward.rows.shape == (250, 3)
    np.testing.assert_array_equal(np.sort(neighbors.backward.rows, axis=1), np.tile(np.arange(3), (250, 1)))
    np.testing.assert_allclose(neighbors.backward.cosines, -np.sort(-cosines.T, axis=1), atol=1e-5)
    # A walk among 250 may miss some of the nearest, but not the translation; what it finds has its exact cosine.
    assert neighbors.forward.rows.shape == (3, 4) and (neighbors.forward.rows[:, 0] == np.arange(3)).all()
    expected = np.take_along_axis(cosines, neighbors.forward.rows, axis=1)
    np.testing.assert_allclose(neighbors.forward.cosines, expected, atol=1e-5)
    assert (np.diff(neighbors.forward.cosines) <= 0).all()
    assert bitext_neighbors(source, target[:0], index="graph").forward.rows.shape == (300, 0)


def test_zero_vectors_and_empty_sides_have_no_pair() -> None:
    source = np.float32([[0, 0], [1, 1]])
    mined = mine_bitext(source, np.float32([[0, 0], [1, 1]]), threshold=0)
    assert (mined.sources.tolist(), mined.targets.tolist()) == ([1], [1])
    assert not len(mine_bitext(source, np.empty((0, 2), np.float32)).sources)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"index": "graf"}, "did you mean 'graph'"),
        ({"k": 0}, "'k' is 0"),
        ({"threshold": float("nan")}, "minimum margin is nan"),
    ],
)
def test_settings_out_of_range(change: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        mine_bitext(*vectors(), **change)


def test_vectors_that_do_not_fit() -> None:
    source, target = vectors()
    with pytest.raises(DataError, match="16 dimensions, those of the target 5"):
        mine_bitext(source, target[:, :5])
    target[3, 3] = np.nan
    with pytest.raises(DataError, match="not finite"):
        mine_bitext(source, target)
