"""The list of words by which noisy text of a language is corrected."""

from __future__ import annotations

from functools import cache

from paraloom.bundled import bundled_path
from paraloom.paraphrasing.spelling import Speller
from paraloom.stages.syntax import word_vectors


@cache
def speller_for(language: str) -> Speller | None:
    """A speller for a language, with the words of the bundled encoder."""
    folder = bundled_path("english") if language == "en" else None
    if folder is None:
        return None
    words, _ = word_vectors(folder)
    return Speller(words)
