"""Sufficient statistics that can be merged over shards, and confidence intervals computed from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt

Z_95 = 1.959963984540054  # Half the width of a 95 % interval, in standard errors


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return self.format()

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of two figures of independent samples (Zou and Donner 2008: intervals may be lopsided)."""
        below = math.hypot(self.value - self.low, other.high - other.value)
        above = math.hypot(self.high - self.value, other.value - other.low)
        value = self.value - other.value
        return Estimate(value, value - below, value + above)

    def format(self, spec: str = ".4g", scale: float = 1.0) -> str:
        """The figure times `scale` and its interval, each as `spec` says; – where undefined."""
        if math.isnan(self.value):
            return "–" if spec != ".4g" else "nan [nan, nan]"
        value, low, high = (format(scale * number, spec) for number in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"

    def to_dict(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squared deviations, which add in any grouping (Chan, Golub, LeVeque 1983)."""

    count: int = 0
    mean: float = 0.0
    deviations: float = 0.0

    @classmethod
    def of(cls, values: npt.NDArray[np.floating] | npt.NDArray[np.integer]) -> Moments:
        numbers = np.asarray(values, np.float64).ravel()
        numbers = numbers[~np.isnan(numbers)]
        if not len(numbers):
            return cls()
        mean = float(numbers.mean())
        return cls(len(numbers), mean, float(np.square(numbers - mean).sum()))

    def __add__(self, other: Moments) -> Moments:
        count = self.count + other.count
        if not count:
            return self
        gap = other.mean - self.mean
        mean = self.mean + gap * other.count / count
        return Moments(count, mean, self.deviations + other.deviations + gap**2 * self.count * other.count / count)

    @property
    def variance(self) -> float:
        """Unbiased estimate of the population's variance; NaN for fewer than two numbers."""
        return self.deviations / (self.count - 1) if self.count > 1 else math.nan

    def estimate(self) -> Estimate:
        """The mean with its interval by the central limit theorem; bounds are NaN for fewer than two numbers."""
        if not self.count:
            return Estimate(math.nan, math.nan, math.nan)
        half = Z_95 * math.sqrt(self.variance / self.count) if self.count > 1 else math.nan
        return Estimate(self.mean, self.mean - half, self.mean + half)


@dataclass(frozen=True)
class Sums:
    """Figures of rows that are added field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


@dataclass(frozen=True)
class Ratio(Sums):
    """A ratio of two sums over clusters (words per sentence over documents, say); two of them can be added."""

    clusters: int = 0
    over: float = 0.0
    under: float = 0.0
    over_over: float = 0.0
    over_under: float = 0.0
    under_under: float = 0.0

    @classmethod
    def of(cls, over: npt.ArrayLike, under: npt.ArrayLike) -> Ratio:
        y, x = np.asarray(over, np.float64), np.asarray(under, np.float64)
        return cls(len(y), float(y.sum()), float(x.sum()), float(y @ y), float(y @ x), float(x @ x))

    def estimate(self) -> Estimate:
        """The ratio with its interval for independent clusters (Cochran 1977, §6.3); NaN where the denominator is 0."""
        if not self.under:
            return Estimate(math.nan, math.nan, math.nan)
        value, half = self.over / self.under, math.nan
        if self.clusters > 1:
            squares = self.over_over - 2 * value * self.over_under + value**2 * self.under_under
            half = Z_95 * math.sqrt(max(squares, 0.0) * self.clusters / (self.clusters - 1)) / self.under
        return Estimate(value, value - half, value + half)


@dataclass(frozen=True, eq=False)
class IdCounts:
    """Counts of 64-bit ids, such as hashes of tokens; two of them can be added."""

    ids: npt.NDArray[np.uint64]  # uint64 `(k,)`, distinct, in ascending order
    counts: npt.NDArray[np.int64]  # int64 `(k,)`, 1 or more

    @classmethod
    def empty(cls) -> IdCounts:
        return cls(np.empty(0, np.uint64), np.empty(0, np.int64))

    @classmethod
    def of(cls, ids: npt.NDArray[np.uint64]) -> IdCounts:
        distinct, counts = np.unique(ids, return_counts=True)
        return cls(distinct, counts.astype(np.int64))

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: IdCounts) -> IdCounts:
        if not len(self) or not len(other):
            return other if len(other) else self
        ids, index = np.unique(np.concatenate([self.ids, other.ids]), return_inverse=True)
        counts = np.zeros(len(ids), np.int64)
        np.add.at(counts, index, np.concatenate([self.counts, other.counts]))
        return IdCounts(ids, counts)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def most_common(self, size: int) -> npt.NDArray[np.uint64]:
        """Select the most frequent ids; ties are broken by id."""
        return np.sort(self.ids[np.lexsort((self.ids, -self.counts))[:size]])


Mergeable = TypeVar("Mergeable")


def merge_all(parts: Iterable[Mergeable], empty: Mergeable) -> Mergeable:
    """Add up statistics, each part in log n additions: what they sum, such as vocabularies, grows."""
    # As a binary counter: sums of 1, 2, 4 … parts, at most one of each, the larger ones first.
    sums: list[tuple[int, Mergeable]] = []
    for part in parts:
        size = 1
        while sums and sums[-1][0] == size:
            part = sums.pop()[1] + part  # type: ignore[operator]
            size *= 2
        sums.append((size, part))
    total = sums.pop()[1] if sums else empty
    while sums:
        total = sums.pop()[1] + total  # type: ignore[operator]
    return total


def entropy(counts: npt.NDArray[np.integer]) -> Estimate:
    """Plug-in estimate of Shannon entropy in nats (variance: Basharin 1959); too low where most kinds are rare."""
    seen = np.asarray(counts, np.float64).ravel()
    seen = seen[seen > 0]
    total = seen.sum()
    if not total:
        return Estimate(math.nan, math.nan, math.nan)
    shares = seen / total
    surprise = -np.log(shares)
    value = float((shares * surprise).sum())
    spread = float((shares * surprise**2).sum()) - value**2
    half = Z_95 * math.sqrt(max(0.0, spread) / total)
    return Estimate(value, value - half, value + half)


def cohen_kappa(first: Sequence[object], second: Sequence[object]) -> float | None:
    """Cohen's kappa of two raters: the agreement beyond chance, as a share of what chance leaves."""
    n = len(first)
    if n == 0:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    one, other = Counter(first), Counter(second)
    expected = sum(count * other[value] for value, count in one.items()) / (n * n)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def wilson_interval(successes: float, n: int) -> tuple[float, float]:
    """Compute the 95 % interval of a proportion, which stays within 0 and 1 (Wilson 1927)."""
    share, z = successes / n, Z_95
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, center - half), min(1.0, center + half)


def paired_difference(both: int, first: int, second: int, neither: int) -> Estimate:
    """Estimate the second of two proportions of the same items minus the first (Newcombe 1998, method 10)."""
    n = both + first + second + neither
    before, after = (both + first) / n, (both + second) / n
    before_low, before_high = wilson_interval(both + first, n)
    after_low, after_high = wilson_interval(both + second, n)
    agreement = float(both * neither - first * second)
    if agreement > 0:
        agreement = max(0.0, agreement - n / 2)
    product = (both + first) * (second + neither) * (both + second) * (first + neither)
    correlation = agreement / math.sqrt(product) if product else 0.0

    def half_width(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))

    value = after - before
    low = value - half_width(after - after_low, before_high - before)
    return Estimate(value, low, value + half_width(after_high - after, before - before_low))


def welch_interval(a: npt.ArrayLike, b: npt.ArrayLike) -> Estimate:
    """The difference of two means, `a` minus `b`, with an interval for unequal variances (Welch 1947)."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    errors = float(x.var(ddof=1)) / len(x), float(y.var(ddof=1)) / len(y)
    value, both = float(x.mean() - y.mean()), sum(errors)
    if not both:
        return Estimate(value, value, value)
    degrees = both**2 / (errors[0] ** 2 / (len(x) - 1) + errors[1] ** 2 / (len(y) - 1))
    half = student_t_quantile(0.975, degrees) * math.sqrt(both)
    return Estimate(value, value - half, value + half)


def student_t_quantile(probability: float, degrees: float) -> float:
    """The value that a t-distributed variable is below with a given probability."""
    from scipy.special import stdtrit  # 0.2 s that scores and filters do without

    return float(stdtrit(degrees, probability))
