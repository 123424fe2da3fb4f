"""Which of the candidate pairs are pairs, how sure they are, and the topics that documents share."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_documents import documents, made_up_world

from paraloom.align.assignment import ASSIGNMENTS, assign, margins
from paraloom.align.candidates import Candidates
from paraloom.align.evidence import topic_cosines
from paraloom.align.topics import topic_vectors
from paraloom.core.errors import ConfigError, MissingExtraError
from paraloom.text.tokens import tokenize


def scored(table: list[list[float | None]]) -> tuple[Candidates, np.ndarray, tuple[int, int]]:
    """Candidates from a row a source; None is no candidate."""
    cells = [(i, j, score) for i, row in enumerate(table) for j, score in enumerate(row) if score is not None]
    pairs = Candidates(np.array([i for i, _, _ in cells], np.int64), np.array([j for _, j, _ in cells], np.int64))
    return pairs, np.array([score for *_, score in cells]), (len(table), len(table[0]) if table else 0)


def chosen_from(table: list[list[float | None]], how: str) -> list[tuple[int, int]]:
    pairs, scores, sizes = scored(table)
    chosen = assign(pairs, scores, sizes, how)
    assert chosen.dtype == np.int64
    return list(zip(pairs.sources[chosen].tolist(), pairs.targets[chosen].tolist(), strict=True))


CASES: list[tuple[list[list[float | None]], dict[str, list[tuple[int, int]]]]] = [
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
def test_pairs_are_chosen_as_by_hand(
    table: list[list[float | None]], expected: dict[str, list[tuple[int, int]]]
) -> None:
    assert {how: chosen_from(table, how) for how in ASSIGNMENTS} == expected


def test_whoever_has_no_counterpart_pushes_nobody_out() -> None:
    """Source 2 is a little like everything: the highest sum would give it target 1, and source 1 to target 0."""
    table: list[list[float | None]] = [[0.9, 0.2, 0.3], [0.3, 0.8, 0.2], [0.35, 0.5, 0.1], [0.4, 0.4, 0.4]]
    found = chosen_from(table, "one-to-one")
    assert {(0, 0), (1, 1)} <= set(found)


def test_another_way_to_choose_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'mutual'"):
        assign(*scored([[0.5]]), how="mutal")


def test_margins_by_hand() -> None:
    """(0, 0): its rivals are (0, 1) with 0.4 and (1, 0) with 0.6; (2, 2) has none; (3, 0) loses to (0, 0)."""
    table: list[list[float | None]] = [[0.9, 0.4, None], [0.6, 0.5, None], [None, None, 0.3], [0.8, None, None]]
    pairs, scores, sizes = scored(table)
    cells = list(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True))
    chosen = np.array([cells.index(cell) for cell in ((0, 0), (1, 1), (2, 2), (3, 0))])
    found = margins(pairs, scores, chosen, sizes)
    assert found.tolist() == pytest.approx([0.9 - (0.4 + 0.8) / 2, 0.5 - (0.6 + 0.4) / 2, 0.3, 0.8 - (0 + 0.9) / 2])
    assert margins(pairs, scores, np.empty(0, np.int64), sizes).tolist() == []


tables = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.none() | st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), min_size=columns, max_size=columns),
        min_size=1,
        max_size=5,
    )
)


def worth(table: list[list[float | None]], cells: list[tuple[int, int]]) -> float:
    """How far the cells are ahead of what their documents are like otherwise, as assign's docstring has it."""
    columns = list(zip(*table, strict=True))
    total = 0.0
    for i, j in cells:
        usual = [sorted((s for s in side if s is not None), reverse=True)[:2] for side in (table[i], columns[j])]
        ahead = (table[i][j] or 0.0) - sum(sum(each) / len(each) for each in usual) / 2
        total += max(ahead + 0.3, 0.0) + 1e-6
    return total


@settings(deadline=None, max_examples=150)
@given(tables)
def test_assignments_keep_what_they_promise(table: list[list[float | None]]) -> None:
    listed = {(i, j): score for i, row in enumerate(table) for j, score in enumerate(row) if score is not None}
    best, mutual, single = (chosen_from(table, how) for how in ("best", "mutual", "one-to-one"))
    assert set(best) | set(mutual) | set(single) <= set(listed)
    assert [i for i, _ in best] == [i for i, row in enumerate(table) if any(score is not None for score in row)]
    assert all(listed[i, j] == max(score for score in table[i] if score is not None) for i, j in best)
    for i, j in mutual:
        rivals = [score for (a, b), score in listed.items() if a == i or b == j]
        assert listed[i, j] == max(rivals)
    for cells in (mutual, single):
        assert len({i for i, _ in cells}) == len({j for _, j in cells}) == len(cells)
    options = [[None, *(j for j, score in enumerate(row) if score is not None)] for row in table]
    tried = (
        [(i, j) for i, j in enumerate(each) if j is not None]
        for each in itertools.product(*options)
        if len({j for j in each if j is not None}) == sum(j is not None for j in each)
    )
    assert worth(table, single) == pytest.approx(max(worth(table, cells) for cells in tried), abs=1e-7)


@settings(deadline=None, max_examples=50)
@given(tables)
def test_the_margin_of_a_pair_is_its_score_less_half_of_both_rivals(table: list[list[float | None]]) -> None:
    pairs, scores, sizes = scored(table)
    for place, found in enumerate(margins(pairs, scores, np.arange(len(scores)), sizes)):
        i, j = int(pairs.sources[place]), int(pairs.targets[place])
        rivals = [
            max((score for a, score in enumerate(side) if a != own and score is not None), default=0.0)
            for side, own in ((table[i], j), ([row[j] for row in table], i))
        ]
        assert found == pytest.approx(scores[place] - sum(rivals) / 2)


def test_topics_are_shares_and_the_same_for_the_same_seed() -> None:
    pytest.importorskip("tomotopy", reason="topics need tomotopy: pip install 'paraloom[topics]'")
    world = made_up_world()
    sides = [tokenize([*(page.translation for page in world.source), ""]), tokenize([page.text for page in world.target])]
    first, again, other = (topic_vectors(sides, topics=10, passes=45, seed=seed) for seed in (3, 3, 4))
    assert [each.shape for each in first] == [(61, 10), (60, 10)]
    assert all(each.dtype == np.float32 for each in first)
    assert np.concatenate(first).sum(axis=1) == pytest.approx(np.ones(121), abs=1e-4)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert not (first[0] == other[0]).all()
    assert first[0][60] == pytest.approx(np.full(10, 0.1))


@pytest.mark.parametrize("texts", [[], [""], ["a b", "c"], ["a"] * 40, ["a b c d e f " * 50] * 5])
def test_too_few_words_for_topics_give_all_of_them_alike(texts: list[str]) -> None:
    pytest.importorskip("tomotopy", reason="topics need tomotopy: pip install 'paraloom[topics]'")
    found = topic_vectors([tokenize(texts), tokenize(["z"])], topics=4)
    assert [each.shape for each in found] == [(len(texts), 4), (1, 4)]
    assert (np.concatenate(found) == 0.25).all()


def test_topics_compare_in_the_language_that_there_is_a_translation_to() -> None:
    pytest.importorskip("tomotopy", reason="topics need tomotopy: pip install 'paraloom[topics]'")
    world = made_up_world(30, 0, 0)
    kal = documents([page.text for page in world.source], [page.translation for page in world.source])
    english = documents([page.text for page in world.target])
    places = {page.name: place for place, page in enumerate(world.target)}
    true = dict(world.gold)
    right = np.array([places[true[page.name]] for page in world.source])
    for source, target, sides in ((kal, english, (np.arange(30), right)), (english, kal, (right, np.arange(30)))):
        good = topic_cosines(source, target, (None, None), Candidates(*sides), 1)
        bad = topic_cosines(source, target, (None, None), Candidates(sides[0], np.roll(sides[1], 1)), 1)
        assert good.mean() > bad.mean() + 0.2


def test_topics_without_tomotopy_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    with pytest.raises(MissingExtraError, match=r"paraloom\[topics\]"):
        topic_vectors([tokenize(["a"])])
