"""Beads: the sentences of two texts that stand for each other, none to several on either side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paraloom.core.errors import DataError


class Bead(NamedTuple):
    """source, target: places of sentences in their texts, from 0, in order; empty for what stands alone.

    score: the aligner's, higher is surer; 0 where there is none.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    score: float = 0.0


def check_beads(beads: Sequence[Bead], sources: int | None = None, targets: int | None = None) -> None:
    """That no sentence is in two beads and none beyond the text's end; raises DataError that names the sentence.

    >>> check_beads([Bead((0,), (0,)), Bead((0, 1), (1,))])
    Traceback (most recent call last):
        ...
    paraloom.core.errors.DataError: source sentence 0 is in two beads.
    """
    for side, sentences in (("source", sources), ("target", targets)):
        seen: set[int] = set()
        for bead in beads:
            for place in bead.source if side == "source" else bead.target:
                if place in seen:
                    raise DataError(f"{side} sentence {place} is in two beads")
                if place < 0 or (sentences is not None and place >= sentences):
                    raise DataError(f"{side} sentence {place} is not among the {sentences} of the text")
                seen.add(place)


def joined(sentences: Sequence[str], places: Sequence[int], between: str = " ") -> str:
    """The sentences at these places as one text.

    >>> joined(["One.", "Two.", "Three."], (1, 2))
    'Two. Three.'
    """
    return between.join(sentences[place].strip() for place in places)
