"""Mergeable statistics: equal in any grouping, with intervals that cover the true value as often as they claim."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as peer_entropy
from scipy.stats import t as student_t
from scipy.stats import ttest_ind

from paraloom.core.stats import Estimate, IdCounts, Moments, Ratio, entropy, student_t_quantile, welch_interval

NUMBERS = st.lists(st.floats(-1e6, 1e6), max_size=30)


@given(NUMBERS, NUMBERS)
def test_moments_add_up(a: list[float], b: list[float]) -> None:
    merged, whole = Moments.of(np.array(a)) + Moments.of(np.array(b)), Moments.of(np.array(a + b))
    assert merged.count == whole.count
    assert merged.mean == pytest.approx(whole.mean, rel=1e-9, abs=1e-6)
    assert merged.deviations == pytest.approx(whole.deviations, rel=1e-6, abs=1e-3)


def test_nan_is_ignored() -> None:
    assert Moments.of(np.array([1.0, math.nan, 3.0])) == Moments.of(np.array([1.0, 3.0]))


# The share of 6,000 intervals that cover the truth has a standard error of √(0.95 · 0.05 / 6000) = 0.0028: 0.93 is
# seven of them away from 0.95, and four from the 0.942 that samples of this size and skew truly have.
SAMPLES, LEAST, MOST = 6000, 0.93, 0.965


def test_intervals_of_ratios_cover_the_truth() -> None:
    # Clusters of three equal members, a ratio of means of 2: 95 % of the intervals must cover it.
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(SAMPLES):
        under = rng.integers(1, 9, 300).astype(float) * 3
        over = under * rng.exponential(2.0, 300)
        estimate = (Ratio.of(over[:100], under[:100]) + Ratio.of(over[100:], under[100:])).estimate()
        covered += estimate.low <= 2.0 <= estimate.high
    assert LEAST < covered / SAMPLES < MOST
    assert math.isnan(Ratio().estimate().value) and math.isnan(Ratio.of([1.0], [2.0]).estimate().low)


def test_intervals_of_means_cover_the_truth() -> None:
    rng = np.random.default_rng(0)
    estimates = [Moments.of(rng.exponential(2.0, 400)).estimate() for _ in range(SAMPLES)]
    assert LEAST < np.mean([estimate.low <= 2.0 <= estimate.high for estimate in estimates]) < MOST


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40))
def test_entropy_equals_scipys(counts: list[int]) -> None:
    assert entropy(np.array(counts)).value == pytest.approx(peer_entropy(counts), abs=1e-12)


def test_intervals_of_entropies_cover_the_truth() -> None:
    rng = np.random.default_rng(1)
    shares = np.array([0.5, 0.3, 0.15, 0.05])
    truth = peer_entropy(shares)
    estimates = [entropy(rng.multinomial(2000, shares)) for _ in range(SAMPLES)]
    assert LEAST < np.mean([estimate.low <= truth <= estimate.high for estimate in estimates]) < MOST


def test_the_interval_of_a_difference_is_wider_than_either() -> None:
    gap = Estimate(3, 2, 4) - Estimate(1, 0.5, 1.5)
    assert (gap.value, gap.high - gap.value) == (2, pytest.approx(math.hypot(1, 0.5)))
    lopsided = Estimate(3, 0, 4) - Estimate(1, 0.5, 3)
    assert (lopsided.low, lopsided.high) == pytest.approx((2 - math.hypot(3, 2), 2 + math.hypot(1, 0.5)))


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(0, 20)))
def test_counts_add_up(a: list[int], b: list[int]) -> None:
    first, second = (IdCounts.of(np.array(ids, np.uint64)) for ids in (a, b))
    whole = IdCounts.of(np.array(a + b, np.uint64))
    assert (first + second).ids.tolist() == whole.ids.tolist()
    assert (first + second).counts.tolist() == whole.counts.tolist()
    assert (first + second).total == len(a) + len(b)


@pytest.mark.parametrize("degrees", [0.5, 1, 1.7, 2, 4, 7.77, 30, 1000])
@pytest.mark.parametrize("probability", [0.6, 0.975, 0.995])
def test_quantiles_of_students_t(probability: float, degrees: float) -> None:
    assert student_t_quantile(probability, degrees) == pytest.approx(student_t.ppf(probability, degrees), rel=1e-9)


def test_welchs_interval_is_scipys() -> None:
    rng = np.random.default_rng(4)
    for sizes in ((2, 2), (3, 5), (8, 4)):
        a, b = (rng.normal(70, scale, size) for scale, size in zip((1, 3), sizes, strict=True))
        peer = ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
        estimate = welch_interval(a, b)
        assert (estimate.low, estimate.high) == pytest.approx((peer.low, peer.high), rel=1e-9)
    assert welch_interval([2.0, 2.0], [1.0, 1.0]).format() == "1 [1, 1]"
