"""Splits texts into sentences by the rules of pySBD."""

from __future__ import annotations

from functools import cache
from typing import Any

from paraloom.core.errors import ConfigError


def split_sentences(text: str, lang: str) -> list[str]:
    """Split a text into sentences.

    Args:
        text: Running text.
        lang: Language tag; only its primary subtag counts (`pt-BR` is `pt`).

    Returns:
        The sentences in order, trimmed, none of them empty.

    Raises:
        ConfigError: pySBD has no rules for the language.

    Example:
        >>> split_sentences("Dr. Smith came. He left.", "en")
        ['Dr. Smith came.', 'He left.']
    """
    sentences = (sentence.strip() for sentence in _segmenter(lang.split("-")[0].lower()).segment(text))
    return [sentence for sentence in sentences if sentence]


@cache
def _segmenter(lang: str) -> Any:
    from pysbd import Segmenter
    from pysbd.languages import LANGUAGE_CODES

    if lang not in LANGUAGE_CODES:
        raise ConfigError(
            f"no sentence splitting rules for language '{lang}'; known are {', '.join(sorted(LANGUAGE_CODES))}",
            remedy="Give a language with similar punctuation, or text with one sentence per line.",
        )
    return Segmenter(language=lang, clean=False)
