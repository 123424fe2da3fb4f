"""Pearson's and Spearman's correlation, as the similarity tasks report them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def pearson(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Pearson's r of two equally long lists of numbers, −1 to 1; NaN where a side is constant or shorter than two.

    >>> round(pearson([1, 2, 3], [1, 2, 4]), 4)
    0.982
    """
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)), -1.0, 1.0))


def spearman(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Spearman's rho, −1 to 1: Pearson's r of the ranks, equal values sharing their mean rank; NaN as `pearson`.

    >>> round(spearman([1, 2, 3], [1, 2, 40]), 6)
    1.0
    """
    return pearson(ranks(a), ranks(b))


def ranks(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Rank of each value, 1 for the least, equal values sharing the mean of their ranks.

    >>> ranks([10, 30, 10])
    array([1.5, 3. , 1.5])
    """
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[inverse]
