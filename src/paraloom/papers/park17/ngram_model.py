"""A trigram language model of target subwords: interpolated Kneser–Ney, in arrays that a kernel can search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

DISCOUNT = 0.75
"""Subtracted from each count, in all orders."""

_BITS = np.uint64(20)


class NgramTable(NamedTuple):
    """Log-probabilities of n-grams, with back-off weights, as in an ARPA file."""

    keys: Keys
    logprobs: npt.NDArray[np.float64]
    backoffs: npt.NDArray[np.float64]
    unknown: float


def train_ngrams(sentences: Sequence[Sequence[int]], begin: int, end: int) -> NgramTable:
    """Train a trigram model by interpolated Kneser–Ney with one discount (Chen and Goodman 1999, §3)."""
    padded = [np.array([begin, begin, *words, end], np.int64) for words in sentences]
    trigrams = np.concatenate([np.lib.stride_tricks.sliding_window_view(words, 3) for words in padded])
    types, counts = np.unique(trigrams, axis=0, return_counts=True)
    # A lower order counts in how many contexts a word occurs; the beginning is followed by bigrams as by words.
    pairs, pair_counts = np.unique(types[:, 1:], axis=0, return_counts=True)
    words, word_counts = np.unique(pairs[:, 1], return_counts=True)
    total = word_counts.sum()
    backoff = DISCOUNT * len(words) / total
    unknown = backoff / (len(words) + 1)
    unigram = (word_counts - DISCOUNT) / total + unknown
    bigram, bigram_backoff = _interpolate(pairs[:, :1], pair_counts, unigram[np.searchsorted(words, pairs[:, 1])])
    lower = bigram[_rows_of(types[:, 1:], pairs)]
    trigram, trigram_backoff = _interpolate(types[:, :2], counts, lower)
    keys = np.concatenate([ngram_keys(words[:, None]), ngram_keys(pairs), ngram_keys(types)])
    logprobs = np.log(np.concatenate([unigram, bigram, trigram]))
    contexts, weights = map(np.concatenate, zip(bigram_backoff, trigram_backoff, strict=True))
    # A context that is not an n-gram itself, such as the beginning, has no probability: it is never the last word.
    everything = np.unique(np.concatenate([keys, contexts]))
    all_logprobs, backoffs = np.full(len(everything), np.log(unknown)), np.zeros(len(everything))
    all_logprobs[np.searchsorted(everything, keys)] = logprobs
    backoffs[np.searchsorted(everything, contexts)] = np.log(weights)
    return NgramTable(everything, all_logprobs, backoffs, float(np.log(unknown)))


def ngram_keys(ngrams: Sequence[Sequence[int]] | Words) -> Keys:
    """One number for each n-gram of up to three words; those of other lengths and words differ."""
    rows = np.asarray(ngrams, np.uint64)
    keys = np.zeros(len(rows), np.uint64)
    for column in range(rows.shape[1]):
        keys = (keys << _BITS) | (rows[:, column] + np.uint64(1))
    return keys


def _rows_of(wanted: Words, rows: Words) -> Words:
    """The index of each wanted row; both lists and `rows` ascending."""
    return np.searchsorted(ngram_keys(rows), ngram_keys(wanted)).astype(np.int64)


def _interpolate(
    contexts: Words, counts: npt.NDArray[np.int64], lower: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], tuple[Keys, npt.NDArray[np.float64]]]:
    """p(word | context) of each row, and the contexts with their weights of the lower order."""
    keys, owners = np.unique(ngram_keys(contexts), return_inverse=True)
    totals = np.bincount(owners, counts)
    backoff = DISCOUNT * np.bincount(owners) / totals
    return (counts - DISCOUNT) / totals[owners] + backoff[owners] * lower, (keys, backoff)
