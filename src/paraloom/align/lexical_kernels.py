"""Inner loops of the evidence for beads, compiled by numba.

Bags: what the sentences of one text (the givers) lead to expect in the other.  Receivers: the sentences of the other
text, whose words are explained.  Blocks are runs of 1 … A givers.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]
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
    """Adds table[|δ| × steps] of each bead; source, target: characters before each boundary, (m + 1,) and (n + 1,)."""
    rows, most, _, width = out.shape
    sources, targets = len(source) - 1, len(target) - 1
    for r in range(rows):
        i = first + r
        for a in range(most):
            if i + a + 1 > sources:
                break
            expected = (source[i + a + 1] - source[i]) * ratio
            for b in range(most):
                for w in range(width):
                    j = lows[i] + w
                    if j + b + 1 > targets:
                        break
                    found = target[j + b + 1] - target[j]
                    deviation = abs(found - expected) / math.sqrt((expected + found) / 2 * variance)
                    out[r, a, b, w] += table[min(len(table) - 1, int(deviation * steps))]


@njit(cache=True, nogil=True)
def add_forward(
    first: int,
    weight: float,
    lows: Ints,
    words: Numbers,
    counts: Scores,
    offsets: Ints,
    bag_words: Numbers,
    bag_masses: Scores,
    bag_supplies: Scores,
    bag_offsets: Ints,
    lengths: Floats,
    background: Floats,
    unexplained: float,
    out: Scores,
) -> None:
    """Adds weight × how much likelier the target sentences of each bead are beside its source sentences than alone.

    words, counts, offsets: the receivers' words, each once a sentence, and how often.  bag_words, bag_masses,
    bag_supplies, bag_offsets: what each giver leads to expect, how many of it, and how many it can explain at most.
    lengths: words before each giver, (m + 1,).  background: p(word) alone.  unexplained: share of the words that come
    from there all the same.
    """
    rows, most, _, width = out.shape
    sources, targets = len(lengths) - 1, len(offsets) - 1
    totals = _totals(counts, offsets, unexplained)
    block, known = np.zeros((len(background), 3), np.float64), np.zeros(len(background), np.bool_)
    seen, touched = np.zeros(len(background), np.float32), np.empty(len(background), np.int32)
    for r in range(rows):
        i = first + r
        for a in range(min(most, sources - i)):
            _fill(
                *(block, known, i, a + 1, bag_words, bag_masses, bag_supplies, bag_offsets),
                *(lengths, background, unexplained),
            )
            for w in range(min(width, targets - lows[i])):
                j = lows[i] + w
                gain = 0.0
                count = 0
                for b in range(min(most, targets - j)):
                    more, count = _explained(block, known, j + b, words, counts, offsets, seen, touched, count)
                    gain += totals[j + b] + more
                    out[r, a, b, w] += weight * gain
                for k in range(count):
                    seen[touched[k]] = 0.0
            _empty(known, block, i, a + 1, bag_words, bag_offsets)


@njit(cache=True, nogil=True)
def add_backward(
    first: int,
    weight: float,
    lows: Ints,
    words: Numbers,
    counts: Scores,
    offsets: Ints,
    bag_words: Numbers,
    bag_masses: Scores,
    bag_supplies: Scores,
    bag_offsets: Ints,
    lengths: Floats,
    background: Floats,
    unexplained: float,
    out: Scores,
) -> None:
    """The same the other way round: target sentences are givers, source sentences receivers."""
    rows, most, _, width = out.shape
    targets, sources = len(lengths) - 1, len(offsets) - 1
    totals = _totals(counts, offsets, unexplained)
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
        for b in range(min(most, targets - j)):
            _fill(
                *(block, known, j, b + 1, bag_words, bag_masses, bag_supplies, bag_offsets),
                *(lengths, background, unexplained),
            )
            for i in range(low_row, high_row):
                gain = 0.0
                count = 0
                for a in range(min(most, sources - i)):
                    more, count = _explained(block, known, i + a, words, counts, offsets, seen, touched, count)
                    gain += totals[i + a] + more
                    out[i - first, a, b, j - lows[i]] += weight * gain
                for k in range(count):
                    seen[touched[k]] = 0.0
            _empty(known, block, j, b + 1, bag_words, bag_offsets)


@njit(cache=True, nogil=True)
def _totals(counts: Scores, offsets: Ints, unexplained: float) -> Floats:
    """What each receiver gains where none of its words is explained: float64 (n,)."""
    found = np.zeros(len(offsets) - 1, np.float64)
    for n in range(len(found)):
        for k in range(offsets[n], offsets[n + 1]):
            found[n] += counts[k] * math.log(unexplained)
    return found


@njit(cache=True, nogil=True)
def _fill(
    block: Floats,
    known: Flags,
    giver: int,
    givers: int,
    bag_words: Numbers,
    bag_masses: Scores,
    bag_supplies: Scores,
    bag_offsets: Ints,
    lengths: Floats,
    background: Floats,
    unexplained: float,
) -> None:
    """Puts into block (words, 3), which is zero: expected mass, how many can be explained, and what one gains more than
    without an explanation; known: which words are there."""
    for k in range(bag_offsets[giver], bag_offsets[giver + givers]):
        word = bag_words[k]
        block[word, 0] += bag_masses[k]
        block[word, 1] += bag_supplies[k]
        known[word] = True
    scale = (1 - unexplained) / (lengths[giver + givers] - lengths[giver])
    for k in range(bag_offsets[giver], bag_offsets[giver + givers]):
        word = bag_words[k]
        block[word, 2] = math.log(block[word, 0] * scale / background[word] / unexplained + 1)


@njit(cache=True, nogil=True)
def _empty(known: Flags, block: Floats, giver: int, givers: int, bag_words: Numbers, bag_offsets: Ints) -> None:
    for k in range(bag_offsets[giver], bag_offsets[giver + givers]):
        block[bag_words[k]] = 0.0
        known[bag_words[k]] = False


@njit(cache=True, nogil=True)
def _explained(
    block: Floats,
    known: Flags,
    receiver: int,
    words: Numbers,
    counts: Scores,
    offsets: Ints,
    seen: Scores,
    touched: Numbers,
    count: int,
) -> tuple[float, int]:
    """What one more receiver gains by the words that the block explains; none is explained more often than it can be.

    seen: how often each word was in the receivers before; touched: the `count` words that were.
    """
    gain = 0.0
    for k in range(offsets[receiver], offsets[receiver + 1]):
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
def _from(words: Numbers, begin: int, end: int, wanted: int) -> int:
    """The first place from `begin` on whose word is `wanted` or later."""
    while begin < end:
        middle = (begin + end) // 2
        if words[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(cache=True, nogil=True)
def mixture(
    beads: Ints,
    backward: bool,
    words: Numbers,
    counts: Scores,
    offsets: Ints,
    bag_words: Numbers,
    bag_masses: Scores,
    bag_offsets: Ints,
    lengths: Floats,
    background: Floats,
    shares: Floats,
) -> Floats:
    """Which component the receivers' words in the beads come from, expected counts: float64 (1 + components,).

    beads: (n, 4), source start and count, target start and count.  bag_words: each giver's, rising; bag_masses
    float32 (entries, components).  shares: of the background, then of each component, adding up to 1.
    """
    components = bag_masses.shape[1]
    expected = np.zeros(1 + components, np.float64)
    likely = np.empty(1 + components, np.float64)
    for n in range(len(beads)):
        giver, givers, receiver, receivers = beads[n, 0], beads[n, 1], beads[n, 2], beads[n, 3]
        if backward:
            giver, givers, receiver, receivers = receiver, receivers, giver, givers
        if givers == 0 or receivers == 0:
            continue
        length = lengths[giver + givers] - lengths[giver]
        for k in range(offsets[receiver], offsets[receiver + receivers]):
            likely[:] = 0.0
            for g in range(giver, giver + givers):
                at = _from(bag_words, bag_offsets[g], bag_offsets[g + 1], words[k])
                if at < bag_offsets[g + 1] and bag_words[at] == words[k]:
                    for c in range(components):
                        likely[c + 1] += bag_masses[at, c]
            likely[0] = background[words[k]] * shares[0]
            total = likely[0]
            for c in range(components):
                likely[c + 1] *= shares[c + 1] / length
                total += likely[c + 1]
            for c in range(1 + components):
                expected[c] += counts[k] * likely[c] / total
    return expected
