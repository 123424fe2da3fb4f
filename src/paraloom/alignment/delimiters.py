"""Texts with hard delimiters, such as ends of articles or chapters, which no bead crosses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead
from paraloom.core.errors import DataError


def split_at_delimiters(pair: TextPair, delimiter: str) -> list[TextPair]:
    sources, targets = (_spans(text, delimiter) for text in (pair.source, pair.target))
    if len(sources) != len(targets):
        raise DataError(
            f"the source has {len(sources) - 1:,} delimiters '{delimiter}', the target has {len(targets) - 1:,}",
            remedy="Both texts need the same number of delimiters: parts are aligned in order.",
        )
    return [pair.part(slice(*a), slice(*b)) for a, b in zip(sources, targets, strict=True)]


def align_between_delimiters(
    pair: TextPair, delimiter: str, align: Callable[[Sequence[TextPair]], list[list[Bead]]]
) -> list[Bead]:
    parts = split_at_delimiters(pair, delimiter)
    beads: list[Bead] = []
    source = target = 0
    for number, (part, part_beads) in enumerate(zip(parts, align(parts), strict=True)):
        if number:
            beads.append(Bead((source,), (target,)))
            source, target = source + 1, target + 1
        for bead in part_beads:
            beads.append(
                Bead(tuple(source + i for i in bead.source), tuple(target + j for j in bead.target), bead.score)
            )
        source, target = source + len(part.source), target + len(part.target)
    return beads


def _spans(text: Sequence[str], delimiter: str) -> list[tuple[int, int]]:
    """First and last index + 1 of each part."""
    ends = [index for index, line in enumerate(text) if line.strip() == delimiter]
    return list(zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True))
