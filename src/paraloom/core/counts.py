"""How often each id was seen: a counter as two arrays, which merges over shards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Counts:
    """keys: uint64 (k,), in ascending order, each once.  times: int64 (k,), 1 or more.

    >>> both = Counts.of(np.array([3, 5, 3], np.uint64)) + Counts.of(np.array([5], np.uint64))
    >>> both.keys.tolist(), both.times.tolist()
    ([3, 5], [2, 2])
    """

    keys: npt.NDArray[np.uint64]
    times: npt.NDArray[np.int64]

    @classmethod
    def none(cls) -> Counts:
        """Nothing was seen yet."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.int64))

    @classmethod
    def of(cls, ids: npt.NDArray[np.uint64]) -> Counts:
        """Of ids in any order."""
        keys, times = np.unique(ids, return_counts=True)
        return cls(keys, times.astype(np.int64))

    def __len__(self) -> int:
        return len(self.keys)

    def __add__(self, other: Counts) -> Counts:
        if not len(self) or not len(other):
            return other if len(other) else self
        keys, places = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        times = np.zeros(len(keys), np.int64)
        np.add.at(times, places, np.concatenate([self.times, other.times]))
        return Counts(keys, times)

    @property
    def total(self) -> int:
        """How many ids were seen, repeated ones as often as they were."""
        return int(self.times.sum())

    def commonest(self, size: int) -> npt.NDArray[np.uint64]:
        """The `size` ids seen most often (ties by id), in ascending order."""
        return np.sort(self.keys[np.lexsort((self.keys, -self.times))[:size]])
