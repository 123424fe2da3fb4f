"""Pieces of sentences that neighboring beads share, and what words explain only once."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from toy_language import align

from paraloom.alignment.lengths import LengthEvidence
from paraloom.alignment.lexical import LexicalDirection, LexicalEvidence, estimate_background
from paraloom.alignment.local_parts import Walls
from paraloom.alignment.numbered_words import (
    ExpectedWords,
    expected_copies,
    number_expected,
    number_observed,
)
from paraloom.alignment.search import Alignment, full_band
from paraloom.alignment.sentences import fit_aligner
from paraloom.alignment.shared_pieces import PieceEvidence, _best_cuts, join_shared_pieces
from paraloom.alignment.text_pairs import TextPair
from paraloom.text.tokens import TokenLists, token_hash, tokenize

BACKGROUND_WEIGHT = 0.3


def copies(texts: tuple[list[str], list[str]], weight: float = 0.5) -> PieceEvidence:
    """Evidence of two texts of which words are expected as they are."""
    lists = tokenize(texts[0]), tokenize(texts[1])
    observed = [number_observed(words) for words in lists]

    def direction(side: int, words: TokenLists) -> LexicalDirection:
        expected = [number_expected(expected_copies(words), words.lengths, observed[1 - side].types)]
        background = estimate_background([lists[1 - side]])
        weights = np.array([BACKGROUND_WEIGHT, 1 - BACKGROUND_WEIGHT])
        return LexicalDirection(expected, words.lengths, observed[1 - side], background, weights)

    return PieceEvidence(weight, lists, (direction(0, lists[0]), direction(1, lists[1])), direction)


def plain_ratio(predictors: list[str], observed: list[str], background: dict[str, float], *, limited: bool) -> float:
    """Log-likelihood ratio of observed words; if limited, each is explained at most as often as it is predicted."""
    expected = Counter(predictors)
    total = 0.0
    for word, count in Counter(observed).items():
        explained = (min(count, expected[word]) if limited else count) if expected[word] else 0
        total += count * math.log(BACKGROUND_WEIGHT)
        if explained:
            share = expected[word] / len(predictors)
            ratio = (1 - BACKGROUND_WEIGHT) * share / background[word] / BACKGROUND_WEIGHT
            total += explained * math.log(ratio + 1)
    return total


def plain_change(
    first: list[list[str]], second: list[list[str]], tail_side: int, backgrounds: list[dict[str, float]]
) -> float:
    """The best change of score by taking a tail out of the first bead and a head out of the second one."""
    head_side = 1 - tail_side
    best = -math.inf
    for k in range(1, min(12, len(first[tail_side])) + 1):
        for length in range(1, min(12, len(second[head_side])) + 1):
            piece: list[list[str]] = [[], []]
            piece[tail_side] = first[tail_side][-k:]
            piece[head_side] = second[head_side][:length]
            cut_first, cut_second = list(first), list(second)
            cut_first[tail_side] = first[tail_side][:-k]
            cut_second[head_side] = second[head_side][length:]
            total = 0.0
            for side in (0, 1):
                background = backgrounds[1 - side]
                for before, after in ((first, cut_first), (second, cut_second)):
                    total += plain_ratio(after[side], after[1 - side], background, limited=True)
                    total -= plain_ratio(before[side], before[1 - side], background, limited=True)
                total += plain_ratio(piece[side], piece[1 - side], background, limited=False)
            best = max(best, total)
    return best


@pytest.mark.parametrize("tail_side", [0, 1])
def test_the_best_cut_is_the_plain_formula(tail_side: int) -> None:
    rng = random.Random(4)
    texts = tuple([[" ".join(rng.choices("abcdefgh", k=rng.randint(1, 15))) for _ in range(40)] for _ in range(2)])
    evidence = copies(texts)
    counts = [Counter(word for text in side for word in text.split()) for side in texts]
    backgrounds = [{word: n / (sum(side.values()) + 500) for word, n in side.items()} for side in counts]
    beads = np.array([[i, 1, i, 1] for i in range(40)])
    changes = _best_cuts(beads[:-1], beads[1:], tail_side, [evidence, evidence])
    for number, change in enumerate(changes):
        first, second = ([texts[side][row].split() for side in (0, 1)] for row in (number, number + 1))
        # Two equal sources of evidence, of weight a half, which count as far as they explain the words.
        expected = 2 * 0.5 * (1 - BACKGROUND_WEIGHT) * plain_change(first, second, tail_side, backgrounds)
        assert change == pytest.approx(expected, abs=1e-4), number


def test_beads_that_share_a_piece_are_joined_where_that_is_worth_its_cost() -> None:
    texts = (
        ["one two three Heading here", "four five six", "seven"],
        ["one two three", "Heading here four five six", "seven"],
    )
    evidence = copies(texts, weight=1.0)
    path = Alignment(np.array([[0, 1, 0, 1], [1, 1, 1, 1], [2, 1, 2, 1]]), np.array([1.0, 2.0, 3.0], np.float32))
    change = max(_best_cuts(path.beads[:1], path.beads[1:2], side, [evidence])[0] for side in (0, 1))
    assert change > 3
    result = join_shared_pieces(path, [evidence], np.array([change - 0.5, change - 0.5]), 5)
    assert result.beads.tolist() == [[0, 2, 0, 2], [2, 1, 2, 1]]
    assert result.gains.tolist() == pytest.approx([3.5, 3.0])
    for costs, size in (([change + 0.5, 100.0], 5), ([0.0, 100.0], 1), ([np.inf, np.inf], 5)):
        unchanged = join_shared_pieces(path, [evidence], np.array(costs), size)
        assert unchanged.beads.tolist() == path.beads.tolist()


def with_shared_headings(count: int) -> tuple[list[str], list[str], set[int]]:
    """Sentences in the same order; every twelfth has the beginning of the next at its end, in the source."""
    rng = random.Random(7)
    words = [("".join(rng.choices("aeiou", k=6)), "".join(rng.choices("bcdfg", k=6))) for _ in range(150)]

    def sentence(length: int) -> tuple[str, str]:
        some = rng.choices(words, k=length)
        return " ".join(one for one, _ in some), " ".join(other for _, other in some)

    pairs = [sentence(rng.randint(5, 10)) for _ in range(count)]
    source, target = [one for one, _ in pairs], [other for _, other in pairs]
    shared = set(range(5, count - 5, 12))
    for row in sorted(shared):
        heading, translation = sentence(3)
        source[row] += " " + heading
        target[row + 1] = translation + " " + target[row + 1]
    return source, target, shared


def test_a_heading_at_the_end_here_and_at_the_beginning_there_joins_two_beads() -> None:
    source, target, shared = with_shared_headings(240)
    beads = align(source, target)
    correct = {bead.source[0] for bead in beads if bead.source == bead.target and len(bead.source) == 2}
    assert len(correct & shared) >= 0.8 * len(shared)
    assert len(correct - shared) <= 2
    aligner = fit_aligner([TextPair(source, target)])
    assert [(bead.source, bead.target) for bead in aligner.align(TextPair(source, target))] == [
        (bead.source, bead.target) for bead in beads
    ]


def test_no_beads_are_joined_across_a_place_where_sentences_were_taken_out() -> None:
    walls = Walls(np.array([0, 1, 5]), np.array([0, 1, 2]))
    beads = np.array([[0, 2, 0, 2], [1, 2, 1, 2], [2, 1, 1, 2]])
    assert walls.are_crossed(beads).tolist() == [False, True, False]


def test_scores_of_given_beads_are_those_of_the_search() -> None:
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 90, 9).astype(float), rng.integers(1, 90, 9).astype(float)
    beads = np.array([[0, 1, 0, 1], [2, 3, 4, 2], [6, 3, 6, 3], [8, 1, 0, 3]])
    for item in (LengthEvidence(*lengths), LengthEvidence(*lengths, 0.0, 0.5, 3)):
        out = np.zeros((10, 3, 3, 10), np.float32)
        item.add(0, 10, full_band(9, 9), out)
        expected = [out[i, a - 1, b - 1, j] for i, a, j, b in beads]
        np.testing.assert_allclose(item.scores(beads), expected, rtol=1e-4)


def lexicon_scores(translations: dict[str, list[str]], source: list[str], target: list[str]) -> np.ndarray:
    """Scores of 1:1, 1:2 … beads of one source sentence whose words lead to expect others."""
    lists = tokenize(source), tokenize(target)
    observed = number_observed(lists[1])
    names = {token_hash(word): [token_hash(other) for other in others] for word, others in translations.items()}
    entries = [(cause, word) for cause in lists[0].ids.tolist() for word in names.get(cause, [])]
    expected = ExpectedWords(
        np.array([word for _, word in entries], np.uint64),
        np.array([cause for cause, _ in entries], np.uint64),
        np.full(len(entries), 0.5, np.float32),
        np.array([0, len(entries)]),
        lists[0].lengths.astype(float),
    )
    background = estimate_background([lists[1]])
    weights = np.array([0.5, 0.5])
    numbered = number_expected(expected, lists[0].lengths, observed.types)
    forward = LexicalDirection([numbered], lists[0].lengths, observed, background, weights)
    nothing = number_expected(
        expected_copies(tokenize(["", ""])), np.zeros(2, np.int64), number_observed(lists[0]).types
    )
    assert len(source) == 1 and len(target) == 2
    backward = LexicalDirection(
        [nothing], lists[1].lengths, number_observed(lists[0]), estimate_background([lists[0]]), np.array([1.0, 0.0])
    )
    scores = np.zeros((2, 2, 2, 3), np.float32)
    LexicalEvidence(forward, backward, 1.0).add(0, 2, full_band(1, 2), scores)
    return scores[0, 0]


PICTURE = {"picture": ["bild", "bildes"]}


def test_a_word_does_not_explain_words_of_two_sentences() -> None:
    once = lexicon_scores(PICTURE, ["picture"], ["bild", "bildes"])
    twice = lexicon_scores(PICTURE, ["picture picture"], ["bild", "bildes"])
    unexplained = 0.5 * math.log(0.5)
    assert once[1, 0] == pytest.approx(once[0, 0] + unexplained)
    assert twice[1, 0] == pytest.approx(
        twice[0, 0] + lexicon_scores(PICTURE, ["picture picture"], ["bildes", "x"])[0, 0]
    )


def test_a_word_explains_several_words_of_a_sentence() -> None:
    """As a compound does."""
    scores = lexicon_scores({"hausbild": ["house", "picture"]}, ["hausbild"], ["house picture", "x"])
    # Half of each word is expected; its background probability is one in the three words and 500 unseen ones.
    assert scores[0, 0] == pytest.approx(0.5 * 2 * math.log(0.5 * 0.5 * 503 + 0.5), rel=1e-5)


def test_another_word_explains_what_the_first_one_no_longer_can() -> None:
    translations = {"picture": ["bild", "bildes"], "image": ["bildes"]}
    scores = lexicon_scores(translations, ["picture image"], ["bild", "bildes"])
    alone = lexicon_scores({"picture": ["bild", "bildes"]}, ["picture image"], ["bild", "bildes"])
    assert scores[1, 0] > scores[0, 0] > alone[1, 0]


def test_the_order_of_a_path_stays() -> None:
    source, target, _ = with_shared_headings(100)
    beads = align(source, target)
    assert [row for bead in beads for row in bead.source] == list(range(len(source)))
    assert [row for bead in beads for row in bead.target] == list(range(len(target)))
    assert all(one.source < other.source for one, other in pairwise(bead for bead in beads if bead.source))


def test_sentences_of_more_words_than_causes_are_scored() -> None:
    lines = [" ".join(f"w{number}" for number in range(first, first + 40_000)) for first in (0, 40_000, 80_000)]
    scores = np.zeros((4, 3, 3, 4), np.float32)
    LexicalEvidence(*copies((lines, lines)).directions, 1.0).add(0, 4, full_band(3, 3), scores)
    assert scores[0, 0, 0, 0] > 0 > scores[0, 0, 0, 1] and scores[0, 2, 2, 0] > scores[0, 2, 1, 0]
