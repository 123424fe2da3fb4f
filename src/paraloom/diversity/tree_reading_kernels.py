"""Bracketed trees read from UTF-8 bytes into flat arrays, compiled by numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.diversity.trees import (
    BARE,
    EMPTY,
    GOOD,
    LARGEST,
    OUTSIDE,
    SEVERAL,
    TOO_LARGE,
    UNCLOSED,
    UNKNOWN,
    UNLABELLED,
    UNOPENED,
)
from paraloom.text.token_kernels import PRIME, START, Bytes, Ids, Ints, mix, slot_of

Sizes = npt.NDArray[np.int32]
Reasons = npt.NDArray[np.uint8]

_OPEN, _CLOSE, _BLANK = 40, 41, 32

# Words, and nodes without children, are never equal to a label of the same letters.
WORD = np.uint64(0x9E3779B97F4A7C15)
_CHILDLESS = np.uint64(0xD1B54A32D192ED03)


@njit(cache=True, nogil=True)
def read_brackets(data: Bytes, offsets: Ints, dummy: bool, known: Ids) -> tuple[Ids, Sizes, Ints, Reasons]:
    """Labels, sizes, offsets and reasons of the trees of the texts, see `trees.Trees`.

    dummy: all words are one.  known: a hash table of the labels there may be, empty for any.
    """
    texts = len(offsets) - 1
    longest = 0
    for text in range(texts):
        longest = max(longest, offsets[text + 1] - offsets[text])
    # A node has a character of its own and one that sets it apart; memory that is never touched is never taken.
    room = (offsets[-1] - offsets[0]) // 2 + texts + 1
    labels, sizes = np.empty(room, np.uint64), np.empty(room, np.int32)
    starts, reasons = np.zeros(texts + 1, np.int64), np.zeros(texts, np.uint8)
    above = np.empty(longest + 1, np.int64)
    count = 0
    for text in range(texts):
        end, reason = _tree(data, offsets[text], offsets[text + 1], dummy, known, labels, sizes, count, above)
        reasons[text] = reason
        if reason == GOOD:
            count = end
        starts[text + 1] = count
    return labels[:count].copy(), sizes[:count].copy(), starts, reasons


@njit(cache=True, nogil=True)
def _tree(
    data: Bytes, i: int, end: int, dummy: bool, known: Ids, labels: Ids, sizes: Sizes, first: int, above: Ints
) -> tuple[int, int]:
    """Write one tree from node `first` on; the node after its last, and the reason why it is none.

    above[:depth] are the nodes whose brackets are open.
    """
    node, depth = first, 0
    fresh = wrapped = unwrapped = False  # fresh: a bracket has just opened, and its label comes next
    while i < end:
        byte = data[i]
        if byte == _OPEN:
            if fresh:
                if wrapped or node > first:
                    return node, UNLABELLED
                wrapped = True
            elif node > first and not depth:
                return node, SEVERAL
            fresh = True
            i += 1
        elif byte == _CLOSE:
            if fresh:
                return node, UNLABELLED
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
            value = START
            while i < end and data[i] > _BLANK and data[i] != _OPEN and data[i] != _CLOSE:
                value = (value ^ np.uint64(data[i])) * PRIME
                i += 1
            labels[node] = mix(value)
            if len(known) and known[slot_of(known, labels[node])] != labels[node]:
                return node, UNKNOWN
            above[depth] = node
            node, depth, fresh = node + 1, depth + 1, False
        else:
            if not depth:
                return node, OUTSIDE
            value = START
            while i < end and data[i] > _BLANK and data[i] != _OPEN and data[i] != _CLOSE:
                if not dummy:
                    value = (value ^ np.uint64(data[i])) * PRIME
                i += 1
            labels[node] = WORD if dummy else mix(mix(value) ^ WORD)
            sizes[node] = 1
            node += 1
    if fresh or depth or wrapped != unwrapped:
        return node, UNCLOSED
    if node - first < 2:
        return node, BARE if node > first else EMPTY
    return node, TOO_LARGE if node - first > LARGEST else GOOD
