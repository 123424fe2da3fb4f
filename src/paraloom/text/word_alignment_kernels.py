"""Inner loops of word alignment, compiled by numba.

Sentences are rows of a joint vocabulary: `a_words`, `b_words` int32 (tokens,) with offsets int64 (n + 1,).
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
    """An id for a pair of words; a is NULL or a row."""
    return mix((np.uint64(a + 2) << np.uint64(32)) | np.uint64(b + 1))


@njit(cache=True, nogil=True)
def cooccurrences(a_words: Words, a_offsets: Ints, b_words: Words, b_offsets: Ints, slots: int) -> tuple[Keys, int]:
    """A hash table of all word pairs that stand in one sentence pair, NULL with each word among them; how full it is.

    When more than half of `slots` fill up it stops and says so by the count: call it again with twice as many.
    """
    table = np.zeros(slots, np.uint64)
    full = 0
    for row in range(len(a_offsets) - 1):
        for j in range(b_offsets[row], b_offsets[row + 1]):
            for i in range(a_offsets[row] - 1, a_offsets[row + 1]):
                word = NULL if i < a_offsets[row] else a_words[i]
                key = _pair_key(word, b_words[j])
                slot = slot_of(table, key)
                if table[slot] == EMPTY_SLOT:
                    table[slot] = key
                    full += 1
                    if 2 * full > slots:
                        return table, full
    return table, full


@njit(cache=True, nogil=True)
def expect(
    a_words: Words,
    a_offsets: Ints,
    b_words: Words,
    b_offsets: Ints,
    table: Keys,
    shares: Numbers,
    vocabulary: int,
    tension: float,
    null: float,
) -> tuple[Numbers, npt.NDArray[np.float64], float]:
    """One pass of expectation (Dyer et al. 2013): how often each word pair is expected to be linked.

    shares: float32 (slots,), p(b | a) of the pair in each slot.  Returns expected counts (slots,), their sums for
    each word of `a`, float64 (vocabulary + 1,), NULL last, and the log-likelihood.
    """
    counts = np.zeros(len(table), np.float32)
    sums = np.zeros(vocabulary + 1, np.float64)
    likelihood = 0.0
    longest = 1
    for row in range(len(a_offsets) - 1):
        longest = max(longest, a_offsets[row + 1] - a_offsets[row])
    weights = np.empty(longest + 1, np.float64)
    places = np.empty(longest + 1, np.int64)
    for row in range(len(a_offsets) - 1):
        n, m = a_offsets[row + 1] - a_offsets[row], b_offsets[row + 1] - b_offsets[row]
        for j in range(m):
            _weigh(
                a_words,
                a_offsets[row],
                n,
                b_words[b_offsets[row] + j],
                j,
                m,
                table,
                shares,
                tension,
                null,
                weights,
                places,
            )
            total = 0.0
            for i in range(n + 1):
                total += weights[i]
            if total <= 0:
                continue
            likelihood += math.log(total)
            for i in range(n + 1):
                share = weights[i] / total
                counts[places[i]] += share
                word = vocabulary if i == n else a_words[a_offsets[row] + i]
                sums[word] += share
    return counts, sums, likelihood


@njit(cache=True, nogil=True)
def maximise(
    a_words: Words,
    a_offsets: Ints,
    b_words: Words,
    b_offsets: Ints,
    table: Keys,
    counts: Numbers,
    sums: npt.NDArray[np.float64],
    vocabulary: int,
) -> Numbers:
    """p(b | a) of each pair from its expected count: float32 (slots,)."""
    shares = np.zeros(len(table), np.float32)
    for row in range(len(a_offsets) - 1):
        for j in range(b_offsets[row], b_offsets[row + 1]):
            for i in range(a_offsets[row] - 1, a_offsets[row + 1]):
                word = NULL if i < a_offsets[row] else a_words[i]
                slot = slot_of(table, _pair_key(word, b_words[j]))
                total = sums[vocabulary if word == NULL else word]
                if total > 0:
                    shares[slot] = counts[slot] / total
    return shares


@njit(cache=True, nogil=True)
def best_links(
    a_words: Words,
    a_offsets: Ints,
    b_words: Words,
    b_offsets: Ints,
    table: Keys,
    shares: Numbers,
    tension: float,
    null: float,
) -> Words:
    """The word of `a` that each word of `b` most likely comes from, counted within its sentence; NULL for none."""
    links = np.full(len(b_words), NULL, np.int32)
    longest = 1
    for row in range(len(a_offsets) - 1):
        longest = max(longest, a_offsets[row + 1] - a_offsets[row])
    weights = np.empty(longest + 1, np.float64)
    places = np.empty(longest + 1, np.int64)
    for row in range(len(a_offsets) - 1):
        n, m = a_offsets[row + 1] - a_offsets[row], b_offsets[row + 1] - b_offsets[row]
        for j in range(m):
            at = b_offsets[row] + j
            _weigh(a_words, a_offsets[row], n, b_words[at], j, m, table, shares, tension, null, weights, places)
            best = weights[n]
            for i in range(n):
                if weights[i] > best:
                    best = weights[i]
                    links[at] = i
    return links


@njit(cache=True, nogil=True)
def _weigh(
    a_words: Words,
    start: int,
    n: int,
    word: int,
    j: int,
    m: int,
    table: Keys,
    shares: Numbers,
    tension: float,
    null: float,
    weights: npt.NDArray[np.float64],
    places: Ints,
) -> None:
    """Joint probability of `word`, the j-th of m, with each word of `a` (n of them) and with NULL, which comes last."""
    total = 0.0
    for i in range(n):
        # Near the diagonal more likely: exp(-tension |i/n - j/m|), made to sum to 1 - null.
        weights[i] = math.exp(-tension * abs((i + 1) / n - (j + 1) / m))
        total += weights[i]
    for i in range(n):
        places[i] = slot_of(table, _pair_key(a_words[start + i], word))
        weights[i] *= (1 - null) / total * shares[places[i]]
    places[n] = slot_of(table, _pair_key(NULL, word))
    weights[n] = null * shares[places[n]]
