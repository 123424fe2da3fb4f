"""Windows of long pairs."""

from __future__ import annotations

from paraloom.pairs.scoring.judge import windows


def test_sentences_are_matched_in_order() -> None:
    assert windows("A dog ran. It was red! Why?", "A dog ran, and it was red! Why, then?") == [
        ("A dog ran. It was red!", "A dog ran, and it was red!"),
        ("Why?", "Why, then?"),
    ]


def test_no_word_is_lost() -> None:
    first = " ".join(f"Line {number} of the first text." for number in range(9)) + " The end of it"
    second = " ".join(f"Line {number} of the other text," for number in range(7)) + " and its end."
    parts = windows(first, second)
    assert [" ".join(side).split() for side in zip(*parts, strict=True)] == [first.split(), second.split()]


def test_long_sentences_are_halved() -> None:
    words = [f"w{number}" for number in range(80)]
    halves = [" ".join(words[:40]), " ".join(words[40:])]
    assert windows(" ".join(words), " ".join(words)) == [(half, half) for half in halves]


def test_sides_of_very_different_length_stay_whole() -> None:
    assert windows("One.", "One. Two. Three. Four. Five.") == [("One.", "One. Two. Three. Four. Five.")]
