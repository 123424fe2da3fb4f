"""Similarity of two texts: n-gram overlap, BLEU+1, chrF and edit distance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Int32s
from paraloom.text.buffers import Texts
from paraloom.text.ngrams import ngram_totals, ngrams
from paraloom.text.token_list_kernels import shared_counts
from paraloom.text.tokens import TokenLists


def shared_ngrams(a: TokenLists, b: TokenLists, n: int) -> Int32s:
    """Count the n-grams that both sentences of a pair have, as multisets."""
    a, b = ngrams(a, n), ngrams(b, n)
    counts: Int32s = shared_counts(a.ids, a.offsets, b.ids, b.offsets)
    return counts


def overlap_from_counts(
    shared: npt.NDArray[np.integer], a_lengths: npt.NDArray[np.integer], b_lengths: npt.NDArray[np.integer], n: int
) -> Float32s:
    """Compute the n-gram overlap of sentence pairs: shared n-grams over those of the side with fewer.

    Both counts are of multisets, as Wieting, Mallinson, Gimpel 2017 (W17, §5.7) divide "by the total number of n-grams
    in the reference or translation, whichever has fewer": a repeated n-gram counts as often as both sides have it.
    """
    fewer = np.minimum(ngram_totals(a_lengths, n), ngram_totals(b_lengths, n))
    with np.errstate(invalid="ignore"):
        return (shared / np.where(fewer > 0, fewer, np.nan)).astype(np.float32)


def edit_distance(a: Texts, b: Texts) -> Float32s:
    """Compute the Levenshtein distance in characters, divided by the length of the longer text."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    first, second = _strings(a), _strings(b)
    if not first:
        return np.empty(0, np.float32)
    distances = np.asarray(cpdist(first, second, scorer=Levenshtein.normalized_distance, dtype=np.float32))
    # rapidfuzz gives 1 where one side is empty, and 0 where both are.
    for row in np.flatnonzero((distances == 1) | (distances == 0)):
        if not first[row] or not second[row]:
            distances[row] = np.nan
    return distances


def _strings(texts: Texts) -> list[str]:
    values = texts if isinstance(texts, list) else texts.to_pylist()  # type: ignore[union-attr]
    return values if None not in values else [value or "" for value in values]
