"""Inner loops of the interpolated n-gram model, compiled by numba: counts in hash tables, probabilities.

Sequences are flat: `ids` uint64 (symbols,) and `offsets` int64 (n + 1,); each begins with one mark that is never
predicted and ends with one that is. An n-gram is a hash of its symbols, last to first, and of its length.
"""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Floats, Ids, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import EMPTY_SLOT, PRIME, START, Int, mix, slot_of

Counts = Ints


@kernel
def count_ngrams(
    ids: Ids, offsets: Ints, order: int, ngrams: Ids, counts: Counts, histories: Ids, stats: Counts
) -> int:
    """Count the n-grams of all orders, and for each history its occurrences and its different continuations.

    ngrams, counts: hash table with room for all new n-grams. histories, stats: the same of the histories, whose
    columns are occurrences and continuations. Returns how many n-grams are new.
    """
    new = 0
    for row in range(len(offsets) - 1):
        for k in range(offsets[row] + 1, offsets[row + 1]):
            history = START
            for size in range(min(order, k - offsets[row] + 1)):
                if size:
                    history = _extend(history, ids[k - size])
                slot = slot_of(histories, history)
                histories[slot] = history
                stats[slot, 0] += 1
                ngram = _with_symbol(history, ids[k])
                position = slot_of(ngrams, ngram)
                if ngrams[position] == EMPTY_SLOT:
                    ngrams[position] = ngram
                    stats[slot, 1] += 1
                    new += 1
                counts[position] += 1
    return new


@kernel
def logprobs(
    ids: Ids, offsets: Ints, order: int, ngrams: Ids, counts: Counts, histories: Ids, stats: Counts, symbols: int
) -> Floats:
    """Natural logarithm of the probability of each sequence: float64 (n,); `symbols` is the size of the vocabulary.

    p(w | h) = (count(h w) + types(h) p(w | shorter h)) / (count(h) + types(h)), down to the uniform distribution.
    """
    sums = np.zeros(len(offsets) - 1, np.float64)
    for row in range(len(sums)):
        for k in range(offsets[row] + 1, offsets[row + 1]):
            probability = 1.0 / symbols
            history = START
            for size in range(min(order, k - offsets[row] + 1)):
                if size:
                    history = _extend(history, ids[k - size])
                slot = slot_of(histories, history)
                if histories[slot] == EMPTY_SLOT:
                    break
                ngram = _with_symbol(history, ids[k])
                position = slot_of(ngrams, ngram)
                count = counts[position] if ngrams[position] == ngram else 0
                types = stats[slot, 1]
                probability = (count + types * probability) / (stats[slot, 0] + types)
            sums[row] += np.log(probability)
    return sums


@kernel
def replace_unknown(ids: Ids, known: Ids, unknown: np.uint64) -> Ids:
    """The symbols, with `unknown` for those that are not in the hash table `known`."""
    replaced = ids.copy()
    for k in range(len(ids)):
        if known[slot_of(known, ids[k])] == EMPTY_SLOT:
            replaced[k] = unknown
    return replaced


@kernel
def framed(ids: Ids, offsets: Ints, begin: np.uint64, end: np.uint64, ended: bool) -> tuple[Ids, Ints]:
    """The lists with a mark before and, if `ended`, one after each."""
    lists = np.empty(len(offsets), np.int64)
    marked = np.empty(len(ids) + 2 * (len(offsets) - 1), np.uint64)
    count = 0
    lists[0] = 0
    for row in range(len(offsets) - 1):
        marked[count] = begin
        count += 1
        for k in range(offsets[row], offsets[row + 1]):
            marked[count] = ids[k]
            count += 1
        if ended:
            marked[count] = end
            count += 1
        lists[row + 1] = count
    return marked[:count].copy(), lists


@kernel
def insert_counts(keys: Ids, values: Counts, table: Ids, table_values: Counts) -> None:
    """Insert keys with their rows of values into a hash table with room for them."""
    for k in range(len(keys)):
        slot = slot_of(table, keys[k])
        table[slot] = keys[k]
        table_values[slot] = values[k]


@kernel(inline="always")
def _extend(history: np.uint64, symbol: np.uint64) -> np.uint64:
    """The history with one more symbol before it."""
    return mix((history ^ symbol) * PRIME)


@kernel(inline="always")
def _with_symbol(history: np.uint64, symbol: np.uint64) -> np.uint64:
    """The n-gram of a history and the symbol after it."""
    return mix((history + np.uint64(1)) * PRIME ^ mix(symbol * PRIME + history))


def slots_for(entries: Int) -> int:
    """Size of a hash table for so many entries: a power of two, at least twice as many."""
    return max(16, 1 << (2 * int(entries) - 1).bit_length())
