"""Mixed bitexts: exact shares, no row lost, the same rows for the same seed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraloom.core.errors import ConfigError
from paraloom.mt.mixing import Batch, mixed_rows, repeated


def bitext(rows: int, piece: int = 7) -> list[Batch]:
    numbers = [str(row) for row in range(rows)]
    parts = [numbers[first : first + piece] for first in range(0, rows, piece)]
    return [(part, [f"t{each}" for each in part]) for part in parts]


def read(rows: int, wanted: int, seed: int = 1, piece: int = 7) -> list[str]:
    batches = list(repeated(lambda: bitext(rows, piece), rows, wanted, seed))
    assert all(targets == [f"t{each}" for each in sources] for sources, targets in batches)
    return [source for sources, _ in batches for source in sources]


SHARES = [
    ([300, 100], [1, 1], [300, 300]),
    ([300, 100], [2, 1], [300, 150]),
    ([300, 100], [5, 1], [500, 100]),
    ([100, 100], [0.5, 0.5], [100, 100]),
    ([7, 0], [1, 1], [7, 0]),
    ([200_000, 9_000_000], [1, 1], [9_000_000, 9_000_000]),
]


@pytest.mark.parametrize(("rows", "weights", "wanted"), SHARES)
def test_shares_are_as_the_weights_say(rows: list[int], weights: list[float], wanted: list[int]) -> None:
    assert mixed_rows(rows, weights) == wanted


@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(0.01, 100)), min_size=1, max_size=5))
def test_no_row_is_left_out_and_the_shares_are_right_to_a_row(parts: list[tuple[int, float]]) -> None:
    rows, weights = [count for count, _ in parts], [weight for _, weight in parts]
    found = mixed_rows(rows, weights)
    assert all(got >= had for got, had in zip(found, rows, strict=True))
    assert any(got == had for got, had in zip(found, rows, strict=True))
    scale = max(had / weight for had, weight in parts)
    assert all(abs(got - scale * weight) <= 1 for got, weight in zip(found, weights, strict=True))


@given(st.integers(1, 60), st.integers(0, 150), st.integers(0, 5))
def test_whole_passes_and_a_fair_rest(rows: int, more: int, seed: int) -> None:
    found = Counter(read(rows, rows + more, seed))
    assert found.total() == rows + more
    least, rest = divmod(rows + more, rows)
    assert set(found.values()) <= {least, least + 1}
    assert sum(count == least + 1 for count in found.values()) == rest


def test_the_seed_decides_which_rows_come_again() -> None:
    assert read(50, 70, seed=1) == read(50, 70, seed=1) != read(50, 70, seed=2)


def test_each_row_is_as_likely_as_any_other() -> None:
    drawn = Counter(row for seed in range(3000) for row in read(12, 16, seed, piece=5)[12:])
    # 1,000 times each is expected, with a standard deviation of 26.
    assert drawn.total() == 12_000
    assert all(abs(count - 1000) < 130 for count in drawn.values())


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, -1], [1, float("nan")], [1, float("inf")]])
def test_weights_that_cannot_be_are_refused(weights: list[float]) -> None:
    with pytest.raises(ConfigError, match="weights"):
        mixed_rows([10, 10], weights)
