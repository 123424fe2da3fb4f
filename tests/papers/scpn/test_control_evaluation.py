"""Figures of syntactic control, by hand."""

from __future__ import annotations

import pytest

from paraloom.core.stats import wilson_interval
from paraloom.papers.scpn.control_evaluation import ControlResult, control_signature, evaluate_control

PLAIN, FRONTED = "(S (NP) (VP))", "(S (ADVP) (NP) (VP))"
PLAIN_TREE = "(S (NP (PRP It)) (VP (VBZ rains)))"
FRONTED_TREE = "(S (ADVP (RB Now)) (NP (PRP it)) (VP (VBZ rains)))"


def test_by_hand() -> None:
    row = evaluate_control(
        "ours",
        [PLAIN, FRONTED, PLAIN, PLAIN],
        [PLAIN_TREE, PLAIN_TREE, "(NP (NN rain))", None],
        height=2,
        sources=["It rains", "Now it rains.", "x", "y"],
        outputs=["it  rains.", "It rains.", "Rain", ""],
        similarities=[1.0, 0.5, 0.0, 0.5],
    )
    # Distances: 0; one node is inserted; (NP (NN)) to (S (NP) (VP)) is two labels and one node.
    assert (row.exact, row.distance, row.parsed) == (1 / 4, (0 + 1 + 3) / 3, 3 / 4)
    assert row.interval == wilson_interval(1, 4)
    assert (row.copies, row.meaning, row.n) == (1 / 4, 0.5, 4)
    assert row.distance_interval is not None and 0 <= row.distance_interval[0] < 4 / 3 < row.distance_interval[1] <= 3


def test_heights_differ() -> None:
    deep = "(S (NP (PRP)) (VP (VBZ)))"
    same = {"sources": ["a"], "outputs": ["b"]}
    assert evaluate_control("x", [deep], [PLAIN_TREE], height=3, **same).exact == 1  # type: ignore[arg-type]
    other = evaluate_control("x", [deep], ["(S (NP (NN It)) (VP (VBZ rains)))"], height=3, **same)  # type: ignore[arg-type]
    assert (other.exact, other.distance) == (0, 1)


def test_nothing_parsed() -> None:
    row = evaluate_control("x", [PLAIN], [None], height=2, sources=["a"], outputs=["b"], valid=0.5)
    assert (row.exact, row.distance, row.parsed, row.meaning) == (0, None, 0, None)
    assert (row.distance_interval, row.meaning_interval, row.valid) == (None, None, 0.5)
    with pytest.raises(ValueError, match="no sentences"):
        evaluate_control("x", [], [], height=2, sources=[], outputs=[])


def test_the_table() -> None:
    row = evaluate_control("ours", [FRONTED], [FRONTED_TREE], height=2, sources=["a"], outputs=["b"], similarities=[1])
    result = ControlResult((row,), control_signature("parser|x", (2, 3), 1))
    lines = result.format().splitlines()
    cells = lines[1].replace(" to ", "–").split()
    assert cells[:4] == ["ours", "2", "100.0%", "20.7–100.0"]
    assert cells[4:] == ["0.00", "0.00–0.00", "100.0%", "0.0%", "1.000", "1.000–1.000"]
    assert lines[2].startswith("control|heights:2+3|distance:zhang-shasha|pairs:all|seed:1|parser:[parser|x]|")
    assert result.to_dict()["rows"][0]["exact"] == 1
