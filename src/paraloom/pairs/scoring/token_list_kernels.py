"""Inner loops over lists of token ids, compiled by numba: entries in common, entries seen before, names.

Lists come flat: `ids` uint64 (tokens,) and `offsets` int64 (n + 1,), list i is ids[offsets[i] : offsets[i + 1]].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.text.token_kernels import Bytes, Ids, Ints, point_at

Flags = npt.NDArray[np.bool_]
IntPairs = npt.NDArray[np.int32]

_COMMA = 44

# Insertion sort beats a general sort on lists as short as sentences, and is quadratic on longer ones.
_SHORT = 40


@njit(cache=True, nogil=True)
def shared_counts(
    a_ids: npt.NDArray[np.uint64],
    a_offsets: npt.NDArray[np.int64],
    b_ids: npt.NDArray[np.uint64],
    b_offsets: npt.NDArray[np.int64],
) -> npt.NDArray[np.int32]:
    """Size of the multiset intersection of list i of `a` and list i of `b`, for each i.

    ids: uint64, all lists one after another.  offsets: int64 (n + 1,), list i is ids[offsets[i]:offsets[i + 1]].
    Returns int32 (n,).  An entry that stands twice in one list and once in the other counts once.  O(m log m) a row.
    """
    n = len(a_offsets) - 1
    shared = np.zeros(n, np.int32)
    longest = 0
    for row in range(n):
        longest = max(longest, a_offsets[row + 1] - a_offsets[row], b_offsets[row + 1] - b_offsets[row])
    a_sorted = np.empty(longest, np.uint64)
    b_sorted = np.empty(longest, np.uint64)
    for row in range(n):
        a_count = _sorted_copy(a_ids, a_offsets[row], a_offsets[row + 1], a_sorted)
        b_count = _sorted_copy(b_ids, b_offsets[row], b_offsets[row + 1], b_sorted)
        i = 0
        j = 0
        found = 0
        # Everything below a_sorted[i] and b_sorted[j] has been matched or can be matched no more.
        while i < a_count and j < b_count:
            if a_sorted[i] == b_sorted[j]:
                found += 1
                i += 1
                j += 1
            elif a_sorted[i] < b_sorted[j]:
                i += 1
            else:
                j += 1
        shared[row] = found
    return shared


@njit(cache=True, nogil=True)
def repeated_counts(ids: Ids, offsets: Ints) -> npt.NDArray[np.int32]:
    """Entries of each list that stood in it before: int32 (n,), the length less the number of different entries."""
    repeated = np.zeros(len(offsets) - 1, np.int32)
    longest = 0
    for row in range(len(repeated)):
        longest = max(longest, offsets[row + 1] - offsets[row])
    ordered = np.empty(longest, np.uint64)
    for row in range(len(repeated)):
        count = _sorted_copy(ids, offsets[row], offsets[row + 1], ordered)
        for i in range(1, count):
            repeated[row] += ordered[i] == ordered[i - 1]
    return repeated


@njit(cache=True, nogil=True)
def distinct_entries(ids: Ids, offsets: Ints) -> Ids:
    """The different entries of each list, one list after another."""
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    ordered = np.empty(longest, np.uint64)
    distinct = np.empty(len(ids), np.uint64)
    total = 0
    for row in range(len(offsets) - 1):
        count = _sorted_copy(ids, offsets[row], offsets[row + 1], ordered)
        for i in range(count):
            if i == 0 or ordered[i] != ordered[i - 1]:
                distinct[total] = ordered[i]
                total += 1
    return distinct[:total].copy()


@njit(cache=True, nogil=True)
def long_tokens(data: Bytes, starts: Ints, ends: Ints, ids: Ids, offsets: Ints, shortest: int) -> tuple[Ids, Ints]:
    """The lists without tokens of fewer than `shortest` characters; data, starts, ends: of core.text.TokenSpans."""
    kept = np.empty(len(ids), np.uint64)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for row in range(len(offsets) - 1):
        for k in range(offsets[row], offsets[row + 1]):
            characters = 0
            for i in range(starts[k], ends[k]):
                characters += (data[i] & 0xC0) != 0x80  # bytes that continue a character are 10xxxxxx
            if characters >= shortest:
                kept[count] = ids[k]
                count += 1
        lists[row + 1] = count
    return kept[:count].copy(), lists


@njit(cache=True, nogil=True)
def missing_counts(ids: Ids, offsets: Ints, chosen: Flags, other_ids: Ids, other_offsets: Ints) -> IntPairs:
    """Chosen entries of each list, and how many of them the other list of the row has not: int32 (n, 2)."""
    counts = np.zeros((len(offsets) - 1, 2), np.int32)
    for row in range(len(counts)):
        for k in range(offsets[row], offsets[row + 1]):
            if not chosen[k]:
                continue
            counts[row, 0] += 1
            found = False
            for j in range(other_offsets[row], other_offsets[row + 1]):
                if other_ids[j] == ids[k]:
                    found = True
                    break
            counts[row, 1] += not found
    return counts


@njit(cache=True, nogil=True)
def name_flags(
    data: Bytes, starts: Ints, ends: Ints, offsets: Ints, capitals: Flags, classes: Bytes, letter: int
) -> Flags:
    """Tokens that look like names: a capital and another letter, and a word or a comma before them.

    data, starts, ends, offsets: of TokenSpans of texts in their own case.  capitals, classes: tables of code points.
    """
    flags = np.zeros(len(starts), np.bool_)
    for row in range(len(offsets) - 1):
        after_word = False
        for k in range(offsets[row], offsets[row + 1]):
            point, width = point_at(data, starts[k], ends[k])
            is_word = point >= 0 and classes[point] <= letter + 1  # LETTER or DIGIT
            if after_word and is_word and capitals[point] and starts[k] + width < ends[k]:
                second = point_at(data, starts[k] + width, ends[k])[0]
                flags[k] = second >= 0 and classes[second] == letter
            after_word = is_word or point == _COMMA
    return flags


@njit(cache=True, nogil=True)
def _sorted_copy(ids: npt.NDArray[np.uint64], start: int, end: int, out: npt.NDArray[np.uint64]) -> int:
    """Write ids[start:end] into the front of `out` in ascending order; returns how many there are."""
    count = end - start
    if count > _SHORT:
        out[:count] = ids[start:end]
        out[:count].sort()
        return count
    for position in range(count):
        value = ids[start + position]
        slot = position
        while slot > 0 and out[slot - 1] > value:
            out[slot] = out[slot - 1]
            slot -= 1
        out[slot] = value
    return count
