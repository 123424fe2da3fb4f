"""Mixtures of bitexts: exact shares, every row included, the same rows for the same seed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraloom.core.errors import ConfigError
from paraloom.mt.data import SentencePairs, mixture_sizes, repeat_to


def bitext(rows: int, batch_rows: int = 7) -> list[SentencePairs]:
    numbers = [str(row) for row in range(rows)]
    parts = [numbers[first : first + batch_rows] for first in range(0, rows, batch_rows)]
    return [(part, [f"t{number}" for number in part]) for part in parts]


def read(rows: int, size: int, seed: int = 1, batch_rows: int = 7) -> list[str]:
    batches = list(repeat_to(lambda: bitext(rows, batch_rows), rows, size, seed))
    assert all(targets == [f"t{number}" for number in sources] for sources, targets in batches)
    return [source for sources, _ in batches for source in sources]


SHARES = [
    ([300, 100], [1, 1], [300, 300]),
    ([300, 100], [2, 1], [300, 150]),
    ([300, 100], [5, 1], [500, 100]),
    ([100, 100], [0.5, 0.5], [100, 100]),
    ([7, 0], [1, 1], [7, 0]),
    ([200_000, 9_000_000], [1, 1], [9_000_000, 9_000_000]),
]


@pytest.mark.parametrize(("rows", "weights", "expected"), SHARES)
def test_sizes_match_the_weights(rows: list[int], weights: list[float], expected: list[int]) -> None:
    assert mixture_sizes(rows, weights) == expected


@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(0.01, 100)), min_size=1, max_size=5))
def test_sizes_include_every_row_and_are_exact_to_a_row(parts: list[tuple[int, float]]) -> None:
    rows, weights = [count for count, _ in parts], [weight for _, weight in parts]
    sizes = mixture_sizes(rows, weights)
    assert all(size >= count for size, count in zip(sizes, rows, strict=True))
    assert any(size == count for size, count in zip(sizes, rows, strict=True))
    scale = max(count / weight for count, weight in parts)
    assert all(abs(size - scale * weight) <= 1 for size, weight in zip(sizes, weights, strict=True))


@given(st.integers(1, 60), st.integers(0, 150), st.integers(0, 5))
def test_every_row_is_read_equally_often_to_within_one(rows: int, more: int, seed: int) -> None:
    times = Counter(read(rows, rows + more, seed))
    assert times.total() == rows + more
    passes, rest = divmod(rows + more, rows)
    assert set(times.values()) <= {passes, passes + 1}
    assert sum(count == passes + 1 for count in times.values()) == rest


def test_the_seed_decides_which_rows_are_repeated() -> None:
    assert read(50, 70, seed=1) == read(50, 70, seed=1) != read(50, 70, seed=2)


def test_rows_are_repeated_with_equal_probability() -> None:
    times = Counter(row for seed in range(3000) for row in read(12, 16, seed, batch_rows=5)[12:])
    # Expected are 1,000 repetitions of each row, with a standard deviation of 26.
    assert times.total() == 12_000
    assert all(abs(count - 1000) < 130 for count in times.values())


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, -1], [1, float("nan")], [1, float("inf")]])
def test_invalid_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ConfigError, match="weights"):
        mixture_sizes([10, 10], weights)
