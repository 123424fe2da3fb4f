"""Nodes of trees made ready for comparison, compiled by numba: what each is matched by, and the nodes in its order.

Trees come flat, each node before its children: `labels` uint64 and `sizes` int32 (nodes,), `offsets` int64 (n + 1,).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.core.kernels import PRIME, START, Ids, Ints, mix
from paraloom.diversity.reading_kernels import Sizes

Places = npt.NDArray[np.int32]
Kinds = npt.NDArray[np.uint8]

LEAF, PRETERMINAL, PHRASE = range(3)
"""A node without children, one with leaves only below it, and any other."""

# Insertion sort beats a general sort on as many nodes as a sentence has, and is quadratic on more.
_SHORT = 64


@njit(cache=True, nogil=True)
def productions(labels: Ids, sizes: Sizes, offsets: Ints) -> Ids:
    """uint64 (nodes,): an id of each node's label and those of its children, in order; a leaf's is its label."""
    keys = labels.copy()
    for tree in range(len(offsets) - 1):
        for i in range(offsets[tree], offsets[tree + 1]):
            if sizes[i] == 1:
                continue
            value = mix((START ^ labels[i]) * PRIME)
            child, end = i + 1, i + sizes[i]
            while child < end:
                value = mix((value ^ labels[child]) * PRIME)
                child += sizes[child]
            keys[i] = value
    return keys


@njit(cache=True, nogil=True)
def subtrees(labels: Ids, sizes: Sizes, offsets: Ints) -> Ids:
    """uint64 (nodes,): an id of all that is below each node, and of its label."""
    keys = labels.copy()
    for i in range(len(labels) - 1, -1, -1):
        if sizes[i] == 1:
            continue
        value = mix((START ^ labels[i]) * PRIME)
        child, end = i + 1, i + sizes[i]
        while child < end:
            value = mix((value ^ keys[child]) * PRIME)
            child += sizes[child]
        keys[i] = mix(value ^ PRIME)
    return keys


@njit(cache=True, nogil=True)
def kinds_of(sizes: Sizes) -> Kinds:
    """uint8 (nodes,): LEAF, PRETERMINAL or PHRASE."""
    kinds = np.empty(len(sizes), np.uint8)
    for i in range(len(sizes)):
        kinds[i] = LEAF if sizes[i] == 1 else PRETERMINAL
        child, end = i + 1, i + sizes[i]
        while child < end and kinds[i] == PRETERMINAL:
            if sizes[child] > 1:
                kinds[i] = PHRASE
            child += sizes[child]
    return kinds


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


@njit(cache=True, nogil=True)
def ordered(keys: Ids, sizes: Sizes, offsets: Ints, leaves: bool) -> tuple[Ids, Places, Ints, Places]:
    """The nodes of each tree by ascending key; without `leaves`, those with children only.

    Returns the sorted keys, uint64, the nodes, int32, counted from the first of their tree, the offsets of both,
    int64 (n + 1,), and the place of each node among its tree's, int32 (nodes,), -1 for one that is left out.
    """
    found, nodes = np.empty(len(keys), np.uint64), np.empty(len(keys), np.int32)
    starts, ranks = np.zeros(len(offsets), np.int64), np.full(len(keys), -1, np.int32)
    count = 0
    for tree in range(len(offsets) - 1):
        first, begin = offsets[tree], count
        long = offsets[tree + 1] - first > _SHORT
        for i in range(first, offsets[tree + 1]):
            if sizes[i] == 1 and not leaves:
                continue
            key, slot = keys[i], count
            while not long and slot > begin and found[slot - 1] > key:
                found[slot], nodes[slot] = found[slot - 1], nodes[slot - 1]
                slot -= 1
            found[slot], nodes[slot] = key, i - first
            count += 1
        if long:
            order = np.argsort(found[begin:count])
            found[begin:count] = found[begin:count][order]
            nodes[begin:count] = nodes[begin:count][order]
        for slot in range(begin, count):
            ranks[first + nodes[slot]] = slot - begin
        starts[tree + 1] = count
    return found[:count].copy(), nodes[:count].copy(), starts, ranks
