"""Batches of a stream: lists of so many items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of `size` items, the last one with the rest."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
