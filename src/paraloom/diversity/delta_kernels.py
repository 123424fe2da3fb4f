"""Fragments that two trees share, added up over their pairs of nodes and compiled by numba (Moschitti 2006).

A side comes as the arrays of `tree_kernels.Nodes`, in its order.  Δ(i, j) is the weighed number of fragments that are
rooted in node i of one tree and in node j of the other; it is 0 unless both nodes have the same key.  A tree's nodes
stand in an order in which children follow their parents, so going backwards meets every Δ after those it is made of.

Rows of Δ lie on a stack: those of i are Δ(i, j) for the nodes j of the other tree with i's key.  When i is met, the
rows of its children are the top of the stack, from rows[place[i + size - 1]] on; they are needed by i alone, so that
i's row takes their place.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.core.kernels import Ids, Ints
from paraloom.diversity.order_kernels import LEAF, PRETERMINAL, Kinds, Places
from paraloom.diversity.reading_kernels import Sizes

Numbers = npt.NDArray[np.float64]
Side = tuple[Ids, Sizes, Kinds, Ints, Ids, Places, Ints, Places]

_ROWS = 1 << 10


@njit(cache=True, nogil=True)
def subtree_sums(a: Side, a_weights: Numbers, b: Side, first: Ints, second: Ints) -> Numbers:
    """float64 (pairs,): the weights of the subtrees that tree first[k] of a and tree second[k] of b have in common."""
    a_keys, a_nodes, a_starts, a_offsets = a[4], a[5], a[6], a[3]
    b_keys, b_starts = b[4], b[6]
    sums = np.zeros(len(first), np.float64)
    for pair in range(len(first)):
        i, i_end = a_starts[first[pair]], a_starts[first[pair] + 1]
        j, j_end = b_starts[second[pair]], b_starts[second[pair] + 1]
        node_0 = a_offsets[first[pair]]
        while i < i_end and j < j_end:
            if a_keys[i] < b_keys[j]:
                i += 1
            elif a_keys[i] > b_keys[j]:
                j += 1
            else:
                key, j_begin, count = a_keys[i], j, 0
                while i < i_end and a_keys[i] == key:
                    i, count = i + 1, count + 1
                while j < j_end and b_keys[j] == key:
                    j += 1
                sums[pair] += a_weights[node_0 + a_nodes[i - 1]] * count * (j - j_begin)
    return sums


@njit(cache=True, nogil=True)
def subset_sums(a: Side, b: Side, first: Ints, second: Ints, decay: float, bare_words: bool) -> Numbers:
    """float64 (pairs,): the subset trees in common, each weighed by decay to the power of its nodes with children.

    Δ(i, j) = decay · Π (1 + Δ(child of i, child of j)).  bare_words: a word is a fragment, too, weighed by decay.
    """
    a_keys, a_sizes, a_kinds, a_offsets, _, _, a_starts, _ = a
    b_keys, b_sizes, _, b_offsets, _, b_nodes, b_starts, b_ranks = b
    widest = _widest(a_offsets)
    begins, counts, place = np.empty(widest, np.int32), np.empty(widest, np.int32), np.empty(widest, np.int64)
    rows = np.empty(_ROWS, np.float64)
    with_leaf = 1.0 + decay if bare_words else 1.0
    sums = np.zeros(len(first), np.float64)
    for pair in range(len(first)):
        x, y = first[pair], second[pair]
        a_0, b_0, b_start = a_offsets[x], b_offsets[y], b_starts[y]
        n = a_offsets[x + 1] - a_0
        _match(a, b, x, y, begins, counts)
        total, top = 0.0, 0
        for i in range(n - 1, -1, -1):
            kind, end = a_kinds[a_0 + i], i + a_sizes[a_0 + i]
            if kind == LEAF:
                place[i] = top
                if bare_words:
                    total += decay * counts[i]
                continue
            if kind == PRETERMINAL:
                place[i] = top
                total += decay * with_leaf ** (end - i - 1) * counts[i]
                continue
            base = place[end - 1]
            if top + counts[i] > len(rows):
                rows = _longer(rows, top + counts[i])
            for r in range(counts[i]):
                j = b_nodes[b_start + begins[i] + r]
                value = decay
                c, d = i + 1, b_0 + j + 1
                while c < end:
                    kind = a_kinds[a_0 + c]
                    if kind == LEAF:
                        value *= with_leaf
                    elif a_keys[a_0 + c] == b_keys[d]:
                        if kind == PRETERMINAL:
                            value *= 1.0 + decay * with_leaf ** (a_sizes[a_0 + c] - 1)
                        else:
                            value *= 1.0 + rows[place[c] + b_ranks[d] - begins[c]]
                    c += a_sizes[a_0 + c]
                    d += b_sizes[d]
                rows[top + r] = value
                total += value
            place[i] = base
            for r in range(counts[i]):
                rows[base + r] = rows[top + r]
            top = base + counts[i]
        sums[pair] = total
    return sums


@njit(cache=True, nogil=True)
def partial_sums(
    a: Side, b: Side, first: Ints, second: Ints, decay: float, height_decay: float, most: int
) -> Numbers:
    """float64 (pairs,): the partial trees in common of trees whose nodes have `most` children at most.

    Δ(i, j) = height_decay · (decay² + Σ over subsequences of as many children on both sides of
    decay^(children skipped within them) · Π Δ(child of i, child of j)); a key is a label here.
    """
    a_keys, a_sizes, a_kinds, a_offsets, _, _, _, _ = a
    b_keys, b_sizes, _, b_offsets, _, b_nodes, b_starts, b_ranks = b
    widest = _widest(a_offsets)
    begins, counts, place = np.empty(widest, np.int32), np.empty(widest, np.int32), np.empty(widest, np.int64)
    deltas, ends = np.empty((most, most), np.float64), np.empty((most, most), np.float64)
    before, sofar = np.empty(most + 1, np.float64), np.empty(most + 1, np.float64)
    rows = np.empty(_ROWS, np.float64)
    leaf = height_decay * decay * decay
    sums = np.zeros(len(first), np.float64)
    for pair in range(len(first)):
        x, y = first[pair], second[pair]
        a_0, b_0, b_start = a_offsets[x], b_offsets[y], b_starts[y]
        n = a_offsets[x + 1] - a_0
        _match(a, b, x, y, begins, counts)
        total, top = 0.0, 0
        for i in range(n - 1, -1, -1):
            if a_kinds[a_0 + i] == LEAF:
                place[i] = top
                total += leaf * counts[i]
                continue
            end = i + a_sizes[a_0 + i]
            base = place[end - 1]
            if top + counts[i] > len(rows):
                rows = _longer(rows, top + counts[i])
            for r in range(counts[i]):
                j = b_0 + b_nodes[b_start + begins[i] + r]
                c, m, o, single = i + 1, 0, 0, 0.0
                while c < end:
                    d, o = j + 1, 0
                    while d < j + b_sizes[j]:
                        value = 0.0
                        if a_keys[a_0 + c] == b_keys[d]:
                            value = leaf if a_kinds[a_0 + c] == LEAF else rows[place[c] + b_ranks[d] - begins[c]]
                        deltas[m, o] = value
                        single += value
                        d, o = d + b_sizes[d], o + 1
                    c, m = c + a_sizes[a_0 + c], m + 1
                longer = 0.0
                if single > 0.0 and m > 1 and o > 1:
                    longer = _longer_sequences(deltas, ends, m, o, decay, before, sofar)
                value = height_decay * (decay * decay + single + longer)
                rows[top + r] = value
                total += value
            place[i] = base
            for r in range(counts[i]):
                rows[base + r] = rows[top + r]
            top = base + counts[i]
        sums[pair] = total
    return sums


@njit(cache=True, nogil=True)
def _longer_sequences(
    deltas: Numbers, ends: Numbers, m: int, o: int, decay: float, before: Numbers, sofar: Numbers
) -> float:
    """Weights of all pairs of subsequences of two children or more, of m and of o: O(m · o · the smaller of both).

    ends[k, l]: those of the length at hand that end in children k and l.  sofar[l]: those of one child fewer that end
    at or before k and l, with a decay for every child between; `before` is the same for k - 1.
    """
    for k in range(m):
        for l in range(o):  # noqa: E741
            ends[k, l] = deltas[k, l]
    total = 0.0
    for length in range(2, min(m, o) + 1):
        found = 0.0
        for l in range(o + 1):  # noqa: E741
            before[l] = 0.0
        for k in range(m):
            in_row = 0.0
            sofar[0] = 0.0
            for l in range(o):  # noqa: E741
                in_row = decay * in_row + ends[k, l]
                sofar[l + 1] = decay * before[l + 1] + in_row
                ends[k, l] = deltas[k, l] * before[l]
                found += ends[k, l]
            for l in range(o + 1):  # noqa: E741
                before[l] = sofar[l]
        if found == 0.0:
            break
        total += found
    return total


@njit(cache=True, nogil=True)
def _match(a: Side, b: Side, x: int, y: int, begins: Places, counts: Places) -> None:
    """For each node of tree x: the place of the first node of tree y with its key, in y's order, and how many."""
    a_offsets, a_keys, a_nodes, a_starts = a[3], a[4], a[5], a[6]
    b_keys, b_starts = b[4], b[6]
    counts[: a_offsets[x + 1] - a_offsets[x]] = 0
    i, i_end, j, j_end = a_starts[x], a_starts[x + 1], b_starts[y], b_starts[y + 1]
    while i < i_end and j < j_end:
        key = a_keys[i]
        if key < b_keys[j]:
            i += 1
        elif key > b_keys[j]:
            j += 1
        else:
            begin = j
            while j < j_end and b_keys[j] == key:
                j += 1
            while i < i_end and a_keys[i] == key:
                begins[a_nodes[i]], counts[a_nodes[i]] = begin - b_starts[y], j - begin
                i += 1


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
