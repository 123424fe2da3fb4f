"""Evidence that a word may stand for another: figures by hand, the file, and what comes with the package."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from paraloom.bundled import WORD_COUNTS
from paraloom.paraphrasing.word_evidence import WordCounts, key_of, keys_of_substitution, replaced, word_evidence


def words(text: str) -> list[str]:
    return text.split()


SOURCE, OUTPUT = words("the old film ."), words("the old movie .")


def counts(of: dict[int, float]) -> WordCounts:
    return WordCounts.of(of)


def test_the_least_by_hand() -> None:
    both, film, movie = keys_of_substitution("film", "movie")
    known = {key_of("old", "movie"): 20, key_of("film", "."): 55, key_of("film"): 403, both: 7, film: 20, movie: 20}
    fit, gain, likeness = word_evidence(SOURCE, OUTPUT, counts(known))
    old_movie, film_end, film_alone, together, one = (
        math.exp(round(3 * math.log(count)) / 3) for count in (20, 55, 403, 7, 20)
    )  # kept in levels, three to a factor of e
    assert fit == pytest.approx(math.log(0.3))  # "movie ." is not known
    left = math.log(old_movie + 0.3) - math.log(30) - math.log(0.3) + math.log(film_alone + 30)
    right = math.log(0.3) - math.log(30) - math.log(film_end + 0.3) + math.log(film_alone + 30)
    assert gain == pytest.approx(min(left, right)) == pytest.approx(right)
    assert likeness == pytest.approx(math.log(together + 0.3) - math.log(one + 10))


def test_nothing_is_replaced() -> None:
    assert all(math.isnan(value) for value in word_evidence(SOURCE, SOURCE, counts({1: 1})))
    assert not replaced(words("a dog ."), words("a dog !"))  # marks alone
    fit, gain, _ = word_evidence(words("a big dog"), words("a dog"), counts({key_of("a", "dog"): 1}))
    assert fit == pytest.approx(math.log(1.3)) and math.isnan(gain)


def test_either_direction_has_one_count() -> None:
    assert keys_of_substitution("film", "movie")[0] == keys_of_substitution("movie", "film")[0]


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = counts({0: 1, 1: 5, 255: 9, 256: 2, 600: 1e6, 2**25 - 1: 3})
    table.save(tmp_path / "table.npz")
    read = WordCounts.load(tmp_path / "table.npz")
    for key in (0, 1, 2, 255, 256, 257, 511, 600, 2**25 - 1):
        assert read.log(key) == table.log(key), key
    assert read.log(600) == pytest.approx(np.log(1e6), abs=1 / 6)


def test_the_bundled_table_is_small_and_knows_common_words() -> None:
    assert WORD_COUNTS.stat().st_size < 1_000_000
    good, bad = (
        word_evidence(words("which film did you see ?"), words(f"which {word} did you see ?"))
        for word in ("movie", "city")
    )
    assert good[2] > bad[2] + 2
    phrase = words("a man with a dirt bike .")
    assert word_evidence(phrase, words("a man with a dirt bicycle ."))[1] < -2
