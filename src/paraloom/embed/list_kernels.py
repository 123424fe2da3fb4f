"""Inner loops over lists of units, compiled by numba: hash tables, numbering, look-up, taking some.

Import it inside functions only: numba takes a second to load.  The kernels release the lock and are cached on disk.
Lists of row ids are flat: `rows` int32 (tokens,), `offsets` int64 (n + 1,); list i is rows[offsets[i]:offsets[i+1]].
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def place(ids, keys, values, first):
    """Enter ids that are new into the hash table (keys uint64, values int32, −1 where free), numbered from `first`."""
    mask = np.uint64(len(keys) - 1)
    for k in range(len(ids)):
        slot = ids[k] & mask
        while values[slot] >= 0 and keys[slot] != ids[k]:
            slot = (slot + np.uint64(1)) & mask
        if values[slot] < 0:
            keys[slot] = ids[k]
            values[slot] = first
            first += 1
    return first


@njit(cache=True, nogil=True)
def intern(ids, keys, values, counts, first):
    """Number each id by the hash table, count it, and enter new ones; also where each new id stood first.

    The table needs room for all of them.  Returns numbers int32 (tokens,), positions int64 (new ids,).
    """
    mask = np.uint64(len(keys) - 1)
    numbers = np.empty(len(ids), np.int32)
    fresh = np.empty(len(ids), np.int64)
    found = 0
    for k in range(len(ids)):
        slot = ids[k] & mask
        while values[slot] >= 0 and keys[slot] != ids[k]:
            slot = (slot + np.uint64(1)) & mask
        if values[slot] < 0:
            keys[slot] = ids[k]
            values[slot] = first + found
            fresh[found] = k
            found += 1
        numbers[k] = values[slot]
        counts[values[slot]] += 1
    return numbers, fresh[:found].copy()


@njit(cache=True, nogil=True)
def look_up(ids, offsets, keys, values):
    """Row of each id that the hash table holds, unknown ones left out: rows int32, offsets int64 (n + 1,)."""
    mask = np.uint64(len(keys) - 1)
    rows = np.empty(len(ids), np.int32)
    bounds = np.zeros(len(offsets), np.int64)
    count = 0
    for i in range(len(offsets) - 1):
        for k in range(offsets[i], offsets[i + 1]):
            slot = ids[k] & mask
            while values[slot] >= 0 and keys[slot] != ids[k]:
                slot = (slot + np.uint64(1)) & mask
            if values[slot] >= 0:
                rows[count] = values[slot]
                count += 1
        bounds[i + 1] = count
    return rows[:count].copy(), bounds


@njit(cache=True, nogil=True)
def take(rows, offsets, which, renumber):
    """The lists `which` int64 (m,), each row r replaced by renumber[r], left out where that is negative."""
    total = 0
    for i in which:
        total += offsets[i + 1] - offsets[i]
    taken = np.empty(total, np.int32)
    bounds = np.zeros(len(which) + 1, np.int64)
    count = 0
    for n in range(len(which)):
        for k in range(offsets[which[n]], offsets[which[n] + 1]):
            row = renumber[rows[k]]
            if row >= 0:
                taken[count] = row
                count += 1
        bounds[n + 1] = count
    return taken[:count].copy(), bounds


@njit(cache=True, nogil=True)
def bag_keys(ids, offsets):
    """uint64 (n,): a key of each list's ids whatever their order, for finding sentences of the same words."""
    keys = np.zeros(len(offsets) - 1, np.uint64)
    for i in range(len(keys)):
        total = np.uint64(0)
        for k in range(offsets[i], offsets[i + 1]):
            total += (ids[k] ^ (ids[k] >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        keys[i] = total
    return keys


@njit(cache=True, nogil=True)
def list_keys(ids, offsets):
    """A key of each list's ids in their order: uint64 (n,)."""
    keys = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(keys)):
        key = np.uint64(0xCBF29CE484222325)
        for k in range(offsets[i], offsets[i + 1]):
            key = (key ^ ids[k]) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        keys[i] = key
    return keys
