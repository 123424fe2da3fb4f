"""The threads between two columns: which row each sentence stands in, and the curves that join those of one bead."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from paraloom.core.beads import Bead
from paraloom.report.markup import Html, Part, element

# Characters that a line of a column has, and the height of a block's edges, in lines.
_LINE, _EDGES = 68, 0.95


def rows(beads: Sequence[Bead], sources: int, targets: int) -> list[Bead]:
    """The beads in reading order, and a bead of one sentence for each that is in none.

    Those with sentences of both sides stand in the order of the source; those of one side stand before the bead that
    has the next sentence of their side.

    >>> [(bead.source, bead.target) for bead in rows([Bead((0,), (1,)), Bead((), (0,))], 2, 2)]
    [((), (0,)), ((0,), (1,)), ((1,), ())]
    """
    known = [{place for bead in beads for place in bead.source}, {place for bead in beads for place in bead.target}]
    joined = sorted((bead for bead in beads if bead.source and bead.target), key=lambda bead: bead.source)
    ours = [bead for bead in beads if bead.source and not bead.target]
    theirs = [bead for bead in beads if bead.target and not bead.source]
    ours += [Bead((place,), ()) for place in range(sources) if place not in known[0]]
    theirs += [Bead((), (place,)) for place in range(targets) if place not in known[1]]
    ours.sort(key=lambda bead: bead.source, reverse=True)
    theirs.sort(key=lambda bead: bead.target, reverse=True)
    ordered: list[Bead] = []
    for bead in joined:
        while ours and ours[-1].source < bead.source:
            ordered.append(ours.pop())
        while theirs and theirs[-1].target < bead.target:
            ordered.append(theirs.pop())
        ordered.append(bead)
    return [*ordered, *reversed(ours), *reversed(theirs)]


def heights(texts: Sequence[str]) -> list[float]:
    """How high the blocks of one side of a bead are, each against the others, in lines of text.

    The style sheet gives the blocks these shares of their bead, so that threads meet their middles at any width.

    >>> heights(["short", "word " * 40])
    [1.95, 3.95]
    """
    return [round(-(-_width(text) // _LINE) + _EDGES, 2) for text in texts]


def threads(ours: Sequence[float], theirs: Sequence[float]) -> Html:
    """The curves of one bead, stretched over its row: straight for 1:1, through a knot for more, an end for none.

    ours, theirs: heights of the blocks on either side.
    """
    left, right = _middles(ours), _middles(theirs)
    paths: list[Part]
    if not left or not right:
        inner, outer = (24, 0) if left else (76, 100)
        ends = left or right
        paths = [[_path(f"M{outer} {_f(y)}H{inner}", "thread loose") for y in ends]]
        paths.append([_path(f"M{inner} {_f(y)}v0.01", "knot loose") for y in ends])
    elif len(left) == len(right) == 1:
        paths = [_path("M0 50H100", "thread")]
    else:
        paths = [[_path(_bend(x, y), "thread") for y in ends] for x, ends in ((0, left), (100, right))]
        paths.append(_path("M50 50v0.01", "knot"))
    return element(
        "svg", paths, viewBox="0 0 100 100", preserveAspectRatio="none", aria_hidden="true", focusable="false"
    )


def _middles(shares: Sequence[float]) -> list[float]:
    """The middle of each block, 0 at the top to 100 at the bottom."""
    total, above, found = sum(shares), 0.0, []
    for share in shares:
        found.append(100 * (above + share / 2) / total)
        above += share
    return found


def _bend(x: int, y: float) -> str:
    if abs(y - 50) < 0.1:
        return f"M{x} 50H50"
    # Level where it leaves the block and where it reaches the knot.
    return f"M{x} {_f(y)}C{(x + 50) // 2} {_f(y)} {(x + 50) // 2} 50 50 50"


def _path(d: str, kind: str) -> Html:
    return element("path", d=d, class_=kind, vector_effect="non-scaling-stroke")


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _f(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
