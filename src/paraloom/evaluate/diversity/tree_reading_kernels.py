"""Reads bracketed trees from UTF-8 bytes into flat arrays; compiled by numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import PRIME, START, Bytes, mix, slot_of

Sizes = Int32s
Reasons = npt.NDArray[np.uint8]

MAX_NODES = 20_000  # Nodes of a tree: the time of a kernel grows with the product of the nodes of two trees

(GOOD, EMPTY, UNCLOSED, UNOPENED, UNLABELED, SEVERAL, OUTSIDE, UNKNOWN, BARE, TOO_LARGE) = range(10)
"""Why a text is not a tree, as codes; `trees.REASONS` has their texts."""

_OPEN, _CLOSE, _BLANK = 40, 41, 32

# Make the ids of words, and of nodes without children, different from those of labels with the same letters.
WORD = np.uint64(0x9E3779B97F4A7C15)
_CHILDLESS = np.uint64(0xD1B54A32D192ED03)


@kernel
def read_brackets(data: Bytes, offsets: Ints, dummy: bool, known: Ids) -> tuple[Ids, Sizes, Ints, Reasons]:
    texts = len(offsets) - 1
    max_bytes = 0
    for text in range(texts):
        max_bytes = max(max_bytes, offsets[text + 1] - offsets[text])
    # A node takes a character and one that separates it. Memory that is not written to is not used.
    capacity = (offsets[-1] - offsets[0]) // 2 + texts + 1
    labels, sizes = np.empty(capacity, np.uint64), np.empty(capacity, np.int32)
    starts, reasons = np.zeros(texts + 1, np.int64), np.zeros(texts, np.uint8)
    above = np.empty(max_bytes + 1, np.int64)
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
    fresh = wrapped = unwrapped = False  # fresh: a bracket was just opened, and its label comes next
    while i < end:
        byte = data[i]
        if byte == _OPEN:
            if fresh:
                if wrapped or node > first:
                    return node, UNLABELED
                wrapped = True
            elif node > first and not depth:
                return node, SEVERAL
            fresh = True
            i += 1
        elif byte == _CLOSE:
            if fresh:
                return node, UNLABELED
            if depth:
                depth -= 1
                sizes[above[depth]] = node - above[depth]
                if above[depth] == node - 1:
                    labels[node - 1] = mix(labels[node - 1] ^ _CHILDLESS)
            elif wrapped and not unwrapped and node > first:
                unwrapped = True
            else:
                return node, UNOPENED
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
    if fresh or depth or wrapped != unwrapped:
        return node, UNCLOSED
    if node - first < 2:
        return node, BARE if node > first else EMPTY
    return node, TOO_LARGE if node - first > MAX_NODES else GOOD


@kernel
def _token(data: Bytes, i: int, end: int) -> tuple[np.uint64, int]:
    """The id of the label or word that starts at i, and its end."""
    value = START
    while i < end and data[i] > _BLANK and data[i] != _OPEN and data[i] != _CLOSE:
        value = (value ^ np.uint64(data[i])) * PRIME
        i += 1
    return mix(value), i
