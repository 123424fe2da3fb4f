"""One alignment of several documents, cut at hard delimiters into the alignments of the documents."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from paraloom.core.beads import Bead


class DocumentSpan(NamedTuple):
    """A document within a text of several documents."""

    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


class CutAlignment(NamedTuple):
    """The alignments of the documents."""

    parts: list[list[Bead]]
    crossing: int


def find_parts(text: Sequence[str], delimiter: str) -> list[DocumentSpan]:
    """Find the documents of a text."""
    ends = [index for index, line in enumerate(text) if line.strip() == delimiter]
    parts = [
        DocumentSpan(start, end) for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True)
    ]
    return parts[:-1] if len(parts) > 1 and parts[-1].size == 0 else parts


def cut_beads(beads: Iterable[Bead], sources: Sequence[DocumentSpan], targets: Sequence[DocumentSpan]) -> CutAlignment:
    """Cut the alignment of two texts of several documents into those of the documents.

    Delimiters are not sentences: they are left out of beads, and beads of delimiters alone are left out.  A bead with
    sentences of several documents is wrong in each of them: it is in the beads of each, and its sentences of other
    documents have indices there that no sentence has, so that no gold bead equals it.
    """
    cut: list[list[Bead]] = [[] for _ in sources]
    crossing = 0
    starts = [[part.start for part in side] for side in (sources, targets)]
    for bead in beads:
        source = _located(bead.source, sources, starts[0])
        target = _located(bead.target, targets, starts[1])
        touched = sorted({part for part, _ in (*source, *target)})
        crossing += len(touched) > 1
        for part in touched:
            own, other = (
                tuple(index - parts[part].start if here == part else -1 - index for here, index in side)
                for side, parts in ((source, sources), (target, targets))
            )
            cut[part].append(Bead(own, other, bead.score))
    return CutAlignment(cut, crossing)


def find_divergence(sizes: Sequence[int], expected: Sequence[int]) -> int:
    """Find where delimiters are missing or superfluous, if all that are lie beside each other."""
    few, many = sorted((sizes, expected), key=len)
    extra = len(many) - len(few)
    sums = list(accumulate(many, initial=0))
    before = list(accumulate((abs(a - b) for a, b in zip(few, many, strict=False)), initial=0))
    last = (abs(a - b) for a, b in zip(reversed(few), reversed(many), strict=False))
    after = list(accumulate(last, initial=0))[::-1]

    def deviation(index: int) -> int:
        merged = sums[index + extra + 1] - sums[index]
        return before[index] + abs(few[index] - merged) + after[index + 1]

    return min(range(len(few)), key=deviation)


def _located(indices: Sequence[int], parts: Sequence[DocumentSpan], starts: Sequence[int]) -> list[tuple[int, int]]:
    """Number of the document and index of each sentence, without delimiters."""
    located = [(bisect_right(starts, index) - 1, index) for index in indices]
    return [(part, index) for part, index in located if index < parts[part].end]
