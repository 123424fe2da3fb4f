"""The one kernel that overlap and BLEU+1 stand on: how many entries two lists have in common, a pair of lists a row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

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
