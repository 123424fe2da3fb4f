"""Inner loops over characters, compiled by numba: words between white space, immediate repetition, numbers.

Texts are given as code points: `points` int32 (characters,) and `offsets` int64 (n + 1,), as
`paraloom.text.buffers.code_points` returns them; tables have an entry for each code point, see
`paraloom.text.characters`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Bools, Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import PRIME, START, Points, max_list_length, mix

Counts = Int32s

_NEWLINE, _BLANK = 10, 32


@kernel
def whitespace_words(points: Points, offsets: Ints, white: Bools) -> Counts:
    """Number of words between white space in each text, as `len(text.split())` counts: int32 (n,)."""
    counts = np.zeros(len(offsets) - 1, np.int32)
    for row in range(len(counts)):
        inside = False
        for i in range(offsets[row], offsets[row + 1]):
            outside = white[points[i]]
            if not inside and not outside:
                counts[row] += 1
            inside = not outside
    return counts


@kernel
def repeats(points: Points, offsets: Ints, white: Bools, min_length: int, max_length: int, threshold: int) -> Counts:
    """Repetitions of the first immediately repeated stretch, int32 (n,), as OpusFilter's RepetitionFilter counts."""
    counts = np.zeros(len(offsets) - 1, np.int32)
    dense = np.empty(max_list_length(offsets), np.int32)
    for row in range(len(counts)):
        text = points[offsets[row] : offsets[row + 1]]
        if _may_repeat(text, threshold, dense):
            counts[row] = _count_repeats(text, white, min_length, max_length, threshold)
    return counts


@kernel
def _may_repeat(text: Points, threshold: int, dense: Points) -> bool:
    """True if some stretch occurs threshold + 1 times in a row when blanks are ignored; hardly any sentence has one.

    If its length is p, then threshold · p consecutive characters equal those p positions later. One of them is the
    last of a block of threshold · p, so testing those positions first takes n log n comparisons instead of n².
    """
    size = 0
    for i in range(len(text)):
        if text[i] != _BLANK:
            dense[size] = text[i]
            size += 1
    for period in range(1, size // (threshold + 1) + 1):
        run = threshold * period
        for last in range(run - 1, size - period, run):
            if dense[last] != dense[last + period]:
                continue
            first, end = last, last + 1
            while first > 0 and last - first < run and dense[first - 1] == dense[first - 1 + period]:
                first -= 1
            while end < size - period and end - first < run and dense[end] == dense[end + period]:
                end += 1
            if end - first >= run:
                return True
    return False


@kernel
def _count_repeats(text: Points, white: Bools, min_length: int, max_length: int, threshold: int) -> int:
    size = len(text)
    for start in range(size):
        if white[text[start]]:
            continue
        for length in range(1, max_length + 2):
            if start + length * (threshold + 1) > size or (length > 1 and text[start + length - 1] == _NEWLINE):
                break
            if length < min_length:
                continue
            end, repeated = start + length, 0
            while True:
                begin = end
                while begin < size and text[begin] == _BLANK:
                    begin += 1
                if not _same(text, start, begin, length):
                    break
                repeated += 1
                end = begin + length
            if repeated >= threshold:
                return _occurrences(text, start, end, length) - 1
    return 0


@kernel
def _same(text: Points, first: int, second: int, length: int) -> bool:
    if second + length > len(text):
        return False
    for k in range(length):  # noqa: SIM110
        if text[first + k] != text[second + k]:
            return False
    return True


@kernel
def _occurrences(text: Points, start: int, end: int, length: int) -> int:
    """Count how often text[start : start + length] occurs in text[start : end], without overlap from the left."""
    count, i = 0, start
    while i + length <= end:
        if _same(text, start, i, length):
            count += 1
            i += length
        else:
            i += 1
    return count


@kernel
def numbers(points: Points, offsets: Ints, decimals: npt.NDArray[np.int8], joiners: Bools) -> tuple[Ids, Ints]:
    """Ids of the numbers of each text, and offsets; "1,000", "1.000" and "1000" have the same id."""
    ids = np.empty(len(points), np.uint64)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for row in range(len(offsets) - 1):
        i, end = offsets[row], offsets[row + 1]
        while i < end:
            if decimals[points[i]] < 0:
                i += 1
                continue
            value = START
            while i < end:
                if decimals[points[i]] >= 0:
                    value = mix((value ^ np.uint64(decimals[points[i]])) * PRIME)
                elif not (joiners[points[i]] and i + 1 < end and decimals[points[i + 1]] >= 0):
                    break
                i += 1
            ids[count] = value
            count += 1
        lists[row + 1] = count
    return ids[:count].copy(), lists
