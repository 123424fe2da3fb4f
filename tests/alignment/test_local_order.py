"""Texts that are only locally parallel: moved and dropped passages, walls, and the parts that make an alignment."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from paraloom.alignment import long_gaps as long_gaps_module
from paraloom.alignment import prepared_pairs as prepared_pairs_module
from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.assignment import ranks_of
from paraloom.alignment.local_order import heaviest_stretch
from paraloom.alignment.local_parts import OrderedPart, Walls, merge, restrict
from paraloom.alignment.long_gaps import long_gaps, with_gaps
from paraloom.alignment.search import Alignment, Band, LogPriors, best_alignment, full_band
from paraloom.alignment.sentences import align_pair, fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead, check_beads
from paraloom.core.errors import ConfigError

LOCAL = AlignerConfig(order="local")


def sentences(count: int, seed: int = 1) -> list[str]:
    """Sentences of invented words, each of which occurs once: whoever copies a sentence has its words."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return [" ".join("".join(rng.choice(letters, 7)) for _ in range(rng.integers(4, 12))) for _ in range(count)]


def links(beads: list[Bead]) -> set[tuple[int, int]]:
    return {(i, j) for bead in beads for i in bead.source for j in bead.target}


@pytest.mark.parametrize("config", [LOCAL, AlignerConfig()])
def test_texts_in_the_same_order_are_aligned_in_order(config: AlignerConfig) -> None:
    text = sentences(30)
    assert [(bead.source, bead.target) for bead in align_pair(TextPair(text, text), config)] == [
        ((k,), (k,)) for k in range(30)
    ]


def test_two_swapped_halves_are_aligned_across() -> None:
    text = sentences(40)
    beads = align_pair(TextPair(text, text[18:] + text[:18]), LOCAL)
    assert links(beads) == {(k, (k - 18) % 40) for k in range(40)}
    assert [bead.source for bead in beads] == [(k,) for k in range(40)]  # in the order of the source
    strict = links(align_pair(TextPair(text, text[18:] + text[:18])))
    assert strict == {(k, k - 18) for k in range(18, 40)}


def test_a_moved_passage_and_a_dropped_one() -> None:
    text = sentences(60)
    kept = [*range(10), *range(16, 44), *range(10, 16), *range(50, 60)]  # 10 to 15 moved, 44 to 49 dropped
    beads = align_pair(TextPair(text, [text[k] for k in kept]), LOCAL)
    assert links(beads) == {(k, index) for index, k in enumerate(kept)}
    assert {bead.source for bead in beads if not bead.target} == {(k,) for k in range(44, 50)}
    check_beads(beads, 60, len(kept))


def test_a_passage_moved_on_both_sides_of_a_bead_of_two() -> None:
    """The moved passage has beads of several sentences, too."""
    text = sentences(50)
    order = [*range(20), *range(30, 45), *range(20, 30), *range(45, 50)]
    target = [text[k] for k in order]
    at = order.index(24)
    target[at : at + 2] = [f"{target[at]} {target[at + 1]}"]
    beads = align_pair(TextPair(text, target), LOCAL)
    assert Bead((24, 25), (at,)) in [bead._replace(score=0.0) for bead in beads]
    assert sum(len(bead.source) for bead in beads) == 50
    assert all(bead.source and bead.target for bead in beads)


def test_texts_with_nothing_in_common_cross_nowhere() -> None:
    beads = align_pair(TextPair(sentences(25, seed=2), sentences(30, seed=3)), LOCAL)
    check_beads(beads, 25, 30)
    assert sum(len(bead.source) for bead in beads) == 25 and sum(len(bead.target) for bead in beads) == 30
    both = [bead for bead in beads if bead.source and bead.target]
    assert all(a.source < b.source and a.target < b.target for a, b in pairwise(both))


@pytest.mark.parametrize(("source", "target"), [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_texts_of_few_sentences(source: int, target: int) -> None:
    text = sentences(3)
    beads = align_pair(TextPair(text[:source], text[:target]), LOCAL)
    check_beads(beads, source, target)
    assert sum(len(bead.source) + len(bead.target) for bead in beads) == source + target


def test_a_fitted_aligner_finds_moved_passages_of_other_texts() -> None:
    text = sentences(60)
    aligner = fit_aligner([TextPair(text, text)], LOCAL)
    other = sentences(40, seed=4)
    beads = aligner.align(TextPair(other, other[25:] + other[:25]))
    assert links(beads) == {(k, (k - 25) % 40) for k in range(40)}


def test_embeddings_find_a_moved_passage_that_few_words_show() -> None:
    rng = np.random.default_rng(5)
    meanings = rng.normal(size=(40, 16)).astype(np.float32)
    order = [*range(12), *range(20, 40), *range(12, 20)]
    source = [f"aa{chr(97 + k % 26)}{k // 26} name{k // 4}" for k in range(40)]
    target = [f"zz{chr(97 + k % 26)}{k // 26} name{k // 4}" for k in order]
    beads = align_pair(TextPair(source, target, embeddings=(meanings, meanings[order])), LOCAL)
    assert links(beads) == {(k, index) for index, k in enumerate(order)}


def test_walls_are_where_sentences_were_taken_out() -> None:
    """Without a wall, the two sentences on either side of each gap would be one bead."""
    source, target = np.array([0, 1, 5, 6]), np.array([2, 3, 4])
    scores = np.zeros((5, 3, 3, 4), np.float32)
    Walls(source, target).add(0, 5, full_band(4, 3), scores)
    for i in range(4):
        for a in range(min(3, 4 - i)):
            crosses = i <= 1 < i + a
            assert ((scores[i, a] < 0) == crosses).all()
    scores = np.zeros((4, 3, 3, 5), np.float32)
    Walls(target, source).add(0, 4, Band(np.zeros(4, np.int64), 5, 3, 4), scores)
    for j in range(4):
        for b in range(min(3, 4 - j)):
            assert ((scores[:, :, b, j] < 0) == (j <= 1 < j + b)).all()


def test_the_search_puts_no_bead_across_a_wall() -> None:
    class Large:
        """Prefers beads of two sentences."""

        def add(self, first: int, rows: int, band: Band, out: np.ndarray) -> None:
            out[:, 1, 1] += 9.0

    kinds = np.full((3, 3), -1.0)
    walls = Walls(np.array([0, 2, 3, 4]), np.array([0, 1, 2, 3]))
    alignment = best_alignment(
        [Large(), walls], LogPriors(kinds, (-1.0, -1.0)), 4, 4, lambda radius: full_band(4, 4), 1
    )
    starts = [(int(i), int(a)) for i, a, _, _ in alignment.beads if a == 2]
    assert (0, 2) not in starts and len(starts) == 1


def part(rows: tuple[list[int], list[int]], beads: list[list[int]]) -> OrderedPart:
    return OrderedPart(
        (np.array(rows[0], np.int64), np.array(rows[1], np.int64)),
        Alignment(np.array(beads, np.int64), np.arange(len(beads), dtype=np.float32)),
    )


def test_merged_beads_are_in_the_order_of_the_source() -> None:
    """Source 2 and 3 are target 0; source 0 is target 2, source 1 and targets 1 and 3 have no counterpart."""
    remainder = part(([0, 1], [1, 2, 3]), [[0, 0, 0, 1], [0, 1, 1, 1], [1, 1, 2, 0], [2, 0, 2, 1]])
    moved = part(([2, 3], [0]), [[0, 2, 0, 1]])
    merged = merge([remainder, moved], remainder.alignment)
    assert [(int(i), int(a), int(j), int(b)) for i, a, j, b in merged.beads if a and b] == [(0, 1, 2, 1), (2, 2, 0, 1)]
    sides = [(bead[1] > 0, bead[3] > 0, int(bead[0]) if bead[1] else int(bead[2])) for bead in merged.beads.tolist()]
    # Target 3 follows target 2; target 1 follows target 0.
    assert sides == [(True, True, 0), (False, True, 3), (True, False, 1), (True, True, 2), (False, True, 1)]
    assert sorted(merged.gains.tolist()) == [0.0, 0.0, 1.0, 2.0, 3.0]


def test_restricted_beads_are_by_position_among_the_rows_that_remain() -> None:
    whole = part((list(range(5)), list(range(5))), [[0, 1, 0, 1], [1, 2, 1, 1], [3, 1, 2, 2], [4, 1, 4, 1]])
    near = restrict(whole, (np.array([0, 1, 3, 4]), np.array([0, 1, 2, 3, 4])))
    # The second bead lost a sentence; the last one marks the ends of both texts.
    assert near.beads.tolist() == [[0, 1, 0, 1], [2, 1, 2, 2], [3, 1, 4, 1], [4, 0, 5, 0]]


def test_the_heaviest_stretch_is_empty_where_nothing_is_gained() -> None:
    start, end, score = heaviest_stretch(np.array([-1.0, -2.0]))
    assert start == end and score == 0.0
    assert heaviest_stretch(np.array([2.0, -3.0, 1.0, 1.5])) == (2, 4, 2.5)


def test_ranks_are_those_in_a_group() -> None:
    groups, scores = np.array([1, 0, 1, 1, 0, 1]), np.array([0.1, 5.0, 0.3, 0.2, 7.0, 0.3])
    assert ranks_of(scores, groups).tolist() == [3, 1, 0, 2, 0, 1]
    assert not len(ranks_of(np.array([]), np.array([], np.int64)))


@pytest.mark.parametrize("order", ["strict", "local"])
def test_a_long_gap_of_the_target_is_left_out_of_the_search(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The band would be as wide as the gap: the search of a text of 100,000 lines would not fit in memory."""
    widths = []

    def searched(evidence: object, priors: object, sources: int, targets: int, *rest: object) -> Alignment:
        widths.append(targets)
        return best_alignment(evidence, priors, sources, targets, *rest)

    monkeypatch.setattr(prepared_pairs_module, "best_alignment", searched)
    monkeypatch.setattr(long_gaps_module, "LONG_GAP", 150)
    source, between = sentences(60), sentences(300, seed=6)
    target = [*source[:25], *between, *source[25:]]
    beads = align_pair(TextPair(source, target), AlignerConfig(order=order))
    assert links(beads) == {(k, k if k < 25 else k + 300) for k in range(60)}
    assert [j for bead in beads if not bead.source for j in bead.target] == list(range(25, 325))
    assert [j for bead in beads for j in bead.target] == list(range(360))
    assert max(widths) < 360 - 150


def test_the_middle_of_a_long_gap() -> None:
    path = np.array([0.0, 1.0, 2.0, 60.0, 61.0])
    assert long_gaps(path, margin=4, limit=50).tolist() == list(range(6, 56))
    assert not len(long_gaps(path, margin=4, limit=59)) and not len(long_gaps(path, margin=30, limit=50))
    steep = np.arange(100) * 12.0  # a target twelve times as long has none
    assert not len(long_gaps(steep, margin=4, limit=50))


def test_gaps_are_beads_where_they_belong() -> None:
    """Source 0 is target 0, source 1 has no counterpart, source 2 is target 4; targets 1 to 3 are the gap."""
    priors = LogPriors(np.zeros((2, 2)), (-1.0, -2.0))
    remainder = part(([0, 1, 2], [0, 4]), [[0, 1, 0, 1], [1, 1, 1, 0], [2, 1, 1, 1]])
    alignment = with_gaps(remainder, np.array([1, 2, 3]), priors)
    assert alignment.beads.tolist() == [
        *([0, 1, 0, 1], [1, 0, 1, 1], [1, 0, 2, 1], [1, 0, 3, 1]),
        *([1, 1, 4, 0], [2, 1, 4, 1]),
    ]
    assert alignment.gains.tolist() == [0.0, -2.0, -2.0, -2.0, 1.0, 2.0]


def test_an_unknown_order_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"unknown order 'locl'; did you mean 'local'\?"):
        align_pair(TextPair(["a"], ["b"]), AlignerConfig(order="locl"))
