"""Pearson's and Spearman's correlation, as the similarity tasks report them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from paraloom.core.stats import Z_95


def pearson(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Pearson's correlation r."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)), -1.0, 1.0))


def pearson_interval(r: float, n: int) -> tuple[float, float]:
    """The 95 % confidence interval of Pearson's r, by Fisher's z."""
    if math.isnan(r) or n < 4:
        return math.nan, math.nan
    center, half = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, r))), Z_95 / math.sqrt(n - 3)
    return math.tanh(center - half), math.tanh(center + half)


def spearman(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Spearman's correlation rho: Pearson's r of the ranks."""
    return pearson(ranks(a), ranks(b))


def ranks(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Rank of each value, from 1 for the lowest; equal values have the mean of their ranks."""
    from scipy.stats import rankdata  # slow to import

    result: npt.NDArray[np.float64] = rankdata(values)
    return result
