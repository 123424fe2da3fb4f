"""Kernels over lists of tokens: interning, look-up, selection of lists, keys."""

from __future__ import annotations

import numpy as np

from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import EMPTY_SLOT, slot_of


@kernel
def intern(ids, keys, rows, counts, first):
    """Number ids by a hash table, new ones from `first`: int32 (tokens,), and where new ids first occur, int64."""
    numbers = np.empty(len(ids), np.int32)
    positions = np.empty(len(ids), np.int64)
    new = 0
    for k in range(len(ids)):
        slot = slot_of(keys, ids[k])
        if keys[slot] == EMPTY_SLOT:
            positions[new] = k
            new += 1
            keys[slot], rows[slot] = ids[k], first + new
        numbers[k] = rows[slot] - 1
        counts[numbers[k]] += 1
    return numbers, positions[:new].copy()


@kernel
def look_up(ids, offsets, keys, rows):
    """Rows of the ids that a table of `build_table` holds, others left out: rows int32, offsets int64 (n + 1,)."""
    known = np.empty(len(ids), np.int32)
    bounds = np.zeros(len(offsets), np.int64)
    count = 0
    for i in range(len(offsets) - 1):
        for k in range(offsets[i], offsets[i + 1]):
            slot = slot_of(keys, ids[k])
            if keys[slot] != EMPTY_SLOT:
                known[count] = rows[slot] - 1
                count += 1
        bounds[i + 1] = count
    return known[:count].copy(), bounds


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
