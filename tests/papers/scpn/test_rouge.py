"""ROUGE by hand."""

from __future__ import annotations

import pytest

from paraloom.papers.scpn.exemplar_evaluation import rouge


def test_by_hand() -> None:
    # Lin 2004, §3: police killed the gunman against its two rewordings; β = 1.
    reference = "police killed the gunman"
    # Words: police, the, gunman of 4 and 4. Pairs: the gunman of 3 and 3. Subsequence: police the gunman.
    assert rouge("police kill the gunman", reference) == (3 / 4, 1 / 3, 3 / 4)
    # The same words in another order: the gunman, or police kill, is what they have in a row.
    assert rouge("the gunman kill police", reference) == (3 / 4, 1 / 3, 2 / 4)


def test_lengths_and_repetitions() -> None:
    # 'the' counts twice, as often as both sides have it: 2 · 2 / (3 + 4).
    assert rouge("the the the", "the the cat dog")[0] == pytest.approx(4 / 7)
    # Precision 1, recall 2/5: 2 · 2 / (2 + 5), for pairs 2 · 1 / (1 + 4).
    assert rouge("A dog", "a dog ran far away!") == pytest.approx((4 / 7, 2 / 5, 4 / 7))


def test_nothing_in_common() -> None:
    assert rouge("", "a b") == rouge("a", "") == rouge("a b", "c d") == (0, 0, 0)
    assert rouge("a", "a") == (1, 0, 1)
