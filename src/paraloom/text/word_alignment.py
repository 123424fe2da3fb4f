"""Word alignment of sentence pairs by IBM model 2 with a diagonal prior (Dyer, Chahuneau, Smith 2013, fast_align)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paraloom.text import word_alignment_kernels as kernels
from paraloom.text.tokens import TokenLists

Words = npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class AlignmentConfig:
    """iterations: of EM, each direction.  tension: how strongly words align with those at the same place in the
    sentence; null: probability that a word comes from none (Dyer et al. have 4 and 0.08).
    """

    iterations: int = 5
    tension: float = 4.0
    null: float = 0.08


def align_words(a: TokenLists, b: TokenLists, config: AlignmentConfig | None = None) -> tuple[Words, Words]:
    """The likeliest partner of each word, in both directions.

    a, b: the sentences of n pairs, as ids.  Returns int32, one entry a word: for the words of `b` the place of their
    word in the sentence of `a`, and for the words of `a` that in `b`; -1 for none.

    >>> from paraloom.text.tokens import tokenize
    >>> a, b = tokenize(["a big dog", "a big cat", "the dog"]), tokenize(["a large dog", "a large cat", "the dog"])
    >>> align_words(a, b)[0].tolist()
    [0, 1, 2, 0, 1, 2, 0, 1]
    """
    return links(a, b, config), links(b, a, config)


def links(a: TokenLists, b: TokenLists, config: AlignmentConfig | None = None) -> Words:
    """For each word of `b` the place of its likeliest word in the sentence of `a`, int32; -1 for none.

    Memory: 12 bytes for each pair of words that ever stands in one sentence pair, twice over.
    """
    config = config or AlignmentConfig()
    words = np.unique(np.concatenate([a.ids, b.ids]))
    first, second = (np.searchsorted(words, side.ids).astype(np.int32) for side in (a, b))
    slots = 1 << 16
    while True:
        table, full = kernels.cooccurrences(first, a.offsets, second, b.offsets, slots)
        if 2 * full <= slots:
            break
        slots *= 2
    shares = np.full(len(table), 1 / max(1, len(words)), np.float32)
    for _ in range(config.iterations):
        counts, sums, _ = kernels.expect(
            first, a.offsets, second, b.offsets, table, shares, len(words), config.tension, config.null
        )
        shares = kernels.maximise(first, a.offsets, second, b.offsets, table, counts, sums, len(words))
    found: Words = kernels.best_links(first, a.offsets, second, b.offsets, table, shares, config.tension, config.null)
    return found
