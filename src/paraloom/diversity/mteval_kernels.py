"""Words as mteval-v13a cuts them, sacreBLEU's '13a', compiled by numba over code points.

Import it inside functions only.  Texts come as core.text.code_points gives them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.text.token_kernels import PRIME, START, Ids, Int, Ints, Points, mix

Flags = npt.NDArray[np.bool_]

_NEWLINE, _BLANK, _AMPERSAND, _DASH, _POINT, _COMMA, _ZERO, _NINE = 10, 32, 38, 45, 46, 44, 48, 57
_NOTHING = -1

_SKIPPED = np.array([ord(c) for c in "<skipped>"], np.int32)
_HYPHENATED = np.array([ord(c) for c in "-\n"], np.int32)
_QUOTE = np.array([ord(c) for c in "&quot;"], np.int32)
_AMP = np.array([ord(c) for c in "&amp;"], np.int32)
_LESS = np.array([ord(c) for c in "&lt;"], np.int32)
_GREATER = np.array([ord(c) for c in "&gt;"], np.int32)

# Each a word of its own wherever it stands: ASCII that is no letter, digit, control, apostrophe, comma, dash or point.
_APART = np.array([chr(point) in ' !"#$%&()*+/:;<=>?@[\\]^_`{|}~' for point in range(128)])


@njit(cache=True, nogil=True)
def mteval_words(points: Points, offsets: Ints, white: Flags) -> tuple[Ids, Ints]:
    """Words of each text, as lists of ids: a hash of each word's characters.  white: what splits words, by code point.

    A point or a comma is a word of its own unless digits stand on both sides of it, a dash if a digit stands before
    it.  mteval-v13a's rules are four replacements one after another; here they are read off a character and its
    neighbours.  One thing is carried along: what a replacement has matched is no neighbour of what comes next, so of
    two points after a letter the second may yet belong to a number ("a..5" is "a", ".", ".5").
    """
    longest = 0
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    line = np.empty(longest + 1, np.int32)
    ids = np.empty(offsets[-1] - offsets[0], np.uint64)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        size = _unescaped(points, offsets[text], offsets[text + 1], white, line)
        line[size] = _BLANK
        before = np.int64(_BLANK)
        word = START
        inside, matched = False, False
        for i in range(size):
            point = np.int64(line[i])
            apart = point < 128 and _APART[point]
            if point in (_POINT, _COMMA):
                matched = not _digit(before) and not matched
                apart = matched or not _digit(np.int64(line[i + 1]))
            else:
                matched = False
                if point == _DASH:
                    apart = _digit(before)
            blank = white[point]
            if inside and (apart or blank):
                ids[count] = mix(word)
                count += 1
                word, inside = START, False
            if not blank:
                word = (word ^ np.uint64(point)) * PRIME
                inside = True
                if apart:
                    ids[count] = mix(word)
                    count += 1
                    word, inside = START, False
            before = point
        if inside:
            ids[count] = mix(word)
            count += 1
        lists[text + 1] = count
    return ids[:count].copy(), lists


@njit(cache=True, nogil=True, inline="always")
def _digit(point: Int) -> bool:
    return bool(_ZERO <= point <= _NINE)


@njit(cache=True, nogil=True)
def _unescaped(points: Points, start: Int, end: Int, white: Flags, line: Points) -> Int:
    """Write a text into `line` without white space at its end, joined and with four HTML entities read."""
    while end > start and white[points[end - 1]]:
        end -= 1
    size = end - start
    marked = False
    for i in range(size):
        line[i] = points[start + i]
        marked |= line[i] == _AMPERSAND or line[i] == _SKIPPED[0] or line[i] == _NEWLINE
    if marked:
        size = _replaced(line, size, _SKIPPED, _NOTHING)
        size = _replaced(line, size, _HYPHENATED, _NOTHING)
        size = _replaced(line, size, _QUOTE, 34)
        size = _replaced(line, size, _AMP, _AMPERSAND)
        size = _replaced(line, size, _LESS, 60)
        size = _replaced(line, size, _GREATER, 62)
    return size


@njit(cache=True, nogil=True)
def _replaced(line: Points, size: Int, pattern: Points, by: int) -> Int:
    """Put one character, or _NOTHING, for each occurrence of a pattern, from the left; returns the new size."""
    kept, i = 0, 0
    while i < size:
        found = i + len(pattern) <= size
        if found:
            for k in range(len(pattern)):
                if line[i + k] != pattern[k]:
                    found = False
                    break
        if not found:
            line[kept] = line[i]
            kept, i = kept + 1, i + 1
        else:
            if by != _NOTHING:
                line[kept] = by
                kept += 1
            i += len(pattern)
    return kept
