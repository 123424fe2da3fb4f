"""chrF (Popović 2015), of pairs of texts and from its sufficient statistics: for pairs and for groups of variants."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.text.characters import white_table
from paraloom.text.ngram_kernels import prefixes_of, shared_ngrams, visible

CHRF_ORDER = 6
"""Longest n-grams of characters."""

CHRF_BETA = 2
"""How much more recall counts than precision."""

Points = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]
"""Code points of n texts and their offsets, as core.text.code_points gives them."""


def chrf_from_points(translations: Points, references: Points) -> npt.NDArray[np.float32]:
    """chrF2 of each text against its reference, float32 (n,), 0 to 100; NaN where a side has no visible character.

    >>> from paraloom.text.tokens import code_points
    >>> chrf_from_points(code_points(["the cat"]), code_points(["the cats"])).round(2)
    array([77.57], dtype=float32)
    """
    (made, made_offsets), (wanted, wanted_offsets) = (
        visible(*side, white_table()) for side in (translations, references)
    )
    n = len(made_offsets) - 1
    rows = np.arange(n)
    ids, offsets = np.concatenate([made, wanted]), np.concatenate([made_offsets, wanted_offsets[1:] + len(made)])
    shared = shared_ngrams(prefixes_of(ids), offsets, rows, rows + n, CHRF_ORDER)
    return chrf_from_counts(shared, np.diff(made_offsets), np.diff(wanted_offsets)).astype(np.float32)


def chrf_from_counts(
    shared: npt.NDArray[np.integer], made: npt.NDArray[np.integer], wanted: npt.NDArray[np.integer]
) -> npt.NDArray[np.float64]:
    """chrF2, 0 (nothing in common) to 100 (the same): float64 (n,); NaN where a side has no visible character.

    shared: (n, CHRF_ORDER), n-grams of 1, 2 … characters that both texts have.  made, wanted: (n,), visible characters
    of the translation and of the reference.  Orders that a side is too short for count for neither precision nor
    recall: sacreBLEU's default.

    >>> chrf_from_counts(np.array([[6, 5, 4, 3, 2, 1]]), np.array([6]), np.array([7])).round(2)
    array([77.57])
    """
    orders = np.arange(CHRF_ORDER)
    has, needs = (np.maximum(side[:, None] - orders, 0).astype(np.float64) for side in (made, wanted))
    counted = (has > 0) & (needs > 0)
    effective = counted.sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(counted, shared / has, 0).sum(1) / effective
        recall = np.where(counted, shared / needs, 0).sum(1) / effective
        weight = CHRF_BETA**2
        score: npt.NDArray[np.float64] = 100 * (1 + weight) * precision * recall / (weight * precision + recall)
    score[(effective > 0) & (precision + recall == 0)] = 0
    return score
