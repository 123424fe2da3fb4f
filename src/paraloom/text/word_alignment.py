"""Word alignment of sentence pairs by IBM model 2 with a diagonal prior, as fast_align does it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paraloom.core.array_types import Int32s, Ints
from paraloom.text import word_alignment_kernels as kernels
from paraloom.text.phrase_kernels import phrase_pairs
from paraloom.text.tokens import TokenLists

Words = Int32s


@dataclass(frozen=True, kw_only=True)
class WordAlignmentConfig:
    """Parameters of word alignment.

    Args:
        iterations: Iterations of EM in each direction.
        tension: Strength of the diagonal prior, 0 or more; Dyer et al. use 4.
        null: Probability that a word is aligned to none, 0 to 1; Dyer et al. use 0.08.
    """

    iterations: int = 5
    tension: float = 4.0
    null: float = 0.08


def align_words(a: TokenLists, b: TokenLists, config: WordAlignmentConfig | None = None) -> tuple[Words, Words]:
    """Align the words of n sentence pairs in both directions, as fast_align does (Dyer, Chahuneau, Smith 2013)."""
    return word_links(a, b, config), word_links(b, a, config)


def word_links(a: TokenLists, b: TokenLists, config: WordAlignmentConfig | None = None) -> Words:
    """Align each word of `b` to one of `a`: 4 bytes a cell of sentence pairs, 12 a pair of words that occurs."""
    config = config or WordAlignmentConfig()
    words = np.unique(np.concatenate([a.ids, b.ids]))
    first, second = (np.searchsorted(words, side.ids).astype(np.int32) for side in (a, b))
    rows = np.repeat(np.arange(len(b)), b.lengths)
    starts = np.concatenate([[0], np.cumsum(a.lengths[rows] + 1)])
    order = np.argsort(second, kind="stable")
    pairs, owners = kernels.number_pairs(first, a.offsets, second, rows, starts, order, len(words))
    probabilities = np.full(len(owners), 1 / max(1, len(words)), np.float32)
    for _ in range(config.iterations):
        counts, sums = kernels.expectation(
            a.offsets, b.offsets, pairs, owners, probabilities, len(words), config.tension, config.null
        )
        probabilities = kernels.maximization(owners, counts, sums)
    links: Words = kernels.best_links(a.offsets, b.offsets, pairs, probabilities, config.tension, config.null)
    return links


def aligned_phrases(a: TokenLists, b: TokenLists, b_links: Words, a_links: Words, max_length: int) -> Ints:
    """Extract the phrase pairs of word-aligned sentences: row, start in a, words of a, start in b, words of b."""
    spans = np.empty((4 * len(a.ids) + 16, 5), np.int32)
    while (count := phrase_pairs(b_links, a.offsets, a_links, b.offsets, max_length, spans)) > len(spans):
        spans = np.empty((count, 5), np.int32)
    return spans[:count].astype(np.int64)
