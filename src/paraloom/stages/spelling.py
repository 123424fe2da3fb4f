"""The list of words by which noisy English text is corrected."""

from __future__ import annotations

from functools import cache

from paraloom.bundled import bundled_path
from paraloom.paraphrasing.spelling import Speller
from paraloom.stages.syntax import word_vectors


@cache
def english_speller() -> Speller:
    """A speller with the words of the bundled encoder."""
    folder = bundled_path("english")
    assert folder is not None
    words, _ = word_vectors(folder)
    return Speller(words)
