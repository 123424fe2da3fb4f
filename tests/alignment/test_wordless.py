"""Tests of lines without a word: which ones they are, and what a bead with them costs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from toy_language import align

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.search import full_band
from paraloom.alignment.wordless import WordlessEvidence


@pytest.mark.parametrize(
    ("line", "is_wordless"),
    [
        ("- _-", True),
        ('h * "', True),
        ("", True),
        ("* * *", True),
        ("7", False),
        ("네 .", False),
        ("是", False),
        ("No", False),
    ],
)
def test_what_a_line_without_a_word_is(line: str, is_wordless: bool) -> None:
    assert WordlessEvidence([line], ["x"], 1.0).counts[0][1] == is_wordless


def test_a_bead_pays_for_the_difference_of_its_sides() -> None:
    source, target = ["One.", "--", "Two."], ["***", "Un.", "..", "Deux."]
    scores = np.zeros((3, 3, 3, 5), np.float32)
    WordlessEvidence(source, target, 1.5).add(0, 3, full_band(3, 4), scores)
    flags = [0, 1, 0], [1, 0, 1, 0]
    for i, a, j, b in itertools.product(range(3), (1, 2, 3), range(4), (1, 2, 3)):
        if i + a <= 3 and j + b <= 4:
            expected = -1.5 * abs(sum(flags[0][i : i + a]) - sum(flags[1][j : j + b]))
            assert scores[i, a - 1, b - 1, j] == expected


def test_dirt_stays_alone() -> None:
    source = ["Lhotse is 8501 m high.", "It was climbed in 1956.", "Everest is 8848 m high."]
    target = ["Lhotse is 8501 m high.", "~ _ -", "It was climbed in 1956.", "Everest is 8848 m high."]
    beads = align(source, target, config=AlignerConfig(rounds=1))
    assert [(bead.source, bead.target) for bead in beads] == [((0,), (0,)), ((), (1,)), ((1,), (2,)), ((2,), (3,))]
