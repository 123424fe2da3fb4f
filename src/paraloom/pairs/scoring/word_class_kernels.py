"""Inner loops that split texts to words, numbers and marks and look their classes up, compiled by numba.

Texts are given as code points: `points` int32 (characters,) and `offsets` int64 (n + 1,), as
`paraloom.text.buffers.code_points` returns them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Floats, Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.characters import DIGIT, LETTER, SPACE
from paraloom.text.token_kernels import EMPTY_SLOT, PRIME, START, Int, Points, mix, slot_of

Kinds = npt.NDArray[np.uint8]
Rows = Int32s

WORD, NUMBER, MARK = 0, 1, 2
"""Kinds of tokens: letters, digits, any other character."""

_APOSTROPHE, _CURLY_APOSTROPHE, _N, _T = 39, 8217, 110, 116
_POINT, _COMMA, _COLON = 46, 44, 58
_WIDE_SPACES = (0xA0, 0x2009, 0x202F)


@kernel
def segment(
    points: Points,
    offsets: Ints,
    languages: Rows,
    classes: Kinds,
    lower: Points,
    decimals: npt.NDArray[np.int8],
    decimal_marks: Rows,
) -> tuple[Ids, Ints, Ints, Kinds, Floats, Ints]:
    """Tokens of each text: their ids, starts, ends, kinds and values (NaN for all but numbers), and the offsets.

    A word is a run of letters, with an apostrophe in "n't" only; a number is a run of digits with separators.
    languages: index of the language of each text. decimal_marks: decimal separator of each language, 0 for either.
    """
    ids = np.empty(len(points), np.uint64)
    starts, ends = np.empty(len(points), np.int64), np.empty(len(points), np.int64)
    kinds, values = np.empty(len(points), np.uint8), np.empty(len(points), np.float64)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for row in range(len(offsets) - 1):
        i, end = offsets[row], offsets[row + 1]
        while i < end:
            kind = classes[points[i]]
            if kind == SPACE:
                i += 1
                continue
            start = i
            values[count] = np.nan
            if kind == LETTER:
                i = _word_end(points, i, end, classes, lower)
                kinds[count] = WORD
            elif decimals[points[i]] >= 0:
                language = languages[row]
                i, values[count] = _number(points, i, end, decimals, decimal_marks[language] if language >= 0 else 0)
                kinds[count] = NUMBER
            else:
                i += 1
                kinds[count] = NUMBER if kind == DIGIT else MARK
            ids[count] = hash_points(points, start, i, lower)
            starts[count], ends[count] = start, i
            count += 1
        lists[row + 1] = count
    return (
        ids[:count].copy(),
        starts[:count].copy(),
        ends[:count].copy(),
        kinds[:count].copy(),
        values[:count].copy(),
        lists,
    )


@kernel
def hash_points(points: Points, start: Int, end: Int, lower: Points) -> np.uint64:
    """Hash of the lower-cased characters from start to end; all apostrophes are equal."""
    value = START
    for i in range(start, end):
        point = lower[points[i]]
        value = (value ^ np.uint64(_APOSTROPHE if point == _CURLY_APOSTROPHE else point)) * PRIME
    return mix(value)


@kernel
def _word_end(points: Points, start: Int, end: Int, classes: Kinds, lower: Points) -> Int:
    i = start
    while i < end and classes[points[i]] == LETTER:
        i += 1
    if (
        i + 1 < end
        and (points[i] == _APOSTROPHE or points[i] == _CURLY_APOSTROPHE)
        and lower[points[i - 1]] == _N
        and lower[points[i + 1]] == _T
        and (i + 2 == end or classes[points[i + 2]] != LETTER)
    ):
        return i + 2
    return i


@kernel
def _number(points: Points, start: Int, end: Int, decimals: npt.NDArray[np.int8], mark: Int) -> tuple[Int, float]:
    """End and value of the number at start.

    Of two kinds of separators the last is the decimal one. One that occurs several times, and one that is not the
    decimal mark of the language, groups digits by three.
    """
    i = first = _digits_end(points, start, end, decimals)
    separators, last, kinds = 0, 0, 0
    digits_after: Int = 0
    by_three = first - start <= 3
    while _is_separator(points, i, end, decimals):
        if separators and digits_after != 3:
            by_three = False
        kinds += points[i] != last
        if kinds > 2:
            break
        separators += 1
        last = points[i]
        after = _digits_end(points, i + 1, end, decimals)
        digits_after = after - i - 1
        i = after
    by_three = by_three and digits_after == 3
    if separators > 1 and kinds == 1 and not by_three:  # a date or a version: the first part alone
        return first, _value(points, start, first, decimals, 0)
    is_whole = kinds == 1 and by_three and decimals[points[start]] > 0
    # "272.000" is a number of thousands even where the point is the decimal mark.
    if is_whole and (separators > 1 or last != mark or _value(points, i - 3, i, decimals, 0) == 0):
        return i, _value(points, start, i, decimals, 0)
    return i, _value(points, start, i, decimals, last)


@kernel
def _digits_end(points: Points, start: Int, end: Int, decimals: npt.NDArray[np.int8]) -> Int:
    i = start
    while i < end and decimals[points[i]] >= 0:
        i += 1
    return i


@kernel
def _is_separator(points: Points, i: Int, end: Int, decimals: npt.NDArray[np.int8]) -> bool:
    """True if the character at i joins digits; a colon only before two of them, the minutes of a time."""
    if i + 1 >= end or decimals[points[i + 1]] < 0:
        return False
    if points[i] == _COLON:
        return bool(_digits_end(points, i + 1, end, decimals) == i + 3)
    return points[i] == _POINT or points[i] == _COMMA or points[i] in _WIDE_SPACES


@kernel
def _value(points: Points, start: Int, end: Int, decimals: npt.NDArray[np.int8], mark: Int) -> float:
    """Value of the digits, whose decimal separator is the last `mark`; 0 for none."""
    value, scale = 0.0, 0.0
    for i in range(start, end):
        digit = decimals[points[i]]
        if digit >= 0:
            value = value * 10 + digit
            scale *= 10
        elif points[i] == mark:
            scale = 1.0
    return value / scale if scale > 1 else value


@kernel(inline="always")
def language_key(word: np.uint64, language: Int) -> np.uint64:
    """Key of a word in a language, in a table of several languages."""
    return mix((word ^ np.uint64(language + 1)) * PRIME)


@kernel
def look_up(ids: Ids, offsets: Ints, languages: Rows, table: Ids, positions: Rows) -> Rows:
    """Position of each token in the table of its text's language, from 1; 0 if it is not in it."""
    rows = np.zeros(len(ids), np.int32)
    for text in range(len(offsets) - 1):
        if languages[text] < 0:
            continue
        for k in range(offsets[text], offsets[text + 1]):
            slot = slot_of(table, language_key(ids[k], languages[text]))
            if table[slot] != EMPTY_SLOT:
                rows[k] = positions[slot]
    return rows
