"""Sentence alignment: the search against an exhaustive one, the evidence against plain references, and real texts."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from toy_language import bitext

from paraloom.align.band import Band, band_along, path_of_anchors, path_of_lengths, whole_band
from paraloom.align.lengths import LengthMatch, habits_of, log_probabilities
from paraloom.align.lexical import Direction, WordMatch, background_of, bags_of
from paraloom.align.lexicon import lexicon_of
from paraloom.align.search import best_alignment
from paraloom.align.sentences import AlignerConfig, TextPair, align, beads_of, learn
from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.evaluate.alignment import AlignmentScore
from paraloom.text.tokens import TokenLists, token_hash, tokenize


class Table:
    """Evidence that is just numbers: one for each (i, a, j, b)."""

    def __init__(self, sources: int, targets: int, most: int, seed: int) -> None:
        self.scores = np.random.default_rng(seed).normal(size=(sources + 1, most, targets + 1, most)).astype(np.float32)

    def add(self, first: int, rows: int, band: Band, out: np.ndarray) -> None:
        for r in range(rows):
            low = band.lows[first + r]
            there = self.scores[first + r, :, low : low + band.width]
            out[r, :, :, : there.shape[1]] += there.transpose(0, 2, 1)


def exhaustive(table: Table, priors: np.ndarray, sources: int, targets: int) -> float:
    """The best total, by trying everything, from the end on."""
    most = len(priors) - 1
    best = {(sources, targets): 0.0}
    for i in range(sources, -1, -1):
        for j in range(targets, -1, -1):
            ways = [] if (i, j) != (sources, targets) else [0.0]
            if i < sources:
                ways.append(priors[1, 0] + best[i + 1, j])
            if j < targets:
                ways.append(priors[0, 1] + best[i, j + 1])
            for a in range(1, min(most, sources - i) + 1):
                for b in range(1, min(most, targets - j) + 1):
                    score = table.scores[i, a - 1, j, b - 1] + priors[a, b]
                    ways.append(score + best[i + a, j + b])
            best[i, j] = max(ways)
    return best[0, 0]


@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_what_trying_everything_finds(seed: int) -> None:
    rng = random.Random(seed)
    sources, targets, most = rng.randint(1, 7), rng.randint(1, 7), rng.randint(1, 4)
    table = Table(sources, targets, most, seed)
    priors = np.random.default_rng(seed + 100).normal(size=(most + 1, most + 1)) - 2
    found = best_alignment([table], priors, sources, targets, lambda radius: whole_band(sources, targets), 1)
    assert found.gains.sum() == pytest.approx(exhaustive(table, priors, sources, targets), abs=1e-4)
    ends = [(i + a, j + b) for i, a, j, b in found.beads.tolist()]
    starts = [(i, j) for i, _, j, _ in found.beads.tolist()]
    assert starts == [(0, 0), *ends[:-1]] and ends[-1] == (sources, targets)


def test_a_band_that_is_too_narrow_widens_until_it_holds_the_best_path() -> None:
    """The first half of the source has no counterpart at all: the best path lies far from the diagonal."""
    count = 400
    priors = np.log(np.array([[1e-9, 0.02], [0.02, 0.96]]))

    class Shifted:
        def add(self, first: int, rows: int, band: Band, out: np.ndarray) -> None:
            for r in range(rows):
                columns = band.lows[first + r] + np.arange(band.width)
                out[r, 0, 0] += np.where(columns == first + r - count // 2, 9.0, -9.0)

    path = np.linspace(0, count // 2, count + 1)
    found = best_alignment(
        [Shifted()], priors, count, count // 2, lambda radius: band_along(path, count // 2, radius, 8), 4
    )
    linked = [(i, j) for i, a, j, b in found.beads.tolist() if a and b]
    assert linked == [(i + count // 2, i) for i in range(count // 2)]


def direction(givers: TokenLists, receivers: TokenLists, shares: np.ndarray) -> Direction:
    return Direction([bags_of(givers)], givers.lengths, receivers, background_of([receivers]), shares)


def plain_gain(givers: list[str], receivers: list[str], background: dict[str, float], unexplained: float) -> float:
    """The docstring's formula over counted words: each is explained at most as often as the block has it."""
    given = Counter(word for text in givers for word in text.split())
    length = sum(len(text.split()) for text in givers)
    total = 0.0
    for word, count in Counter(word for text in receivers for word in text.split()).items():
        free = min(count, given[word])
        explained = math.log((1 - unexplained) * given[word] / length / background[word] + unexplained)
        total += free * explained + (count - free) * math.log(unexplained)
    return total


def test_word_evidence_is_the_plain_formula() -> None:
    rng = random.Random(3)
    source, target = ([" ".join(rng.choices("abcdefg", k=rng.randint(1, 6))) for _ in range(9)] for _ in range(2))
    lists = tokenize(source), tokenize(target)
    shares = np.array([0.3, 0.7])
    directions = [
        Direction(
            [bags_of(lists[side])], lists[side].lengths, lists[1 - side], background_of([lists[1 - side]]), shares
        )
        for side in (0, 1)
    ]
    band, most = whole_band(9, 9), 3
    scores = np.zeros((10, most, most, band.width), np.float32)
    WordMatch(directions[0], directions[1], 0.5).add(0, 10, band, scores)
    counts = [Counter(word for text in side for word in text.split()) for side in (source, target)]
    shown = [{word: n / (sum(each.values()) + 500) for word, n in each.items()} for each in counts]
    for i, a, j, b in [(0, 1, 0, 1), (2, 3, 4, 2), (6, 3, 6, 3), (8, 1, 0, 3), (3, 2, 8, 1)]:
        forward = plain_gain(source[i : i + a], target[j : j + b], shown[1], 0.3)
        backward = plain_gain(target[j : j + b], source[i : i + a], shown[0], 0.3)
        expected = 0.5 * 0.7 * (forward + backward)
        assert scores[i, a - 1, b - 1, j] == pytest.approx(expected, rel=1e-4), (i, a, j, b)


def test_evidence_in_a_band_is_what_it_is_without_one() -> None:
    pairs = bitext(60, seed=5)
    lists = tokenize([s for s, _ in pairs]), tokenize([t for _, t in pairs])
    shares = np.array([0.5, 0.5])
    directions = [
        Direction(
            [bags_of(lists[side])], lists[side].lengths, lists[1 - side], background_of([lists[1 - side]]), shares
        )
        for side in (0, 1)
    ]
    lengths = [np.array([len(text) for text in side], float) for side in zip(*pairs, strict=True)]
    evidence = [WordMatch(directions[0], directions[1], 1.0), LengthMatch(*lengths)]
    whole, band = whole_band(60, 60), band_along(np.arange(61.0), 60, 5, 8)
    everywhere = np.zeros((61, 2, 2, whole.width), np.float32)
    inside = np.zeros((61, 2, 2, band.width), np.float32)
    for each in evidence:
        each.add(0, 61, whole, everywhere)
        for first, rows in ((0, 17), (17, 44)):
            each.add(first, rows, band, inside[first : first + rows])
    for i in range(60):
        low = int(band.lows[i])
        for a in range(min(2, 60 - i)):
            for b in range(2):
                last = min(band.width, 60 - low - b)
                there = everywhere[i, a, b, low : low + last]
                assert np.allclose(inside[i, a, b, :last], there, atol=1e-3)


def test_lengths_are_gale_and_church_s() -> None:
    """Characters 10 (11 with the blank) against 20 (21), ratio 1: δ = 10 / √(16 × 6.8), 2 (1 − Φ(δ)) by the table."""
    scores = np.zeros((1, 1, 1, 2), np.float32)
    LengthMatch(np.array([10.0]), np.array([20.0]), ratio=1.0).add(0, 1, whole_band(1, 1), scores)
    deviation = 10 / math.sqrt(16 * 6.8)
    assert scores[0, 0, 0, 0] == pytest.approx(math.log(math.erfc(deviation / math.sqrt(2))), abs=0.02)


def test_anchors_make_the_heaviest_rising_chain() -> None:
    rows = np.array([0, 1, 2, 3, 4, 5, 6, 7])
    columns = np.array([0, 9, 2, 3, 1, 5, 6, 7])
    path = path_of_anchors([(rows, columns, np.ones(8))], 8, 10)
    assert path is not None
    assert path[3] == pytest.approx(3.0) and path[6] == pytest.approx(6.0) and path[8] == 10
    assert path_of_anchors([(rows[:2], columns[:2], np.ones(2))], 8, 10) is None
    assert path_of_lengths(np.ones(4), np.ones(8)).tolist() == [0, 2, 4, 6, 8]


def test_a_lexicon_gives_what_went_together_more_than_once() -> None:
    pairs = bitext(200, seed=2)
    lexicon = lexicon_of(tokenize([s for s, _ in pairs]), tokenize([t for _, t in pairs]))
    assert lexicon is not None
    bags = lexicon.bags(tokenize(["rako", "never", "mili rako"]))
    assert bags.offsets[1] == bags.offsets[2] and bags.sizes.tolist() == [1, 1, 2]
    first = dict(zip(bags.ids[: bags.offsets[1]].tolist(), bags.masses.tolist(), strict=False))
    assert first[token_hash("dog")] > 0.6 > 0.1 > first.get(token_hash("cat"), 0)
    assert lexicon_of(tokenize(["a b"]), tokenize(["c d"])) is None


def dated(count: int, seed: int) -> list[tuple[str, str]]:
    """Kal and English sentences, a third of them with a year that stands in both."""
    rng = random.Random(seed)
    years = [f" {rng.randint(1000, 2000)}" if rng.random() < 0.3 else "" for _ in range(count)]
    return [(s + year, t + year) for (s, t), year in zip(bitext(count, seed), years, strict=True)]


def cut(pairs: list[tuple[str, str]], seed: int) -> tuple[list[str], list[str], list[Bead]]:
    """Sentences joined and dropped at random, and the beads that are true then."""
    rng = random.Random(seed)
    source: list[str] = []
    target: list[str] = []
    gold = []
    at = 0
    while at < len(pairs):
        kind = rng.choices([(1, 1), (1, 2), (2, 1), (1, 0), (0, 1)], [80, 6, 6, 4, 4])[0]
        took = max(kind)
        part = pairs[at : at + took]
        at += took
        if kind[0]:
            texts = [s for s, _ in part]
            texts = [" ".join(texts)] if kind[0] == 1 else texts
            places = tuple(range(len(source), len(source) + len(texts)))
            source += texts
        else:
            places = ()
        if kind[1]:
            texts = [t for _, t in part]
            texts = [" ".join(texts)] if kind[1] == 1 else texts
            others = tuple(range(len(target), len(target) + len(texts)))
            target += texts
        else:
            others = ()
        gold.append(Bead(places, others))
    return source, target, gold


def score_of(gold: list[Bead], found: list[Bead]) -> AlignmentScore:
    score = AlignmentScore()
    score.add(gold, found)
    return score


def test_a_made_up_language_is_learned_from_the_text_alone() -> None:
    """Two dozen words that recur all the time, and years now and then: lengths alone find far less."""
    source, target, gold = cut(dated(600, seed=7), seed=7)
    ours = score_of(gold, align(TextPair(source, target), AlignerConfig(most=2))).strict.f1
    lengths = AlignerConfig(most=2, words=0, stems=0, lexicon=False, rounds=0)
    of_lengths = score_of(gold, align(TextPair(source, target), lengths)).strict.f1
    assert ours > 0.9 and ours > of_lengths + 0.2


def test_a_translation_is_used_whichever_side_it_is_of() -> None:
    source, target, gold = cut(bitext(150, seed=11), seed=11)
    english = dict(bitext(150, seed=11))
    translated = [english.get(text, "the") for text in source]
    config = AlignerConfig(most=2, rounds=1, lexicon=False)
    none = score_of(gold, align(TextPair(source, target), config)).strict.f1
    ahead = score_of(gold, align(TextPair(source, target, [translated]), config)).strict.f1
    mirrored = [Bead(bead.target, bead.source) for bead in gold]
    back = score_of(mirrored, align(TextPair(target, source, [], [translated]), config)).strict.f1
    assert min(ahead, back) > none + 0.3


def test_every_sentence_is_in_one_bead_whatever_the_texts_are() -> None:
    for source, target in (
        ([], ["a"]),
        (["a"], []),
        ([""], [""]),
        (["x"] * 40, ["x"]),
        (["the same"] * 30, ["the same"] * 35),
        (["a"], ["word " * 20_000]),
    ):
        beads = align(TextPair(source, target), AlignerConfig(rounds=2))
        assert [place for bead in beads for place in bead.source] == list(range(len(source)))
        assert [place for bead in beads for place in bead.target] == list(range(len(target)))
        assert all(math.isfinite(bead.score) for bead in beads)


def test_what_is_learned_from_some_texts_serves_others() -> None:
    source, target, _ = cut(dated(500, seed=21), seed=21)
    config = AlignerConfig(most=2)
    knowledge = learn([TextPair(source, target)], config)
    source, target, gold = cut(dated(40, seed=22), seed=22)
    alone = score_of(gold, align(TextPair(source, target), config)).strict.f1
    assert score_of(gold, beads_of(TextPair(source, target), knowledge, config)).strict.f1 >= max(alone, 0.85)


def test_a_translation_of_another_length_is_refused() -> None:
    with pytest.raises(DataError, match="the source has 2 sentences, its translation 1 has 1"):
        TextPair(["a", "b"], ["c"], [["a"]])


def test_texts_that_are_learned_from_together_have_as_many_translations() -> None:
    with pytest.raises(DataError, match="more translations than others"):
        learn([TextPair(["a"], ["b"], [["c"]]), TextPair(["a"], ["b"])], AlignerConfig())


@pytest.mark.parametrize("wrong", [{"most": 0}, {"most": 16}, {"words": -1.0}, {"length": math.nan}, {"rounds": -1}])
def test_settings_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        align(TextPair(["a"], ["b"]), AlignerConfig(**wrong))


def test_bleualign_s_text_is_aligned_far_better_than_by_lengths(data: Path) -> None:
    """Strict F1 on the Swiss Alpine Club's yearbook of 1957; the figures stand in docs/results.md."""
    from paraloom.io import read_lines
    from paraloom.io.formats.alignments import read_beads

    folder = data / "align" / "bleualign-1957"
    source, target, ahead, back = (
        list(read_lines(folder / f"eval1957.{name}")) for name in ("de", "fr", "google.fr", "google.de")
    )
    gold = read_beads(data / "align" / "vecalign-dev" / "dev.defr")
    found = align(TextPair(source, target, [ahead], [back]), AlignerConfig(most=5))
    assert score_of(gold, found).strict.f1 > 0.87
    assert all(one.source < other.source for one, other in pairwise(bead for bead in found if bead.source))


def test_lengths_are_learned_half_from_the_beads_of_one_sentence_a_side() -> None:
    characters = np.full(40, 99.0)
    beads = np.array([[i, 1, i, 1] for i in range(40)])
    habits = habits_of([(characters, characters)], [beads])
    # All 40 differ by nothing: of |δ| = 1 what was met says never, with a share of half · 40 / 50.
    expected = np.log(1 - 0.5 * 40 / 50) + log_probabilities(np.array([1.0]))[0]
    assert habits.table[0] == pytest.approx(0.0) and habits.table[100] == pytest.approx(expected)
    assert (np.diff(habits.table) <= 0).all()


def test_beads_of_more_sentences_and_lone_ones_teach_no_lengths() -> None:
    source, target = np.array([9.0, 49.0, 19.0]), np.array([19.0, 9.0])
    beads = np.array([[0, 1, 0, 1], [1, 1, 1, 0], [2, 1, 1, 1]])
    # The two single beads have 10 and 20 characters against 20 and 10; the 50 that stand alone count for nothing.
    assert habits_of([(source, target)], [beads]).ratio == pytest.approx(1.0)


def test_without_beads_lengths_are_those_of_gale_and_church() -> None:
    habits = habits_of([(np.array([9.0]), np.array([29.0]))], [np.empty((0, 4), np.int64)])
    assert habits.ratio == 3.0
    assert habits.table[196] == pytest.approx(log_probabilities(np.array([1.96]))[0])
