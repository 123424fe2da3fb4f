"""Priors of beads: decay by size, the bound on what is learned, runs of unaligned sentences; breaks; rare lengths."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from toy_language import align

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.breaks import inner_breaks
from paraloom.alignment.lengths import LengthEvidence
from paraloom.alignment.priors import PriorModel, count_kinds
from paraloom.alignment.search import full_band
from paraloom.core.errors import ConfigError


def test_a_prior_decays_with_each_sentence_beyond_four() -> None:
    kinds = PriorModel(decay=0.3).log_priors(Counter(), 5).kinds
    assert kinds[5, 5] - kinds[3, 1] == pytest.approx(6 * math.log(0.3))
    assert kinds[3, 1] == kinds[1, 3]
    assert kinds[5, 5] < 5 * kinds[1, 1]


def test_learned_priors_stay_within_the_bound() -> None:
    model = PriorModel(table_beads=100, max_ratio=3)
    table, learned = (model.log_priors(Counter(sizes), 5).kinds for sizes in ({}, {(5, 5): 10**6}))
    assert learned[5, 5] - table[5, 5] == pytest.approx(math.log(3))


def test_observed_beads_are_mixed_with_the_table() -> None:
    """100 beads 2:1 beside 100 of the table, whose share of 2:1 is p: (100 + 100 p) / 200, unless that is above 3 p."""
    model = PriorModel(table_beads=100, max_ratio=1000)
    table, learned = (model.log_priors(Counter(sizes), 3).kinds for sizes in ({}, {(2, 1): 100}))
    assert math.exp(learned[2, 1]) == pytest.approx((1 + math.exp(table[2, 1])) / 2)


def test_a_run_of_unaligned_sentences_counts_once() -> None:
    beads = np.array([[0, 1, 0, 0], [1, 1, 0, 0], [2, 1, 0, 1], [3, 0, 1, 1]])
    assert count_kinds([beads]) == Counter({(1, 0): 1, (1, 1): 1, (0, 1): 1})


@pytest.mark.parametrize("setting", [{"decay": 1.5}, {"table_beads": 0.0}, {"max_ratio": 0.5}, {"gap_extension": 2.0}])
def test_settings_out_of_range_are_errors(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(setting))):
        align(["a"], ["b"], config=AlignerConfig(priors=PriorModel(**setting)))


def test_case_says_nothing_where_one_text_has_none() -> None:
    source = ["The wall", "is steep.", "It is high.", "It is old."]
    assert inner_breaks(source, ["Das ist.", "Da."])[0].tolist() == [0, 1, 0, 0, 0]
    assert inner_breaks(source, ["das ist.", "da."])[0].tolist() == [0, 0, 0, 0, 0]
    assert inner_breaks(source, ["그것은 벽이다."])[0].tolist() == [0, 0, 0, 0, 0]


def test_a_bracket_that_is_never_closed_is_none() -> None:
    assert inner_breaks(["A ( b", "c", "d ) e"], ["x"])[0].tolist() == [0, 1, 1, 0]
    assert inner_breaks(["A ( b", "c", "d", "e", "f", "g )"], ["x"])[0].sum() == 0


def test_the_pieces_of_a_bracket_stay_in_one_bead() -> None:
    source = ["Wir sahen den Berg (", "Basel 1935).", "Danach gingen wir weiter nach Bern."]
    target = ["Nous vimes la montagne (Basel 1935).", "Ensuite nous allames a Bern."]
    assert [(bead.source, bead.target) for bead in align(source, target)] == [((0, 1), (0,)), ((2,), (1,))]


def test_the_contrast_is_that_of_the_formula() -> None:
    """constant − log σ − mean of the two gamma log-densities, by hand for sentences of 10, 10, 30, 30 characters."""
    lengths = np.array([9.0, 9.0, 29.0, 29.0])
    scores = np.zeros((4, 1, 1, 5), np.float32)
    LengthEvidence(lengths, lengths, 0.0, 1.0, 1).add(0, 4, full_band(4, 4), scores)
    shape, scale = 4.0, 5.0  # mean 20, variance 100
    density = (shape - 1) * math.log(10) - 10 / scale - shape * math.log(scale) - math.lgamma(shape)
    mean_deviation = sum(math.erfc(k / 100 / math.sqrt(2)) for k in range(1201)) / 100
    expected = -math.log(2 * mean_deviation) - math.log(10 * 6.8) / 2 - density
    assert scores[0, 0, 0, 0] == pytest.approx(expected, abs=1e-3)


def test_beads_of_rare_lengths_gain_most() -> None:
    lengths = np.array([*[50.0] * 20, 200.0])
    scores = np.zeros((21, 1, 1, 22), np.float32)
    LengthEvidence(lengths, lengths, 1.0, 1.0, 1).add(0, 21, full_band(21, 21), scores)
    assert scores[20, 0, 0, 20] > scores[0, 0, 0, 0]
