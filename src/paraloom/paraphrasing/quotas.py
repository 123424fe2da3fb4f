"""How many new rows each label of a set gets, and which of its rows are paraphrased for them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from paraloom.core.errors import ConfigError

Label = TypeVar("Label", bound=Hashable)


def label_quotas(
    counts: Mapping[Label, int], n: int, *, balance: bool = False, max_new: int | None = None
) -> dict[Label, int]:
    """New rows that each label is to get."""
    if n < 1:
        raise ConfigError(f"'n' must be 1 or more, got {n}")
    if max_new is not None and max_new < 1:
        raise ConfigError(f"'max_new' must be 1 or more, got {max_new}")
    limits = {label: n * count for label, count in counts.items()}
    if not balance:
        total = sum(limits.values())
        if max_new is None or max_new >= total:
            return limits
        return _shares(limits, max_new)
    largest = max(counts.values(), default=0)
    quotas = {label: min(limits[label], largest - count) for label, count in counts.items()}
    if max_new is None or sum(quotas.values()) <= max_new:
        return quotas
    return _levelled(counts, quotas, max_new)


def _shares(limits: Mapping[Label, int], max_new: int) -> dict[Label, int]:
    """Parts of `max_new` in proportion to the limits, by largest remainders."""
    total = sum(limits.values())
    quotas = {label: max_new * limit // total for label, limit in limits.items()}
    by_remainder = sorted(limits, key=lambda label: -(max_new * limits[label] % total))
    for label in by_remainder[: max_new - sum(quotas.values())]:
        quotas[label] += 1
    return quotas


def _levelled(counts: Mapping[Label, int], quotas: Mapping[Label, int], max_new: int) -> dict[Label, int]:
    """What `max_new` rows do if each goes to the label that is the rarest then; found by the level they reach."""
    low, high = 0, max(counts.values())

    def filled(level: int) -> dict[Label, int]:
        return {label: max(0, min(quotas[label], level - count)) for label, count in counts.items()}

    while low < high:
        level = (low + high + 1) // 2
        if sum(filled(level).values()) <= max_new:
            low = level
        else:
            high = level - 1
    result = filled(low)
    rest = max_new - sum(result.values())
    open_labels = [label for label in counts if result[label] < quotas[label] and counts[label] + result[label] <= low]
    for label in open_labels[:rest]:
        result[label] += 1
    return result


class RowQuota:
    """Spreads the quota of one label over its rows, which come one after another."""

    def __init__(self, quota: int, rows: int, n: int, random: np.random.Generator) -> None:
        self.remaining = quota
        self.rows = rows
        self._n = n
        self._random = random

    def wanted(self) -> int:
        """New rows wanted from the next row."""
        share = self.remaining / max(1, self.rows)
        count = min(self._n, int(share) + int(self._random.random() < share - int(share)))
        self.rows -= 1
        self.remaining -= count
        return count

    def missed(self, count: int) -> None:
        """Give back what a row could not give, for later rows."""
        self.remaining += count
