"""Faults of translators in single sentences: characters and words in a loop, cut endings, words left untranslated."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from paraloom.core.schema import LANGUAGE_OF
from paraloom.pairs.scoring.scorer import PairBatch, Side, Values
from paraloom.text.function_words import FUNCTION_WORDS

# One to four letters, three times or more within a word: "ssss", "EVEVEV"; not "banana".
_CHARACTER_LOOP = re.compile(r"([^\W\d_]{1,4}?)\1{2,}")
# One to six words, immediately repeated.
_WORD_LOOP = re.compile(r"\b(\w+(?:\W+\w+){0,5}?)(?:\W+\1\b)+", re.IGNORECASE)
_WORD_OR_NUMBER = re.compile(r"\w+")
_WORD = re.compile(r"[^\W\d_]+")
_END = re.compile(r"[.!?…:;][\"'”’»)\]]*\s*$")
_NEEDS_MORE = (
    "a an the of to in on at for with and or but by from as is was are were that which who my your his her its our "
    "their very"
)
_OPEN_ENDINGS = frozenset(_NEEDS_MORE.split())
_MIN_LETTERS = 4


def character_loop(text: str) -> int:
    """Characters of the longest stretch in which one to four letters are repeated twice or more within a word.

    Args:
        text: A sentence.

    Returns:
        0 if nothing is repeated.

    Example:
        >>> character_loop("It ssss."), character_loop("EVEVEV"), character_loop("bananas in a hall")
        (4, 6, 0)
    """
    loops = _CHARACTER_LOOP.finditer(text.lower())
    return max((len(match.group()) for match in loops if match.group() != "www"), default=0)


def loop_share(text: str) -> float:
    """Share of the characters that belong to an immediate repetition of one to six words.

    Args:
        text: A sentence.

    Returns:
        0 to below 1; 0 if nothing is repeated.

    Example:
        >>> round(loop_share("of the of the of the end"), 2), loop_share("more and more")
        (0.58, 0.0)
    """
    words = _WORD_OR_NUMBER.findall(text.lower())
    if len(set(words)) == len(words):
        return 0.0
    return sum(len(match.group()) - len(match.group(1)) for match in _WORD_LOOP.finditer(text)) / len(text)


def is_truncated(src: str, tgt: str) -> bool:
    """Whether a translation seems to stop before its end.

    Args:
        src: The reference.
        tgt: The translation.

    Returns:
        True if `tgt` ends in a comma, a hyphen or a word that needs another one ("of", "the"), or has no final
        punctuation mark although `src` has one.

    Example:
        >>> is_truncated("He came.", "He arrived."), is_truncated("He came.", "He arrived in the")
        (False, True)
    """
    text = tgt.rstrip()
    if not text:
        return False
    words = _WORD.findall(text.lower())
    ends_open = bool(words) and text.lower().endswith(words[-1]) and words[-1] in _OPEN_ENDINGS
    return ends_open or text[-1] in ",-–(" or (bool(_END.search(src)) and not _END.search(text))


def copied_share(tgt: str, pivot: str, src: str) -> float:
    """Share of the words of a translation that were copied from the sentence that was translated.

    Args:
        tgt: The translation.
        pivot: The sentence that was translated.
        src: The reference: words that it has, too, such as names, do not count as copied.

    Returns:
        0 to 1, of the words of four letters or more; NaN if there are none.

    Example:
        >>> copied_share("The Krankenhaus is new.", "Das Krankenhaus ist neu.", "The hospital is new.")
        1.0
    """
    words = [word for word in _WORD.findall(tgt.lower()) if len(word) >= _MIN_LETTERS]
    if not words:
        return float("nan")
    foreign, own = set(_WORD.findall(pivot.lower())), set(_WORD.findall(src.lower()))
    return sum(word in foreign and word not in own for word in words) / len(words)


def foreign_share(text: str, language: str, other: str = "") -> float:
    """Share of the words that are function words of another language and not of the text's own.

    Args:
        text: A sentence.
        language: Its language, ISO 639-1.
        other: The language that it was translated from. Default: any other.

    Returns:
        0 to 1; NaN for a language without a list of function words, or without words.

    Example:
        >>> foreign_share("The dog und die Katze", "en", "de"), foreign_share("The dog and the cat", "en", "de")
        (0.4, 0.0)
    """
    words = _WORD.findall(text.lower())
    if not words or language not in FUNCTION_WORDS:
        return float("nan")
    foreign = _foreign_words(language, other if other in FUNCTION_WORDS else "")
    return sum(word in foreign for word in words) / len(words)


def character_loops(pairs: PairBatch, side: Side) -> Values:
    """`character_loop` of a side of n pairs: int32 `(n,)`."""
    return np.array([character_loop(text) for text in pairs.texts(side)], np.int32)


def loop_shares(pairs: PairBatch, side: Side) -> Values:
    """`loop_share` of a side of n pairs: float32 `(n,)`."""
    return np.array([loop_share(text) for text in pairs.texts(side)], np.float32)


def truncations(pairs: PairBatch) -> Values:
    """`is_truncated` of n pairs: int32 `(n,)`, 0 or 1."""
    return np.array(
        [is_truncated(*both) for both in zip(pairs.texts("src"), pairs.texts("tgt"), strict=True)], np.int32
    )


def copied_shares(pairs: PairBatch) -> Values:
    """`copied_share` of n pairs: float32 `(n,)`."""
    sides = (pairs.texts(name) for name in ("tgt", "pivot", "src"))
    return np.array([copied_share(*texts) for texts in zip(*sides, strict=True)], np.float32)


def foreign_shares(pairs: PairBatch) -> Values:
    """`foreign_share` of the second side of n pairs: float32 `(n,)`."""
    texts = pairs.texts("tgt")
    names = pairs.batch.schema.names
    own, other = (
        pairs.batch.column(name).to_pylist() if name in names else [""] * len(texts)
        for name in (LANGUAGE_OF["tgt"], "pivot_lang")
    )
    return np.array(
        [
            foreign_share(text, (language or "").partition("-")[0], (pivot or "").partition("-")[0])
            for text, language, pivot in zip(texts, own, other, strict=True)
        ],
        np.float32,
    )


@cache
def _foreign_words(language: str, other: str) -> frozenset[str]:
    own = frozenset(FUNCTION_WORDS[language].split())
    lists = [FUNCTION_WORDS[other]] if other else [words for name, words in FUNCTION_WORDS.items() if name != language]
    return frozenset(word for words in lists for word in words.split() if len(word) > 1) - own
