"""The list of words by which noisy text of a language is corrected."""

from __future__ import annotations

from functools import cache

from paraloom.bundled import bundled_path
from paraloom.paraphrasing.spelling import Speller
from paraloom.stages.syntax import word_vectors


@cache
def speller_for(language: str) -> Speller | None:
    """A speller for a language, with the words of the bundled encoder.

    Args:
        language: An ISO 639-1 code; '' for unknown.

    Returns:
        The speller; None for a language other than English.

    Example:
        >>> speller_for("en").standard_form("i dont beleive it"), speller_for("de")
        ("I don't believe it.", None)
    """
    folder = bundled_path("english") if language == "en" else None
    if folder is None:
        return None
    words, _ = word_vectors(folder)
    return Speller(words)
