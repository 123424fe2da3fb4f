"""Certified cuts: capital by pencil, a promise that is kept over many draws, and what is said where none is made."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from paraloom.core.errors import DataError
from paraloom.pairs.filtering.certified_cut import (
    FIRST_LABELS,
    Ranking,
    certified_cut,
    fewest_labels,
    log_capital,
    next_to_label,
)

UNLABELED = -1


def corpus(random: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores from 0 to 1, rows that are right with the probability of the score, and a random order."""
    scores = random.random(rows)
    return scores, (random.random(rows) < scores).astype(np.int8), random.permutation(rows)


def labeled(random: np.random.Generator, rows: int, labels: int, precision: float) -> tuple[Ranking, np.ndarray]:
    """A ranking whose drawn rows are labeled, sheet by sheet, and the truth in the order of the ranking."""
    scores, truth, order = corpus(random, rows)
    known = np.full(rows, UNLABELED, np.int8)
    while (left := labels - int((known >= 0).sum())) > 0:
        drawn = next_to_label(Ranking(scores, order, known), precision)[:left]
        if not len(drawn):
            break
        known[drawn] = truth[drawn]
    ranking = Ranking(scores, order, known)
    return ranking, truth[ranking.by_rank]


def test_capital_by_pencil() -> None:
    # Of 4 rows 3 must be right: the promise just excludes 2, so that one bets on 2 of 4, then 1 of 3.
    parts = np.array([0.8, 0.6, 0.4, 0.25, 0.1, 0.02])
    hoped = 1 - 0.5 * parts
    first = (hoped / 0.5).mean()
    second = (hoped / 0.5 * np.maximum(hoped, 1 / 3) / (1 / 3)).mean()
    assert log_capital([1], 4, 0.5) == pytest.approx(np.log(first))
    assert np.exp(log_capital([1], 40, 0.5)) == pytest.approx(first)
    assert second > first
    assert log_capital([1, 1], 4, 0.5) == float("inf")  # 2 of 4 are known to be right.
    assert log_capital([0, 0, 0], 4, 0.5) == 0


@pytest.mark.parametrize(("rows", "right"), [(6, 2), (7, 4), (6, 4)])
def test_capital_does_not_grow_on_average_if_the_promise_is_broken(rows: int, right: int) -> None:
    """By all orders: the capital reaches 1 / α in a share α of them at most, wherever one stops."""
    precision = (right + 0.5) / rows
    orders = sorted(set(permutations([1] * right + [0] * (rows - right))))
    highest = np.exp([log_capital(order, rows, precision) for order in orders])
    for alpha in (0.8, 0.5, 0.25, 0.1):
        assert (highest >= 1 / alpha).mean() <= alpha


def test_fewest_labels_are_the_fewest() -> None:
    labels = fewest_labels(0.9, 0.95)
    assert log_capital([1] * labels, 10**9, 0.9) >= np.log(20) > log_capital([1] * (labels - 1), 10**9, 0.9)


@pytest.mark.parametrize("labels", [80, 200])
def test_promise_is_broken_in_one_of_twenty_draws_at_most(labels: int) -> None:
    random, broken, certified = np.random.default_rng(1), 0, 0
    for _ in range(200):
        ranking, truth = labeled(random, 1000, labels, 0.8)
        cut = certified_cut(ranking, 0.8)
        certified += cut.threshold is not None
        broken += cut.threshold is not None and truth[: cut.rows].mean() < 0.8
    assert broken <= 200 * 0.05
    assert certified > (20 if labels == 80 else 150)


def test_cut_read_off_the_labels_breaks_it_far_more_often() -> None:
    random, broken = np.random.default_rng(1), 0
    for _ in range(200):
        scores, truth, order = corpus(random, 1000)
        chosen = order[:120]
        chosen = chosen[np.argsort(-scores[chosen])]
        held = np.flatnonzero(np.cumsum(truth[chosen]) / np.arange(1, 121) >= 0.8)
        broken += bool(len(held)) and truth[scores >= scores[chosen[held[-1]]]].mean() < 0.8
    assert broken / 200 > 0.3


def test_rows_that_are_all_labeled_are_counted_exactly() -> None:
    scores, truth, order = corpus(np.random.default_rng(3), 400)
    ranking = Ranking(scores, order, truth)
    cut, shares = certified_cut(ranking, 0.8), np.cumsum(truth[ranking.by_rank]) / np.arange(1, 401)
    lowest = ranking.depths[shares[ranking.depths - 1] >= 0.8][-1]
    assert cut.rows <= lowest and shares[cut.rows - 1] >= 0.8
    assert cut.labels == cut.rows


def test_labels_that_were_chosen_do_not_count() -> None:
    scores, truth, order = corpus(np.random.default_rng(4), 1000)
    ranking = Ranking(scores, order, np.full(1000, UNLABELED))
    known = np.where(truth == 1, truth, UNLABELED).astype(np.int8)  # Only right rows are labeled,
    known[ranking.by_rank[ranking.first]] = truth[ranking.by_rank[ranking.first]]  # after the first sheet.
    chosen = Ranking(scores, order, known)
    for depth in chosen.depths[5:].tolist():
        sample = chosen.sample(depth)
        unlabeled = chosen.order[:depth][chosen.labels[:depth] < 0]
        assert (chosen.order[sample] < unlabeled.min()).all()
    assert certified_cut(chosen, 0.95).threshold is None


def test_first_sheet_is_the_same_whatever_is_labeled() -> None:
    scores, truth, order = corpus(np.random.default_rng(5), 5000)
    first = next_to_label(Ranking(scores, order, np.full(5000, UNLABELED)), 0.9)
    assert len(set(first.tolist())) == FIRST_LABELS
    known = np.full(5000, UNLABELED, np.int8)
    known[first] = truth[first]
    second = next_to_label(Ranking(scores, order, known), 0.9)
    assert not set(first.tolist()) & set(second.tolist())
    part = np.full(5000, UNLABELED, np.int8)
    part[first[:30]] = truth[first[:30]]
    assert set(next_to_label(Ranking(scores, order, part), 0.9).tolist()) == set(first[30:].tolist())
    assert certified_cut(Ranking(scores, order, part), 0.9).more_labels == 10


def test_what_is_missing_is_counted_or_denied() -> None:
    order = np.random.default_rng(6).permutation(2000)
    scores = np.linspace(0, 1, 2000)
    few, wrong = np.full(2000, UNLABELED, np.int8), np.full(2000, UNLABELED, np.int8)
    first = next_to_label(Ranking(scores, order, few), 0.9)
    few[first] = 1
    more = certified_cut(Ranking(scores, order, few), 0.9).more_labels
    assert more is not None and 5 < more <= fewest_labels(0.9, 0.95) + 5
    wrong[order < 300] = 0
    wrong[first] = 0
    cut = certified_cut(Ranking(scores, order, wrong), 0.9)
    assert (cut.threshold, cut.more_labels, cut.right) == (None, None, 0)


def test_equal_scores_are_kept_or_left_together() -> None:
    scores = np.repeat([1.0, 0.5], 60)
    ranking = Ranking(scores, np.random.default_rng(7).permutation(120), np.repeat([1, 0], 60))
    assert ranking.depths.tolist() == [60, 120]
    cut = certified_cut(ranking, 0.9)
    assert (cut.threshold, cut.rows, cut.right) == (1.0, 60, 60)


def test_bad_input_is_named() -> None:
    with pytest.raises(DataError, match="got 1 and 2"):
        Ranking([1.0, 2.0], [1, 2], [1])
    for scores, labels in (([1.0, float("nan")], [1, 1]), ([1.0, 2.0], [1, 3])):
        with pytest.raises(DataError, match="none of 1, 0 and −1, or a score is undefined"):
            Ranking(scores, [1, 2], labels)
