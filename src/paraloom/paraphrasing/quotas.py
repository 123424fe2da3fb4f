"""Number of new rows for each label of a set, and the choice of rows to paraphrase."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from paraloom.core.errors import ConfigError

Label = TypeVar("Label", bound=Hashable)


def label_quotas(counts: Mapping[Label, int], n: int, *, balance: bool = False) -> dict[Label, int]:
    """New rows that each label is to get."""
    if n < 1:
        raise ConfigError(f"'n' must be 1 or more, got {n}")
    if not balance:
        return {label: n * count for label, count in counts.items()}
    largest = max(counts.values(), default=0)
    return {label: min(n * count, largest - count) for label, count in counts.items()}


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
