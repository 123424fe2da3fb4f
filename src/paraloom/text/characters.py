"""Classes of characters for the tokenizer and other kernels: lookup tables over all code points."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from paraloom.core.array_types import Bools

LETTER, DIGIT, LETTER_JOINER, DIGIT_JOINER, SPACE, OTHER = range(6)  # The classes, in the order of SYMBOLS
SYMBOLS = "a0'. x"  # One ASCII character per class, so that the rule for words can be written as a regular expression

WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters, whose words are written without spaces."""

_SAMPLE = 200  # texts by which scripts without spaces are noticed


def warn_of_words(texts: Sequence[str], what: str, by_words: str, by_characters: str) -> None:
    """Warn that a figure by words means little for texts in a script without spaces."""
    sample = "".join(texts[:_SAMPLE])
    if 2 * len(WITHOUT_SPACES.findall(sample)) > len(sample):
        warnings.warn(
            f"{what} have no spaces between words: {by_words} takes whole clauses for words, and means little; "
            f"{by_characters} is not affected",
            stacklevel=3,
        )


MAIL_ADDRESS = r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}"
"""Pattern of an e-mail address."""

# Only the first four planes and plane 14 have assigned characters; the rest is unassigned or for private use.
_ASSIGNED = ((0, 0x40000), (0xE0000, 0xF0000))

_JOINERS = {"'": LETTER_JOINER, "’": LETTER_JOINER, "-": LETTER_JOINER, "‐": LETTER_JOINER, "‑": LETTER_JOINER}
_JOINERS |= dict.fromkeys(".,:", DIGIT_JOINER)
_BY_CATEGORY = {"L": LETTER, "M": LETTER, "N": DIGIT, "Z": SPACE, "Cc": SPACE, "Cf": SPACE}


class _ClassOf(dict[str, int]):
    """Class of each category, looked up once."""

    def __missing__(self, category: str) -> int:
        self[category] = _BY_CATEGORY.get(category[0], _BY_CATEGORY.get(category, OTHER))
        return self[category]


_CLASS_OF = _ClassOf()


def character_class(character: str) -> int:
    """Classify: letters and marks (L*, M*), digits (N*), joiners of these, white space (and Cc, Cf), all others."""
    joiner = _JOINERS.get(character)
    if joiner is not None:
        return joiner
    return _CLASS_OF[unicodedata.category(character)]


@cache
def class_table() -> npt.NDArray[np.uint8]:
    """Class of every code point, uint8 `(0x110000,)`; computed once per process."""
    table = np.full(0x110000, OTHER, np.uint8)
    for first, last in _ASSIGNED:
        categories = map(unicodedata.category, map(chr, range(first, last)))
        table[first:last] = np.fromiter(map(_CLASS_OF.__getitem__, categories), np.uint8, last - first)
    for joiner, value in _JOINERS.items():
        table[ord(joiner)] = value
    table.setflags(write=False)
    return table


@cache
def white_table() -> Bools:
    """True if each code point is white space to `str.split`, by which sacreBLEU splits: bool `(0x110000,)`."""
    return _by_character(str.isspace)


@cache
def capital_table() -> Bools:
    """True if each code point is an uppercase or titlecase letter (Lu, Lt): bool `(0x110000,)`."""
    return _by_character(lambda character: unicodedata.category(character) in ("Lu", "Lt"))


@cache
def decimal_table() -> npt.NDArray[np.int8]:
    """Value 0 to 9 of each decimal digit of any script, -1 for other code points: int8 `(0x110000,)`."""
    table = np.full(0x110000, -1, np.int8)
    for first, last in _ASSIGNED:
        table[first:last] = [unicodedata.decimal(chr(point), -1) for point in range(first, last)]
    table.setflags(write=False)
    return table


def _by_character(predicate: Callable[[str], bool]) -> Bools:
    table = np.zeros(0x110000, np.bool_)
    for first, last in _ASSIGNED:
        table[first:last] = [predicate(chr(point)) for point in range(first, last)]
    table.setflags(write=False)
    return table
