"""A phrase table: phrase pairs of a word-aligned bitext, with translation probabilities and lexical weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.papers.park17 import phrase_kernels as kernels
from paraloom.text.phrase_kernels import hash_spans
from paraloom.text.tokens import TokenLists
from paraloom.text.word_alignment import WordAlignmentConfig, Words, align_words, aligned_phrases

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

DISCOUNT = 0.5
"""Subtracted from each count of a phrase pair: one that was seen once is not certain."""


class PhraseTable(NamedTuple):
    """The translations of each source phrase, best first."""

    keys: npt.NDArray[np.uint64]
    starts: Ints
    offsets: Ints
    ids: Ints
    scores: Floats


def build_table(
    source: Sequence[Sequence[int]],
    target: Sequence[Sequence[int]],
    *,
    max_phrase_length: int = 5,
    max_translations: int = 12,
    weight: float = 0.2,
    alignment: WordAlignmentConfig | None = None,
) -> PhraseTable:
    """Extract a phrase table from a bitext of subwords.

    The score of a phrase pair is the weighted sum of the logs of p(t | s) and p(s | t), by discounted counts, and of
    two lexical weights, ∏ over the words of one side of the mean probability of the word given those of the other. See
    Koehn, Och and Marcu 2003, "Statistical phrase-based translation", §3 (extraction) and §4.5 (lexical weights, here
    over all word pairs of the phrases).
    """
    a, b = _lists(source), _lists(target)
    b_links, a_links = align_words(a, b, alignment)
    spans = aligned_phrases(a, b, b_links, a_links, max_phrase_length)
    a_starts, b_starts = a.offsets[spans[:, 0]] + spans[:, 1], b.offsets[spans[:, 0]] + spans[:, 3]
    a_keys = hash_spans(a.ids, a_starts, spans[:, 2])
    b_keys = hash_spans(b.ids, b_starts, spans[:, 4])
    pairs, first, counts = np.unique(np.stack([a_keys, b_keys], axis=1), axis=0, return_index=True, return_counts=True)
    discounted = counts - DISCOUNT
    logs = np.log(discounted / _totals(pairs[:, 0], counts)) + np.log(discounted / _totals(pairs[:, 1], counts))
    words, forward, backward = _word_probabilities(a, b, b_links, a_links)
    arrays = (a.ids, a_starts[first], spans[first, 2], b.ids, b_starts[first], spans[first, 4])
    logs += kernels.lexical_weights(*arrays, words, forward)
    swapped = (*arrays[3:], *arrays[:3])
    logs += kernels.lexical_weights(*swapped, *backward)
    scores = weight * logs
    order = np.lexsort((-scores, pairs[:, 0]))
    owners = pairs[order, 0]
    kept = order[np.arange(len(order)) - np.searchsorted(owners, owners) < max_translations]
    keys, sizes = np.unique(pairs[kept, 0], return_counts=True)
    lengths, begins = spans[first[kept], 4], b_starts[first[kept]]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.repeat(begins - offsets[:-1], lengths) + np.arange(offsets[-1])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return PhraseTable(keys, starts, offsets, b.ids[indices].astype(np.int64), scores[kept])


def _lists(sentences: Sequence[Sequence[int]]) -> TokenLists:
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in sentences])]).astype(np.int64)
    return TokenLists(np.array([word for words in sentences for word in words], np.uint64), offsets)


def _totals(keys: npt.NDArray[np.uint64], counts: Ints) -> Floats:
    """For each pair, how often its phrase occurs in all pairs."""
    _, owners = np.unique(keys, return_inverse=True)
    return np.bincount(owners, counts)[owners].astype(np.float64)


def _word_probabilities(
    a: TokenLists, b: TokenLists, b_links: Words, a_links: Words
) -> tuple[npt.NDArray[np.uint64], Floats, tuple[npt.NDArray[np.uint64], Floats]]:
    """Pairs of linked words (source · 2**32 + target, ascending) with p(target | source), and the same backward."""
    linked, linked_back = b_links >= 0, a_links >= 0
    a_of_b = a.ids[np.repeat(a.offsets[:-1], b.lengths)[linked] + b_links[linked]]
    b_of_a = b.ids[np.repeat(b.offsets[:-1], a.lengths)[linked_back] + a_links[linked_back]]
    sources = np.concatenate([a_of_b, a.ids[linked_back]])
    targets = np.concatenate([b.ids[linked], b_of_a])
    forward = _conditional(sources, targets)
    return (*forward, _conditional(targets, sources))


def _conditional(given: npt.NDArray[np.uint64], words: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], Floats]:
    pairs, counts = np.unique((given << np.uint64(32)) | words, return_counts=True)
    return pairs, counts / _totals(pairs >> np.uint64(32), counts)
