"""Sentence alignment: the search against an exhaustive one, evidence against plain references, and real texts."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from toy_language import NOUNS, VERBS, align, bitext

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.lengths import VARIANCE, LengthEvidence, fit_length_model, log_probabilities
from paraloom.alignment.lexical import LexicalDirection, LexicalEvidence, estimate_background
from paraloom.alignment.lexicon import learn_lexicon
from paraloom.alignment.numbered_words import expected_copies, number_expected, number_observed
from paraloom.alignment.search import (
    Band,
    LogPriors,
    band_along,
    best_alignment,
    full_band,
    path_from_anchors,
    path_from_lengths,
)
from paraloom.alignment.sentences import align_pair, fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.evaluate.alignment import AlignmentScore
from paraloom.io import read_lines
from paraloom.io.formats.alignments import read_bead_file
from paraloom.text.tokens import token_hash, tokenize


class Table:
    """Random scores, one for each (i, a, j, b)."""

    def __init__(self, sources: int, targets: int, max_size: int, seed: int) -> None:
        self.scores = (
            np.random.default_rng(seed).normal(size=(sources + 1, max_size, targets + 1, max_size)).astype(np.float32)
        )

    def add(self, first: int, rows: int, band: Band, out: np.ndarray) -> None:
        for r in range(rows):
            low = band.lows[first + r]
            inside = self.scores[first + r, :, low : low + band.width]
            out[r, :, :, : inside.shape[1]] += inside.transpose(0, 2, 1)


def exhaustive(
    table: Table, priors: LogPriors, breaks: tuple[np.ndarray, np.ndarray], sources: int, targets: int
) -> float:
    """The best total of all alignments, from the end of both texts, by whether the sentence before is unaligned."""
    max_size = len(priors.kinds) - 1
    best = {(sources, targets, False): 0.0, (sources, targets, True): 0.0}
    for i, j in sorted(product(range(sources + 1), range(targets + 1)), reverse=True):
        for after_gap in (False, True):
            if (i, j) == (sources, targets):
                continue
            totals = []
            if i < sources:
                prior = priors.gap_extensions[0] if after_gap else priors.kinds[1, 0]
                totals.append(prior + best[i + 1, j, True])
            if j < targets:
                prior = priors.gap_extensions[1] if after_gap else priors.kinds[0, 1]
                totals.append(prior + best[i, j + 1, True])
            for a in range(1, min(max_size, sources - i) + 1):
                for b in range(1, min(max_size, targets - j) + 1):
                    score = table.scores[i, a - 1, j, b - 1] + priors.kinds[a, b]
                    totals.append(score + best[i + a, j + b, False])
            best[i, j, after_gap] = max(totals) - abs(breaks[0][i] - breaks[1][j])
    return best[0, 0, False]


@pytest.mark.parametrize("seed", range(12))
def test_the_search_finds_the_best_of_all_alignments(seed: int) -> None:
    rng = random.Random(seed)
    sources, targets, max_size = rng.randint(1, 7), rng.randint(1, 7), rng.randint(1, 4)
    table = Table(sources, targets, max_size, seed)
    draw = np.random.default_rng(seed + 100)
    priors = LogPriors(draw.normal(size=(max_size + 1, max_size + 1)) - 2, (draw.normal() - 1, draw.normal() - 1))
    breaks = draw.integers(0, 2, sources + 1).astype(float), draw.integers(0, 2, targets + 1).astype(float)
    alignment = best_alignment([table], priors, sources, targets, lambda radius: full_band(sources, targets), 1, breaks)
    assert alignment.gains.sum() == pytest.approx(exhaustive(table, priors, breaks, sources, targets), abs=1e-4)
    ends = [(i + a, j + b) for i, a, j, b in alignment.beads.tolist()]
    starts = [(i, j) for i, _, j, _ in alignment.beads.tolist()]
    assert starts == [(0, 0), *ends[:-1]] and ends[-1] == (sources, targets)


def test_a_band_widens_until_it_holds_the_best_path() -> None:
    """The first half of the source has no counterpart: the best path is far from the diagonal."""
    count = 400
    priors = LogPriors(np.log(np.array([[1e-9, 0.02], [0.02, 0.96]])), (math.log(0.02), math.log(0.02)))

    class Shifted:
        def add(self, first: int, rows: int, band: Band, out: np.ndarray) -> None:
            for r in range(rows):
                columns = band.lows[first + r] + np.arange(band.width)
                out[r, 0, 0] += np.where(columns == first + r - count // 2, 9.0, -9.0)

    path = np.linspace(0, count // 2, count + 1)
    alignment = best_alignment(
        [Shifted()], priors, count, count // 2, lambda radius: band_along(path, count // 2, radius, 8), 4
    )
    linked = [(i, j) for i, a, j, b in alignment.beads.tolist() if a and b]
    assert linked == [(i + count // 2, i) for i in range(count // 2)]


def directions(source: list[str], target: list[str], weights: list[float]) -> tuple[LexicalDirection, ...]:
    """The mixture models of both directions, with copied words as the only evidence."""
    lists = tokenize(source), tokenize(target)
    observed = [number_observed(words) for words in lists]
    return tuple(
        LexicalDirection(
            [number_expected(expected_copies(lists[side]), lists[side].lengths, observed[1 - side].types)],
            lists[side].lengths,
            observed[1 - side],
            estimate_background([lists[1 - side]]),
            np.array(weights),
        )
        for side in (0, 1)
    )


def plain_gain(
    predictors: list[str], observed: list[str], background: dict[str, float], background_weight: float
) -> float:
    """The docstring's formula over counted words: each is explained at most as often as the block has it."""
    expected = Counter(word for text in predictors for word in text.split())
    length = sum(len(text.split()) for text in predictors)
    total = 0.0
    for word, count in Counter(word for text in observed for word in text.split()).items():
        explained = min(count, expected[word])
        probability = (1 - background_weight) * expected[word] / length / background[word] + background_weight
        total += explained * math.log(probability) + (count - explained) * math.log(background_weight)
    return total


def test_lexical_evidence_is_the_plain_formula() -> None:
    rng = random.Random(3)
    source, target = ([" ".join(rng.choices("abcdefg", k=rng.randint(1, 6))) for _ in range(9)] for _ in range(2))
    band, max_size = full_band(9, 9), 3
    scores = np.zeros((10, max_size, max_size, band.width), np.float32)
    LexicalEvidence(*directions(source, target, [0.3, 0.7]), 0.5).add(0, 10, band, scores)
    counts = [Counter(word for text in side for word in text.split()) for side in (source, target)]
    background = [{word: n / (sum(side.values()) + 500) for word, n in side.items()} for side in counts]
    for i, a, j, b in [(0, 1, 0, 1), (2, 3, 4, 2), (6, 3, 6, 3), (8, 1, 0, 3), (3, 2, 8, 1)]:
        forward = plain_gain(source[i : i + a], target[j : j + b], background[1], 0.3)
        backward = plain_gain(target[j : j + b], source[i : i + a], background[0], 0.3)
        expected = 0.5 * 0.7 * (forward + backward)
        assert scores[i, a - 1, b - 1, j] == pytest.approx(expected, rel=1e-4), (i, a, j, b)


def test_evidence_in_a_band_is_that_of_the_full_band() -> None:
    pairs = bitext(60, seed=5)
    source, target = [s for s, _ in pairs], [t for _, t in pairs]
    lengths = [np.array([len(text) for text in side], float) for side in (source, target)]
    evidence = [LexicalEvidence(*directions(source, target, [0.5, 0.5]), 1.0), LengthEvidence(*lengths)]
    full, band = full_band(60, 60), band_along(np.arange(61.0), 60, 5, 8)
    everywhere = np.zeros((61, 2, 2, full.width), np.float32)
    inside = np.zeros((61, 2, 2, band.width), np.float32)
    for scorer in evidence:
        scorer.add(0, 61, full, everywhere)
        for first, rows in ((0, 17), (17, 44)):
            scorer.add(first, rows, band, inside[first : first + rows])
    for i in range(60):
        low = int(band.lows[i])
        for a in range(min(2, 60 - i)):
            for b in range(2):
                end = min(band.width, 60 - low - b)
                assert np.allclose(inside[i, a, b, :end], everywhere[i, a, b, low : low + end], atol=1e-3)


def test_length_evidence_is_gale_and_churchs() -> None:
    """Characters 10 (11 with the space) against 20 (21), ratio 1: δ = 10 / √(16 × 6.8), 2 (1 − Φ(δ)) by the table."""
    scores = np.zeros((1, 1, 1, 2), np.float32)
    LengthEvidence(np.array([10.0]), np.array([20.0]), model=fit_length_model([], [])).add(
        0, 1, full_band(1, 1), scores
    )
    deviation = 10 / math.sqrt(16 * 6.8)
    assert scores[0, 0, 0, 0] == pytest.approx(math.log(math.erfc(deviation / math.sqrt(2))), abs=0.02)


def test_the_path_follows_the_heaviest_rising_chain_of_anchors() -> None:
    rows = np.array([0, 1, 2, 3, 4, 5, 6, 7])
    columns = np.array([0, 9, 2, 3, 1, 5, 6, 7])
    path = path_from_anchors([(rows, columns, np.ones(8))], 8, 10)
    assert path is not None
    assert path[3] == pytest.approx(3.0) and path[6] == pytest.approx(6.0) and path[8] == 10
    assert path_from_anchors([(rows[:2], columns[:2], np.ones(2))], 8, 10) is None
    assert path_from_lengths(np.ones(4), np.ones(8)).tolist() == [0, 2, 4, 6, 8]


def test_an_anchor_that_stands_alone_does_not_bend_the_path() -> None:
    """It would where true anchors are few: between rows 400 and 600 it is the only one."""
    rows = np.array([*range(0, 400, 10), 500, *range(600, 1000, 10)])
    columns = np.where(rows == 500, 590, rows)
    path = path_from_anchors([(rows, columns, np.ones(len(rows)))], 1000, 1000)
    np.testing.assert_allclose(path, np.arange(1001), atol=1)


def test_anchors_beside_a_missing_passage_count() -> None:
    rows = np.arange(0, 500, 10)
    columns = np.where(rows < 250, rows, rows + 300)
    path = path_from_anchors([(rows, columns, np.ones(50))], 500, 800)
    np.testing.assert_allclose(path[[120, 239, 260, 499]], [120, 239, 560, 799], atol=1)


def test_all_anchors_count_where_few_agree() -> None:
    rows = np.arange(0, 500, 50)
    columns = np.array([0, 10, 20, 200, 210, 400, 410, 600, 990, 1000])
    path = path_from_anchors([(rows, columns, np.ones(10))], 500, 1001)
    np.testing.assert_allclose(np.interp(rows + 0.5, np.arange(501), path), columns + 0.5, atol=10)


def test_a_lexicon_holds_translations_that_occur_more_than_once() -> None:
    # Each noun with each other one, so that no two words occur together more often than others do.
    pairs = [
        (f"{NOUNS[a]} {NOUNS[b]} {VERBS[verb]}", f"the {a} {verb} the {b}")
        for a, b in permutations(sorted(NOUNS), 2)
        for verb in sorted(VERBS)
    ] + [("mili rako", "small dog")] * 4
    lexicon = learn_lexicon(tokenize([s for s, _ in pairs]), tokenize([t for _, t in pairs]))
    assert lexicon is not None
    expected = lexicon.expected_words(tokenize(["rako", "never", "mili rako"]))
    assert expected.offsets[1] == expected.offsets[2] and expected.sizes.tolist() == [1, 1, 2]
    first = slice(expected.offsets[1])
    translations = dict(zip(expected.ids[first].tolist(), expected.counts[first].tolist(), strict=True))
    assert translations[token_hash("dog")] > 0.6 > 0.1 > translations.get(token_hash("cat"), 0)
    assert learn_lexicon(tokenize(["a b"]), tokenize(["c d"])) is None


def dated(count: int, seed: int) -> list[tuple[str, str]]:
    """Kal and English sentences, a third of them with a year on both sides."""
    rng = random.Random(seed)
    years = [f" {rng.randint(1000, 2000)}" if rng.random() < 0.3 else "" for _ in range(count)]
    return [(s + year, t + year) for (s, t), year in zip(bitext(count, seed), years, strict=True)]


def cut(pairs: list[tuple[str, str]], seed: int) -> tuple[list[str], list[str], list[Bead]]:
    """Sentences joined and dropped at random, and the true beads."""
    rng = random.Random(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    gold = []
    at = 0
    while at < len(pairs):
        size = rng.choices([(1, 1), (1, 2), (2, 1), (1, 0), (0, 1)], [80, 6, 6, 4, 4])[0]
        part = pairs[at : at + max(size)]
        at += max(size)
        indices: list[tuple[int, ...]] = []
        for side, count in enumerate(size):
            texts = [pair[side] for pair in part] if count else []
            texts = [" ".join(texts)] if count == 1 else texts
            indices.append(tuple(range(len(sides[side]), len(sides[side]) + len(texts))))
            sides[side].extend(texts)
        gold.append(Bead(indices[0], indices[1]))
    return *sides, gold


def strict_f1(gold: list[Bead], beads: list[Bead]) -> float:
    score = AlignmentScore()
    score.add(gold, beads)
    return score.strict.f1


def test_a_made_up_language_is_learned_from_the_texts_alone() -> None:
    """Two dozen words that recur all the time, and years now and then: lengths alone find far less."""
    source, target, gold = cut(dated(600, seed=7), seed=7)
    by_all = strict_f1(gold, align(source, target, config=AlignerConfig(max_bead_size=2)))
    only_lengths = AlignerConfig(max_bead_size=2, word_weight=0, prefix_weight=0, learn_lexicon=False, rounds=0)
    by_lengths = strict_f1(gold, align(source, target, config=only_lengths))
    assert by_all > 0.9 and by_all > by_lengths + 0.2


def test_a_translation_of_either_side_helps() -> None:
    # Five words of five letters in each sentence of either language: lengths do not say which sentence is missing.
    rng = random.Random(11)
    kal, words = (["".join(rng.choices(letters, k=5)) for _ in range(60)] for letters in ("bdgklmaou", "fhnprstei"))
    chosen = [rng.sample(range(60), 5) for _ in range(150)]
    pairs = [(" ".join(kal[i] for i in numbers), " ".join(words[i] for i in numbers)) for numbers in chosen]
    source, target, gold = cut(pairs, seed=11)
    english = dict(zip(kal, words, strict=True))
    translation = [" ".join(english[word] for word in text.split()) for text in source]
    config = AlignerConfig(max_bead_size=2, rounds=1, learn_lexicon=False)
    without = strict_f1(gold, align(source, target, config=config))
    forward = strict_f1(gold, align(source, target, source_translation=translation, config=config))
    mirrored = [Bead(bead.target, bead.source) for bead in gold]
    backward = strict_f1(mirrored, align(target, source, target_translation=translation, config=config))
    assert min(forward, backward) > without + 0.3


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ([], ["a"]),
        (["a"], []),
        ([""], [""]),
        (["x"] * 40, ["x"]),
        (["the same"] * 30, ["the same"] * 35),
        (["a"], ["word " * 20_000]),
    ],
)
def test_every_sentence_is_in_one_bead(source: list[str], target: list[str]) -> None:
    beads = align(source, target, config=AlignerConfig(rounds=2))
    assert [index for bead in beads for index in bead.source] == list(range(len(source)))
    assert [index for bead in beads for index in bead.target] == list(range(len(target)))
    assert all(math.isfinite(bead.score) for bead in beads)


def test_an_aligner_fitted_to_some_texts_aligns_others() -> None:
    source, target, _ = cut(dated(500, seed=21), seed=21)
    config = AlignerConfig(max_bead_size=2)
    aligner = fit_aligner([TextPair(source, target)], config)
    source, target, gold = cut(dated(40, seed=22), seed=22)
    alone = strict_f1(gold, align(source, target, config=config))
    assert strict_f1(gold, aligner.align(TextPair(source, target))) >= max(alone, 0.85)


def test_a_string_in_place_of_a_list_of_sentences_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"expected a list of sentences, got the string 'One\. Two\.'"):
        align("One. Two.", ["One.", "Two."])
    with pytest.raises(TypeError, match="expected a list of sentences"):
        align(["Eins."], ["One."], source_translation="One.")


def test_sentences_may_come_from_generators() -> None:
    lists = (["One.", "Two."], ["Eins.", "Zwei."])
    assert align(*(iter(text) for text in lists)) == align(*lists) != []


def test_anything_but_strings_is_an_error() -> None:
    with pytest.raises(TypeError, match="expected a list of sentences, got NoneType at position 1"):
        align(["Eins.", None], ["One."])  # type: ignore[list-item]


def test_columns_of_pandas_are_aligned_as_lists_are() -> None:
    texts = ["Eins.", "Zwei drei vier."], ["One.", "Two three four."]
    columns: list[Any] = [pd.Series(text, index=[7, 9]) for text in texts]
    assert align(*columns) == align(*texts)


def test_a_translation_of_another_length_is_an_error() -> None:
    with pytest.raises(DataError, match="the source has 2 sentences, its translation 1 has 1"):
        align(["a", "b"], ["c"], source_translation=["a"])


def test_texts_with_different_numbers_of_translations_are_an_error() -> None:
    with pytest.raises(DataError, match="more translations than others"):
        fit_aligner([TextPair(["a"], ["b"], [["c"]]), TextPair(["a"], ["b"])], AlignerConfig())


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_bead_size": 0},
        {"max_bead_size": 16},
        {"word_weight": -1.0},
        {"length_weight": math.nan},
        {"rounds": -1},
        {"band_radius": 0},
    ],
)
def test_a_setting_out_of_range_is_an_error(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        align(["a"], ["b"], config=AlignerConfig(**wrong))  # type: ignore[arg-type]


def test_bleualigns_text_is_aligned_far_better_than_by_lengths(data: Path) -> None:
    """Strict F1 on the Swiss Alpine Club's yearbook of 1957; docs/explanations/results/ has the figures."""
    folder = data / "align" / "bleualign-1957"
    source, target, forward, backward = (
        list(read_lines(folder / f"eval1957.{name}")) for name in ("de", "fr", "google.fr", "google.de")
    )
    gold = read_bead_file(data / "align" / "vecalign-dev" / "dev.defr").beads
    beads = align_pair(TextPair(source, target, [forward], [backward]), AlignerConfig(max_bead_size=5))
    assert strict_f1(gold, beads) > 0.87
    assert all(one.source < other.source for one, other in pairwise(bead for bead in beads if bead.source))


def test_a_length_model_is_half_observed_and_half_gale_and_churchs() -> None:
    characters = np.full(40, 99.0)
    beads = np.array([[i, 1, i, 1] for i in range(40)])
    model = fit_length_model([(characters, characters)], [beads])
    # All 40 have equal lengths: |δ| = 1 was never observed, which counts with a share of half · 40 / 50.
    expected = np.log(1 - 0.5 * 40 / 50) + log_probabilities(np.array([1.0]))[0]
    assert model.table[0] == pytest.approx(0.0) and model.table[100] == pytest.approx(expected)
    assert (np.diff(model.table) <= 0).all()


def test_a_length_model_of_loose_texts_is_wider_by_the_variance_ratio() -> None:
    # Half of the targets are longer, half shorter, by twice a normal distribution's median: their variance is fourfold.
    difference = 2 * 0.6745 * np.sqrt(VARIANCE * 100)
    source, target = np.full(40, 99.0), 99 + difference * np.array([1.0, -1.0] * 20)
    model = fit_length_model([(source, target)], [np.array([[i, 1, i, 1] for i in range(40)])])
    # Of 8 standard deviations, none of which was observed, 8 / 4 are left; the observed share is half · 40 / 50.
    expected = np.log(1 - 0.5 * 40 / 50) + log_probabilities(np.array([2.0]))[0]
    assert model.table[800] == pytest.approx(expected)
    # A median of ten beads says little.
    few = fit_length_model([(source[:10], target[:10])], [np.array([[i, 1, i, 1] for i in range(10)])])
    assert few.table[800] == pytest.approx(np.log(1 - 0.5 * 10 / 20) + log_probabilities(np.array([8.0]))[0])


def test_a_length_model_is_learned_from_one_to_one_beads_only() -> None:
    source, target = np.array([9.0, 49.0, 19.0]), np.array([19.0, 9.0])
    beads = np.array([[0, 1, 0, 1], [1, 1, 1, 0], [2, 1, 1, 1]])
    # These have 10 and 20 characters against 20 and 10; the unaligned sentence of 50 does not count.
    assert fit_length_model([(source, target)], [beads]).ratio == pytest.approx(1.0)


def test_without_beads_the_length_model_is_gale_and_churchs() -> None:
    model = fit_length_model([(np.array([9.0]), np.array([29.0]))], [np.empty((0, 4), np.int64)])
    assert model.ratio == 3.0
    assert model.table[196] == pytest.approx(log_probabilities(np.array([1.96]))[0])


def test_words_assumed_unexplained_count_only_where_lexicons_are_learned_from_the_texts() -> None:
    pairs = bitext(60, seed=8)
    texts = [TextPair([s for s, _ in pairs], [t for _, t in pairs])]
    given = learn_lexicon(*(tokenize([pair[side] for pair in bitext(200, seed=2)]) for side in (0, 1)))
    back = learn_lexicon(*(tokenize([pair[side] for pair in bitext(200, seed=2)]) for side in (1, 0)))
    assert given is not None and back is not None
    shares = {}
    for tokens in (0.0, 1000.0):
        for lexicons in ([], [(given, back)]):
            aligner = fit_aligner(texts, AlignerConfig(background_tokens=tokens), lexicons)
            shares[tokens, len(lexicons)] = aligner.weights["word"][0][0]
    assert shares[0.0, 1] == shares[1000.0, 1] and shares[0.0, 0] < shares[1000.0, 0]
