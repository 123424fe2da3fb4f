"""Batches: a stream in lists of so many items, and items of similar length together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of `size` items, the last one with the rest."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def batches_by_length(lengths: Sequence[int] | npt.NDArray[np.integer], size: int) -> list[npt.NDArray[np.int64]]:
    """Indices of n items, shortest first, in their order where equally long; `size` at a time."""
    order = np.argsort(lengths, kind="stable").astype(np.int64)
    return [order[start : start + size] for start in range(0, len(order), size)]
