"""The floor of document pairs: certainties and expected F1 by hand, decoys, and pages without counterparts."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.alignment.assignment import assign
from paraloom.alignment.candidates import CandidatePairs
from paraloom.alignment.floors import certainties, decoy_certainties, find_floor


def table(scores: np.ndarray) -> tuple[CandidatePairs, np.ndarray, tuple[int, int]]:
    rows, columns = np.nonzero(scores)
    return CandidatePairs(rows, columns), scores[rows, columns], (len(scores), scores.shape[1])


def test_a_certainty_by_hand() -> None:
    """0.9 and three times its lead over 0.7, the nearer one of its rivals 0.3 and 0.7."""
    pairs, scores, sizes = table(np.array([[0.9, 0.3], [0.7, 0.8]]))
    assert certainties(pairs, scores, np.array([0]), sizes).tolist() == pytest.approx([0.9 + 3 * 0.2])


def test_the_floor_by_hand() -> None:
    """Of 40 decoys half are at 1 and half at 2; ten pairs at 1, ten at 2 and eighty at 3.

    None is below the decoys' median of 1.5 but the ten at 1, half of the wrong ones: 20 are wrong, 80 right. At a floor
    of 3 all 80 are kept: F1 = 1; at 2 it is 2 · 80 / (90 + 80).
    """
    decoys = np.repeat([1.0, 2.0], 20)
    assert find_floor(np.repeat([1.0, 2.0, 3.0], [10, 10, 80]), decoys) == 3
    # Without a pair at 1 nothing is wrong, and all pairs are kept.
    assert find_floor(np.repeat([2.0, 3.0], [10, 80]), decoys) == 2


def test_of_floors_as_good_as_the_best_the_lowest_is_taken() -> None:
    """10 pairs at 1, 2 at 2 and 2,000 at 3, of which 20 are wrong and 1,992 right.

    The expected F1 is 2 · 2,000 / (2,000 + 1,992) = 1.0020 at a floor of 3, 2 · 1,992 / (2,002 + 1,992) = 0.9975 at 2,
    and 2 · 1,992 / (2,012 + 1,992) = 0.9950 at 1.
    """
    decoys = np.repeat([1.0, 2.0], 20)
    assert find_floor(np.repeat([1.0, 2.0, 3.0], [10, 2, 2000]), decoys) == 2


def test_without_decoys_there_is_no_floor() -> None:
    assert find_floor(np.ones(5), np.ones(19)) is None
    assert find_floor(np.empty(0), np.ones(30)) is None
    assert find_floor(np.ones(5), np.ones(30)) == 1


def test_decoys_are_pairs_of_pages_whose_counterpart_is_hidden() -> None:
    """Page i belongs to page i (0.9) and has 0.2 with the next ones: no decoy has its counterpart's score."""
    size = 50
    scores = np.zeros((size, size))
    for i in range(size):
        scores[i, i] = 0.9
        for step in range(1, 15):
            scores[i, (i + step) % size] = 0.2
    pairs, values, sizes = table(scores)
    chosen = np.flatnonzero(values == 0.9)
    decoys = decoy_certainties(pairs, values, chosen, sizes, "one-to-one")
    assert len(decoys) and decoys.max() <= 0.2 + 3 * 0.2
    assert len(decoy_certainties(pairs, values, chosen[:0], sizes, "one-to-one")) == 0


def test_the_floor_keeps_pages_alone_that_have_no_counterpart() -> None:
    """An estimate from some 370 decoys loses 0.02 of F1 on average, with a standard deviation of 0.022.

    So the mean of twelve estimates has a standard error of 0.0065; the bound is four of them away.
    """
    losses = [loss_by_the_floor(np.random.default_rng(seed)) for seed in range(12)]
    assert np.mean(losses) < 0.046


def loss_by_the_floor(rng: np.random.Generator) -> float:
    """300 right pairs, and 600 pages a side without a counterpart, among random resemblances that overlap a little.

    Returns how much lower F1 is at the estimated floor than at the best one.
    """
    true, size = 300, 900
    near = rng.random((size, size)) < 16 / size
    scores = np.where(near, rng.normal(0.5, 0.1, (size, size)).clip(0.01), 0)
    scores[np.arange(true), np.arange(true)] = rng.normal(1.0, 0.15, true)
    pairs, values, sizes = table(scores)
    chosen = assign(pairs, values, sizes)
    observed = certainties(pairs, values, chosen, sizes)
    right = (pairs.sources[chosen] == pairs.targets[chosen]) & (pairs.sources[chosen] < true)

    def f1(kept: np.ndarray) -> float:
        return 2 * right[kept].sum() / (kept.sum() + true)

    floor = find_floor(observed, decoy_certainties(pairs, values, chosen, sizes, "one-to-one"))
    assert floor is not None
    best = max(f1(observed >= value) for value in observed)
    assert f1(np.ones(len(chosen), bool)) < 0.6
    return best - f1(observed >= floor)
