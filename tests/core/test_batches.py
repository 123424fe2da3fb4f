"""Batches of a stream."""

from __future__ import annotations

from paraloom.core.batches import batched


def test_batches() -> None:
    assert list(batched("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(batched([], 3)) == []
