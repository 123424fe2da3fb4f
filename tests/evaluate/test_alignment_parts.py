"""One alignment cut at hard delimiters: parts, beads that cross, and where delimiters are missing."""

from __future__ import annotations

import pytest

from paraloom.core.beads import Bead
from paraloom.evaluate.alignment import AlignmentScore, DocumentSpan, cut_beads, find_divergence, find_parts

SOURCES = find_parts(["a", "b", "#", "c", "d"], "#")
TARGETS = find_parts(["x", "#", "y", "z", "#"], "#")


def sides(beads: list[Bead]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [bead[:2] for bead in beads]


def test_parts_leave_delimiters_out() -> None:
    assert find_parts(["a", "b", "#", "c", "d"], "#") == [DocumentSpan(0, 2), DocumentSpan(3, 5)]
    assert find_parts(["x", "#", "y", "z", "#"], "#") == [DocumentSpan(0, 1), DocumentSpan(2, 4)]
    assert find_parts(["#", "", "a"], "") == [DocumentSpan(0, 1), DocumentSpan(2, 3)]
    assert find_parts(["#", "#", "a"], "#") == [DocumentSpan(0, 0), DocumentSpan(1, 1), DocumentSpan(2, 3)]
    assert find_parts([], "#") == [DocumentSpan(0, 0)]


def test_beads_get_the_indices_of_their_document() -> None:
    beads = [
        Bead((0, 1), (0,), 0.5),
        Bead((2,), (1,)),
        Bead((3,), (2,)),
        Bead((), (3,)),
        Bead((4,), ()),
        Bead((), (4,)),
    ]
    cut = cut_beads(beads, SOURCES, TARGETS)
    assert [sides(part) for part in cut.parts] == [[((0, 1), (0,))], [((0,), (0,)), ((), (1,)), ((1,), ())]]
    assert cut.parts[0][0].score == 0.5 and cut.crossing == 0


def test_delimiters_are_left_out_of_beads() -> None:
    cut = cut_beads([Bead((1, 2), (0, 1)), Bead((2, 3), (1,))], SOURCES, TARGETS)
    assert [sides(part) for part in cut.parts] == [[((1,), (0,))], [((0,), ())]]
    assert cut.crossing == 0


def test_a_bead_that_crosses_is_wrong_in_each_document_even_if_its_parts_are_right() -> None:
    """Each document loses what it would lose if the bead were cut out of it; nothing equals a gold bead."""
    gold = [[Bead((0,), ()), Bead((1,), (0,))], [Bead((0,), (0,)), Bead((1,), (1,))]]
    beads = [Bead((0,), ()), Bead((1, 2, 3), (0, 1, 2)), Bead((4,), (3,))]
    cut = cut_beads(beads, SOURCES, TARGETS)
    assert cut.crossing == 1
    scores = [AlignmentScore(), AlignmentScore()]
    for score, true, part in zip(scores, gold, cut.parts, strict=True):
        score.add(true, part)
    assert scores[0].strict[:2] == (1 / 2, 0.0) and scores[0].lax[:2] == (1.0, 1.0)
    assert scores[1].strict[:2] == (1 / 2, 1 / 2) and scores[1].lax[:2] == (1.0, 1.0)
    # A link between two documents is not a link within either.
    crossed = cut_beads([Bead((0,), (2,)), Bead((3,), (0,))], SOURCES, TARGETS)
    for true, part in zip(gold, crossed.parts, strict=True):
        score = AlignmentScore()
        score.add(true, part)
        assert score.strict[:2] == score.lax[:2] == (0.0, 0.0)


@pytest.mark.parametrize(
    ("sizes", "expected", "index"),
    [
        ([30, 30], [10, 20, 30], 0),
        ([10, 50], [10, 20, 30], 1),
        ([11, 52], [10, 20, 30], 1),  # gold leaves some sentences out
        ([10, 20, 15, 15, 5], [10, 20, 30, 5], 2),
        ([65], [10, 20, 30, 5], 0),
        ([10, 55], [10, 20, 30, 5], 1),
        ([3, 7, 20], [30], 0),
        ([10, 20, 35], [10, 20, 30, 5], 2),
    ],
)
def test_divergence_is_where_sizes_before_and_after_fit(sizes: list[int], expected: list[int], index: int) -> None:
    assert find_divergence(sizes, expected) == index
