"""Tests of the lexicon of nearest words: margins by hand, and what has none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from paraloom.alignment import nearest_words
from paraloom.alignment.lexicon import BilingualLexicon
from paraloom.alignment.nearest_words import encoder_lexicon
from paraloom.text.tokens import tokenize


class Angles:
    """Words as directions in the plane, by degrees; an unknown word has the zero vector."""

    signature, dimension = "angles", 2

    def __init__(self, degrees: dict[str, float]) -> None:
        self.degrees = degrees

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        radians = np.radians([self.degrees.get(word, 0.0) for word in sentences])
        known = np.array([word in self.degrees for word in sentences])
        return (np.stack([np.cos(radians), np.sin(radians)], axis=1) * known[:, None]).astype(np.float32)


def translations(lexicon: BilingualLexicon, word: str, candidates: Sequence[str]) -> dict[str, float]:
    """The translations of a word among some candidates, with their probabilities."""
    names = {int(tokenize([name]).ids[0]): name for name in candidates}
    row = int(np.searchsorted(lexicon.words, tokenize([word]).ids[0]))
    if row == len(lexicon.words) or lexicon.words[row] != tokenize([word]).ids[0]:
        return {}
    entries = slice(lexicon.starts[row], lexicon.starts[row + 1])
    return {
        names[int(identifier)]: float(probability)
        for identifier, probability in zip(lexicon.translations[entries], lexicon.probabilities[entries], strict=True)
    }


def test_probabilities_are_of_margins_beside_no_translation() -> None:
    encoder = Angles({"hund": 0.0, "katze": 90.0, "dog": 10.0, "cat": 80.0})
    (forward, backward), *rest = encoder_lexicon(encoder, [["Hund Katze"]], [["dog cat"]])
    assert not rest
    near, far = np.cos(np.radians(10)), np.cos(np.radians(80))
    level = (near + far) / 2  # the same for all four words
    likely, unlikely = (np.exp((2 * cosine - 2 * level) / 0.1) for cosine in (near, far))
    expected = likely / (1 + likely + unlikely)
    assert translations(forward, "hund", ["dog", "cat"]) == {"dog": pytest.approx(expected, abs=1e-5)}
    assert translations(backward, "cat", ["hund", "katze"]) == {"katze": pytest.approx(expected, abs=1e-5)}


def test_far_words_and_unknown_words_have_no_translation() -> None:
    encoder = Angles({"hund": 0.0, "stein": 180.0, "dog": 5.0})
    forward, _ = encoder_lexicon(encoder, [["Hund Stein Xyz 1957"]], [["dog 1957"]])[0]
    assert translations(forward, "hund", ["dog"])
    assert not translations(forward, "stein", ["dog"])
    assert not translations(forward, "xyz", ["dog"])
    assert len(forward.words) == 1


@pytest.mark.parametrize(("source", "target"), [([[]], [["dog"]]), ([["Hund"]], [["1957 ."]]), ([["abc"]], [["dog"]])])
def test_without_known_words_on_both_sides_there_is_no_lexicon(
    source: list[list[str]], target: list[list[str]]
) -> None:
    assert encoder_lexicon(Angles({"hund": 0.0, "dog": 5.0}), source, target) == []


def test_blocks_of_rows_do_not_change_the_lexicon(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abcdefgh"), 5)) for _ in range(40)]
    encoder = Angles({word: float(rng.uniform(0, 360)) for word in words})
    whole = encoder_lexicon(encoder, [words[:20]], [words[20:]])[0]
    monkeypatch.setattr(nearest_words, "_ROWS", 7)
    parts = encoder_lexicon(encoder, [words[:20]], [words[20:]])[0]
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one.words, other.words)
        assert np.array_equal(one.translations, other.translations)
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-6)


def test_only_the_commonest_words_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest_words, "_MAX_WORDS", 1)
    encoder = Angles({"hund": 0.0, "katze": 90.0, "dog": 5.0, "cat": 85.0})
    forward, _ = encoder_lexicon(encoder, [["Hund Hund Katze"]], [["dog"], ["dog cat"]])[0]
    assert translations(forward, "hund", ["dog", "cat"])
    assert len(forward.words) == 1
