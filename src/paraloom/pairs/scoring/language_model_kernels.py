"""Inner loops of n-gram language models, compiled by numba: ids of n-grams, back-off probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Ids, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import PRIME, START, Int, mix, slot_of

Floats = Float32s


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
    """log10 probability of each list of words, including the end of the sentence: float64 (n,)."""
    sums = np.zeros(len(offsets) - 1, np.float64)
    max_length = 0
    for row in range(len(sums)):
        max_length = max(max_length, offsets[row + 1] - offsets[row])
    words = np.empty(max_length + 2, np.uint64)
    for row in range(len(sums)):
        count = offsets[row + 1] - offsets[row]
        words[0] = begin
        for k in range(count):
            word = ids[offsets[row] + k]
            words[k + 1] = word if table[slot_of(table, word)] == word else unknown
        words[count + 1] = end
        for k in range(1, count + 2):
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
