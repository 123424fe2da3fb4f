"""What each character is to the tokeniser: one class a code point, by Unicode category."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

LETTER, DIGIT, LETTER_JOINER, DIGIT_JOINER, SPACE, OTHER = range(6)
"""The classes, in the order of SYMBOLS."""

SYMBOLS = "a0'. x"
"""One ASCII character a class, so that the rule for words can be written as a regular expression."""

# Unicode has characters in its first four planes and in plane 14; the rest is unassigned or private.
_ASSIGNED = ((0, 0x40000), (0xE0000, 0xF0000))

_JOINERS = {"'": LETTER_JOINER, "’": LETTER_JOINER, "-": LETTER_JOINER, "‐": LETTER_JOINER, "‑": LETTER_JOINER}
_JOINERS |= dict.fromkeys(".,:", DIGIT_JOINER)
_BY_CATEGORY = {"L": LETTER, "M": LETTER, "N": DIGIT, "Z": SPACE, "Cc": SPACE, "Cf": SPACE}


def character_class(character: str) -> int:
    """The class of one character: letters and marks (L*, M*), digits (N*), what joins them, space, all else.

    Control and format characters (Cc, Cf: tabs, byte order marks, zero-width joiners) count as space: nobody sees them.

    >>> "".join(SYMBOLS[character_class(c)] for c in "it’s ½ :-)")
    "aa'a 0 .'x"
    """
    joiner = _JOINERS.get(character)
    if joiner is not None:
        return joiner
    category = unicodedata.category(character)
    return _BY_CATEGORY.get(category[0], _BY_CATEGORY.get(category, OTHER))


@cache
def class_table() -> npt.NDArray[np.uint8]:
    """uint8 (0x110000,), the class of every code point; made once a process, in a tenth of a second."""
    table = np.full(0x110000, OTHER, np.uint8)
    for first, last in _ASSIGNED:
        table[first:last] = [character_class(chr(point)) for point in range(first, last)]
    table.setflags(write=False)
    return table


@cache
def white_table() -> npt.NDArray[np.bool_]:
    """bool (0x110000,): what Python's str.split takes for white space; the peers split by it."""
    return _by_character(str.isspace)


@cache
def capital_table() -> npt.NDArray[np.bool_]:
    """bool (0x110000,): capital and title-case letters (Lu, Lt)."""
    return _by_character(lambda character: unicodedata.category(character) in ("Lu", "Lt"))


@cache
def decimal_table() -> npt.NDArray[np.int8]:
    """int8 (0x110000,): the value 0 to 9 of a decimal digit in any script, -1 for all else."""
    table = np.full(0x110000, -1, np.int8)
    for first, last in _ASSIGNED:
        table[first:last] = [unicodedata.decimal(chr(point), -1) for point in range(first, last)]
    table.setflags(write=False)
    return table


def _by_character(holds: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
    table = np.zeros(0x110000, np.bool_)
    for first, last in _ASSIGNED:
        table[first:last] = [holds(chr(point)) for point in range(first, last)]
    table.setflags(write=False)
    return table
