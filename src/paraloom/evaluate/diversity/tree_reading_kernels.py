"""Reads bracketed trees from UTF-8 bytes into flat arrays; compiled by numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import PRIME, START, Bytes, max_list_length, mix, slot_of

Sizes = Int32s
Reasons = npt.NDArray[np.uint8]

MAX_NODES = 20_000  # Nodes of a tree: the time of a kernel grows with the product of the nodes of two trees

(GOOD, EMPTY, UNCLOSED, UNOPENED, UNLABELED, SEVERAL, OUTSIDE, UNKNOWN, BARE, TOO_LARGE) = range(10)
"""Why a text is not a tree, as codes; `trees.REASONS` has their texts."""

_OPEN, _CLOSE, _BLANK = 40, 41, 32
_NONE, _OPENED, _CLOSED = range(3)  # States of a bracket without a label around the whole tree

# Make the ids of words, and of nodes without children, different from those of labels with the same letters.
WORD = np.uint64(0x9E3779B97F4A7C15)
_CHILDLESS = np.uint64(0xD1B54A32D192ED03)


@kernel
def read_brackets(data: Bytes, offsets: Ints, dummy: bool, known: Ids) -> tuple[Ids, Sizes, Ints, Reasons]:
    texts = len(offsets) - 1
    # A node takes a character and one that separates it. Memory that is not written to is not used.
    capacity = (offsets[-1] - offsets[0]) // 2 + texts + 1
    labels, sizes = np.empty(capacity, np.uint64), np.empty(capacity, np.int32)
    starts, reasons = np.zeros(texts + 1, np.int64), np.zeros(texts, np.uint8)
    above = np.empty(max_list_length(offsets) + 1, np.int64)
    count = 0
    for text in range(texts):
        end, reason = _tree(data, offsets[text], offsets[text + 1], dummy, known, labels, sizes, count, above)
        reasons[text] = reason
        if reason == GOOD:
            count = end
        starts[text + 1] = count
    return labels[:count].copy(), sizes[:count].copy(), starts, reasons


@kernel
def _tree(
    data: Bytes, i: int, end: int, dummy: bool, known: Ids, labels: Ids, sizes: Sizes, first: int, above: Ints
) -> tuple[int, int]:
    """Write the tree from node `first` on, with above[:depth] open; returns the node after its last, and a reason."""
    node, depth = first, 0
    fresh = False  # True if a bracket was just opened, and its label comes next
    wrapper = _NONE
    while i < end:
        byte = data[i]
        if byte == _OPEN:
            reason = _opening_fault(fresh, wrapper, depth, node > first)
            if reason != GOOD:
                return node, reason
            if fresh:
                wrapper = _OPENED
            fresh = True
            i += 1
        elif byte == _CLOSE:
            reason = _closing_fault(fresh, wrapper, depth, node > first)
            if reason != GOOD:
                return node, reason
            if depth:
                depth -= 1
                _close(labels, sizes, above[depth], node)
            else:
                wrapper = _CLOSED
            i += 1
        elif byte <= _BLANK:
            i += 1
        elif fresh:
            labels[node], i = _token(data, i, end)
            if len(known) and known[slot_of(known, labels[node])] != labels[node]:
                return node, UNKNOWN
            above[depth] = node
            node, depth, fresh = node + 1, depth + 1, False
        elif depth:
            word, i = _token(data, i, end)
            labels[node], sizes[node] = WORD if dummy else mix(word ^ WORD), 1
            node += 1
        else:
            return node, OUTSIDE
    return node, _ending_fault(fresh, wrapper, depth, node - first)


@kernel
def _opening_fault(fresh: bool, wrapper: int, depth: int, has_nodes: bool) -> int:
    """Why no bracket may open here, else `GOOD`; one without a label may be around the whole tree."""
    if fresh:
        return UNLABELED if wrapper or has_nodes else GOOD
    return SEVERAL if has_nodes and not depth else GOOD


@kernel
def _closing_fault(fresh: bool, wrapper: int, depth: int, has_nodes: bool) -> int:
    if fresh:
        return UNLABELED
    return GOOD if depth or (wrapper == _OPENED and has_nodes) else UNOPENED


@kernel
def _ending_fault(fresh: bool, wrapper: int, depth: int, nodes: int) -> int:
    if fresh or depth or wrapper == _OPENED:
        return UNCLOSED
    if nodes < 2:
        return BARE if nodes else EMPTY
    return TOO_LARGE if nodes > MAX_NODES else GOOD


@kernel
def _close(labels: Ids, sizes: Sizes, top: int, end: int) -> None:
    """Close the node `top`, below which are all up to `end`."""
    sizes[top] = end - top
    if top == end - 1:
        labels[top] = mix(labels[top] ^ _CHILDLESS)


@kernel
def _token(data: Bytes, i: int, end: int) -> tuple[np.uint64, int]:
    """The id of the label or word that starts at i, and its end."""
    value = START
    while i < end and data[i] > _BLANK and data[i] != _OPEN and data[i] != _CLOSE:
        value = (value ^ np.uint64(data[i])) * PRIME
        i += 1
    return mix(value), i
