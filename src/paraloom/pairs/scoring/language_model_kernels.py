"""Inner loops of n-gram language models, compiled by numba: ids of n-grams, their counts, back-off probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Ids, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import EMPTY_SLOT, PRIME, START, Int, max_list_length, mix, slot_of

Floats = Float32s

COUNT, FOLLOWED, KINDS, SIZE, SHORTER, HISTORY = range(6)
"""Facts about an n-gram: how often it occurs, and as a history; how many kinds of symbols follow it then; its length,
and the keys of it without its first symbol and without its last."""


@kernel
def ngram_id(ids: Ids, start: Int, end: Int) -> np.uint64:
    """Id of the n-gram ids[start:end]: that of the word for a unigram, else as `paraloom.text.ngrams.ngrams` has it."""
    if end - start == 1:
        return ids[start]
    value = START
    for i in range(start, end):
        value = mix((value ^ ids[i]) * PRIME)
    return value


@kernel
def count_ngrams(ids: Ids, offsets: Ints, order: int, begin: np.uint64, end: np.uint64, table: Ids, facts: Ints) -> int:
    """Count the n-grams of all orders in a hash table with room for all new ones; returns how many are new."""
    new = 0
    size = max_list_length(offsets) + 2
    words, hashes = np.empty(size, np.uint64), np.empty(size, np.uint64)  # hashes: of the words from each one on
    for row in range(len(offsets) - 1):
        count = _framed(ids, offsets, row, begin, end, words)
        hashes[0] = mix((START ^ begin) * PRIME)
        for k in range(1, count):
            hashes[k] = START
            shorter = START
            for first in range(k, max(-1, k - order), -1):
                history = words[first] if k - first == 1 else hashes[first]
                hashes[first] = mix((hashes[first] ^ words[k]) * PRIME)
                key = words[k] if first == k else hashes[first]
                above = slot_of(table, history)
                new += table[above] == EMPTY_SLOT
                table[above] = history
                slot = slot_of(table, key)
                new += table[slot] == EMPTY_SLOT
                table[slot] = key
                facts[above, FOLLOWED] += 1
                facts[above, KINDS] += facts[slot, COUNT] == 0
                facts[slot, COUNT] += 1
                facts[slot, SIZE] = k - first + 1
                facts[slot, SHORTER], facts[slot, HISTORY] = np.int64(shorter), np.int64(history)
                shorter = key
    return new


@kernel
def sentence_logprobs(
    ids: Ids,
    offsets: Ints,
    table: Ids,
    logprobs: Floats,
    backoffs: Floats,
    order: int,
    begin: np.uint64,
    end: np.uint64,
    unknown: np.uint64,
) -> npt.NDArray[np.float64]:
    """log10 probability of each list of symbols, including the end of the sentence: float64 (n,)."""
    sums = np.zeros(len(offsets) - 1, np.float64)
    words = np.empty(max_list_length(offsets) + 2, np.uint64)
    for row in range(len(sums)):
        count = _framed(ids, offsets, row, begin, end, words)
        for k in range(1, count - 1):
            if table[slot_of(table, words[k])] != words[k]:
                words[k] = unknown
        for k in range(1, count):
            # The longest known n-gram; each longer one that is missing costs the back-off weight of its history.
            for start in range(max(0, k - order + 1), k + 1):
                key = ngram_id(words, start, k + 1)
                slot = slot_of(table, key)
                if table[slot] == key:
                    sums[row] += logprobs[slot]
                    break
                history = ngram_id(words, start, k)
                slot = slot_of(table, history)
                if table[slot] == history:
                    sums[row] += backoffs[slot]
    return sums


@kernel
def _framed(ids: Ids, offsets: Ints, row: int, begin: np.uint64, end: np.uint64, words: Ids) -> int:
    """Write a list with a mark before and one after it; returns how many these are together."""
    count = offsets[row + 1] - offsets[row]
    words[0], words[count + 1] = begin, end
    words[1 : count + 1] = ids[offsets[row] : offsets[row + 1]]
    return count + 2
