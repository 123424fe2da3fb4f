"""Inner loops of the phrase-based translator, compiled by numba: lexical weights and the stack decoder."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.kernels import kernel
from paraloom.text.phrase_kernels import hash_span

Ids = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_FLOOR = 1e-7  # probability of a word given words that it was never linked to
_BITS = np.uint64(20)
_ONE = np.uint64(1)


@kernel
def lexical_weights(
    a: Ids, a_starts: Ints, a_lengths: Ints, b: Ids, b_starts: Ints, b_lengths: Ints, pairs: Ids, probabilities: Floats
) -> Floats:
    """Log of ∏ over words of b of the mean p(word | word of a), for each pair of spans.

    pairs: word of a · 2**32 + word of b, ascending, with their probabilities.
    """
    logs = np.zeros(len(a_starts))
    for k in range(len(a_starts)):
        for y in range(b_starts[k], b_starts[k] + b_lengths[k]):
            total = 0.0
            for x in range(a_starts[k], a_starts[k] + a_lengths[k]):
                key = (np.uint64(a[x]) << np.uint64(32)) | np.uint64(b[y])
                index = np.searchsorted(pairs, key)
                if index < len(pairs) and pairs[index] == key:
                    total += probabilities[index]
            logs[k] += np.log(max(total / a_lengths[k], _FLOOR))
    return logs


@kernel
def _find(keys: Ids, key: np.uint64) -> int:
    index = int(np.searchsorted(keys, key))
    return index if index < len(keys) and keys[index] == key else -1


@kernel
def word_logprob(
    first: int, second: int, word: int, keys: Ids, logprobs: Floats, backoffs: Floats, unknown: float
) -> float:
    """Log p(word | first second), backing off; a context of -1 is none."""
    total = 0.0
    one = np.uint64(word + 1)
    if second >= 0:
        pair = np.uint64(second + 1)
        if first >= 0:
            context = (np.uint64(first + 1) << _BITS) | pair
            index = _find(keys, (context << _BITS) | one)
            if index >= 0:
                return logprobs[index]
            index = _find(keys, context)
            total += backoffs[index] if index >= 0 else 0.0
        index = _find(keys, (pair << _BITS) | one)
        if index >= 0:
            return total + logprobs[index]
        index = _find(keys, pair)
        total += backoffs[index] if index >= 0 else 0.0
    index = _find(keys, one)
    return total + (logprobs[index] if index >= 0 else unknown)


@kernel
def decode(
    ids: Ids,
    table_keys: Ids,
    table_starts: Ints,
    offsets: Ints,
    targets: Ints,
    scores: Floats,
    keys: Ids,
    logprobs: Floats,
    backoffs: Floats,
    unknown: float,
    begin: int,
    end: int,
    max_length: int,
    stack_size: int,
    max_distortion: int,
    ngram_weight: float,
    distortion_weight: float,
    length_bonus: float,
    copy_score: float,
) -> tuple[Ints, float]:
    """Translate a sentence of up to 63 subwords; returns its words, -1 - i for a copy of the source's i, and the score.

    Stacks are by the number of covered subwords; hypotheses with the same coverage, end and last two words are
    recombined.  A phrase starts at most `max_distortion` after the first subword that is not covered.
    """
    n = len(ids)
    # The translations of each span, and the best that a span can contribute: score, and language model within it.
    spans = np.full((n, max_length), -1, np.int64)
    best = np.full((n + 1, n + 1), -1e30)
    for i in range(n):
        best[i, i] = 0.0
        for length in range(1, min(max_length, n - i) + 1):
            phrase = _find(table_keys, hash_span(ids, i, length))
            spans[i, length - 1] = phrase
            if phrase < 0:
                continue
            for option in range(table_starts[phrase], table_starts[phrase + 1]):
                value = scores[option]
                first, second = -1, -1
                for k in range(offsets[option], offsets[option + 1]):
                    word = targets[k]
                    value += ngram_weight * word_logprob(first, second, word, keys, logprobs, backoffs, unknown)
                    value += length_bonus
                    first, second = second, word
                best[i, i + length] = max(best[i, i + length], value)
        if spans[i, 0] < 0:
            best[i, i + 1] = copy_score + ngram_weight * unknown + length_bonus
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            for split in range(i + 1, i + length):
                best[i, i + length] = max(best[i, i + length], best[i, split] + best[split, i + length])
    sizes = np.zeros(n + 1, np.int64)
    covered = np.zeros((n + 1, stack_size), np.uint64)
    ends = np.zeros((n + 1, stack_size), np.int64)
    words = np.full((n + 1, stack_size, 2), begin, np.int64)
    values = np.zeros((n + 1, stack_size))
    futures = np.zeros((n + 1, stack_size))
    backs = np.full((n + 1, stack_size, 2), -1, np.int64)
    options = np.zeros((n + 1, stack_size), np.int64)
    sizes[0] = 1
    for count in range(n):
        for h in range(sizes[count]):
            gap = 0
            while covered[count, h] >> np.uint64(gap) & _ONE:
                gap += 1
            for i in range(gap, min(n, gap + max_distortion + 1)):
                mask = covered[count, h]
                for length in range(1, min(max_length, n - i) + 1):
                    bit = _ONE << np.uint64(i + length - 1)
                    if mask & bit:
                        break
                    mask |= bit
                    phrase = spans[i, length - 1]
                    is_copy = phrase < 0 and length == 1
                    if phrase < 0 and not is_copy:
                        continue
                    future = _future(mask, best, n)
                    low = 0 if is_copy else table_starts[phrase]
                    high = 1 if is_copy else table_starts[phrase + 1]
                    for option in range(low, high):
                        value = values[count, h] - distortion_weight * abs(i - ends[count, h])
                        first, second = words[count, h, 0], words[count, h, 1]
                        if is_copy:
                            value += copy_score + ngram_weight * unknown + length_bonus
                            # No word of the model, so that the next one has no context.
                            first, second = -1, -1
                        else:
                            value += scores[option]
                            for k in range(offsets[option], offsets[option + 1]):
                                value += length_bonus + ngram_weight * word_logprob(
                                    first, second, targets[k], keys, logprobs, backoffs, unknown
                                )
                                first, second = second, targets[k]
                        new = count + length
                        if new == n:
                            value += ngram_weight * word_logprob(first, second, end, keys, logprobs, backoffs, unknown)
                        slot, worst = -1, 0
                        for other in range(sizes[new]):
                            if (
                                covered[new, other] == mask
                                and ends[new, other] == i + length
                                and words[new, other, 0] == first
                                and words[new, other, 1] == second
                            ):
                                slot = other
                                break
                            if values[new, other] + futures[new, other] < values[new, worst] + futures[new, worst]:
                                worst = other
                        if slot >= 0:
                            if values[new, slot] >= value:
                                continue
                        elif sizes[new] < stack_size:
                            slot = sizes[new]
                            sizes[new] += 1
                        elif values[new, worst] + futures[new, worst] < value + future:
                            slot = worst
                        else:
                            continue
                        covered[new, slot], ends[new, slot] = mask, i + length
                        words[new, slot, 0], words[new, slot, 1] = first, second
                        values[new, slot], futures[new, slot] = value, future
                        backs[new, slot, 0], backs[new, slot, 1] = count, h
                        options[new, slot] = -1 - i if is_copy else option
    return _trace(n, sizes, values, backs, options, offsets, targets)


@kernel
def _future(mask: np.uint64, best: Floats, n: int) -> float:
    """The best that the spans that are not covered can contribute."""
    total, i = 0.0, 0
    while i < n:
        if mask >> np.uint64(i) & _ONE:
            i += 1
            continue
        j = i
        while j < n and not mask >> np.uint64(j) & _ONE:
            j += 1
        total += best[i, j]
        i = j
    return total


@kernel
def _trace(
    n: int, sizes: Ints, values: Floats, backs: Ints, options: Ints, offsets: Ints, targets: Ints
) -> tuple[Ints, float]:
    slot = 0
    for other in range(sizes[n]):
        if values[n, other] > values[n, slot]:
            slot = other
    score = values[n, slot]
    chosen = np.empty(n, np.int64)
    phrases, stack = 0, n
    while stack > 0:
        chosen[phrases] = options[stack, slot]
        phrases += 1
        stack, slot = backs[stack, slot, 0], backs[stack, slot, 1]
    length = 0
    for k in range(phrases):
        length += 1 if chosen[k] < 0 else offsets[chosen[k] + 1] - offsets[chosen[k]]
    result, position = np.empty(length, np.int64), 0
    for k in range(phrases - 1, -1, -1):
        if chosen[k] < 0:
            result[position] = chosen[k]
            position += 1
            continue
        for index in range(offsets[chosen[k]], offsets[chosen[k] + 1]):
            result[position] = targets[index]
            position += 1
    return result, score
