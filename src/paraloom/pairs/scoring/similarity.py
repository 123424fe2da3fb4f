"""How similar two texts are: n-gram overlap, BLEU+1, chrF and edit distance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring.token_list_kernels import shared_counts
from paraloom.text.bleu import BLEU_ORDER, bleu_plus_one_from_counts
from paraloom.text.buffers import Texts, code_points
from paraloom.text.chrf import chrf_from_points
from paraloom.text.ngrams import ngram_totals, ngrams
from paraloom.text.tokens import TokenLists


def shared_ngrams(a: TokenLists, b: TokenLists, n: int) -> npt.NDArray[np.int32]:
    """Count the n-grams that both sentences of a pair have, as multisets.

    Args:
        a: Tokens of the first sentence of each pair.
        b: Tokens of the second sentence of each pair.
        n: Order of the n-grams.

    Returns:
        int32 `(pairs,)`.

    Example:
        >>> from paraloom.text.tokens import tokenize
        >>> shared_ngrams(tokenize(["the cat and the dog"]), tokenize(["the dog and the man"]), 1).tolist()
        [4]
    """
    a, b = ngrams(a, n), ngrams(b, n)
    counts: npt.NDArray[np.int32] = shared_counts(a.ids, a.offsets, b.ids, b.offsets)
    return counts


def overlap(a: TokenLists, b: TokenLists, n: int) -> npt.NDArray[np.float32]:
    """Compute the n-gram overlap of sentence pairs: shared n-grams over those of the side with fewer.

    Filter by it to drop pairs that use the same words: upper bounds of 0.6 to 0.7 are the best ones in the paper. Both
    counts are of multisets, as the paper divides "by the total number of n-grams in the reference or translation,
    whichever has fewer": a repeated n-gram counts as often as both sides have it.

    Args:
        a: Tokens of the first sentence of each pair.
        b: Tokens of the second sentence of each pair.
        n: Order of the n-grams.

    Returns:
        float32 `(pairs,)`, 0 (nothing shared) to 1 (all n-grams of the shorter side); NaN where a side has no n-gram.

    Reference:
        Wieting, Mallinson, Gimpel 2017 (W17), §5.7.

    Example:
        >>> from paraloom.text.tokens import tokenize
        >>> overlap(tokenize(["a b c"]), tokenize(["a b d e"]), 1)
        array([0.6666667], dtype=float32)
    """
    return overlap_from_counts(shared_ngrams(a, b, n), a.lengths, b.lengths, n)


def overlap_from_counts(
    shared: npt.NDArray[np.integer], a_lengths: npt.NDArray[np.integer], b_lengths: npt.NDArray[np.integer], n: int
) -> npt.NDArray[np.float32]:
    """Compute `overlap` from its sufficient statistics.

    Args:
        shared: Shared n-grams `(pairs,)`.
        a_lengths: Words of the first sentences `(pairs,)`.
        b_lengths: Words of the second sentences `(pairs,)`.
        n: Order of the n-grams.

    Returns:
        float32 `(pairs,)`, as `overlap` returns it.
    """
    fewer = np.minimum(ngram_totals(a_lengths, n), ngram_totals(b_lengths, n))
    with np.errstate(invalid="ignore"):
        return (shared / np.where(fewer > 0, fewer, np.nan)).astype(np.float32)


def bleu_plus_one(translation: TokenLists, reference: TokenLists) -> npt.NDArray[np.float32]:
    """Compute smoothed sentence BLEU (BLEU+1) of translations against their references.

    It is not symmetric: precisions are those of the translation. Every order's precision and the length of the
    reference are smoothed by one, so identical sentences of c words score exp(-1/c), not 1.

    Args:
        translation: Tokens of the translations.
        reference: Tokens of the references.

    Returns:
        float32 `(pairs,)`, between 0 and 1, higher is more similar; NaN where either side is empty.

    Reference:
        Nakov, Guzmán, Vogel 2012, "Optimizing for sentence-level BLEU+1 yields short translations", as W17 §5.7
        uses it.

    Example:
        >>> from paraloom.text.tokens import tokenize
        >>> bleu_plus_one(tokenize(["a b c d"]), tokenize(["a b c d"])).round(4)
        array([0.7788], dtype=float32)
    """
    shared = [shared_ngrams(translation, reference, n) for n in range(1, BLEU_ORDER + 1)]
    return bleu_plus_one_from_counts(shared, translation.lengths, reference.lengths)


def chrf(translations: Texts, references: Texts) -> npt.NDArray[np.float32]:
    """Compute chrF2 of translations against their references, with sacreBLEU's defaults: the same figures.

    Character n-grams up to order 6 without white space, recall weighted twice as much as precision, case-sensitive.

    Args:
        translations: n texts.
        references: n texts.

    Returns:
        float32 `(n,)`, 0 (nothing in common) to 100 (identical); NaN where a side has no visible character.

    Reference:
        Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation".

    Example:
        >>> chrf(["the cat"], ["the cats"]).round(2)
        array([77.57], dtype=float32)
    """
    return chrf_from_points(code_points(translations), code_points(references))


def edit_distance(a: Texts, b: Texts) -> npt.NDArray[np.float32]:
    """Compute the Levenshtein distance in characters, divided by the length of the longer text.

    Args:
        a: n texts.
        b: n texts.

    Returns:
        float32 `(n,)`, 0 (identical) to 1 (nothing in common); NaN where a text is empty.

    Example:
        >>> edit_distance(["kitten"], ["sitting"]).round(3)
        array([0.429], dtype=float32)
    """
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
