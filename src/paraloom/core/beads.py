"""Beads: groups of sentences of two texts that are translations of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paraloom.core.errors import DataError

MAX_BEAD_SIZE = 5  # Sentences on one side of a bead at most, unless a caller says otherwise


class Bead(NamedTuple):
    """Sentences of two texts that an aligner puts together, any number on either side.

    Args:
        source: Indices of the source sentences, from 0, in order; empty for an unaligned target sentence.
        target: Indices of the target sentences, from 0, in order; empty for an unaligned source sentence.
        score: Confidence of the aligner, higher is better; 0 where it has none.

    Example:
        >>> bead = Bead((0,), (0, 1))
        >>> f"{len(bead.source)}-{len(bead.target)}"
        '1-2'
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    score: float = 0.0


def check_beads(beads: Sequence[Bead], sources: int | None = None, targets: int | None = None) -> None:
    """Check that no sentence is in two beads and that every index is within its text."""
    for side, count in (("source", sources), ("target", targets)):
        seen: set[int] = set()
        for bead in beads:
            for index in bead.source if side == "source" else bead.target:
                if index in seen:
                    raise DataError(f"{side} sentence {index} is in two beads")
                if index < 0 or (count is not None and index >= count):
                    raise DataError(f"{side} sentence {index} is out of range: the text has {count} sentences")
                seen.add(index)


def join_sentences(sentences: Sequence[str], indices: Sequence[int]) -> str:
    return " ".join(sentences[index].strip() for index in indices)
