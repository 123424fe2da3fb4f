"""Words of a text that are in another language than the text, by function words and scripts."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring.foreign_word_kernels import foreign_words
from paraloom.pairs.scoring.word_classes import LANGUAGES, ClassifiedWords, hash_words
from paraloom.pairs.scoring.word_lists import ENGLISH_HOMOGRAPHS, MORE_FUNCTION_WORDS
from paraloom.text.characters import capital_table
from paraloom.text.function_words import FUNCTION_WORDS, SCRIPTS
from paraloom.text.token_kernels import build_table

KNOWN_LANGUAGES = (*LANGUAGES, *SCRIPTS)
"""Languages that `wrong_language` knows, by function words or by script."""

Shares = npt.NDArray[np.float32]


def wrong_language(words: ClassifiedWords, languages: npt.NDArray[np.int32]) -> Shares:
    """Compute the share of words that are function words of another language, or written in another's script.

    Words that are in the list of the text's own language do not count, nor do words of one letter, nor those that are
    English words or frequent names as well ("die", "war", "van") in English.
    """
    return foreign_words(
        *(words.points, words.ids, words.starts, words.ends, words.kinds, words.offsets, languages),
        *(*_foreign_table(), capital_table()),
    )


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
