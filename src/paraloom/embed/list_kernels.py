"""Kernels over lists of units, compiled by numba: hash tables, interning, look-up, selection of lists, keys.

The kernels release the GIL and are cached on disk. Lists are flat: list i is `rows[offsets[i]:offsets[i + 1]]`, with
`rows` int32 (tokens,) and `offsets` int64 (n + 1,).
"""

from __future__ import annotations

import numpy as np

from paraloom.core.kernels import kernel


@kernel
def insert(ids, keys, values, first):
    """Insert new ids into a hash table (keys uint64; values int32, -1 where free), numbered from `first`.

    Returns the next free number.
    """
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


@kernel
def intern(ids, keys, values, counts, first):
    """Number ids by a hash table with enough free slots, count them, and insert new ones, numbered from `first`.

    Returns the number of each id, int32 (tokens,), and the positions at which new ids first occur, int64 (new ids,).
    """
    mask = np.uint64(len(keys) - 1)
    numbers = np.empty(len(ids), np.int32)
    positions = np.empty(len(ids), np.int64)
    new = 0
    for k in range(len(ids)):
        slot = ids[k] & mask
        while values[slot] >= 0 and keys[slot] != ids[k]:
            slot = (slot + np.uint64(1)) & mask
        if values[slot] < 0:
            keys[slot] = ids[k]
            values[slot] = first + new
            positions[new] = k
            new += 1
        numbers[k] = values[slot]
        counts[values[slot]] += 1
    return numbers, positions[:new].copy()


@kernel
def look_up(ids, offsets, keys, values):
    """Rows of the ids that a hash table holds, others left out: rows int32, offsets int64 (n + 1,)."""
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


@kernel
def take(rows, offsets, selected, renumbered):
    """The lists `selected`, int64 (m,), with row r replaced by renumbered[r], left out where that is negative."""
    total = 0
    for i in selected:
        total += offsets[i + 1] - offsets[i]
    taken = np.empty(total, np.int32)
    bounds = np.zeros(len(selected) + 1, np.int64)
    count = 0
    for n in range(len(selected)):
        for k in range(offsets[selected[n]], offsets[selected[n] + 1]):
            row = renumbered[rows[k]]
            if row >= 0:
                taken[count] = row
                count += 1
        bounds[n + 1] = count
    return taken[:count].copy(), bounds


@kernel
def bag_keys(ids, offsets):
    """Key of each list that does not depend on the order of its ids, uint64 (n,)."""
    keys = np.zeros(len(offsets) - 1, np.uint64)
    for i in range(len(keys)):
        total = np.uint64(0)
        for k in range(offsets[i], offsets[i + 1]):
            total += (ids[k] ^ (ids[k] >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        keys[i] = total
    return keys


@kernel
def list_keys(ids, offsets):
    """Key of each list that depends on the order of its ids, uint64 (n,)."""
    keys = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(keys)):
        key = np.uint64(0xCBF29CE484222325)
        for k in range(offsets[i], offsets[i + 1]):
            key = (key ^ ids[k]) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        keys[i] = key
    return keys
