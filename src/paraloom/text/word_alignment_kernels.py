"""Kernels of word alignment.

Sentences are flat lists of indices into one joint vocabulary: `a_words` and `b_words` int32 `(tokens,)`, with offsets
int64 `(n + 1,)`. Probabilities are kept in a hash table of word pairs.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.text.token_kernels import EMPTY_SLOT, Ints, mix, slot_of

Words = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.float32]
Keys = npt.NDArray[np.uint64]

NULL = -1


@njit(cache=True, nogil=True, inline="always")
def _pair_key(a: int, b: int) -> np.uint64:
    """Key of a pair of words; `a` is NULL or a word."""
    return mix((np.uint64(a + 2) << np.uint64(32)) | np.uint64(b + 1))


@njit(cache=True, nogil=True)
def cooccurrences(a_words: Words, a_offsets: Ints, b_words: Words, b_offsets: Ints, slots: int) -> tuple[Keys, int]:
    """Collect all pairs of words that occur in one sentence pair, NULL with each word of `b` included.

    Args:
        a_words: Words of the sentences of one side.
        a_offsets: Their offsets.
        b_words: Words of the sentences of the other side.
        b_offsets: Their offsets.
        slots: Size of the table, a power of two.

    Returns:
        The hash table of keys, uint64 `(slots,)`, and how many slots are taken. It stops when more than half are:
        call it again with twice as many.
    """
    table = np.zeros(slots, np.uint64)
    taken = 0
    for row in range(len(a_offsets) - 1):
        for j in range(b_offsets[row], b_offsets[row + 1]):
            for i in range(a_offsets[row] - 1, a_offsets[row + 1]):
                word = NULL if i < a_offsets[row] else a_words[i]
                key = _pair_key(word, b_words[j])
                slot = slot_of(table, key)
                if table[slot] == EMPTY_SLOT:
                    table[slot] = key
                    taken += 1
                    if 2 * taken > slots:
                        return table, taken
    return table, taken


@njit(cache=True, nogil=True)
def expectation(
    a_words: Words,
    a_offsets: Ints,
    b_words: Words,
    b_offsets: Ints,
    table: Keys,
    probabilities: Numbers,
    vocabulary: int,
    tension: float,
    null: float,
) -> tuple[Numbers, npt.NDArray[np.float64], float]:
    """Run the expectation step of EM: how often each pair of words is expected to be linked.

    Args:
        a_words: Words of the sentences of one side.
        a_offsets: Their offsets.
        b_words: Words of the sentences of the other side.
        b_offsets: Their offsets.
        table: Hash table of `cooccurrences`.
        probabilities: p(b | a) of the pair in each slot, float32 `(slots,)`.
        vocabulary: Size of the joint vocabulary.
        tension: Strength of the diagonal prior.
        null: Probability of NULL.

    Returns:
        Expected counts float32 `(slots,)`, their sums for each word of `a` float64 `(vocabulary + 1,)` with NULL last,
        and the log-likelihood.

    Reference:
        Dyer, Chahuneau, Smith 2013, §2.
    """
    counts = np.zeros(len(table), np.float32)
    sums = np.zeros(vocabulary + 1, np.float64)
    likelihood = 0.0
    max_length = 1
    for row in range(len(a_offsets) - 1):
        max_length = max(max_length, a_offsets[row + 1] - a_offsets[row])
    weights = np.empty(max_length + 1, np.float64)
    slot_indices = np.empty(max_length + 1, np.int64)
    for row in range(len(a_offsets) - 1):
        n, m = a_offsets[row + 1] - a_offsets[row], b_offsets[row + 1] - b_offsets[row]
        for j in range(m):
            _joint_probabilities(
                a_words,
                a_offsets[row],
                n,
                b_words[b_offsets[row] + j],
                j,
                m,
                table,
                probabilities,
                tension,
                null,
                weights,
                slot_indices,
            )
            total = 0.0
            for i in range(n + 1):
                total += weights[i]
            if total <= 0:
                continue
            likelihood += math.log(total)
            for i in range(n + 1):
                posterior = weights[i] / total
                counts[slot_indices[i]] += posterior
                word = vocabulary if i == n else a_words[a_offsets[row] + i]
                sums[word] += posterior
    return counts, sums, likelihood


@njit(cache=True, nogil=True)
def maximization(
    a_words: Words,
    a_offsets: Ints,
    b_words: Words,
    b_offsets: Ints,
    table: Keys,
    counts: Numbers,
    sums: npt.NDArray[np.float64],
    vocabulary: int,
) -> Numbers:
    """Run the maximization step of EM.

    Args:
        a_words: Words of the sentences of one side.
        a_offsets: Their offsets.
        b_words: Words of the sentences of the other side.
        b_offsets: Their offsets.
        table: Hash table of `cooccurrences`.
        counts: Expected count of the pair in each slot, float32 `(slots,)`.
        sums: Sums of the counts for each word of `a`, float64 `(vocabulary + 1,)`.
        vocabulary: Size of the joint vocabulary.

    Returns:
        p(b | a) of the pair in each slot, float32 `(slots,)`.
    """
    probabilities = np.zeros(len(table), np.float32)
    for row in range(len(a_offsets) - 1):
        for j in range(b_offsets[row], b_offsets[row + 1]):
            for i in range(a_offsets[row] - 1, a_offsets[row + 1]):
                word = NULL if i < a_offsets[row] else a_words[i]
                slot = slot_of(table, _pair_key(word, b_words[j]))
                total = sums[vocabulary if word == NULL else word]
                if total > 0:
                    probabilities[slot] = counts[slot] / total
    return probabilities


@njit(cache=True, nogil=True)
def best_links(
    a_words: Words,
    a_offsets: Ints,
    b_words: Words,
    b_offsets: Ints,
    table: Keys,
    probabilities: Numbers,
    tension: float,
    null: float,
) -> Words:
    """Find the most probable word of `a` for each word of `b`.

    Args:
        a_words: Words of the sentences of one side.
        a_offsets: Their offsets.
        b_words: Words of the sentences of the other side.
        b_offsets: Their offsets.
        table: Hash table of `cooccurrences`.
        probabilities: p(b | a) of the pair in each slot, float32 `(slots,)`.
        tension: Strength of the diagonal prior.
        null: Probability of NULL.

    Returns:
        int32 `(b tokens,)`: index of the word in its sentence of `a`, NULL (-1) for none.
    """
    links = np.full(len(b_words), NULL, np.int32)
    max_length = 1
    for row in range(len(a_offsets) - 1):
        max_length = max(max_length, a_offsets[row + 1] - a_offsets[row])
    weights = np.empty(max_length + 1, np.float64)
    slot_indices = np.empty(max_length + 1, np.int64)
    for row in range(len(a_offsets) - 1):
        n, m = a_offsets[row + 1] - a_offsets[row], b_offsets[row + 1] - b_offsets[row]
        for j in range(m):
            k = b_offsets[row] + j
            _joint_probabilities(
                a_words, a_offsets[row], n, b_words[k], j, m, table, probabilities, tension, null, weights, slot_indices
            )
            best = weights[n]
            for i in range(n):
                if weights[i] > best:
                    best = weights[i]
                    links[k] = i
    return links


@njit(cache=True, nogil=True)
def _joint_probabilities(
    a_words: Words,
    start: int,
    n: int,
    word: int,
    j: int,
    m: int,
    table: Keys,
    probabilities: Numbers,
    tension: float,
    null: float,
    weights: npt.NDArray[np.float64],
    slot_indices: Ints,
) -> None:
    """Joint probability of `word`, the j-th of m, with each of the n words of `a` and, last, with NULL."""
    total = 0.0
    for i in range(n):
        # Higher near the diagonal: exp(-tension |i/n - j/m|), normalized to sum to 1 - null.
        weights[i] = math.exp(-tension * abs((i + 1) / n - (j + 1) / m))
        total += weights[i]
    for i in range(n):
        slot_indices[i] = slot_of(table, _pair_key(a_words[start + i], word))
        weights[i] *= (1 - null) / total * probabilities[slot_indices[i]]
    slot_indices[n] = slot_of(table, _pair_key(NULL, word))
    weights[n] = null * probabilities[slot_indices[n]]
