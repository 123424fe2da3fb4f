"""Dependency trees read from the bytes of CoNLL-U sentences into flat arrays, compiled by numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.core.kernels import PRIME, START, Bytes, Ids, Int, Ints, mix, slot_of
from paraloom.diversity.reading_kernels import WORD, Reasons, Sizes
from paraloom.diversity.trees import (
    CIRCLE,
    EMPTY,
    FIELDS,
    GOOD,
    HEAD,
    LARGEST,
    NUMBERS,
    ROOTS,
    SEVERAL,
    TOO_LARGE,
    UNKNOWN,
    UNLABELLED,
)

Tokens = npt.NDArray[np.int64]

_TAB, _LINE, _RETURN, _HASH, _POINT, _HYPHEN, _ZERO, _NOTHING = 9, 10, 13, 35, 46, 45, 48, 95
_FORM, _HEAD, _RELATION = 1, 6, 7
_MOST_DIGITS = 9


@njit(cache=True, nogil=True)
def read_conllu(data: Bytes, offsets: Ints, dummy: bool, known: Ids) -> tuple[Ids, Sizes, Ints, Reasons]:
    """Labels, sizes, offsets and reasons of the trees of the sentences, see `trees.Trees`; each token is two nodes.

    dummy: all words are one.  known: a hash table of the relations there may be, empty for any.
    """
    texts = len(offsets) - 1
    lines = longest = 0
    for text in range(texts):
        here = 1
        for i in range(offsets[text], offsets[text + 1]):
            here += data[i] == _LINE
        lines, longest = lines + here, max(longest, here)
    labels, sizes = np.empty(2 * lines, np.uint64), np.empty(2 * lines, np.int32)
    starts, reasons = np.zeros(texts + 1, np.int64), np.zeros(texts, np.uint8)
    heads, room = np.empty(longest + 1, np.int64), np.empty((5, longest + 2), np.int64)
    relations, words = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.uint64)
    count = 0
    for text in range(texts):
        tokens, reason = _sentence(data, offsets[text], offsets[text + 1], dummy, known, heads, relations, words)
        if reason == GOOD:
            reason = _laid_out(tokens, heads, relations, words, labels, sizes, count, room)
        reasons[text] = reason
        if reason == GOOD:
            count += 2 * tokens
        starts[text + 1] = count
    return labels[:count].copy(), sizes[:count].copy(), starts, reasons


@njit(cache=True, nogil=True)
def _sentence(
    data: Bytes, i: int, end: int, dummy: bool, known: Ids, heads: Tokens, relations: Ids, words: Ids
) -> tuple[int, int]:
    """Fill head, relation and word of each token, counted from 1; how many there are, and why it is no sentence."""
    tokens = 0
    ended = False  # a blank line came after a token
    while i < end:
        stop = i
        while stop < end and data[stop] != _LINE:
            stop += 1
        last = stop - 1 if stop > i and data[stop - 1] == _RETURN else stop
        if last == i:
            ended = tokens > 0
        elif data[i] != _HASH:
            if ended:
                return tokens, SEVERAL
            number, after = _number(data, i, last)
            if after < last and data[after] in (_HYPHEN, _POINT):
                i = stop + 1
                continue
            if after == last or data[after] != _TAB or number < 0:
                return tokens, FIELDS
            tokens += 1
            if number != tokens:
                return tokens, NUMBERS
            at, value = 0, START
            for k in range(i, last + 1):
                if k < last and data[k] != _TAB:
                    value = (value ^ np.uint64(data[k])) * PRIME
                    continue
                # A field ends here; `value` is the hash of its bytes and i is where it begins.
                if at == _FORM:
                    words[tokens] = WORD if dummy else mix(mix(value) ^ WORD)
                elif at == _HEAD:
                    heads[tokens], after = _number(data, i, k)
                    if after != k or heads[tokens] < 0:
                        return tokens, HEAD
                elif at == _RELATION:
                    if k == i or (k == i + 1 and data[i] == _NOTHING):
                        return tokens, UNLABELLED
                    relations[tokens] = mix(value)
                    if len(known) and known[slot_of(known, relations[tokens])] != relations[tokens]:
                        return tokens, UNKNOWN
                at, value, i = at + 1, START, k + 1
            if at <= _RELATION:
                return tokens, FIELDS
        i = stop + 1
    if not tokens:
        return tokens, EMPTY
    return tokens, TOO_LARGE if 2 * tokens > LARGEST else GOOD


@njit(cache=True, nogil=True)
def _number(data: Bytes, i: int, end: int) -> tuple[Int, int]:
    """The decimal number that begins at i, -1 for none or a long one, and where it ends."""
    value: Int = 0
    begin = i
    while i < end and _ZERO <= data[i] < _ZERO + 10 and i - begin < _MOST_DIGITS:
        value = 10 * value + np.int64(data[i]) - _ZERO
        i += 1
    return value if i > begin else -1, i


@njit(cache=True, nogil=True)
def _laid_out(
    tokens: int, heads: Tokens, relations: Ids, words: Ids, labels: Ids, sizes: Sizes, first: int, room: Tokens
) -> int:
    """Write the nodes from `first` on, each before its children; why that cannot be.

    Dependents of token t, in order, are dependents[begins[t] : begins[t + 1]]; token 0 is above the root.
    """
    begins, dependents, cursor, node_of, above = room
    begins[: tokens + 2] = 0
    for token in range(1, tokens + 1):
        if heads[token] > tokens:
            return HEAD
        begins[heads[token] + 1] += 1
    if begins[1] != 1:
        return ROOTS
    for token in range(tokens + 1):
        begins[token + 1] += begins[token]
        cursor[token] = begins[token]
    for token in range(1, tokens + 1):
        dependents[cursor[heads[token]]] = token
        cursor[heads[token]] += 1
    cursor[: tokens + 1] = begins[: tokens + 1]
    node, depth = first, 0
    t = dependents[0]
    while True:
        labels[node], node_of[t], above[depth] = relations[t], node, t
        node, depth = node + 1, depth + 1
        # Go on to the next dependent, writing the words and closing the nodes that stand before it.
        t = np.int64(0)
        while depth and not t:
            top = above[depth - 1]
            following = dependents[cursor[top]] if cursor[top] < begins[top + 1] else tokens + 1
            if node_of[top] >= 0 and following > top:
                labels[node], sizes[node] = words[top], 1
                # The word is written once: from here on the place of the node is kept as a negative number.
                node_of[top] = -1 - node_of[top]
                node += 1
            if following <= tokens:
                t = following
                cursor[top] += 1
            else:
                depth -= 1
                sizes[-1 - node_of[top]] = node - (-1 - node_of[top])
        if not depth:
            break
    return GOOD if node - first == 2 * tokens else CIRCLE
