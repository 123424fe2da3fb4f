"""The tokenizer of mteval-v13a (sacreBLEU's '13a') over code points."""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Bools, Ids, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import PRIME, START, Int, Points, max_list_length, mix

_NEWLINE, _BLANK, _AMPERSAND, _DASH, _POINT, _COMMA, _ZERO, _NINE = 10, 32, 38, 45, 46, 44, 48, 57
_NOTHING = -1

_SKIPPED = np.array([ord(c) for c in "<skipped>"], np.int32)
_HYPHENATED = np.array([ord(c) for c in "-\n"], np.int32)
_QUOTE = np.array([ord(c) for c in "&quot;"], np.int32)
_AMP = np.array([ord(c) for c in "&amp;"], np.int32)
_LESS = np.array([ord(c) for c in "&lt;"], np.int32)
_GREATER = np.array([ord(c) for c in "&gt;"], np.int32)

# Always a token of its own: ASCII except letters, digits, control characters, apostrophe, comma, dash and point.
_APART = np.array([chr(point) in ' !"#$%&()*+/:;<=>?@[\\]^_`{|}~' for point in range(128)])


@kernel
def mteval_words(points: Points, offsets: Ints, white: Bools) -> tuple[Ids, Ints]:
    """Tokenize each text.

    A point or a comma is a token of its own unless it is between digits, a dash if a digit comes before it. The rules
    of mteval-v13a are four replacements in sequence; here they are applied to a character and those around it. One
    state is needed: a character that a replacement has matched does not count as the one before the next, so of two
    points after a letter the second may belong to a number ("a..5" is "a", ".", ".5").
    """
    line = np.empty(max_list_length(offsets) + 1, np.int32)
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


@kernel(inline="always")
def _digit(point: Int) -> bool:
    return bool(_ZERO <= point <= _NINE)


@kernel
def _unescaped(points: Points, start: Int, end: Int, white: Bools, line: Points) -> Int:
    """Write a text into `line` without trailing white space, hyphenated lines and four HTML entities resolved."""
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


@kernel
def _replaced(line: Points, size: Int, pattern: Points, by: int) -> Int:
    """Replace each occurrence of a pattern, from the left, by a character or _NOTHING; returns the new size."""
    kept, i = 0, 0
    while i < size:
        match = i + len(pattern) <= size
        if match:
            for k in range(len(pattern)):
                if line[i + k] != pattern[k]:
                    match = False
                    break
        if not match:
            line[kept] = line[i]
            kept, i = kept + 1, i + 1
        else:
            if by != _NOTHING:
                line[kept] = by
                kept += 1
            i += len(pattern)
    return kept
