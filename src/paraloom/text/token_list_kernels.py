"""Inner loops over lists of token ids: shared, repeated, distinct and missing entries, names."""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Bools, Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import Bytes, max_list_length, point_at

IntPairs = Int32s

_COMMA = 44

# Insertion sort is fastest on lists as short as sentences, but quadratic on longer ones.
_MAX_INSERTION_SORT = 40


@kernel
def shared_counts(a_ids: Ids, a_offsets: Ints, b_ids: Ids, b_offsets: Ints) -> Int32s:
    """Size of the multiset intersection of list i of `a` and list i of `b`, for each i: int32 (n,)."""
    n = len(a_offsets) - 1
    shared = np.zeros(n, np.int32)
    a_sorted = np.empty(max_list_length(a_offsets), np.uint64)
    b_sorted = np.empty(max_list_length(b_offsets), np.uint64)
    for row in range(n):
        a_count = _sorted_copy(a_ids, a_offsets[row], a_offsets[row + 1], a_sorted)
        b_count = _sorted_copy(b_ids, b_offsets[row], b_offsets[row + 1], b_sorted)
        i = 0
        j = 0
        matches = 0
        # Invariant: entries before a_sorted[i] and b_sorted[j] are matched, or cannot be matched any more.
        while i < a_count and j < b_count:
            if a_sorted[i] == b_sorted[j]:
                matches += 1
                i += 1
                j += 1
            elif a_sorted[i] < b_sorted[j]:
                i += 1
            else:
                j += 1
        shared[row] = matches
    return shared


@kernel
def repeated_counts(ids: Ids, offsets: Ints) -> Int32s:
    """Entries of each list that occurred in it before: int32 (n,), its length minus its distinct entries."""
    repeated = np.zeros(len(offsets) - 1, np.int32)
    ordered = np.empty(max_list_length(offsets), np.uint64)
    for row in range(len(repeated)):
        count = _sorted_copy(ids, offsets[row], offsets[row + 1], ordered)
        for i in range(1, count):
            repeated[row] += ordered[i] == ordered[i - 1]
    return repeated


@kernel
def distinct_entries(ids: Ids, offsets: Ints) -> Ids:
    """The distinct entries of each list, one list after another."""
    ordered = np.empty(max_list_length(offsets), np.uint64)
    distinct = np.empty(len(ids), np.uint64)
    total = 0
    for row in range(len(offsets) - 1):
        count = _sorted_copy(ids, offsets[row], offsets[row + 1], ordered)
        for i in range(count):
            if i == 0 or ordered[i] != ordered[i - 1]:
                distinct[total] = ordered[i]
                total += 1
    return distinct[:total].copy()


@kernel
def long_tokens(
    data: Bytes, starts: Ints, ends: Ints, ids: Ids, offsets: Ints, min_characters: int
) -> tuple[Ids, Ints]:
    """The lists without tokens of fewer than `min_characters` characters; data, starts, ends: those of TokenSpans."""
    kept = np.empty(len(ids), np.uint64)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for row in range(len(offsets) - 1):
        for k in range(offsets[row], offsets[row + 1]):
            characters = 0
            for i in range(starts[k], ends[k]):
                characters += (data[i] & 0xC0) != 0x80  # bytes that continue a character are 10xxxxxx
            if characters >= min_characters:
                kept[count] = ids[k]
                count += 1
        lists[row + 1] = count
    return kept[:count].copy(), lists


@kernel
def missing_counts(ids: Ids, offsets: Ints, chosen: Bools, other_ids: Ids, other_offsets: Ints) -> IntPairs:
    """Number of chosen entries of each list, and how many of them the other list of the row lacks: int32 (n, 2)."""
    counts = np.zeros((len(offsets) - 1, 2), np.int32)
    for row in range(len(counts)):
        for k in range(offsets[row], offsets[row + 1]):
            if not chosen[k]:
                continue
            counts[row, 0] += 1
            missing = True
            for j in range(other_offsets[row], other_offsets[row + 1]):
                if other_ids[j] == ids[k]:
                    missing = False
                    break
            counts[row, 1] += missing
    return counts


@kernel
def name_flags(
    data: Bytes, starts: Ints, ends: Ints, offsets: Ints, capitals: Bools, classes: Bytes, letter: int
) -> Bools:
    """Mask of the tokens that look like names: a capital followed by a letter, after a word or a comma."""
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


@kernel
def _sorted_copy(ids: Ids, start: int, end: int, out: Ids) -> int:
    """Write ids[start:end] to the front of `out` in ascending order (Shell sort); returns their number."""
    count = end - start
    for position in range(count):
        out[position] = ids[start + position]
    gap = 1  # of lists as short as sentences: insertion sort
    while gap * _MAX_INSERTION_SORT < count:
        gap = 3 * gap + 1
    while gap > 0:
        for position in range(gap, count):
            value = out[position]
            slot = position
            while slot >= gap and out[slot - gap] > value:
                out[slot] = out[slot - gap]
                slot -= gap
            out[slot] = value
        gap //= 3
    return count
