"""Batches: a stream in lists of so many items, and items of similar length together; one item as a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Item = TypeVar("Item")


def as_list(value: object) -> list[Any]:
    """The items of a sequence; one text, path or model is a list of one."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, (str, Path)) else [value]


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of `size` items, the last one with the rest."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def batches_by_length(lengths: Sequence[int] | npt.NDArray[np.integer], size: int) -> list[npt.NDArray[np.int64]]:
    """Indices of n items, shortest first, in their order where equally long; `size` at a time."""
    order = np.argsort(lengths, kind="stable").astype(np.int64)
    return [order[start : start + size] for start in range(0, len(order), size)]
