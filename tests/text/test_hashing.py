"""A set of texts knows them again however much it grows."""

from __future__ import annotations

from paraloom.text.hashing import TextSet


def test_a_growing_set_keeps_its_texts() -> None:
    known = TextSet()
    texts = [f"text {number}" for number in range(5000)]
    assert known.add(texts[:3000]).all()
    assert known.add(texts).tolist() == [False] * 3000 + [True] * 2000
    assert not known.add(texts).any() and len(known) == 5000
