"""Fragments that two trees share, added up over their pairs of nodes and compiled by numba (Moschitti 2006).

Each side is the arrays of `tree_kernels._side`.  Δ(i, j) is the weighed number of fragments that are rooted in node i
of one tree and in node j of the other; it is 0 unless both nodes have the same key, so only such pairs are looked at.
A node stands before its children: going backwards meets every Δ after those that it is made of.

Rows of Δ lie on a stack; that of i holds Δ(i, j) for the nodes j of the other tree with i's key, by their ranks.  When
i is met, the rows of its children are the top of the stack, from place[end of i's subtree] on; i alone needs them, so
its own row takes their place, and a chain of nodes needs no more room than one of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.diversity.tree_order_kernels import LEAF, PRETERMINAL, Kinds, Places
from paraloom.diversity.tree_reading_kernels import Sizes
from paraloom.text.token_kernels import Ids, Ints

Numbers = npt.NDArray[np.float64]
Side = tuple[Sizes, Ints, Ids, Kinds, Places, Ints, Places, Places]

_ROWS = 1 << 10


@njit(cache=True, nogil=True)
def subtree_sums(a: Side, weights: Numbers, b: Side, first: Ints, second: Ints) -> Numbers:
    """float64 (pairs,): the weights of the subtrees that tree first[k] of a and tree second[k] of b have in common.

    weights: float64 (nodes of a,).  Without bare words, leaves have no place in b's table and so are never found.
    """
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


@njit(cache=True, nogil=True)
def subset_sums(a: Side, b: Side, first: Ints, second: Ints, decay: float, bare_words: bool) -> Numbers:
    """float64 (pairs,): the subset trees in common, each weighed by decay to the power of its nodes with children.

    Δ(i, j) = decay · Π (1 + Δ(child of i, child of j)).  bare_words: a word is a fragment, too, weighed by decay.
    """
    a_sizes, a_offsets, a_keys, a_kinds, _, _, _, _ = a
    b_sizes, b_offsets, b_keys, _, slots, slot_starts, following, ranks = b
    place, rows = np.empty(_widest(a_offsets), np.int64), np.empty(_ROWS, np.float64)
    with_leaf = 1.0 + decay if bare_words else 1.0
    sums = np.zeros(len(first), np.float64)
    for pair in range(len(first)):
        x, y = first[pair], second[pair]
        a_0, b_0, table = a_offsets[x], b_offsets[y], slots[slot_starts[y] : slot_starts[y + 1]]
        total, top = 0.0, 0
        for i in range(a_offsets[x + 1] - 1, a_0 - 1, -1):
            kind, end = a_kinds[i], i + a_sizes[i]
            place[i - a_0] = top
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
            base = place[end - 1 - a_0]
            if top + count > len(rows):
                rows = _longer(rows, top + count)
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
                            value *= 1.0 + rows[place[c - a_0] + ranks[d]]
                    c += a_sizes[c]
                    d += b_sizes[d]
                rows[top + ranks[b_0 + j]] = value
                total += value
                j = following[b_0 + j]
            for r in range(count):
                rows[base + r] = rows[top + r]
            place[i - a_0], top = base, base + count
        sums[pair] = total
    return sums


@njit(cache=True, nogil=True)
def partial_sums(a: Side, b: Side, first: Ints, second: Ints, decay: float, height_decay: float, most: int) -> Numbers:
    """float64 (pairs,): the partial trees in common of trees whose nodes have `most` children at most.

    Δ(i, j) = height_decay · (decay² + Σ over subsequences of as many children on both sides of
    decay^(children skipped within them) · Π Δ(child of i, child of j)); a key is a label here.
    """
    a_sizes, a_offsets, a_keys, a_kinds, _, _, _, _ = a
    b_sizes, b_offsets, b_keys, _, slots, slot_starts, following, ranks = b
    place, rows = np.empty(_widest(a_offsets), np.int64), np.empty(_ROWS, np.float64)
    deltas, ends = np.empty((most, most), np.float64), np.empty((most, most), np.float64)
    before, sofar = np.empty(most + 1, np.float64), np.empty(most + 1, np.float64)
    leaf = height_decay * decay * decay
    sums = np.zeros(len(first), np.float64)
    for pair in range(len(first)):
        x, y = first[pair], second[pair]
        a_0, b_0, table = a_offsets[x], b_offsets[y], slots[slot_starts[y] : slot_starts[y + 1]]
        total, top = 0.0, 0
        for i in range(a_offsets[x + 1] - 1, a_0 - 1, -1):
            end = i + a_sizes[i]
            place[i - a_0] = top
            j = _find(table, b_keys, b_0, a_keys[i])
            count = ranks[b_0 + j] + 1 if j >= 0 else 0
            if a_kinds[i] == LEAF:
                total += leaf * count
                continue
            base = place[end - 1 - a_0]
            if top + count > len(rows):
                rows = _longer(rows, top + count)
            while j >= 0:
                c, m, o, single = i + 1, 0, 0, 0.0
                b_end = b_0 + j + b_sizes[b_0 + j]
                while c < end:
                    d, o = b_0 + j + 1, 0
                    while d < b_end:
                        value = 0.0
                        if a_keys[c] == b_keys[d]:
                            value = leaf if a_kinds[c] == LEAF else rows[place[c - a_0] + ranks[d]]
                            single += value
                        deltas[m, o] = value
                        d, o = d + b_sizes[d], o + 1
                    c, m = c + a_sizes[c], m + 1
                value = decay * decay + single
                if single > 0.0 and m > 1 and o > 1:
                    value += _longer_sequences(deltas, ends, m, o, decay, before, sofar)
                rows[top + ranks[b_0 + j]] = height_decay * value
                total += height_decay * value
                j = following[b_0 + j]
            for r in range(count):
                rows[base + r] = rows[top + r]
            place[i - a_0], top = base, base + count
        sums[pair] = total
    return sums


@njit(cache=True, nogil=True)
def _longer_sequences(
    deltas: Numbers, ends: Numbers, m: int, o: int, decay: float, before: Numbers, sofar: Numbers
) -> float:
    """Weights of all pairs of subsequences of two children or more, of m and of o: O(m · o · the smaller of both).

    ends[k, l]: those of the length at hand that end in children k and l.  sofar[l]: those of one child fewer that end
    before l and at k at most, with a decay for every child between; `before` is the same for k - 1.
    """
    total = 0.0
    for length in range(2, min(m, o) + 1):
        found = 0.0
        before[: o + 1] = 0.0
        sofar[: length - 1] = 0.0
        for k in range(length - 2, m):
            in_row = 0.0
            for l in range(length - 2, o):  # noqa: E741
                in_row = decay * in_row + (deltas[k, l] if length == 2 else ends[k, l])
                ends[k, l] = deltas[k, l] * before[l]
                found += ends[k, l]
                sofar[l + 1] = decay * before[l + 1] + in_row
            before[: o + 1] = sofar[: o + 1]
        if found == 0.0:
            break
        total += found
    return total


@njit(cache=True, nogil=True, inline="always")
def _find(table: Places, keys: Ids, first: int, key: np.uint64) -> int:
    """The first node with this key in the tree that begins at `first` and has this table, -1 for none."""
    mask = len(table) - 1
    slot = np.int64(key & np.uint64(mask))
    while table[slot] and keys[first + table[slot] - 1] != key:
        slot = (slot + 1) & mask
    return table[slot] - 1


@njit(cache=True, nogil=True, inline="always")
def _power(base: float, exponent: int) -> float:
    """As `**`, which takes long over what is nearly always asked for."""
    return base if exponent == 1 or base == 1.0 else base**exponent


@njit(cache=True, nogil=True)
def _widest(offsets: Ints) -> int:
    """Nodes of the largest tree."""
    most = 0
    for tree in range(len(offsets) - 1):
        most = max(most, offsets[tree + 1] - offsets[tree])
    return most


@njit(cache=True, nogil=True)
def _longer(rows: Numbers, needed: int) -> Numbers:
    grown = np.empty(2 * needed, np.float64)
    grown[: len(rows)] = rows
    return grown
