"""How much two sentences say with the same words: n-gram overlap (W17 §5.7) and BLEU+1 (Nakov et al. 2012)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring.kernels import shared_counts
from paraloom.text.bleu import BLEU_ORDER, bleu_plus_one_from_counts
from paraloom.text.ngrams import ngram_totals, ngrams
from paraloom.text.tokens import TokenLists


def shared_ngrams(a: TokenLists, b: TokenLists, n: int) -> npt.NDArray[np.int32]:
    """How many n-grams each pair of sentences shares, as multisets: int32 (rows,).

    >>> from paraloom.text.tokens import tokenize
    >>> shared_ngrams(tokenize(["the cat and the dog"]), tokenize(["the dog and the man"]), 1).tolist()
    [4]
    """
    a, b = ngrams(a, n), ngrams(b, n)
    counts: npt.NDArray[np.int32] = shared_counts(a.ids, a.offsets, b.ids, b.offsets)
    return counts


def overlap(a: TokenLists, b: TokenLists, n: int) -> npt.NDArray[np.float32]:
    """Shared n-grams over the n-grams of the side with fewer: 0 (none) to 1 (all of the shorter side).

    a, b: token lists of the same number of rows.  Returns float32 (rows,); NaN where a side has no n-gram.
    W17 §5.7 divides "the number of shared n-grams by the total number of n-grams in the reference or translation,
    whichever has fewer": totals, so both are counted as multisets, a repeated n-gram as often as both sides have it.
    Use to drop pairs that say the same words: the best upper bounds there are 0.6 to 0.7.

    >>> from paraloom.text.tokens import tokenize
    >>> overlap(tokenize(["a b c"]), tokenize(["a b d e"]), 1)
    array([0.6666667], dtype=float32)
    """
    return overlap_from_counts(shared_ngrams(a, b, n), a.lengths, b.lengths, n)


def overlap_from_counts(
    shared: npt.NDArray[np.integer], a_lengths: npt.NDArray[np.integer], b_lengths: npt.NDArray[np.integer], n: int
) -> npt.NDArray[np.float32]:
    """`overlap` from its sufficient statistics: shared n-grams and the words of both sides, each (rows,)."""
    fewer = np.minimum(ngram_totals(a_lengths, n), ngram_totals(b_lengths, n))
    with np.errstate(invalid="ignore"):
        return (shared / np.where(fewer > 0, fewer, np.nan)).astype(np.float32)


def bleu_plus_one(translation: TokenLists, reference: TokenLists) -> npt.NDArray[np.float32]:
    """Smoothed sentence BLEU of each translation against its reference, above 0 to below 1; higher is more alike.

    Returns float32 (rows,); NaN where either side is empty.  Not symmetric: precisions are of the translation.
    Every order's precision and the reference's length are smoothed by one (Nakov, Guzmán, Vogel 2012, "Optimizing
    for sentence-level BLEU+1 yields short translations", as W17 §5.7 uses it), so that equal sentences of c words
    score exp(-1/c), not 1.

    >>> from paraloom.text.tokens import tokenize
    >>> bleu_plus_one(tokenize(["a b c d"]), tokenize(["a b c d"])).round(4)
    array([0.7788], dtype=float32)
    """
    shared = [shared_ngrams(translation, reference, n) for n in range(1, BLEU_ORDER + 1)]
    return bleu_plus_one_from_counts(shared, translation.lengths, reference.lengths)
