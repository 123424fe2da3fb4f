"""Kernels of word alignment over lists of word numbers; the pairs of words of all cells are numbered."""

from __future__ import annotations

import math

import numpy as np

from paraloom.core.array_types import Float32s, Floats, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import max_list_length

Words = Int32s
Numbers = Float32s

NULL = -1


@kernel
def number_pairs(
    a_words: Words, a_offsets: Ints, b_words: Words, b_rows: Ints, starts: Ints, order: Ints, vocabulary: int
) -> tuple[Words, Words]:
    """Number the pairs of words that occur in one sentence pair, NULL included, those of a word of `b` in a row."""
    pairs = np.empty(starts[-1], np.int32)
    owners = np.empty(starts[-1], np.int32)
    numbers = np.full(vocabulary + 1, -1, np.int64)
    count = 0
    first = 0
    word = -1
    for k in order:
        if b_words[k] != word:
            word = b_words[k]
            first = count
        begin, end = a_offsets[b_rows[k]], a_offsets[b_rows[k] + 1]
        for i in range(end - begin + 1):
            other = vocabulary if i == end - begin else a_words[begin + i]
            if numbers[other] < first:
                numbers[other] = count
                owners[count] = other
                count += 1
            pairs[starts[k] + i] = numbers[other]
    return pairs, owners[:count].copy()


@kernel
def expectation(
    a_offsets: Ints,
    b_offsets: Ints,
    pairs: Words,
    owners: Words,
    probabilities: Numbers,
    vocabulary: int,
    tension: float,
    null: float,
) -> tuple[Numbers, Floats]:
    """Run the expectation step of EM (Dyer et al. 2013, §2): how often each pair of words is linked."""
    counts = np.zeros(len(owners), np.float32)
    sums = np.zeros(vocabulary + 1, np.float64)
    weights = np.empty(max_list_length(a_offsets) + 1, np.float64)
    cell = 0
    for row in range(len(a_offsets) - 1):
        n, m = a_offsets[row + 1] - a_offsets[row], b_offsets[row + 1] - b_offsets[row]
        for j in range(m):
            _joint_probabilities(n, j, m, pairs[cell : cell + n + 1], probabilities, tension, null, weights)
            total = 0.0
            for i in range(n + 1):
                total += weights[i]
            if total > 0:
                for i in range(n + 1):
                    posterior = weights[i] / total
                    counts[pairs[cell + i]] += posterior
                    sums[owners[pairs[cell + i]]] += posterior
            cell += n + 1
    return counts, sums


@kernel
def maximization(owners: Words, counts: Numbers, sums: Floats) -> Numbers:
    probabilities = np.zeros(len(owners), np.float32)
    for pair in range(len(owners)):
        total = sums[owners[pair]]
        if total > 0:
            probabilities[pair] = counts[pair] / total
    return probabilities


@kernel
def best_links(
    a_offsets: Ints, b_offsets: Ints, pairs: Words, probabilities: Numbers, tension: float, null: float
) -> Words:
    """Find the most probable word of `a` for each word of `b`."""
    links = np.full(b_offsets[-1], NULL, np.int32)
    weights = np.empty(max_list_length(a_offsets) + 1, np.float64)
    cell = 0
    for row in range(len(a_offsets) - 1):
        n, m = a_offsets[row + 1] - a_offsets[row], b_offsets[row + 1] - b_offsets[row]
        for j in range(m):
            _joint_probabilities(n, j, m, pairs[cell : cell + n + 1], probabilities, tension, null, weights)
            best = weights[n]
            for i in range(n):
                if weights[i] > best:
                    best = weights[i]
                    links[b_offsets[row] + j] = i
            cell += n + 1
    return links


@kernel
def _joint_probabilities(
    n: int, j: int, m: int, pairs: Words, probabilities: Numbers, tension: float, null: float, weights: Floats
) -> None:
    """Joint probability of the j-th of m words of `b` with each of the n words of `a` and, last, with NULL."""
    total = 0.0
    for i in range(n):
        # Higher near the diagonal: exp(-tension |i/n - j/m|), normalized to sum to 1 - null.
        weights[i] = math.exp(-tension * abs((i + 1) / n - (j + 1) / m))
        total += weights[i]
    for i in range(n):
        weights[i] *= (1 - null) / total * probabilities[pairs[i]]
    weights[n] = null * probabilities[pairs[n]]
