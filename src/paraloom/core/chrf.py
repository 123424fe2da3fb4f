"""chrF from its sufficient statistics (Popović 2015), for pairs and for groups of variants."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

CHRF_ORDER = 6
"""Longest n-grams of characters."""

CHRF_BETA = 2
"""How much more recall counts than precision."""


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
