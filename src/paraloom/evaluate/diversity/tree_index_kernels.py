"""Indexes the nodes of trees, each before its children, by what they are matched by, for tree kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.evaluate.diversity.tree_reading_kernels import Sizes
from paraloom.text.token_kernels import PRIME, START, mix

Kinds = npt.NDArray[np.uint8]
Indices = Int32s
NodeIndex = tuple[Ids, Kinds, Indices, Ints, Indices, Indices]

PRODUCTIONS, SUBTREES = range(2)
"""Keys by which nodes match: their label and those of their children; everything below them."""

LEAF, PRETERMINAL, PHRASE = range(3)  # A node without children, one that has only leaves as children, and any other


@kernel
def index_nodes(labels: Ids, sizes: Sizes, offsets: Ints, matched_by: int, leaves: bool) -> NodeIndex:
    """Compute the key and the kind of each node, and a hash table of each tree's nodes by key."""
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
                    value = mix((value ^ (keys[child] if matched_by == SUBTREES else labels[child])) * PRIME)
                    child += sizes[child]
                keys[i] = value
            slot = np.int64(keys[i] & mask)
            while table[slot] and keys[first + table[slot] - 1] != keys[i]:
                slot = (slot + 1) & np.int64(mask)
            following[i], ranks[i] = table[slot] - 1, 0
            if table[slot]:
                ranks[i] = ranks[first + table[slot] - 1] + 1
            table[slot] = i - first + 1
    return keys, kinds, slots, slot_starts, following, ranks


@kernel
def count_phrases(sizes: Sizes) -> Sizes:
    """int32 (nodes,): nodes with children in each subtree, its root included."""
    phrases = np.zeros(len(sizes), np.int32)
    for i in range(len(sizes) - 1, -1, -1):
        child, end = i + 1, i + sizes[i]
        while child < end:
            phrases[i] += phrases[child]
            child += sizes[child]
        phrases[i] += sizes[i] > 1
    return phrases


@kernel
def pairs_within(members: Ints, starts: Ints) -> tuple[Ints, Ints, Ints]:
    """All pairs of two members of a group."""
    count = 0
    for group in range(len(starts) - 1):
        size = starts[group + 1] - starts[group]
        count += size * (size - 1) // 2
    first, second, groups = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    pair = 0
    for group in range(len(starts) - 1):
        for i in range(starts[group], starts[group + 1]):
            for j in range(i + 1, starts[group + 1]):
                first[pair], second[pair], groups[pair] = members[i], members[j], group
                pair += 1
    return first, second, groups
