"""Numba kernels of the evidence of words for beads: how far one side predicts the words of the other.

In a direction, the sentences of one text (the predictors) predict the words of the other text (the observed).  A block
is a run of 1 … A predictors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.alignment.numbered_words import CAUSES

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
WordNumbers = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

# A word that is twice as likely as without the predictors uses the word that it is expected for; chance does not.
_MIN_GAIN = math.log(2)
# A word whose first cause is used up is explained by the second one, if that predicts it by this part of the first.
_SECOND_CAUSE = 0.2


class ExpectedTable(NamedTuple):
    """The words that each of m predictors leads to expect, by all sources of evidence.

    Args:
        words: int32 (entries,), rising within a predictor.
        counts: How many of each: float32 (entries, sources), or (entries,) of all sources as a mixture.
        capacities: float32 (entries,), how many occurrences each explains at most.
        causes: int32 (entries, 2), the two words of the predictor that are the strongest causes; -1 for none.
        cause_counts: float32 (entries, 2), how often the predictor has them.
        strengths: float32 (entries, 2), how many of the word an occurrence of the cause leads to expect.
        offsets: int64 (m + 1,), first entry of each predictor.
    """

    words: WordNumbers
    counts: Scores
    capacities: Scores
    causes: WordNumbers
    cause_counts: Scores
    strengths: Scores
    offsets: Ints


class WordModel(NamedTuple):
    """What the words of a direction are predicted from; n sentences are observed, m are predictors.

    Args:
        words: int32 (tokens,), numbers of the observed words, each once a sentence, rising.
        counts: float32 (tokens,), how often each occurs.
        offsets: int64 (n + 1,), first entry of each observed sentence.
        expected: What the predictors lead to expect.
        lengths: float64 (m + 1,), words before each predictor.
        background: float64 (words,), probability of each word regardless of the predictors.
        background_weight: Share of the words that come from the background, 0 to 1.
    """

    words: WordNumbers
    counts: Scores
    offsets: Ints
    expected: ExpectedTable
    lengths: Floats
    background: Floats
    background_weight: float


class _Block(NamedTuple):
    """What a run of predictors leads to expect, by word and by cause."""

    known: Flags
    masses: Floats
    capacities: Floats
    gains: Floats
    causes: WordNumbers
    strengths: Scores
    cause_counts: Floats
    last_predictors: Ints


class _Usage(NamedTuple):
    """What the observed sentences of a bead used so far: occurrences by word, and by cause."""

    seen: Scores
    touched: WordNumbers
    claims: Floats
    used: Floats


@njit(cache=True, nogil=True)
def add_forward(first: int, weight: float, lows: Ints, model: WordModel, out: Scores) -> None:
    """Add weight × (log p(target sentences | source sentences) − log p(target sentences)) of each bead to `out`.

    Args:
        first: Source boundary of the first row of `out`.
        weight: Factor of the log-likelihood ratio.
        lows: First target boundary of each row of the band, (m + 1,).
        model: Source sentences predict, target sentences are observed.
        out: float32 (rows, A, A, W).
    """
    rows, max_size, _, width = out.shape
    sources, targets = len(model.lengths) - 1, len(model.offsets) - 1
    totals = _unexplained_totals(model)
    block, usage = _empty_block(len(model.background)), _empty_usage(len(model.background))
    for r in range(rows):
        i = first + r
        for a in range(min(max_size, sources - i)):
            _fill_block(block, model, i, a + 1)
            for w in range(min(width, targets - lows[i])):
                j = lows[i] + w
                gain = 0.0
                count = 0
                for b in range(min(max_size, targets - j)):
                    more, count = _explained_gain(block, usage, model, j + b, count)
                    gain += totals[j + b] + more
                    out[r, a, b, w] += weight * gain
                _clear_usage(usage, block, count)
            _clear_block(block, model, i, a + 1)


@njit(cache=True, nogil=True)
def add_backward(first: int, weight: float, lows: Ints, model: WordModel, out: Scores) -> None:
    """As `add_forward`, in the other direction: target sentences predict, source sentences are observed."""
    rows, max_size, _, width = out.shape
    targets, sources = len(model.lengths) - 1, len(model.offsets) - 1
    totals = _unexplained_totals(model)
    block, usage = _empty_block(len(model.background)), _empty_usage(len(model.background))
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
        for b in range(min(max_size, targets - j)):
            _fill_block(block, model, j, b + 1)
            for i in range(low_row, high_row):
                gain = 0.0
                count = 0
                for a in range(min(max_size, sources - i)):
                    more, count = _explained_gain(block, usage, model, i + a, count)
                    gain += totals[i + a] + more
                    out[i - first, a, b, j - lows[i]] += weight * gain
                _clear_usage(usage, block, count)
            _clear_block(block, model, j, b + 1)


@njit(cache=True, nogil=True)
def tabulate_expected(
    words: WordNumbers, causes: WordNumbers, counts: Scores, starts: Ints, scales: Floats
) -> ExpectedTable:
    """Join the words that several sources of evidence expect of each predictor.

    Args:
        words: Of all sources, (entries,).
        causes: The words that lead to expect them, (entries,).
        counts: How many of each, (entries,).
        starts: First entry of each predictor by source, (sources, m + 1).
        scales: Factors of the counts of each predictor by source, (sources, m).

    Returns:
        The table, with the scaled counts of each source; the capacity of a word is the entries of the source that has
        most of them.
    """
    sources, predictors = scales.shape
    size = len(words)
    table = ExpectedTable(
        np.empty(size, np.int32),
        np.zeros((size, sources), np.float32),
        np.zeros(size, np.float32),
        np.full((size, 2), -1, np.int32),
        np.zeros((size, 2), np.float32),
        np.full((size, 2), -1, np.float32),
        np.zeros(predictors + 1, np.int64),
    )
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
            if position == 0 or words[k] != table.words[count - 1]:
                table.words[count] = words[k]
                occurrences[:] = 0.0
                count += 1
            scaled = np.float32(counts[k] * scales[s, i])
            table.counts[count - 1, s] += scaled
            occurrences[s] += np.float32(1)
            table.capacities[count - 1] = max(table.capacities[count - 1], occurrences[s])
            _note_cause(table, count - 1, causes[k], scaled)
        table.offsets[i + 1] = count
    return ExpectedTable(
        table.words[:count].copy(),
        table.counts[:count].copy(),
        table.capacities[:count].copy(),
        table.causes[:count].copy(),
        table.cause_counts[:count].copy(),
        table.strengths[:count].copy(),
        table.offsets,
    )


@njit(cache=True, nogil=True)
def _note_cause(table: ExpectedTable, entry: int, cause: int, strength: np.float32) -> None:
    """Count a cause of an entry, if it is one of the two strongest."""
    causes, counts, strengths = table.causes[entry], table.cause_counts[entry], table.strengths[entry]
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


@njit(cache=True, nogil=True)
def _unexplained_totals(model: WordModel) -> Floats:
    """Log-likelihood ratio of each observed sentence if no word of it is explained: float64 (n,)."""
    totals = np.zeros(len(model.offsets) - 1, np.float64)
    for n in range(len(totals)):
        for k in range(model.offsets[n], model.offsets[n + 1]):
            totals[n] += model.counts[k] * math.log(model.background_weight)
    return totals


@njit(cache=True, nogil=True)
def _empty_block(words: int) -> _Block:
    return _Block(
        np.zeros(words, np.bool_),
        np.zeros(words, np.float64),
        np.zeros(words, np.float64),
        np.zeros(words, np.float64),
        np.full((words, 2), -1, np.int32),
        np.full((words, 2), -1, np.float32),
        np.zeros(CAUSES, np.float64),
        np.full(CAUSES, -1, np.int64),
    )


@njit(cache=True, nogil=True)
def _empty_usage(words: int) -> _Usage:
    return _Usage(
        np.zeros(words, np.float32),
        np.empty(words, np.int32),
        np.zeros(CAUSES, np.float64),
        np.zeros(CAUSES, np.float64),
    )


@njit(cache=True, nogil=True)
def _fill_block(block: _Block, model: WordModel, start: int, size: int) -> None:
    """Fill a cleared block: expected counts, capacities, causes, and gains of one explained occurrence."""
    expected = model.expected
    for g in range(start, start + size):
        for k in range(expected.offsets[g], expected.offsets[g + 1]):
            word = expected.words[k]
            block.known[word] = True
            block.masses[word] += expected.counts[k]
            block.capacities[word] += expected.capacities[k]
            for rank in range(2):
                cause = expected.causes[k, rank]
                if cause >= 0:
                    _join_cause(block.causes[word], block.strengths[word], cause, expected.strengths[k, rank])
                    if block.last_predictors[cause] != g:
                        block.last_predictors[cause] = g
                        block.cause_counts[cause] += expected.cause_counts[k, rank]
    scale = (1 - model.background_weight) / (model.lengths[start + size] - model.lengths[start])
    for k in range(expected.offsets[start], expected.offsets[start + size]):
        word = expected.words[k]
        ratio = block.masses[word] * scale / model.background[word]
        block.gains[word] = math.log(ratio / model.background_weight + 1)


@njit(cache=True, nogil=True)
def _join_cause(causes: WordNumbers, strengths: Scores, cause: int, strength: float) -> None:
    """Keep the two strongest causes of a word."""
    if causes[0] == cause:
        strengths[0] = max(strengths[0], strength)
    elif strength > strengths[0]:
        causes[1], strengths[1] = causes[0], strengths[0]
        causes[0], strengths[0] = cause, strength
    elif causes[1] == cause:
        strengths[1] = max(strengths[1], strength)
    elif strength > strengths[1]:
        causes[1], strengths[1] = cause, strength


@njit(cache=True, nogil=True)
def _clear_block(block: _Block, model: WordModel, start: int, size: int) -> None:
    expected = model.expected
    for k in range(expected.offsets[start], expected.offsets[start + size]):
        word = expected.words[k]
        block.known[word] = False
        block.masses[word] = block.capacities[word] = block.gains[word] = 0.0
        block.causes[word] = -1
        block.strengths[word] = -1
        for rank in range(2):
            cause = expected.causes[k, rank]
            if cause >= 0:
                block.cause_counts[cause] = 0.0
                block.last_predictors[cause] = -1


@njit(cache=True, nogil=True)
def _explained_gain(block: _Block, usage: _Usage, model: WordModel, sentence: int, count: int) -> tuple[float, int]:
    """Gain of the words of one more observed sentence that the block explains, each up to its capacity.

    A cause that the sentences before have used is not there for this one: of two sentences with a word for "picture",
    one picture explains only one.  Within a sentence it may explain several words, as compounds do.

    count: Words that the sentences before have touched.
    """
    gain = 0.0
    for k in range(model.offsets[sentence], model.offsets[sentence + 1]):
        word = model.words[k]
        if not block.known[word]:
            continue
        cause, second = block.causes[word, 0], block.causes[word, 1]
        is_likely = block.strengths[word, 1] > _SECOND_CAUSE * block.strengths[word, 0]
        if second >= 0 and is_likely and usage.used[cause] >= block.cause_counts[cause]:
            cause = second
        if usage.used[cause] < block.cause_counts[cause]:
            free = max(np.float32(0.0), np.float32(block.capacities[word]) - usage.seen[word])
            gain += min(model.counts[k], free) * block.gains[word]
            if block.gains[word] > _MIN_GAIN:
                usage.claims[cause] = max(usage.claims[cause], model.counts[k])
        if usage.seen[word] == 0:
            usage.touched[count] = word
            count += 1
        usage.seen[word] += model.counts[k]
    for k in range(model.offsets[sentence], model.offsets[sentence + 1]):
        word = model.words[k]
        if block.known[word]:
            for rank in range(2):
                cause = block.causes[word, rank]
                if cause >= 0:
                    usage.used[cause] += usage.claims[cause]
                    usage.claims[cause] = 0.0
    return gain, count


@njit(cache=True, nogil=True)
def _clear_usage(usage: _Usage, block: _Block, count: int) -> None:
    for k in range(count):
        word = usage.touched[k]
        usage.seen[word] = 0.0
        for rank in range(2):
            if block.causes[word, rank] >= 0:
                usage.used[block.causes[word, rank]] = 0.0


@njit(cache=True, nogil=True)
def find_word(words: WordNumbers, begin: int, end: int, wanted: int) -> int:
    """Index of a word among those from `begin` on, which rise; `end` where it is missing.

    Args:
        words: int32 (entries,).
        begin: The first index.
        end: The index after the last.
        wanted: The word.
    """
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if words[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and words[low] == wanted else end


@njit(cache=True, nogil=True)
def mixture_counts(beads: Ints, backward: bool, model: WordModel, weights: Floats) -> Floats:
    """Expected number of observed words in the beads that each component of the mixture generated.

    Args:
        beads: (n, 4), source start and count, target start and count.
        backward: Whether the target sentences predict.
        model: With the expected counts of each source.
        weights: Of the background, then of each source; they sum to 1.

    Returns:
        float64 (1 + sources,).
    """
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
