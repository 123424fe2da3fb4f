"""PNMT Table 3: the automatic judges, and the rows and orders that are made of what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paraloom.embed.encoder import open_encoder
from paraloom.mt import Translator
from paraloom.papers.pnmt.rating_tables import (
    correlations,
    cosine_judge,
    range_orders,
    range_rows,
    round_trip_judge,
)

FACTS = [
    {"range": "(0.2, 0.4]", "score": "0.3", "trigram_overlap": "0.1", "in_range": "7"},
    {"range": "(0.2, 0.4]", "score": "0.4", "trigram_overlap": "", "in_range": "7"},
    {"range": "(0.8, 1]", "score": "0.9", "trigram_overlap": "0.5", "in_range": "90"},
    {"range": "(0.8, 1]", "score": "0.95", "trigram_overlap": "0.7", "in_range": "90"},
]
RATINGS = {"encoder": np.array([20.0, 30.0, 80.0, 90.0]), "round trip": np.array([5.0, math.nan, 7.0, 3.0])}


def test_rows_are_means_of_the_pairs_of_a_range() -> None:
    [(low, figures), (high, above)] = range_rows(FACTS, RATINGS)
    assert (low, high) == ("range 0.2 to 0.4", "range 0.8 to 1")
    assert figures[:6] == [None, None, None, None, 7.0, 0.1] and above[5] == pytest.approx(0.6)
    mean, lower, upper = figures[6]
    # Two values 10 apart have a standard error of 5.
    assert (mean, upper - mean, mean - lower) == (25.0, pytest.approx(9.8, abs=0.01), pytest.approx(9.8, abs=0.01))
    assert figures[7][0] == 5.0 and math.isnan(figures[7][1]) and above[7][0] == 5.0


def test_orders_compare_ranges_in_a_row() -> None:
    (undecided,) = range_orders(range_rows(FACTS, RATINGS))  # of the round trip, one value has no interval
    assert undecided.claim == "range 0.8 to 1 above range 0.2 to 0.4, by both judges"
    assert undecided.published == pytest.approx(71) and undecided.outcome == "no power"
    both = {"encoder": RATINGS["encoder"], "round trip": np.array([1.0, 2.0, 70.0, 71.0])}
    (agrees,) = range_orders(range_rows(FACTS, both))
    assert agrees.outcome == "agrees" and agrees.ours.value == 60.0


def test_correlations_leave_out_what_is_not_known() -> None:
    sentence, beside = correlations(FACTS, RATINGS)
    assert sentence.endswith("encoder and round trip -50.0, the paraphrase score and encoder 100.0, "
                             "the paraphrase score and round trip -50.0.")  # fmt: skip
    assert "with encoder 100.0, with round trip -50.0." in beside


def test_correlations_with_the_overlap_held_fixed() -> None:
    ranks = {"score": [1, 2, 3, 4, 5], "trigram_overlap": [2, 1, 3, 5, 4], "range": [0] * 5}
    facts = [{key: str(values[row]) for key, values in ranks.items()} for row in range(5)]
    ratings = {"encoder": np.array([1.0, 2, 3, 4, 5]), "round trip": np.array([2.0, 1, 3, 4, 5])}
    _, beside = correlations(facts, ratings)
    # Score and round trip 0.9, overlap and score 0.8, overlap and round trip 0.9.
    expected = (0.9 - 0.8 * 0.9) / math.sqrt((1 - 0.8**2) * (1 - 0.9**2))
    assert beside.endswith(f"the paraphrase score and round trip {100 * expected:.1f}.")


def test_judges_prefer_a_paraphrase_to_another_sentence() -> None:
    references = ["He bought a new car yesterday.", "The weather is very nice today."]
    paraphrases = ["Yesterday he purchased a new car.", "Today the weather is really good."]
    for judge in (
        cosine_judge(open_encoder("multilingual")),
        round_trip_judge(Translator.load("en-de"), Translator.load("de-en")),
    ):
        same, right, wrong = (judge(references, side) for side in (references, paraphrases, paraphrases[::-1]))
        assert (same >= right).all() and (right > wrong).all()
        assert (same <= 100.001).all()
