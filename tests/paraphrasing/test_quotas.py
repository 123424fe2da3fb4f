"""Quotas of labels, and how they are spread over rows."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.errors import ConfigError
from paraloom.paraphrasing.quotas import RowQuota, label_quotas

COUNTS = {"a": 10, "b": 4, "c": 1}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"n": 2}, [20, 8, 2]),
        ({"n": 20, "balance": True}, [0, 6, 9]),
        ({"n": 2, "balance": True}, [0, 6, 2]),
    ],
)
def test_quotas(options: dict[str, int], expected: list[int]) -> None:
    quotas = label_quotas(COUNTS, **options)
    assert list(quotas) == list(COUNTS)
    assert list(quotas.values()) == pytest.approx(expected, abs=1) and sum(quotas.values()) == sum(expected)


@pytest.mark.parametrize("options", [{"n": 0}])
def test_numbers_below_one(options: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="must be 1 or more, got 0"):
        label_quotas(COUNTS, **options)


@pytest.mark.parametrize(("quota", "rows", "n"), [(7, 7, 1), (3, 10, 1), (20, 10, 2), (13, 10, 2), (0, 5, 3)])
def test_a_quota_is_met_exactly(quota: int, rows: int, n: int) -> None:
    for seed in range(20):
        state = RowQuota(quota, rows, n, np.random.default_rng(seed))
        counts = [state.wanted() for _ in range(rows)]
        assert sum(counts) == quota and max(counts) <= n


def test_every_row_has_the_same_chance() -> None:
    picked = np.zeros(5)
    for seed in range(2000):
        state = RowQuota(2, 5, 1, np.random.default_rng(seed))
        picked += [state.wanted() for _ in range(5)]
    assert np.abs(picked / 2000 - 0.4).max() < 0.05


def test_later_rows_make_up_for_what_was_missed() -> None:
    state = RowQuota(4, 4, 2, np.random.default_rng(1))
    state.missed(state.wanted())
    assert sum(state.wanted() for _ in range(3)) == 4
