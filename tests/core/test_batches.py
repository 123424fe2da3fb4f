"""Batches of a stream."""

from __future__ import annotations

from paraloom.core.batches import batched, batches_by_length


def test_batches() -> None:
    assert list(batched("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(batched([], 3)) == []


def test_batches_by_length() -> None:
    assert [batch.tolist() for batch in batches_by_length([3, 1, 3, 2, 1], 2)] == [[1, 4], [3, 0], [2]]
    assert batches_by_length([], 3) == []
