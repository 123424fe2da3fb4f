"""The lexicon: alignments of an artificial corpus with known links, pivoting by hand and by brute force."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from paraloom.core.errors import DataError
from paraloom.pairs.lexicon import LexiconConfig, PhraseCounts, Phrases, Pivoted, count_phrases, pivot, pivot_lexicon
from paraloom.text.phrase_kernels import phrase_pairs, symmetrize
from paraloom.text.tokens import tokenize
from paraloom.text.word_alignment import align_words

WORDS = [f"w{chr(97 + i)}" for i in range(26)]


def corpus(count: int, seed: int = 0) -> tuple[list[str], list[str], list[list[int]]]:
    """Sentences, the same in other words (the first two sometimes swapped), and the position of each word's origin."""
    rng = np.random.default_rng(seed)
    a, b, links = [], [], []
    for _ in range(count):
        words = list(rng.choice(WORDS, size=rng.integers(3, 8), replace=False))
        order = list(range(len(words)))
        if rng.random() < 0.5:
            order[0], order[1] = order[1], order[0]
        a.append(" ".join(words))
        b.append(" ".join(f"x{words[i]}" for i in order))
        links.append(order)
    return a, b, links


def test_alignment_finds_the_links_of_an_artificial_language() -> None:
    a, b, links = corpus(400)
    forth, back = align_words(tokenize(a), tokenize(b))
    wanted = np.concatenate(links)
    assert (forth == wanted).mean() > 0.98
    offsets = tokenize(a).offsets
    returned = [back[offsets[i] : offsets[i + 1]][order] for i, order in enumerate(links)]
    assert np.mean(np.concatenate([row == np.arange(len(row)) for row in returned])) > 0.98


def test_symmetrization_grows_from_the_intersection() -> None:
    grid = np.zeros((4, 4), np.bool_)
    # Both directions have 0-0 and 2-2; one has 1-1, adjacent to 0-0; one has 3-0, adjacent to none.
    symmetrize(np.array([0, 1, 2], np.int32), np.array([0, -1, 2, 0], np.int32), grid)
    assert grid[:4, :3].nonzero()[0].tolist() == [0, 1, 2]
    assert not grid[3].any()


def test_phrases_are_consistent_with_the_links() -> None:
    # a: 0 1 2, b: 1 0 2 (the first two swapped): no phrase consists of words 1 and 2 of a.
    links = np.array([1, 0, 2], np.int32)
    bounds = np.array([0, 3])
    spans = np.zeros((20, 5), np.int32)
    count = phrase_pairs(links, bounds, links, bounds, 2, spans)
    assert {tuple(row[1:]) for row in spans[:count].tolist()} == {
        (0, 1, 1, 1),
        (1, 1, 0, 1),
        (2, 1, 2, 1),
        (0, 2, 0, 2),
    }


def counted(rows: list[tuple[str, str, int]]) -> tuple[PhraseCounts, Phrases]:
    """Counts of (foreign word, phrase, number), aligned word by word."""
    phrases = Phrases(4)
    foreign, own = zip(*((f, e) for f, e, number in rows for _ in range(number)), strict=True)
    return count_phrases([(foreign, own)], phrases, LexiconConfig(null=0.0)), phrases


def probabilities(pivoted: Pivoted, phrases: Phrases) -> dict[tuple[str, str], float]:
    return dict(
        zip(
            zip(phrases.texts(pivoted.phrases), phrases.texts(pivoted.paraphrases), strict=True),
            pivoted.probabilities.tolist(),
            strict=True,
        )
    )


def test_pivoting_by_hand() -> None:
    # groß is big 3 times of 4 and large once; riesig is large and huge, once each.
    counts, phrases = counted([("groß", "big", 3), ("groß", "large", 1), ("riesig", "large", 1), ("riesig", "huge", 1)])
    pivoted = probabilities(pivot(counts, phrases, discount=0), phrases)
    assert pivoted == {
        ("big", "large"): pytest.approx(1 * 1 / 4),
        ("large", "big"): pytest.approx(1 / 2 * 3 / 4),
        ("large", "huge"): pytest.approx(1 / 2 * 1 / 2),
        ("huge", "large"): pytest.approx(1 * 1 / 2),
    }
    # Half an occurrence is taken off each count of a pair, not off the totals.
    pivoted = probabilities(pivot(counts, phrases), phrases)
    assert pivoted["big", "large"] == pytest.approx(2.5 / 3 * 0.5 / 4)
    # Pairs that are too rare do not count as translations, but they are in the totals.
    pivoted = probabilities(pivot(counts, phrases, min_count=2, discount=0), phrases)
    assert pivoted == {}


def test_pivoting_agrees_with_loops_over_all_phrases() -> None:
    draw = np.random.default_rng(5)
    rows = [(f"f{f}", f"e{chr(97 + e)}", int(n)) for (e, f), n in np.ndenumerate(draw.poisson(0.4, (12, 15))) if n]
    counts, phrases = counted(rows)
    pivoted = probabilities(pivot(counts, phrases, discount=0), phrases)
    number = {(f, e): n for f, e, n in rows}
    of_phrase, of_foreign = Counter[str](), Counter[str]()
    for (f, e), n in number.items():
        of_phrase[e] += n
        of_foreign[f] += n
    for one in of_phrase:
        for two in of_phrase:
            expected = sum(
                number.get((f, one), 0) / of_phrase[one] * number.get((f, two), 0) / of_foreign[f] for f in of_foreign
            )
            assert pivoted.get((one, two), 0.0) == (pytest.approx(expected, rel=1e-9) if one != two else 0.0)


def test_pivots_count_by_their_translations_of_the_phrase() -> None:
    german = [*2 * [("groß", "big")], ("groß", "large"), ("Haus", "house"), ("Haus", "home"), ("5", "5"), ("5", "five")]
    french = [("grand", "big"), ("grand", "tall"), ("grand", "large"), ("le chat noir", "the black cat")]
    blocks = [[tuple(zip(*rows, strict=True))] for rows in (german, french)]
    config = LexiconConfig(min_count=1, null=0.0)
    table = pivot_lexicon(blocks, config).to_pylist()
    entries = {(row["phrase"], row["paraphrase"]): row for row in table}
    # Half an occurrence is taken off each count.
    german_p, french_p = 1.5 / 2 * 0.5 / 3, 0.5 * 0.5 / 3
    # "big" has two German translations and one French one.
    assert entries["big", "large"]["probability"] == pytest.approx((2 * german_p + french_p) / 3)
    assert entries["big", "large"]["pivots"] == 2
    # Each probability counts twice, as two languages have it.
    product = entries["big", "large"]["probability"] * entries["large", "big"]["probability"]
    assert entries["big", "large"]["score"] == pytest.approx(2 * product**0.5)
    # German does not know "tall" but "big": it counts as 0 from "big", and not at all from "tall".
    assert entries["big", "tall"]["probability"] == pytest.approx(french_p / 3)
    assert entries["tall", "big"]["probability"] == pytest.approx(french_p)
    assert entries["tall", "big"]["score"] == pytest.approx((french_p * french_p / 3) ** 0.5)
    assert entries["house", "home"]["pivots"] == 1
    scores = [row["score"] for row in table]
    assert scores == sorted(scores, reverse=True)
    words = {word for pair in entries for word in pair}
    assert not words & {"5", "five"} and "the black cat" not in words
    limited = pivot_lexicon(blocks, LexiconConfig(min_count=1, null=0.0, max_paraphrases=1)).to_pylist()
    assert [row["paraphrase"] for row in limited if row["phrase"] == "big"] == ["large"]


def test_phrases_are_as_good_as_the_part_that_differs() -> None:
    """Words of "the car" and "the auto" that differ are an entry, those of "the car" and "the bus" are none."""
    rows = [*30 * [("A", "car"), ("A", "auto")], *4 * [("B C", "the car"), ("B C", "the bus"), ("B C", "the auto")]]
    foreign, own = zip(*rows, strict=True)
    table = pivot_lexicon([[(foreign, own)]], LexiconConfig(null=0.0, tension=0.0, min_score=0)).to_pylist()
    scores = {(row["phrase"], row["paraphrase"]): row for row in table}
    by_hand = {entry: (row["probability"] * row["inverse"]) ** 0.5 for entry, row in scores.items()}
    part = scores["car", "auto"]["score"]
    assert part == pytest.approx(by_hand["car", "auto"])
    assert scores["the car", "the auto"]["score"] == pytest.approx((by_hand["the car", "the auto"] * part) ** 0.5)
    assert scores["the car", "the bus"]["score"] == pytest.approx((by_hand["the car", "the bus"] * 0.03) ** 0.5)


def test_a_phrase_does_not_paraphrase_a_part_of_itself() -> None:
    phrases = [("sehr groß", "very big"), ("sehr groß", "big"), ("sehr groß", "huge")]
    table = pivot_lexicon([[tuple(zip(*(3 * phrases), strict=True))]], LexiconConfig(null=0.0, tension=0.0))
    pivoted = {frozenset((row["phrase"], row["paraphrase"])) for row in table.to_pylist()}
    assert frozenset(("very big", "big")) not in pivoted and frozenset(("big", "huge")) in pivoted


def test_counts_of_blocks_add_up_and_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, _ = corpus(60)
    whole, halves = Phrases(4), Phrases(4)
    once = count_phrases([(a, b), (a, b)], whole)
    twice = count_phrases([(a, b)], halves)
    assert (once.pairs == twice.pairs).all() and (once.counts == 2 * twice.counts).all()
    assert (whole.keys == halves.keys).all()
    monkeypatch.setattr("paraloom.pairs.lexicon._MAX_COUNTED", 50)
    pruned = count_phrases([(a, b), (a, b)], whole)
    assert len(pruned.pairs) <= 50 and pruned.counts.min() > once.counts.min()


def test_no_phrase_without_a_translation() -> None:
    with pytest.raises(DataError, match="no phrase has a translation"):
        pivot_lexicon([[(["1 2"], ["3 4"])], []])
