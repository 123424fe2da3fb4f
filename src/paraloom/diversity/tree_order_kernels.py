"""Nodes of trees made ready for comparison, compiled by numba: what each is matched by, and where its likes are found.

Trees come flat, each node before its children: `labels` uint64 and `sizes` int32 (nodes,), `offsets` int64 (n + 1,).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.diversity.tree_reading_kernels import Sizes
from paraloom.text.token_kernels import PRIME, START, Ids, Ints, mix

Kinds = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int32]
Ready = tuple[Ids, Kinds, Places, Ints, Places, Places]

LABELS, PRODUCTIONS, SUBTREES = range(3)
"""What nodes are matched by: their label; that and their children's; all that is below them."""

LEAF, PRETERMINAL, PHRASE = range(3)
"""A node without children, one with leaves only below it, and any other."""


@njit(cache=True, nogil=True)
def made_ready(labels: Ids, sizes: Sizes, offsets: Ints, matched_by: int, leaves: bool) -> Ready:
    """Keys and kinds of the nodes, and a hash table a tree, of all its nodes or, without `leaves`, of the others.

    keys: uint64, a leaf's is its label.  kinds: uint8.  slots: int32; those of tree t, a power of two, begin at
    slot_starts[t], int64 (n + 1,), and hold a node, counted from 1 and from the first of its tree, or 0.  A slot
    holds the first node of its key; following: int32, the next node with that key, -1 for none; ranks: int32, how
    many come after.
    """
    keys, kinds = labels.copy(), np.empty(len(sizes), np.uint8)
    following, ranks = np.empty(len(sizes), np.int32), np.empty(len(sizes), np.int32)
    slot_starts = np.zeros(len(offsets), np.int64)
    for tree in range(len(offsets) - 1):
        width = 1
        while width < offsets[tree + 1] - offsets[tree]:
            width *= 2
        slot_starts[tree + 1] = slot_starts[tree] + 2 * width
    slots = np.zeros(slot_starts[-1], np.int32)
    for tree in range(len(offsets) - 1):
        first, table = offsets[tree], slots[slot_starts[tree] : slot_starts[tree + 1]]
        mask = np.uint64(len(table) - 1)
        for i in range(offsets[tree + 1] - 1, first - 1, -1):
            if sizes[i] == 1:
                kinds[i] = LEAF
                if not leaves:
                    continue
            else:
                kinds[i] = PRETERMINAL
                value = mix((START ^ labels[i]) * PRIME)
                child, end = i + 1, i + sizes[i]
                while child < end:
                    if sizes[child] > 1:
                        kinds[i] = PHRASE
                    if matched_by != LABELS:
                        value = mix((value ^ (keys[child] if matched_by == SUBTREES else labels[child])) * PRIME)
                    child += sizes[child]
                if matched_by != LABELS:
                    keys[i] = value
            slot = np.int64(keys[i] & mask)
            while table[slot] and keys[first + table[slot] - 1] != keys[i]:
                slot = (slot + 1) & np.int64(mask)
            following[i], ranks[i] = table[slot] - 1, 0
            if table[slot]:
                ranks[i] = ranks[first + table[slot] - 1] + 1
            table[slot] = i - first + 1
    return keys, kinds, slots, slot_starts, following, ranks


@njit(cache=True, nogil=True)
def inner_nodes(sizes: Sizes) -> Sizes:
    """int32 (nodes,): how many nodes with children each subtree has."""
    inner = np.zeros(len(sizes), np.int32)
    for i in range(len(sizes) - 1, -1, -1):
        child, end = i + 1, i + sizes[i]
        while child < end:
            inner[i] += inner[child]
            child += sizes[child]
        inner[i] += sizes[i] > 1
    return inner


@njit(cache=True, nogil=True)
def most_children(sizes: Sizes, offsets: Ints) -> Ints:
    """int64 (n,): the most children that a node of each tree has."""
    most = np.zeros(len(offsets) - 1, np.int64)
    for tree in range(len(most)):
        for i in range(offsets[tree], offsets[tree + 1]):
            child, end, count = i + 1, i + sizes[i], 0
            while child < end:
                child, count = child + sizes[child], count + 1
            most[tree] = max(most[tree], count)
    return most


@njit(cache=True, nogil=True)
def pairs_within(members: Ints, starts: Ints) -> tuple[Ints, Ints, Ints]:
    """All pairs of different members of a group, and their group: three times int64 (pairs,).

    The members of group g are members[starts[g] : starts[g + 1]].
    """
    count = 0
    for group in range(len(starts) - 1):
        size = starts[group + 1] - starts[group]
        count += size * (size - 1) // 2
    first, second, groups = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    at = 0
    for group in range(len(starts) - 1):
        for i in range(starts[group], starts[group + 1]):
            for j in range(i + 1, starts[group + 1]):
                first[at], second[at], groups[at] = members[i], members[j], group
                at += 1
    return first, second, groups
