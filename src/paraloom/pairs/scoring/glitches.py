"""Glitches of translators: stuck letters and words, cut-off sentences, words left in another language."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring import glitch_kernels as kernels
from paraloom.pairs.scoring.word_class_kernels import build_table
from paraloom.pairs.scoring.word_classes import (
    LANGUAGES,
    ClassifiedWords,
    hash_words,
    lower_table,
    word_table,
)
from paraloom.pairs.scoring.word_lists import ENGLISH_HOMOGRAPHS, MORE_FUNCTION_WORDS
from paraloom.text.characters import capital_table
from paraloom.text.function_words import FUNCTION_WORDS, SCRIPTS

MAX_PERIOD = 4
"""Letters of the longest stretch whose repetition `character_runs` counts."""

MIN_LETTERS = 3
"""Shorter words are left out of `copied_source`."""

KNOWN_LANGUAGES = (*LANGUAGES, *SCRIPTS)
"""Languages that `wrong_language` knows, by function words or by script."""

_FINAL_MARKS = ".!?…。！？؟।:"
_CLOSERS = "\"'”’»«“)]}›*"
_NUMERALS = "IVXLCDM"

Shares = npt.NDArray[np.float32]


def character_runs(words: ClassifiedWords) -> npt.NDArray[np.int32]:
    """Count how often a stretch of one to four letters occurs in a row inside a word, at the maximum.

    2 is normal ("book", "banana"); 3 or more is a stuck translator or emphasis ("ssss", "EVEVEV", "hahaha"). Digits
    and punctuation do not count, nor Roman numerals ("III") and "www.".
    """
    parts = (words.points, words.starts, words.ends, words.kinds, words.offsets)
    return kernels.character_runs(*parts, lower_table(), _flags(_NUMERALS), MAX_PERIOD)


def loop(words: ClassifiedWords) -> Shares:
    """Compute the share of a text that is covered by the stretch of words which is most repeated immediately."""
    return kernels.loops(words.ids, words.starts, words.ends, words.kinds, words.offsets)


def truncation(a: ClassifiedWords, b: ClassifiedWords) -> Shares:
    """Detect second sides that stop before their end.

    That is where the first side ends with a final mark and the second without, or where the second side ends with a
    comma, a dash or, in English and German, a word that ends no sentence ("the", "of", "and"), and the first does not.
    """
    first, second = (_ends(words) for words in (a, b))
    cut = ((first == 1) & (second > 1)) | ((first != 2) & (second == 2))
    return np.where((first > 0) & (second > 0), cut, np.nan).astype(np.float32)


def copied_source(a: ClassifiedWords, b: ClassifiedWords, pivot: ClassifiedWords) -> Shares:
    """Compute the share of the words of the second side that were left as they are in the pivot.

    Words of three letters or more count; those that the first side has too, and capitalized ones (names), are not
    copies.
    """
    return kernels.copied_words(
        *(b.points, b.ids, b.starts, b.ends, b.kinds, b.offsets, a.ids, a.offsets, pivot.ids, pivot.offsets),
        *(capital_table(), MIN_LETTERS),
    )


def wrong_language(words: ClassifiedWords, languages: npt.NDArray[np.int32]) -> Shares:
    """Compute the share of words that are function words of another language, or written in another's script.

    Words that are in the list of the text's own language do not count, nor do words of one letter, nor those that are
    English words or frequent names as well ("die", "war", "van") in English.
    """
    return kernels.foreign_words(
        *(words.points, words.ids, words.starts, words.ends, words.kinds, words.offsets, languages),
        *(*_foreign_table(), capital_table()),
    )


def _ends(words: ClassifiedWords) -> npt.NDArray[np.int32]:
    parts = (words.points, words.starts, words.kinds, words.offsets, words.rows)
    return kernels.ends(*parts, word_table().features, _flags(_FINAL_MARKS), _flags(_CLOSERS))


@cache
def _flags(characters: str) -> npt.NDArray[np.bool_]:
    table = np.zeros(0x110000, np.bool_)
    table[[ord(character) for character in characters]] = True
    table.setflags(write=False)
    return table


@cache
def _foreign_table() -> tuple[
    npt.NDArray[np.uint64], npt.NDArray[np.int32], npt.NDArray[np.uint64], npt.NDArray[np.uint64]
]:
    """Hash table of function words, the languages of each as bits, and the language of each script as bits."""
    languages: dict[str, int] = {}
    lists = [(language, words) for table in (FUNCTION_WORDS, MORE_FUNCTION_WORDS) for language, words in table.items()]
    for language, words in lists:
        for word in words.split():
            languages[word] = languages.get(word, 0) | 1 << KNOWN_LANGUAGES.index(language)
    for word in set(ENGLISH_HOMOGRAPHS.split()) & set(languages):
        languages[word] |= 1 << KNOWN_LANGUAGES.index("en")
    scripts = np.zeros(0x110000, np.uint64)
    for language, ranges in SCRIPTS.items():
        bit = 1 << KNOWN_LANGUAGES.index(language)
        for first, last in zip(ranges[::3], ranges[2::3], strict=True):
            scripts[ord(first) : ord(last) + 1] |= np.uint64(bit)
    # Chinese characters are Japanese and (rarely) Korean, too.
    for language in ("ja", "ko"):
        scripts[ord("\u4e00") : ord("\u9fff") + 1] |= np.uint64(1 << KNOWN_LANGUAGES.index(language))
    return (
        *build_table(hash_words(list(languages))),
        np.array(list(languages.values()), np.uint64),
        scripts,
    )
