"""Certified cuts: exact tails, a promise that is kept over many draws, and what is said where none can be made."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.pairs.filtering.certified_cut import certified_cut, fewest_labels, tail


def draw(random: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Values from 0 to 1, and labels that are right with the probability of the value."""
    values = random.random(rows)
    return values, (random.random(rows) < values).astype(int)


def true_precision(threshold: float) -> float:
    """Share of right rows at or above a value: the mean of the values above it."""
    return (1 + threshold) / 2


def test_tails_by_pencil() -> None:
    assert tail(3, 3, 0.5) == pytest.approx(1 / 8)
    assert tail(2, 3, 0.5) == pytest.approx(1 / 2)
    assert fewest_labels(0.9, 0.95) == 29
    assert 0.9**29 <= 0.05 < 0.9**28


@pytest.mark.parametrize("labels", [60, 240])
def test_promise_is_broken_in_one_of_twenty_draws_at_most(labels: int) -> None:
    random = np.random.default_rng(1)
    cuts = [certified_cut(*draw(random, labels), precision=0.8).threshold for _ in range(1000)]
    broken = np.mean([cut is not None and true_precision(cut) < 0.8 for cut in cuts])
    assert broken <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)
    assert labels < 240 or np.mean([cut is not None for cut in cuts]) > 0.4


def test_cut_read_off_the_labels_breaks_it_far_more_often() -> None:
    random = np.random.default_rng(1)
    broken = 0
    for _ in range(300):
        values, labels = draw(random, 120)
        order = np.argsort(-values)
        shares = np.cumsum(labels[order]) / np.arange(1, 121)
        held = np.flatnonzero(shares >= 0.8)
        broken += bool(len(held)) and true_precision(values[order][held[-1]]) < 0.8
    assert broken / 300 > 0.3


def test_more_labels_give_a_lower_cut() -> None:
    cuts = [certified_cut(*draw(np.random.default_rng(2), rows), precision=0.7).threshold for rows in (300, 30_000)]
    assert cuts[0] is not None and cuts[1] is not None
    assert 0.4 <= cuts[1] < cuts[0]


def test_missing_labels_are_counted() -> None:
    cut = certified_cut([0.5] * 20, [1] * 20, precision=0.9)
    assert (cut.threshold, cut.labels, cut.right, cut.more_labels) == (None, 20, 20, 9)
    assert certified_cut([0.5] * 40, [1, 0] * 20, precision=0.9).more_labels is None


def test_equal_values_are_kept_or_left_together() -> None:
    cut = certified_cut([1.0] * 50 + [0.5] * 50, [1] * 50 + [1, 0] * 25, precision=0.9)
    assert (cut.threshold, cut.labels) == (1.0, 50)


def test_bad_input_is_named() -> None:
    with pytest.raises(ConfigError, match="'precision' must be between 0 and 1, not 1"):
        certified_cut([1.0], [1], precision=1)
    with pytest.raises(DataError, match="got 1 and 2"):
        certified_cut([1.0, 2.0], [1], precision=0.9)
    with pytest.raises(DataError, match="neither 0 nor 1"):
        certified_cut([1.0, 2.0], [1, 3], precision=0.9)
