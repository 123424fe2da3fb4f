"""Numba kernels that score a cut of two neighboring beads which takes the words around it out of both.

Of each pair of beads, the tail is the end of the first bead on one side, and the head the beginning of the second bead
on the other side.  Their words are counted from the cut: the first word of a tail is its last one.  `out` is float64
(pairs, tail words, head words): entry [n, k, l] is of a tail of k + 1 and a head of l + 1 words.
"""

from __future__ import annotations

import math

import numpy as np

from paraloom.alignment.word_kernels import WordModel, find_word
from paraloom.core.array_types import Floats, Int32s, Ints
from paraloom.core.kernels import kernel


@kernel
def present_gains(
    model: WordModel, predictors: Ints, observed: Ints, words: Int32s, starts: Ints, is_tail: bool
) -> Floats:
    """Gain of each word of a tail or head in the score of its bead, without the words that are nearer the cut."""
    gains = np.empty(len(words), np.float64)
    for n in range(len(predictors)):
        length = model.lengths[predictors[n].sum()] - model.lengths[predictors[n, 0]]
        for k in range(starts[n + 1] - starts[n]):
            at = _place(starts, n, k, is_tail)
            word = words[at]
            mass, capacity = _expected_by(model, predictors[n], word)
            remaining = _occurrences(model, observed[n], word)
            for nearer in range(k):
                remaining -= words[_place(starts, n, nearer, is_tail)] == word
            gains[at] = math.log(model.background_weight)
            if remaining <= capacity:
                gains[at] += _log_ratio(model, word, mass / length)
    return gains


@kernel
def add_moved(
    out: Floats,
    weight: float,
    single: WordModel,
    words: Int32s,
    starts: Ints,
    gains: Floats,
    predictor_starts: Ints,
    is_tail: bool,
) -> None:
    """Add weight × what the words of tails, or heads, gain by each other's bead."""
    mass = np.empty(max(out.shape[1], out.shape[2]), np.float64)
    expected = single.expected
    for n in range(len(out)):
        mass[:] = 0.0
        for p in range(predictor_starts[n + 1] - predictor_starts[n]):
            predictor = _place(predictor_starts, n, p, not is_tail)
            total = 0.0
            for k in range(starts[n + 1] - starts[n]):
                token = _place(starts, n, k, is_tail)
                begin, end = expected.offsets[predictor], expected.offsets[predictor + 1]
                at = find_word(expected.words, begin, end, words[token])
                if at < end:
                    mass[k] += expected.counts[at]
                total += math.log(single.background_weight) - gains[token]
                total += _log_ratio(single, words[token], mass[k] / (p + 1))
                if is_tail:
                    out[n, k, p] += weight * total
                else:
                    out[n, p, k] += weight * total


@kernel
def add_lost(
    out: Floats,
    weight: float,
    model: WordModel,
    single: WordModel,
    predictors: Ints,
    observed: Ints,
    starts: Ints,
    is_tail: bool,
) -> None:
    """Add weight × what the other side of a bead gains, mostly less than 0, when words of its predictors are gone."""
    change = np.empty(max(out.shape[1], out.shape[2]), np.float64)
    expected = single.expected
    for n in range(len(out)):
        size = starts[n + 1] - starts[n]
        length = model.lengths[predictors[n].sum()] - model.lengths[predictors[n, 0]]
        change[:] = 0.0
        for entry in range(model.offsets[observed[n, 0]], model.offsets[observed[n].sum()]):
            word, count = model.words[entry], model.counts[entry]
            mass, capacity = _expected_by(model, predictors[n], word)
            if mass == 0:
                continue
            before = min(count, capacity) * _log_ratio(model, word, mass / length)
            for k in range(size):
                token = _place(starts, n, k, is_tail)
                end = expected.offsets[token + 1]
                at = find_word(expected.words, expected.offsets[token], end, word)
                if at < end:
                    mass -= expected.counts[at]
                    capacity -= expected.capacities[at]
                remaining = length - k - 1
                after = 0.0
                if remaining > 0 and mass > 1e-6 and capacity > 0:
                    after = min(count, capacity) * _log_ratio(model, word, mass / remaining)
                change[k] += after - before
        for k in range(size):
            if is_tail:
                out[n, k] += weight * change[k]
            else:
                out[n, :, k] += weight * change[k]


@kernel
def _place(starts: Ints, n: int, k: int, is_tail: bool) -> int:
    """The word of pair n that is k words from the cut."""
    return starts[n + 1] - 1 - k if is_tail else starts[n] + k


@kernel
def _expected_by(model: WordModel, sentences: Ints, word: int) -> tuple[float, float]:
    """Expected occurrences of a word by some predictors, and the most that they explain."""
    expected = model.expected
    mass, capacity = 0.0, 0.0
    for g in range(sentences[0], sentences[0] + sentences[1]):
        at = find_word(expected.words, expected.offsets[g], expected.offsets[g + 1], word)
        if at < expected.offsets[g + 1]:
            mass += expected.counts[at]
            capacity += expected.capacities[at]
    return mass, capacity


@kernel
def _occurrences(model: WordModel, sentences: Ints, word: int) -> float:
    total = 0.0
    for s in range(sentences[0], sentences[0] + sentences[1]):
        at = find_word(model.words, model.offsets[s], model.offsets[s + 1], word)
        if at < model.offsets[s + 1]:
            total += model.counts[at]
    return total


@kernel
def _log_ratio(model: WordModel, word: int, probability: float) -> float:
    """Log-likelihood ratio of an explained word to an unexplained one."""
    ratio = probability * (1 - model.background_weight) / model.background[word]
    return math.log(ratio / model.background_weight + 1)
