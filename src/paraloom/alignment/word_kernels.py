"""Numba kernels of the evidence of words for beads: how far blocks of sentences predict words of the other text."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paraloom.alignment.numbered_words import CAUSES
from paraloom.core.array_types import Float32s, Floats, Int32s, Ints
from paraloom.core.kernels import kernel

# A word that is twice as likely as without the predictors uses the word that it is expected for; chance does not.
_MIN_GAIN = math.log(2)
# A word whose first cause is used up is explained by the second one, if that predicts it by this part of the first.
_SECOND_CAUSE = 0.2


class ExpectedTable(NamedTuple):
    """The words that each of m predictors leads to expect, by all sources of evidence."""

    words: Int32s
    counts: Float32s
    capacities: Float32s
    causes: Int32s
    strengths: Float32s
    offsets: Ints
    all_causes: Int32s
    cause_counts: Float32s
    cause_offsets: Ints


class WordModel(NamedTuple):
    """Predictors of the words of a direction; n sentences are observed, m are predictors."""

    words: Int32s
    counts: Float32s
    offsets: Ints
    expected: ExpectedTable
    lengths: Floats
    background: Floats
    background_weight: float


class Block(NamedTuple):
    """What a block of predictors leads to expect, float32 and int32 by word and by cause; `_empty_block` makes one."""

    limits: Float32s
    causes: Int32s
    sums: Float32s
    cause_counts: Float32s


# Columns of the limits (words, 4), small enough for the fastest cache: what an explained occurrence gains, 0 of words
# that are not expected; how many are explained at most; and how often the block has the two causes, 0 of the second
# one if it is much weaker.
_GAIN, _CAPACITY, _FIRST_COUNT, _SECOND_COUNT = range(4)
# Columns of the sums (words, 4) they are computed from: how many are expected and explained, how strong the causes are.
_MASS, _TOTAL_CAPACITY, _FIRST_STRENGTH, _SECOND_STRENGTH = range(4)


class Usage(NamedTuple):
    """What the observed sentences before used.

    seen, used: Occurrences of words, and of causes.  met, claimed: The words and causes that have any.  claims: What
    the present sentence uses; 0 before and after.
    """

    seen: Float32s
    met: Int32s
    used: Float32s
    claims: Float32s
    claimed: Int32s


@kernel
def add_forward(first: int, weight: float, lows: Ints, model: WordModel, out: Float32s) -> None:
    """Add weight × (log p(target sentences | source sentences) − log p(target sentences)) of each bead to `out`."""
    rows, max_size, _, width = out.shape
    words, counts, offsets, expected, lengths, background, background_weight = model
    sources, targets = len(lengths) - 1, len(offsets) - 1
    totals = _unexplained_totals(model)
    block = _empty_block(len(background))
    usage = _empty_usage(len(background), max_size)
    for r in range(rows):
        i = first + r
        predictors = max(0, min(max_size, sources - i))
        for a in range(predictors):
            _add_predictor(block, expected, i + a)
            scale = (1 - background_weight) / (lengths[i + a + 1] - lengths[i])
            _compute_gains(block, expected, i, a + 1, scale, background, background_weight)
            for w in range(min(width, targets - lows[i])):
                j = lows[i] + w
                gain = 0.0
                sizes = 0, 0
                for b in range(min(max_size, targets - j)):
                    more, sizes = _explained_gain(block, usage, sizes, words, counts, offsets, j + b)
                    gain += totals[j + b] + more
                    out[r, a, b, w] += weight * gain
                _clear_usage(usage, sizes)
        _clear_block(block, expected, i, predictors)


@kernel
def add_backward(first: int, weight: float, lows: Ints, model: WordModel, out: Float32s) -> None:
    """As `add_forward`, in the other direction: target sentences predict, source sentences are observed."""
    rows, max_size, _, width = out.shape
    words, counts, offsets, expected, lengths, background, background_weight = model
    targets, sources = len(lengths) - 1, len(offsets) - 1
    totals = _unexplained_totals(model)
    block = _empty_block(len(background))
    usage = _empty_usage(len(background), max_size)
    low_row = first
    high_row = first
    end = min(first + rows, sources)
    if end <= first:
        return
    for j in range(lows[first], min(targets, lows[end - 1] + width)):
        while high_row < end and lows[high_row] <= j:
            high_row += 1
        while low_row < high_row and lows[low_row] + width <= j:
            low_row += 1
        predictors = min(max_size, targets - j)
        for b in range(predictors):
            _add_predictor(block, expected, j + b)
            scale = (1 - background_weight) / (lengths[j + b + 1] - lengths[j])
            _compute_gains(block, expected, j, b + 1, scale, background, background_weight)
            for i in range(low_row, high_row):
                gain = 0.0
                sizes = 0, 0
                for a in range(min(max_size, sources - i)):
                    more, sizes = _explained_gain(block, usage, sizes, words, counts, offsets, i + a)
                    gain += totals[i + a] + more
                    out[i - first, a, b, j - lows[i]] += weight * gain
                _clear_usage(usage, sizes)
        _clear_block(block, expected, j, predictors)


@kernel
def tabulate_expected(words: Int32s, causes: Int32s, counts: Float32s, starts: Ints, scales: Floats) -> ExpectedTable:
    sources, predictors = scales.shape
    table = ExpectedTable(
        np.empty(len(words), np.int32),
        np.zeros((len(words), sources), np.float32),
        np.zeros(len(words), np.float32),
        np.full((len(words), 2), -1, np.int32),
        np.full((len(words), 2), -1, np.float32),
        np.zeros(predictors + 1, np.int64),
        np.empty(2 * len(words), np.int32),
        np.empty(2 * len(words), np.float32),
        np.zeros(predictors + 1, np.int64),
    )
    cause_counts, last_predictors = np.zeros((len(words), 2), np.float32), np.full(CAUSES, -1, np.int64)
    cause_count = 0
    limit = 0
    for i in range(predictors):
        size = 0
        for s in range(sources):
            size += starts[s, i + 1] - starts[s, i]
        limit = max(limit, size)
    entries, owners = np.empty(limit, np.int64), np.empty(limit, np.int64)
    keys = np.empty(limit, np.int32)
    occurrences = np.zeros(sources, np.float32)
    count = 0
    for i in range(predictors):
        size = 0
        for s in range(sources):
            for k in range(starts[s, i], starts[s, i + 1]):
                entries[size], owners[size], keys[size] = k, s, words[k]
                size += 1
        order = np.argsort(keys[:size], kind="mergesort")
        for position in range(size):
            k, s = entries[order[position]], owners[order[position]]
            if position == 0 or words[k] != table.words[count - 1]:
                table.words[count] = words[k]
                occurrences[:] = 0.0
                count += 1
            scaled = np.float32(counts[k] * scales[s, i])
            table.counts[count - 1, s] += scaled
            occurrences[s] += np.float32(1)
            table.capacities[count - 1] = max(table.capacities[count - 1], occurrences[s])
            _note_cause(table.causes[count - 1], table.strengths[count - 1], cause_counts[count - 1], causes[k], scaled)
        table.offsets[i + 1] = count
        for entry in range(table.offsets[i], count):
            for rank in range(2):
                cause = table.causes[entry, rank]
                if cause >= 0 and last_predictors[cause] != i:
                    last_predictors[cause] = i
                    table.all_causes[cause_count] = cause
                    table.cause_counts[cause_count] = cause_counts[entry, rank]
                    cause_count += 1
        table.cause_offsets[i + 1] = cause_count
    return ExpectedTable(
        table.words[:count].copy(),
        table.counts[:count].copy(),
        table.capacities[:count].copy(),
        table.causes[:count].copy(),
        table.strengths[:count].copy(),
        table.offsets,
        table.all_causes[:cause_count].copy(),
        table.cause_counts[:cause_count].copy(),
        table.cause_offsets,
    )


@kernel
def _note_cause(causes: Int32s, strengths: Float32s, counts: Float32s, cause: int, strength: np.float32) -> None:
    """Count a cause of an entry, if it is one of the two strongest."""
    for rank in range(2):
        if causes[rank] == cause and strength <= strengths[rank]:
            # Several sources know the same pair of words; the occurrences are those of the strongest.
            counts[rank] += strength == strengths[rank]
            return
    if causes[0] != cause and strength > strengths[0]:
        causes[1], counts[1], strengths[1] = causes[0], counts[0], strengths[0]
        causes[0], counts[0], strengths[0] = cause, 1, strength
    elif causes[0] == cause:
        counts[0], strengths[0] = 1, strength
    elif strength > strengths[1]:
        causes[1], counts[1], strengths[1] = cause, 1, strength


@kernel
def _unexplained_totals(model: WordModel) -> Floats:
    """Log-likelihood ratio of each observed sentence if no word of it is explained: float64 (n,)."""
    totals = np.zeros(len(model.offsets) - 1, np.float64)
    for n in range(len(totals)):
        for k in range(model.offsets[n], model.offsets[n + 1]):
            totals[n] += model.counts[k] * math.log(model.background_weight)
    return totals


@kernel
def _empty_block(words: int) -> Block:
    limits, causes = np.zeros((words, 4), np.float32), np.full((words, 2), -1, np.int32)
    return Block(limits, causes, np.zeros((words, 4), np.float32), np.zeros(CAUSES, np.float32))


@kernel
def _empty_usage(words: int, max_size: int) -> Usage:
    no_claims = np.zeros(CAUSES, np.float32)
    return Usage(
        np.zeros(words, np.float32),
        np.empty(words, np.int32),
        no_claims,
        no_claims.copy(),
        np.empty(max_size * CAUSES, np.int32),  # of each of the observed sentences
    )


@kernel
def _add_predictor(block: Block, expected: ExpectedTable, predictor: int) -> None:
    """Add a predictor to a block, whose gains are then out of date."""
    for k in range(expected.cause_offsets[predictor], expected.cause_offsets[predictor + 1]):
        block.cause_counts[expected.all_causes[k]] += expected.cause_counts[k]
    for k in range(expected.offsets[predictor], expected.offsets[predictor + 1]):
        word = expected.words[k]
        block.sums[word, _MASS] += expected.counts[k]
        block.sums[word, _TOTAL_CAPACITY] += expected.capacities[k]
        for rank in range(2):
            if expected.causes[k, rank] >= 0:
                _add_cause(block.causes, block.sums, word, expected.causes[k, rank], expected.strengths[k, rank])


@kernel
def _add_cause(causes: Int32s, sums: Float32s, word: int, cause: int, strength: float) -> None:
    if causes[word, 0] == cause:
        sums[word, _FIRST_STRENGTH] = max(sums[word, _FIRST_STRENGTH], strength)
    elif causes[word, 0] < 0 or strength > sums[word, _FIRST_STRENGTH]:
        causes[word, 1], sums[word, _SECOND_STRENGTH] = causes[word, 0], sums[word, _FIRST_STRENGTH]
        causes[word, 0], sums[word, _FIRST_STRENGTH] = cause, strength
    elif causes[word, 1] == cause:
        sums[word, _SECOND_STRENGTH] = max(sums[word, _SECOND_STRENGTH], strength)
    elif causes[word, 1] < 0 or strength > sums[word, _SECOND_STRENGTH]:
        causes[word, 1], sums[word, _SECOND_STRENGTH] = cause, strength


@kernel
def _clear_block(block: Block, expected: ExpectedTable, start: int, size: int) -> None:
    for k in range(expected.cause_offsets[start], expected.cause_offsets[start + size]):
        block.cause_counts[expected.all_causes[k]] = 0.0
    for k in range(expected.offsets[start], expected.offsets[start + size]):
        word = expected.words[k]
        block.causes[word, 0] = block.causes[word, 1] = -1
        for column in range(4):
            block.limits[word, column] = block.sums[word, column] = 0.0


@kernel
def _compute_gains(
    block: Block,
    expected: ExpectedTable,
    start: int,
    size: int,
    scale: float,
    background: Floats,
    background_weight: float,
) -> None:
    limits, causes, sums, cause_counts = block
    for k in range(expected.offsets[start], expected.offsets[start + size]):
        word = expected.words[k]
        ratio = sums[word, _MASS] * scale / background[word]
        limits[word, _GAIN] = math.log(ratio / background_weight + 1)
        limits[word, _CAPACITY] = sums[word, _TOTAL_CAPACITY]
        limits[word, _FIRST_COUNT] = cause_counts[causes[word, 0]]
        is_likely = sums[word, _SECOND_STRENGTH] > _SECOND_CAUSE * sums[word, _FIRST_STRENGTH]
        limits[word, _SECOND_COUNT] = cause_counts[causes[word, 1]] if is_likely else 0.0


@kernel(forceinline=True)
def _explained_gain(
    block: Block, usage: Usage, sizes: tuple[int, int], words: Int32s, counts: Float32s, offsets: Ints, sentence: int
) -> tuple[float, tuple[int, int]]:
    """Gain of the words of one more observed sentence that a block explains, each up to what is not used yet."""
    limits, causes = block.limits, block.causes
    seen, met, used, claims, claimed = usage
    met_words, used_causes = sizes
    before = used_causes
    gain = 0.0
    for k in range(offsets[sentence], offsets[sentence + 1]):
        word = words[k]
        word_gain = limits[word, _GAIN]
        if word_gain == 0:
            continue
        cause, count = causes[word, 0], limits[word, _FIRST_COUNT]
        if before and limits[word, _SECOND_COUNT] > 0 and used[cause] >= count:
            cause, count = causes[word, 1], limits[word, _SECOND_COUNT]
        if not before or used[cause] < count:
            free = max(np.float32(0.0), limits[word, _CAPACITY] - seen[word])
            gain += min(counts[k], free) * word_gain
            if word_gain > _MIN_GAIN:
                if claims[cause] == 0:
                    claimed[used_causes] = cause
                    used_causes += 1
                claims[cause] = max(claims[cause], counts[k])
        if seen[word] == 0:
            met[met_words] = word
            met_words += 1
        seen[word] += counts[k]
    for k in range(before, used_causes):
        used[claimed[k]] += claims[claimed[k]]
        claims[claimed[k]] = 0.0
    return gain, (met_words, used_causes)


@kernel
def _clear_usage(usage: Usage, sizes: tuple[int, int]) -> None:
    for k in range(sizes[0]):
        usage.seen[usage.met[k]] = 0.0
    for k in range(sizes[1]):
        usage.used[usage.claimed[k]] = 0.0


@kernel
def find_word(words: Int32s, begin: int, end: int, wanted: int) -> int:
    """Index of a word among those from `begin` on, which rise; `end` where it is missing."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if words[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and words[low] == wanted else end


@kernel
def mixture_counts(beads: Ints, backward: bool, model: WordModel, weights: Floats) -> Floats:
    """Expected number of observed words in the beads that each component of the mixture generated."""
    expected = model.expected
    components = expected.counts.shape[1]
    totals = np.zeros(1 + components, np.float64)
    likely = np.empty(1 + components, np.float64)
    for n in range(len(beads)):
        start, size, observed_start, observed_size = beads[n, 0], beads[n, 1], beads[n, 2], beads[n, 3]
        if backward:
            start, size, observed_start, observed_size = observed_start, observed_size, start, size
        if size == 0 or observed_size == 0:
            continue
        length = model.lengths[start + size] - model.lengths[start]
        for k in range(model.offsets[observed_start], model.offsets[observed_start + observed_size]):
            word = model.words[k]
            likely[:] = 0.0
            for g in range(start, start + size):
                at = find_word(expected.words, expected.offsets[g], expected.offsets[g + 1], word)
                if at < expected.offsets[g + 1]:
                    for c in range(components):
                        likely[c + 1] += expected.counts[at, c]
            likely[0] = model.background[word] * weights[0]
            total = likely[0]
            for c in range(components):
                likely[c + 1] *= weights[c + 1] / length
                total += likely[c + 1]
            for c in range(1 + components):
                totals[c] += model.counts[k] * likely[c] / total
    return totals
