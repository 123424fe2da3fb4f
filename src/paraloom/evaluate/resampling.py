"""Paired bootstrap of Pearson's r: several systems on the same samples of the pairs of a task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import AnyFloats, Floats, Ints
from paraloom.core.seeds import generator
from paraloom.core.stats import Z_95, Estimate

# Values that differ by less than this share of the largest, such as cosines of 1, differ by the rounding of float32.
_ROUNDING = 1e-6


def pearson(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if len(x) < 2 or _is_constant(np.asarray(a)) or _is_constant(np.asarray(b)):
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
    constant = len(np.asarray(a)) < 2 or _is_constant(np.asarray(a)) or _is_constant(np.asarray(b))
    return float("nan") if constant else pearson(ranks(a), ranks(b))


def ranks(values: npt.ArrayLike) -> Floats:
    """Rank of each value, from 1 for the lowest; equal values have the mean of their ranks."""
    from scipy.stats import rankdata  # slow to import

    result: Floats = rankdata(values)
    return result


SAMPLES = 1000  # Bootstrap samples of a test by default

# Samples that are in memory at a time.
_CHUNK = 100
# A variance below this share of that of all pairs is a rounding error: the sample has one value.
_TINY = 1e-12


def resampled_pearson(
    scores: Floats, similarities: AnyFloats, resamples: int, seed: int, task: int, undefined: float = 0.0
) -> Floats:
    """Pearson's r × 100 of pairs drawn with replacement (Efron 1979), the same pairs for every system."""
    rng = generator(seed, task)
    n = len(scores)
    x, y = _standardized(np.asarray(scores)[None])[0], _standardized(np.asarray(similarities))
    products = np.stack([x, x * x, *y, *(y * y), *(y * x)], axis=1)
    result = np.empty((resamples, len(y)))
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        # How often each pair is in each sample: every sum over a sample is a row of one product of matrices.
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
        sums = counts @ products / n
        mean_x, mean_xx = sums[:, :1], sums[:, 1:2]
        mean_y, mean_yy, mean_xy = np.split(sums[:, 2:], 3, axis=1)
        variances = (mean_xx - mean_x**2) * (mean_yy - mean_y**2)
        valid = (mean_xx - mean_x**2 > _TINY) & (mean_yy - mean_y**2 > _TINY)
        covariances = mean_xy - mean_x * mean_y
        r = np.divide(
            covariances, np.sqrt(np.where(valid, variances, 1)), where=valid, out=np.full_like(mean_y, undefined)
        )
        result[start : start + size] = 100 * r
    return result


def percentile_interval(resampled: Floats) -> tuple[float, float]:
    """The 95 % interval of a figure from those of its bootstrap samples, `(b,)`, in which it is defined."""
    defined = resampled[~np.isnan(resampled)]
    low, high = np.percentile(defined, [2.5, 97.5]) if len(defined) else (math.nan, math.nan)
    return float(low), float(high)


def bootstrap_estimate(value: float, resampled: Floats) -> Estimate:
    """A figure with the 95 % interval of its bootstrap samples."""
    return Estimate(float(value), *percentile_interval(resampled))


def _standardized(rows: Floats) -> Floats:
    """Rows with mean 0 and variance 1, as float64; a constant row becomes 0."""
    centered = rows - rows.mean(axis=1, keepdims=True, dtype=np.float64)
    deviations = centered.std(axis=1, keepdims=True)
    return np.divide(centered, deviations, where=~_is_constant(rows) & (deviations > 0), out=np.zeros_like(centered))


def _is_constant(values: AnyFloats) -> npt.NDArray[np.bool_]:
    """Whether all values of a row are equal, in float32 but for its rounding."""
    rounding = _ROUNDING * np.abs(values).max(axis=-1, keepdims=True) if values.dtype == np.float32 else 0.0
    return np.asarray(np.ptp(values, axis=-1, keepdims=True) <= rounding)


def sample_counts(n: int, samples: int = SAMPLES, seed: int = 1) -> Ints:
    """Count how often each sentence is in each bootstrap sample: 8 bytes for each of both."""
    random = generator(seed, n)
    counts = np.empty((samples, n), np.int64)
    for row in counts:
        row[:] = np.bincount(random.integers(n, size=n), minlength=n)
    return counts


def corpus_scores(metric: Any, hypotheses: Sequence[str], references: Sequence[Sequence[str]], counts: Ints) -> Floats:
    """The score of a whole test by a sacreBLEU metric, then of each sample."""
    width = max(map(len, references))
    streams = [[one[number] if number < len(one) else None for one in references] for number in range(width)]
    statistics = np.array(metric._extract_corpus_statistics(list(hypotheses), streams))
    sums = np.vstack([statistics.sum(axis=0), counts @ statistics])
    return np.array([metric._compute_score_from_stats(row.tolist()).score for row in sums])


def mean_scores(values: Sequence[float], counts: Ints) -> Floats:
    """The mean of a figure of each sentence over the test, then over each sample."""
    figures = np.asarray(values, np.float64)
    return np.concatenate([[figures.mean()], counts @ figures / len(figures)])


def with_interval(scores: Floats) -> Estimate:
    """The first of some scores with the 95 % interval of the others."""
    return bootstrap_estimate(scores[0], scores[1:])
