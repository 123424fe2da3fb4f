"""Numba kernels of the evidence for beads: lengths, and words predicted by the other side.

In a direction, the sentences of one text (the predictors) predict the words of the other text (the observed).  A block
is a run of 1 … A predictors.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
WordNumbers = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


@njit(cache=True, nogil=True)
def add_lengths(
    first: int,
    source: Floats,
    target: Floats,
    ratio: float,
    variance: float,
    table: Floats,
    steps: int,
    lows: Ints,
    out: Scores,
) -> None:
    """Add table[|δ| × steps] of each bead to `out`; δ is the difference of lengths in standard deviations.

    Args:
        first: Source boundary of the first row of `out`.
        source: Characters before each source boundary, (m + 1,).
        target: Characters before each target boundary, (n + 1,).
        ratio: Target characters expected for each source character.
        variance: Variance of the target characters for each source character.
        table: Score by |δ|, in steps of 1 / `steps`.
        steps: Entries of the table for one standard deviation.
        lows: First target boundary of each row of the band, (m + 1,).
        out: float32 (rows, A, A, W).
    """
    rows, max_size, _, width = out.shape
    sources, targets = len(source) - 1, len(target) - 1
    for r in range(rows):
        i = first + r
        for a in range(min(max_size, sources - i)):
            expected = (source[i + a + 1] - source[i]) * ratio
            for b in range(max_size):
                for w in range(min(width, targets - b - lows[i])):
                    j = lows[i] + w
                    actual = target[j + b + 1] - target[j]
                    deviation = abs(actual - expected) / math.sqrt((expected + actual) / 2 * variance)
                    out[r, a, b, w] += table[min(len(table) - 1, int(deviation * steps))]


@njit(cache=True, nogil=True)
def add_length_contrast(
    first: int,
    weight: float,
    source: Floats,
    target: Floats,
    ratio: float,
    variance: float,
    constant: float,
    source_background: Floats,
    target_background: Floats,
    lows: Ints,
    out: Scores,
) -> None:
    """Add weight × (constant − log σ − mean of the two background log-densities) of each bead to `out`.

    Args:
        first: Source boundary of the first row of `out`.
        weight: Factor of the score.
        source: Characters before each source boundary, (m + 1,).
        target: Characters before each target boundary, (n + 1,).
        ratio: Target characters expected for each source character.
        variance: Variance of the target characters for each source character; σ² is that times the mean length.
        constant: Added to each bead.
        source_background: Log-density of the length of a + 1 source sentences from i on, (A, m).
        target_background: The same of the target, (A, n).
        lows: First target boundary of each row of the band, (m + 1,).
        out: float32 (rows, A, A, W).
    """
    rows, max_size, _, width = out.shape
    sources, targets = len(source) - 1, len(target) - 1
    for r in range(rows):
        i = first + r
        for a in range(min(max_size, sources - i)):
            expected = (source[i + a + 1] - source[i]) * ratio
            for b in range(max_size):
                for w in range(min(width, targets - b - lows[i])):
                    j = lows[i] + w
                    square = (expected + target[j + b + 1] - target[j]) / 2 * variance
                    background = (source_background[a, i] + target_background[b, j]) / 2
                    out[r, a, b, w] += weight * (constant - math.log(square) / 2 - background)


@njit(cache=True, nogil=True)
def add_forward(
    first: int,
    weight: float,
    lows: Ints,
    words: WordNumbers,
    counts: Scores,
    offsets: Ints,
    expected_words: WordNumbers,
    expected_counts: Scores,
    capacities: Scores,
    expected_offsets: Ints,
    lengths: Floats,
    background: Floats,
    background_weight: float,
    out: Scores,
) -> None:
    """Add weight × (log p(target sentences | source sentences) − log p(target sentences)) of each bead to `out`.

    Args:
        first: Source boundary of the first row of `out`.
        weight: Factor of the log-likelihood ratio.
        lows: First target boundary of each row of the band, (m + 1,).
        words: Numbers of the observed words, each once a sentence, (tokens,).
        counts: How often each of them occurs, (tokens,).
        offsets: First entry of each observed sentence in `words`, (n + 1,).
        expected_words: Words that each predictor leads to expect, (entries,).
        expected_counts: How many of each, (entries,).
        capacities: How many occurrences each can explain at most, (entries,).
        expected_offsets: First entry of each predictor in `expected_words`, (m + 1,).
        lengths: Words before each predictor, (m + 1,).
        background: Probability of each word regardless of the predictors.
        background_weight: Share of the words that come from the background, 0 to 1.
        out: float32 (rows, A, A, W).
    """
    rows, max_size, _, width = out.shape
    sources, targets = len(lengths) - 1, len(offsets) - 1
    totals = _unexplained_totals(counts, offsets, background_weight)
    block, known = np.zeros((len(background), 3), np.float64), np.zeros(len(background), np.bool_)
    seen, touched = np.zeros(len(background), np.float32), np.empty(len(background), np.int32)
    for r in range(rows):
        i = first + r
        for a in range(min(max_size, sources - i)):
            _fill_block(
                *(block, known, i, a + 1, expected_words, expected_counts, capacities, expected_offsets),
                *(lengths, background, background_weight),
            )
            for w in range(min(width, targets - lows[i])):
                j = lows[i] + w
                gain = 0.0
                count = 0
                for b in range(min(max_size, targets - j)):
                    more, count = _explained_gain(block, known, j + b, words, counts, offsets, seen, touched, count)
                    gain += totals[j + b] + more
                    out[r, a, b, w] += weight * gain
                for k in range(count):
                    seen[touched[k]] = 0.0
            _clear_block(known, block, i, a + 1, expected_words, expected_offsets)


@njit(cache=True, nogil=True)
def add_backward(
    first: int,
    weight: float,
    lows: Ints,
    words: WordNumbers,
    counts: Scores,
    offsets: Ints,
    expected_words: WordNumbers,
    expected_counts: Scores,
    capacities: Scores,
    expected_offsets: Ints,
    lengths: Floats,
    background: Floats,
    background_weight: float,
    out: Scores,
) -> None:
    """As `add_forward`, in the other direction: target sentences predict, source sentences are observed."""
    rows, max_size, _, width = out.shape
    targets, sources = len(lengths) - 1, len(offsets) - 1
    totals = _unexplained_totals(counts, offsets, background_weight)
    block, known = np.zeros((len(background), 3), np.float64), np.zeros(len(background), np.bool_)
    seen, touched = np.zeros(len(background), np.float32), np.empty(len(background), np.int32)
    end = min(first + rows, sources)
    if end <= first:
        return
    low_row = first
    high_row = first
    for j in range(lows[first], min(targets, lows[end - 1] + width)):
        while high_row < end and lows[high_row] <= j:
            high_row += 1
        while low_row < high_row and lows[low_row] + width <= j:
            low_row += 1
        for b in range(min(max_size, targets - j)):
            _fill_block(
                *(block, known, j, b + 1, expected_words, expected_counts, capacities, expected_offsets),
                *(lengths, background, background_weight),
            )
            for i in range(low_row, high_row):
                gain = 0.0
                count = 0
                for a in range(min(max_size, sources - i)):
                    more, count = _explained_gain(block, known, i + a, words, counts, offsets, seen, touched, count)
                    gain += totals[i + a] + more
                    out[i - first, a, b, j - lows[i]] += weight * gain
                for k in range(count):
                    seen[touched[k]] = 0.0
            _clear_block(known, block, j, b + 1, expected_words, expected_offsets)


@njit(cache=True, nogil=True)
def tabulate_expected(
    words: WordNumbers, counts: Scores, starts: Ints, scales: Floats
) -> tuple[WordNumbers, Scores, Scores, Ints]:
    """Join the words that several sources of evidence expect of each predictor.

    Args:
        words: Of all sources, (entries,).
        counts: How many of each, (entries,).
        starts: First entry of each predictor by source, (sources, m + 1).
        scales: Factors of the counts of each predictor by source, (sources, m).

    Returns:
        Words by predictor, rising, int32 (n,); their scaled counts by source, float32 (n, sources); how many
        occurrences they explain at most, the entries of the source that has most of them, float32 (n,); and the
        first word of each predictor, int64 (m + 1,).
    """
    sources, predictors = scales.shape
    numbers, table = np.empty(len(words), np.int32), np.zeros((len(words), sources), np.float32)
    capacities, offsets = np.zeros(len(words), np.float32), np.zeros(predictors + 1, np.int64)
    limit = 0
    for i in range(predictors):
        limit = max(limit, (starts[:, i + 1] - starts[:, i]).sum())
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
            if position == 0 or words[k] != numbers[count - 1]:
                numbers[count] = words[k]
                occurrences[:] = 0.0
                count += 1
            table[count - 1, s] = np.float32(table[count - 1, s] + counts[k] * scales[s, i])
            occurrences[s] += np.float32(1)
            capacities[count - 1] = max(capacities[count - 1], occurrences[s])
        offsets[i + 1] = count
    return numbers[:count].copy(), table[:count].copy(), capacities[:count].copy(), offsets


@njit(cache=True, nogil=True)
def _unexplained_totals(counts: Scores, offsets: Ints, background_weight: float) -> Floats:
    """Log-likelihood ratio of each observed sentence if no word of it is explained: float64 (n,)."""
    totals = np.zeros(len(offsets) - 1, np.float64)
    for n in range(len(totals)):
        for k in range(offsets[n], offsets[n + 1]):
            totals[n] += counts[k] * math.log(background_weight)
    return totals


@njit(cache=True, nogil=True)
def _fill_block(
    block: Floats,
    known: Flags,
    start: int,
    size: int,
    expected_words: WordNumbers,
    expected_counts: Scores,
    capacities: Scores,
    expected_offsets: Ints,
    lengths: Floats,
    background: Floats,
    background_weight: float,
) -> None:
    """Fill the cleared block (words, 3): expected count, capacity, and gain of one explained occurrence."""
    for k in range(expected_offsets[start], expected_offsets[start + size]):
        word = expected_words[k]
        block[word, 0] += expected_counts[k]
        block[word, 1] += capacities[k]
        known[word] = True
    scale = (1 - background_weight) / (lengths[start + size] - lengths[start])
    for k in range(expected_offsets[start], expected_offsets[start + size]):
        word = expected_words[k]
        block[word, 2] = math.log(block[word, 0] * scale / background[word] / background_weight + 1)


@njit(cache=True, nogil=True)
def _clear_block(
    known: Flags, block: Floats, start: int, size: int, expected_words: WordNumbers, expected_offsets: Ints
) -> None:
    for k in range(expected_offsets[start], expected_offsets[start + size]):
        block[expected_words[k]] = 0.0
        known[expected_words[k]] = False


@njit(cache=True, nogil=True)
def _explained_gain(
    block: Floats,
    known: Flags,
    sentence: int,
    words: WordNumbers,
    counts: Scores,
    offsets: Ints,
    seen: Scores,
    touched: WordNumbers,
    count: int,
) -> tuple[float, int]:
    """Gain of the words of one more observed sentence that the block explains, each up to its capacity.

    seen: occurrences of each word in the observed sentences before.  touched: the `count` words that have any.
    """
    gain = 0.0
    for k in range(offsets[sentence], offsets[sentence + 1]):
        word = words[k]
        if known[word]:
            free = min(counts[k], max(np.float32(0.0), np.float32(block[word, 1]) - seen[word]))
            gain += free * block[word, 2]
            if seen[word] == 0:
                touched[count] = word
                count += 1
            seen[word] += counts[k]
    return gain, count


@njit(cache=True, nogil=True)
def _lower_bound(words: WordNumbers, begin: int, end: int, wanted: int) -> int:
    """First index from `begin` on whose word is `wanted` or greater."""
    while begin < end:
        middle = (begin + end) // 2
        if words[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(cache=True, nogil=True)
def mixture_counts(
    beads: Ints,
    backward: bool,
    words: WordNumbers,
    counts: Scores,
    offsets: Ints,
    expected_words: WordNumbers,
    expected_counts: Scores,
    expected_offsets: Ints,
    lengths: Floats,
    background: Floats,
    weights: Floats,
) -> Floats:
    """Expected number of observed words in the beads that each component of the mixture generated.

    Args:
        beads: (n, 4), source start and count, target start and count.
        backward: Whether the target sentences predict.
        words: As for `add_forward`, with `counts` and `offsets`.
        counts: See `words`.
        offsets: See `words`.
        expected_words: Rising within each predictor, otherwise as for `add_forward`.
        expected_counts: float32 (entries, components).
        expected_offsets: As for `add_forward`.
        lengths: As for `add_forward`.
        background: As for `add_forward`.
        weights: Of the background, then of each component; they sum to 1.

    Returns:
        float64 (1 + components,).
    """
    components = expected_counts.shape[1]
    totals = np.zeros(1 + components, np.float64)
    likely = np.empty(1 + components, np.float64)
    for n in range(len(beads)):
        start, size, observed_start, observed_size = beads[n, 0], beads[n, 1], beads[n, 2], beads[n, 3]
        if backward:
            start, size, observed_start, observed_size = observed_start, observed_size, start, size
        if size == 0 or observed_size == 0:
            continue
        length = lengths[start + size] - lengths[start]
        for k in range(offsets[observed_start], offsets[observed_start + observed_size]):
            likely[:] = 0.0
            for g in range(start, start + size):
                at = _lower_bound(expected_words, expected_offsets[g], expected_offsets[g + 1], words[k])
                if at < expected_offsets[g + 1] and expected_words[at] == words[k]:
                    for c in range(components):
                        likely[c + 1] += expected_counts[at, c]
            likely[0] = background[words[k]] * weights[0]
            total = likely[0]
            for c in range(components):
                likely[c + 1] *= weights[c + 1] / length
                total += likely[c + 1]
            for c in range(1 + components):
                totals[c] += counts[k] * likely[c] / total
    return totals
