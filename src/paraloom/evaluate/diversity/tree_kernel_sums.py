"""Sums of the weights of the fragments that two trees share (Moschitti 2006); compiled by numba.

A side is the arrays of `tree_kernels._side`. Δ(i, j) is the weighted number of fragments that are rooted in node i of
one tree and in node j of the other. It is 0 unless both nodes have the same key, so only such pairs are computed. Nodes
come before their children: in reverse order every Δ comes after those that it depends on.

Rows of Δ are kept on a stack; the row of i holds Δ(i, j) for the nodes j of the other tree with the key of i, by their
ranks. When i is reached, the rows of its children are on top of the stack, from row_start[end of i's subtree] on. Only
i needs them, so its own row overwrites them, and a chain of nodes needs no more memory than one node.
"""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Floats, Ids, Ints
from paraloom.core.kernels import kernel
from paraloom.evaluate.diversity.tree_index_kernels import LEAF, PRETERMINAL, Indices, Kinds
from paraloom.evaluate.diversity.tree_reading_kernels import Sizes
from paraloom.text.token_kernels import max_list_length

Numbers = Floats
Side = tuple[Sizes, Ints, Ids, Kinds, Indices, Ints, Indices, Indices]

_ROWS = 1 << 10


@kernel
def subtree_sums(a: Side, weights: Numbers, b: Side, first: Ints, second: Ints) -> Numbers:
    """Sum the weights of the subtrees that tree first[k] of a and tree second[k] of b have in common."""
    _, a_offsets, a_keys, _, _, _, _, _ = a
    _, b_offsets, b_keys, _, slots, slot_starts, _, ranks = b
    sums = np.zeros(len(first), np.float64)
    for pair in range(len(first)):
        x, y = first[pair], second[pair]
        table = slots[slot_starts[y] : slot_starts[y + 1]]
        for i in range(a_offsets[x], a_offsets[x + 1]):
            j = _find(table, b_keys, b_offsets[y], a_keys[i])
            if j >= 0:
                sums[pair] += weights[i] * (ranks[b_offsets[y] + j] + 1)
    return sums


@kernel
def subset_sums(a: Side, b: Side, first: Ints, second: Ints, decay: float, bare_words: bool) -> Numbers:
    """Sum weights of common subset trees: Δ(i, j) = decay · Π (1 + Δ(children)) (Collins and Duffy 2002)."""
    a_sizes, a_offsets, a_keys, a_kinds, _, _, _, _ = a
    b_sizes, b_offsets, b_keys, _, slots, slot_starts, following, ranks = b
    row_start, rows = np.empty(max_list_length(a_offsets), np.int64), np.empty(_ROWS, np.float64)
    with_leaf = 1.0 + decay if bare_words else 1.0
    sums = np.zeros(len(first), np.float64)
    for pair in range(len(first)):
        x, y = first[pair], second[pair]
        a_0, b_0, table = a_offsets[x], b_offsets[y], slots[slot_starts[y] : slot_starts[y + 1]]
        total, top = 0.0, 0
        for i in range(a_offsets[x + 1] - 1, a_0 - 1, -1):
            kind, end = a_kinds[i], i + a_sizes[i]
            row_start[i - a_0] = top
            if kind == LEAF and not bare_words:
                continue
            j = _find(table, b_keys, b_0, a_keys[i])
            count = ranks[b_0 + j] + 1 if j >= 0 else 0
            if kind == LEAF:
                total += decay * count
                continue
            if kind == PRETERMINAL:
                if count:
                    total += decay * _power(with_leaf, end - i - 1) * count
                continue
            base = row_start[end - 1 - a_0]
            rows = _of_length(rows, top + count)
            while j >= 0:
                value = decay
                c, d = i + 1, b_0 + j + 1
                while c < end:
                    if a_kinds[c] == LEAF:
                        value *= with_leaf
                    elif a_keys[c] == b_keys[d]:
                        if a_kinds[c] == PRETERMINAL:
                            value *= 1.0 + decay * _power(with_leaf, a_sizes[c] - 1)
                        else:
                            value *= 1.0 + rows[row_start[c - a_0] + ranks[d]]
                    c += a_sizes[c]
                    d += b_sizes[d]
                rows[top + ranks[b_0 + j]] = value
                total += value
                j = following[b_0 + j]
            _move(rows, top, base, count)
            row_start[i - a_0], top = base, base + count
        sums[pair] = total
    return sums


@kernel(inline="always")
def _find(table: Indices, keys: Ids, first: int, key: np.uint64) -> int:
    """The first node with a key in the tree that begins at `first` and has this table, -1 for none."""
    mask = len(table) - 1
    slot = np.int64(key & np.uint64(mask))
    while table[slot] and keys[first + table[slot] - 1] != key:
        slot = (slot + 1) & mask
    return table[slot] - 1


@kernel(inline="always")
def _power(base: float, exponent: int) -> float:
    """`base ** exponent`, faster for the most frequent arguments."""
    return base if exponent == 1 or base == 1.0 else base**exponent


@kernel(inline="always")
def _move(rows: Numbers, begin: int, to: int, count: int) -> None:
    for r in range(count):
        rows[to + r] = rows[begin + r]


@kernel
def _of_length(rows: Numbers, needed: int) -> Numbers:
    """The rows, or a copy with more memory."""
    if needed <= len(rows):
        return rows
    grown = np.empty(2 * needed, np.float64)
    grown[: len(rows)] = rows
    return grown
