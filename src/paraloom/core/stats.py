"""Sufficient statistics that merge over shards, and the confidence intervals that come free with them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Z_95 = 1.959963984540054
"""Half the width of a 95 % interval, in standard errors."""


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % confidence interval.

    >>> str(Estimate(0.46, 0.44, 0.48))
    '0.46 [0.44, 0.48]'
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of two figures of independent samples."""
        half = math.hypot(self.high - self.value, other.high - other.value)
        value = self.value - other.value
        return Estimate(value, value - half, value + half)

    def to_json(self) -> dict[str, float]:
        """As JSON values."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squared deviations of numbers; NaN among them is left out.

    Two of them add up to those of all their numbers (Chan, Golub, LeVeque 1983), in any grouping.

    >>> (Moments.of(np.array([1.0, 2.0])) + Moments.of(np.array([6.0]))).mean
    3.0
    """

    count: int = 0
    mean: float = 0.0
    deviations: float = 0.0

    @classmethod
    def of(cls, values: npt.NDArray[np.floating] | npt.NDArray[np.integer]) -> Moments:
        """Of an array of any shape."""
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
        """Of the population that the numbers are drawn from; NaN for fewer than two."""
        return self.deviations / (self.count - 1) if self.count > 1 else math.nan

    def estimate(self) -> Estimate:
        """The mean with its interval, by the central limit theorem; NaN bounds for fewer than two numbers."""
        if not self.count:
            return Estimate(math.nan, math.nan, math.nan)
        half = Z_95 * math.sqrt(self.variance / self.count) if self.count > 1 else math.nan
        return Estimate(self.mean, self.mean - half, self.mean + half)


@dataclass(frozen=True)
class Ratio:
    """One sum over another, of clusters whose members are alike, such as words by sentences of groups of sentences.

    clusters: how many.  over, under: the sums; the others are of squares and products of what each cluster adds.
    Two of them add up to that of all clusters.

    >>> round((Ratio.of(np.array([6.0, 1.0]), np.array([2.0, 1.0])) + Ratio.of([5.0], [1.0])).estimate().value, 2)
    3.0
    """

    clusters: int = 0
    over: float = 0.0
    under: float = 0.0
    over_over: float = 0.0
    over_under: float = 0.0
    under_under: float = 0.0

    @classmethod
    def of(cls, over: npt.ArrayLike, under: npt.ArrayLike) -> Ratio:
        """Of what each cluster adds to the two sums."""
        y, x = np.asarray(over, np.float64), np.asarray(under, np.float64)
        return cls(len(y), float(y.sum()), float(x.sum()), float(y @ y), float(y @ x), float(x @ x))

    def __add__(self, other: Ratio) -> Ratio:
        return Ratio(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def estimate(self) -> Estimate:
        """The ratio with its interval, clusters taken for independent (Cochran 1977, §6.3); NaN where there is none."""
        if not self.under:
            return Estimate(math.nan, math.nan, math.nan)
        value, half = self.over / self.under, math.nan
        if self.clusters > 1:
            squares = self.over_over - 2 * value * self.over_under + value**2 * self.under_under
            half = Z_95 * math.sqrt(max(squares, 0.0) * self.clusters / (self.clusters - 1)) / self.under
        return Estimate(value, value - half, value + half)


Mergeable = TypeVar("Mergeable")


def added_up(parts: Iterable[Mergeable], nothing: Mergeable) -> Mergeable:
    """The sum of statistics that merge, in order, each carried through log n additions instead of n.

    For sums that grow with what they sum, such as vocabularies.  nothing: what no parts add up to.

    >>> added_up(["a", "b", "c", "d", "e"], "")
    'abcde'
    """
    # As a binary counter: sums of 1, 2, 4 … parts, at most one of each, the larger ones first.
    sums: list[tuple[int, Mergeable]] = []
    for part in parts:
        size = 1
        while sums and sums[-1][0] == size:
            part = sums.pop()[1] + part  # type: ignore[operator]
            size *= 2
        sums.append((size, part))
    total = sums.pop()[1] if sums else nothing
    while sums:
        total = sums.pop()[1] + total  # type: ignore[operator]
    return total


def entropy(counts: npt.NDArray[np.integer]) -> Estimate:
    """Shannon entropy, in nats, of what was counted, with its interval; 0 when there is one kind of thing.

    counts: how often each kind was seen, any shape.  The plug-in estimate -Σ p ln p, whose variance is that of -ln p
    over the observations (Basharin 1959).  It is too low where most kinds were seen once or never, so compare samples
    of equal size.

    >>> entropy(np.array([8, 8])).value == math.log(2)
    True
    """
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


def wilson_interval(right: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of n items (Wilson 1927), which stays within 0 and 1.

    >>> [round(end, 3) for end in wilson_interval(5, 10)]
    [0.237, 0.763]
    """
    share, z = right / n, Z_95
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def paired_difference(both: int, first: int, second: int, neither: int) -> Estimate:
    """Of two shares of the same items, the second's less the first's (Newcombe 1998, Statistics in Medicine 17:2635).

    both, neither: items that both counts have, or none of them has.  first, second: items that only one has.  The
    interval is that of his method 10, Wilson's two joined by their correlation.

    >>> str(paired_difference(59, 6, 16, 80))
    '0.06211 [0.004625, 0.1186]'
    """
    n = both + first + second + neither
    was, became = (both + first) / n, (both + second) / n
    (was_low, was_high), (low, high) = wilson_interval(both + first, n), wilson_interval(both + second, n)
    agreement = float(both * neither - first * second)
    if agreement > 0:
        agreement = max(0.0, agreement - n / 2)
    product = (both + first) * (second + neither) * (both + second) * (first + neither)
    correlation = agreement / math.sqrt(product) if product else 0.0

    def joined(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))

    value = became - was
    return Estimate(value, value - joined(became - low, was_high - was), value + joined(high - became, was - was_low))
