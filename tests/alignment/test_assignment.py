"""Choice of document pairs among candidates, and their margins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraloom.alignment.assignment import ASSIGNMENTS, assign, margins
from paraloom.alignment.candidates import CandidatePairs
from paraloom.core.errors import ConfigError

Table = list[list[float | None]]
"""Scores, a row for each source; None is not a candidate."""


def candidates(table: Table) -> tuple[CandidatePairs, np.ndarray, tuple[int, int]]:
    cells = [(i, j, score) for i, row in enumerate(table) for j, score in enumerate(row) if score is not None]
    pairs = CandidatePairs(np.array([i for i, _, _ in cells], np.int64), np.array([j for _, j, _ in cells], np.int64))
    return pairs, np.array([score for *_, score in cells]), (len(table), len(table[0]) if table else 0)


def assigned(table: Table, method: str) -> list[tuple[int, int]]:
    pairs, scores, sizes = candidates(table)
    chosen = assign(pairs, scores, sizes, method)
    assert chosen.dtype == np.int64
    return list(zip(pairs.sources[chosen].tolist(), pairs.targets[chosen].tolist(), strict=True))


CASES: list[tuple[Table, dict[str, list[tuple[int, int]]]]] = [
    (
        [[0.9, 0.1, None], [0.8, 0.7, None], [None, None, None]],
        {"best": [(0, 0), (1, 0)], "mutual": [(0, 0)], "one-to-one": [(0, 0), (1, 1)]},
    ),
    (
        [[0.9, 0.8], [0.85, 0.1]],
        {"best": [(0, 0), (1, 0)], "mutual": [(0, 0)], "one-to-one": [(0, 1), (1, 0)]},
    ),
    (
        [[0.5, 0.5], [0.5, 0.5]],
        {"best": [(0, 0), (1, 0)], "mutual": [(0, 0)], "one-to-one": [(0, 0), (1, 1)]},
    ),
    ([[None, 0.2]], {"best": [(0, 1)], "mutual": [(0, 1)], "one-to-one": [(0, 1)]}),
    ([[None], [None]], {"best": [], "mutual": [], "one-to-one": []}),
    ([], {"best": [], "mutual": [], "one-to-one": []}),
]


@pytest.mark.parametrize(("table", "expected"), CASES)
def test_assignments_by_hand(table: Table, expected: dict[str, list[tuple[int, int]]]) -> None:
    assert {method: assigned(table, method) for method in ASSIGNMENTS} == expected


def test_a_document_without_a_counterpart_displaces_no_other() -> None:
    """Source 2 is a little like everything: the highest sum would give it target 1, and source 1 to target 0."""
    table: Table = [[0.9, 0.2, 0.3], [0.3, 0.8, 0.2], [0.35, 0.5, 0.1], [0.4, 0.4, 0.4]]
    assert {(0, 0), (1, 1)} <= set(assigned(table, "one-to-one"))


def test_an_unknown_assignment_is_an_error() -> None:
    with pytest.raises(ConfigError, match="unknown assignment 'mutal'; did you mean 'mutual'"):
        assign(*candidates([[0.5]]), method="mutal")


def test_margins_by_hand() -> None:
    """(0, 0): its rivals are (0, 1) with 0.4 and (1, 0) with 0.6; (2, 2) has none; (3, 0) loses to (0, 0)."""
    table: Table = [[0.9, 0.4, None], [0.6, 0.5, None], [None, None, 0.3], [0.8, None, None]]
    pairs, scores, sizes = candidates(table)
    cells = list(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True))
    chosen = np.array([cells.index(cell) for cell in ((0, 0), (1, 1), (2, 2), (3, 0))])
    expected = [0.9 - (0.4 + 0.8) / 2, 0.5 - (0.6 + 0.4) / 2, 0.3, 0.8 - (0 + 0.9) / 2]
    assert margins(pairs, scores, chosen, sizes).tolist() == pytest.approx(expected)
    assert margins(pairs, scores, np.empty(0, np.int64), sizes).tolist() == []


tables = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.none() | st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), min_size=columns, max_size=columns),
        min_size=1,
        max_size=5,
    )
)


def worth(table: Table, cells: list[tuple[int, int]]) -> float:
    """What the one-to-one assignment maximizes: scores less the usual scores of their documents."""
    columns = list(zip(*table, strict=True))
    total = 0.0
    for i, j in cells:
        usual = [sorted((s for s in side if s is not None), reverse=True)[:2] for side in (table[i], columns[j])]
        excess = (table[i][j] or 0.0) - sum(sum(side) / len(side) for side in usual) / 2
        total += max(excess + 0.3, 0.0) + 1e-6
    return total


@settings(deadline=None, max_examples=150)
@given(tables)
def test_assignments_have_their_properties(table: Table) -> None:
    scores = {(i, j): score for i, row in enumerate(table) for j, score in enumerate(row) if score is not None}
    best, mutual, single = (assigned(table, method) for method in ("best", "mutual", "one-to-one"))
    assert set(best) | set(mutual) | set(single) <= set(scores)
    assert [i for i, _ in best] == [i for i, row in enumerate(table) if any(score is not None for score in row)]
    assert all(scores[i, j] == max(score for score in table[i] if score is not None) for i, j in best)
    for i, j in mutual:
        rivals = [score for (a, b), score in scores.items() if a == i or b == j]
        assert scores[i, j] == max(rivals)
    for cells in (mutual, single):
        assert len({i for i, _ in cells}) == len({j for _, j in cells}) == len(cells)
    options = [[None, *(j for j, score in enumerate(row) if score is not None)] for row in table]
    assignments = (
        [(i, j) for i, j in enumerate(targets) if j is not None]
        for targets in itertools.product(*options)
        if len({j for j in targets if j is not None}) == sum(j is not None for j in targets)
    )
    assert worth(table, single) == pytest.approx(max(worth(table, cells) for cells in assignments), abs=1e-7)


@settings(deadline=None, max_examples=50)
@given(tables)
def test_a_margin_is_the_score_less_the_mean_of_both_rivals(table: Table) -> None:
    pairs, scores, sizes = candidates(table)
    for index, margin in enumerate(margins(pairs, scores, np.arange(len(scores)), sizes)):
        i, j = int(pairs.sources[index]), int(pairs.targets[index])
        rivals = [
            max((score for a, score in enumerate(side) if a != own and score is not None), default=0.0)
            for side, own in ((table[i], j), ([row[j] for row in table], i))
        ]
        assert margin == pytest.approx(scores[index] - sum(rivals) / 2)
