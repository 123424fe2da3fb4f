"""Texts with hard bounds, which no bead crosses: articles, chapters, or paragraphs that are known to go together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paraloom.align.sentences import TextPair
from paraloom.core.beads import Bead
from paraloom.core.errors import DataError


def parted(pair: TextPair, bound: str) -> list[TextPair]:
    """The parts of both texts between lines that are `bound` (`.EOA`, or an empty line), in order.

    Raises DataError where one text has more bounds than the other.

    >>> [list(part.source) for part in parted(TextPair(["a", ".EOA", "b", "c"], ["x", ".EOA"]), ".EOA")]
    [['a'], ['b', 'c']]
    """
    places = [_places(text, bound) for text in (pair.source, pair.target)]
    if len(places[0]) != len(places[1]):
        raise DataError(
            f"the source has {len(places[0]) - 1:,} lines '{bound}', the target {len(places[1]) - 1:,}",
            remedy="Each part of a text stands against the same part of the other.",
        )
    return [
        TextPair(
            pair.source[a:b],
            pair.target[c:d],
            [made[a:b] for made in pair.source_translations],
            [made[c:d] for made in pair.target_translations],
            (pair.vectors[0][a:b], pair.vectors[1][c:d]) if pair.vectors else None,
        )
        for (a, b), (c, d) in zip(*places, strict=True)
    ]


def between_bounds(pair: TextPair, bound: str, align: Callable[[Sequence[TextPair]], list[list[Bead]]]) -> list[Bead]:
    """The beads of two texts by their lines, aligned part by part; two bounds that go together are a bead of their own.

    align: gives the beads of each part, which it may learn from all of them for.
    """
    parts = parted(pair, bound)
    found: list[Bead] = []
    source = target = 0
    for number, (part, beads) in enumerate(zip(parts, align(parts), strict=True)):
        if number:
            found.append(Bead((source,), (target,)))
            source, target = source + 1, target + 1
        for bead in beads:
            found.append(
                Bead(
                    tuple(source + place for place in bead.source),
                    tuple(target + place for place in bead.target),
                    bead.score,
                )
            )
        source, target = source + len(part.source), target + len(part.target)
    return found


def _places(text: Sequence[str], bound: str) -> list[tuple[int, int]]:
    ends = [place for place, line in enumerate(text) if line.strip() == bound]
    return list(zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True))
