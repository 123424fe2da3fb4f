"""Choices among samples: fairseq's likeliest, and the greedy one of good and dissimilar texts."""

from __future__ import annotations

from itertools import permutations
from math import exp, prod
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from paraloom.core.errors import ConfigError
from paraloom.core.protocols import Variant
from paraloom.mt import Diverse, Nucleus, Sampling, TopK, Translator, parse_decoding
from paraloom.mt.choice import choose_diverse, choose_samples, diverse_variants
from paraloom.mt.decoding import describe_decoding
from paraloom.mt.presets import method
from paraloom.text.utility import expected_utility, pairwise_similarity

SENTENCES = ["rako gor mili dasat", "gor", "", "mili rako gor dasat gor"]


def test_the_greedy_choice_by_hand() -> None:
    # After a: b has .8 × .2, c .5 × .6, d .4 × .7; after c: b has .8 × .2, d .4 × .3.
    quality = np.array([0.9, 0.8, 0.5, 0.4])
    alike = np.array([[1, 0.8, 0.4, 0.3], [0.8, 1, 0.5, 0.1], [0.4, 0.5, 1, 0.7], [0.3, 0.1, 0.7, 1]])
    assert choose_diverse(quality, alike, 3) == [0, 2, 1]
    assert choose_diverse(quality, alike, 9) == [0, 2, 1, 3]
    assert choose_diverse(quality, alike, 3, weight=1.0) == [0, 1, 2]
    # By dissimilarity alone: all are equal at first, so the first is taken; then d (.7), then c (.3), for b has .2.
    assert choose_diverse(quality, alike, 3, weight=0.0) == [0, 3, 2]
    assert choose_diverse(np.empty(0), np.empty((0, 0)), 3) == []


@pytest.mark.parametrize("weight", [0.1, 0.5, 1.0])
def test_each_greedy_step_is_the_best_of_all_continuations(weight: float) -> None:
    random = np.random.default_rng(5)
    for _ in range(40):
        n = int(random.integers(2, 7))
        table = random.random((n, n))
        quality, alike = random.random(n), (table + table.T) / 2
        np.fill_diagonal(alike, 1.0)

        def gains(order: tuple[int, ...], quality: np.ndarray = quality, alike: np.ndarray = alike) -> list[float]:
            return [
                quality[one] ** weight
                * (1 - max((alike[one, other] for other in order[:position]), default=0.0)) ** (1 - weight)
                for position, one in enumerate(order)
            ]

        # The greedy order is the one whose gains come first in the lexicographic order of all orders.
        chosen = tuple(choose_diverse(quality, alike, min(3, n), weight=weight))
        best = max(permutations(range(n), min(3, n)), key=lambda order: [round(gain, 12) for gain in gains(order)])
        assert gains(chosen) == pytest.approx(gains(best))


@pytest.mark.parametrize("k", [2, 3])
def test_the_greedy_set_is_close_to_the_best_set(k: int) -> None:
    """The product of quality and dissimilarity over a set: greedy against all orders of all sets."""
    random = np.random.default_rng(6)
    ratios = []
    for _ in range(60):
        points, quality = random.random((6, 2)), 0.2 + 0.8 * random.random(6)
        alike = np.exp(-2 * np.abs(points[:, None] - points[None]).sum(-1))

        def value(order: tuple[int, ...], quality: np.ndarray = quality, alike: np.ndarray = alike) -> float:
            return prod(
                quality[one] * (1 - max((alike[one, other] for other in order[:position]), default=0.0))
                for position, one in enumerate(order)
            )

        best = max(value(order) for order in permutations(range(6), k))
        ratios.append(value(tuple(choose_diverse(quality, alike, k))) / best)
    assert max(ratios) <= 1 + 1e-12 and min(ratios) > 0.3 and float(np.mean(ratios)) > 0.85


@pytest.mark.parametrize("name", ["chrf", "bleu"])
def test_similarities_are_sacrebleus(name: str) -> None:
    groups = [["the cat sat down here", "the cats sat down there", "the cat sat down here"], [], ["a dog", ""]]
    metric = CHRF() if name == "chrf" else BLEU(effective_order=True, tokenize="13a")
    first, none, last = pairwise_similarity(groups, name)
    for row, column in ((0, 1), (1, 2), (0, 2)):
        one, other = groups[0][row], groups[0][column]
        both = [metric.sentence_score(one, [other]).score, metric.sentence_score(other, [one]).score]
        assert first[row, column] == first[column, row] == pytest.approx(sum(both) / 200)
    assert none.shape == (0, 0) and last.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_the_quality_by_hand() -> None:
    samples = [Variant("ab cd", -1.0, 2), Variant("ab ce", -3.0, 3), Variant("xyz", -8.0, 2)]
    utilities = expected_utility([[one.text for one in samples]], [[one.text for one in samples]])[0] / 100
    likely = [exp(-0.5), exp(-1.0), exp(-4.0)]
    alike = pairwise_similarity([[one.text for one in samples]])[0]
    for utility, values in {
        "forward": likely,
        "chrf": utilities,
        "forward+chrf": [a * b for a, b in zip(likely, utilities, strict=True)],
    }.items():
        expected = choose_diverse(np.array(values), alike, 2)
        chosen = diverse_variants([samples], Diverse(samples=3, nbest=2, utility=utility))[0]
        assert [one.text for one in chosen] == [samples[index].text for index in expected]
        assert [one.utility for one in chosen] == pytest.approx([100 * values[index] for index in expected])


def test_repeated_texts_count_in_the_utility_but_are_chosen_once() -> None:
    samples = [Variant("ab", -5.0, 1), Variant("ab", -4.0, 2), Variant("cd", -1.0, 1)]
    chosen = diverse_variants([samples], Diverse(samples=3, nbest=3, utility="chrf"))[0]
    assert [(one.text, one.logprob) for one in chosen] == [("ab", -4.0), ("cd", -1.0)]
    assert [one.utility for one in chosen] == pytest.approx([200 / 3, 100 / 3])
    # An endpoint may not report probabilities; the utility is what is left.
    unknown = [one._replace(logprob=float("nan")) for one in samples]
    assert [one.text for one in diverse_variants([unknown], Diverse(samples=3, nbest=1))[0]] == ["ab"]
    empty = Variant("", 0.0, 0)
    assert diverse_variants([[empty], []], Diverse()) == [[empty], []]


def test_the_likeliest_of_samples_as_in_fairseq() -> None:
    samples = [Variant("short", -2.0, 1), Variant("a longer one", -3.0, 3), Variant("worst", -9.0, 3)]
    by_length = choose_samples([samples], Nucleus(0.95, 2, samples=3))[0]
    assert [one.text for one in by_length] == ["a longer one", "short"]  # -1 and -2 per token
    plain = choose_samples([samples], Sampling(2, samples=3, length_penalty=0.0))[0]
    assert [one.text for one in plain] == ["short", "a longer one"]


@pytest.mark.parametrize(
    "decode", ["sampling,nbest=2,samples=5", "nucleus:.9,nbest=2,samples=5", "topk:4,nbest=2,samples=5"]
)
def test_samples_of_a_translator_are_drawn_and_the_likeliest_kept(toy_translator: Path, decode: str) -> None:
    translator, decoding = Translator.load(toy_translator, check_costs=False), parse_decoding(decode)
    assert isinstance(decoding, (Sampling, TopK, Nucleus)) and decoding.proposal is not None
    assert decoding.proposal.proposal is None and decoding.proposal.nbest == 5
    drawn = translator.translate(SENTENCES, decode=decoding.proposal, seed=3)
    kept = translator.translate(SENTENCES, decode=decode, seed=3)
    for text, group, best in zip(SENTENCES, drawn, kept, strict=True):
        expected = sorted((one.logprob / one.tokens for one in group), reverse=True)[:2] if text else [0.0]
        assert [one.logprob / max(1, one.tokens) for one in best] == pytest.approx(expected)


def test_a_translator_chooses_diverse_samples(toy_translator: Path) -> None:
    translator = Translator.load(toy_translator, check_costs=False)
    decoding = parse_decoding("diverse:chrf,samples=6,nbest=2,weight=.5")
    assert isinstance(decoding, Diverse)
    drawn = translator.translate(SENTENCES, decode=decoding.proposal, seed=3)
    assert translator.translate(SENTENCES, decode=decoding, seed=3) == diverse_variants(drawn, decoding)


def test_descriptions() -> None:
    # The signature of samples that are all kept is as ever.
    assert describe_decoding(Nucleus(0.95, 3)) == "nucleus:0.95,nbest=3,temperature=1.0,within=0,shortlist=0"
    assert describe_decoding(Sampling(3, samples=5)).endswith("shortlist=0,samples=5,length_penalty=1.0")
    for text in ("sampling,nbest=3,samples=5", "diverse:bleu,samples=8,nbest=2,weight=.3,utility=chrf", "topk:5"):
        assert parse_decoding(describe_decoding(parse_decoding(text))) == parse_decoding(text)


def test_the_methods_as_fairseq_reads_them() -> None:
    assert describe_decoding(method("beam", 3, fairseq=True).decoding).startswith("beam:5,nbest=3,length_penalty=1.0")
    assert describe_decoding(method("beam", 3).decoding).startswith("beam:5,nbest=3,length_penalty=0.0")
    assert method("nucleus", 3, fairseq=True).decoding == Nucleus(0.95, 3, samples=5)
    assert method("sampling", 7, fairseq=True).decoding == Sampling(7, samples=7)
    assert method("base-big", 3, fairseq=True).decoding.nbest == 1


@pytest.mark.parametrize(
    ("decode", "reason"),
    [
        ("nucleus:0.95,nbest=3,samples=2", "samples must be 0 or at least nbest"),
        ("sampling,samples=-1", "samples must be 0 or at least nbest"),
        ("diverse:chrf,samples=1,nbest=1", "samples must be at least 2"),
        ("diverse:chrf,samples=2", "nbest must be between 1 and the number of samples"),
        ("diverse:chrf,weight=1.5", "weight must be between 0 and 1"),
        ("diverse:chfr", "unknown metric 'chfr' of decoding 'diverse'.*did you mean 'chrf'"),
        ("diverse:chrf,utility=best", "unknown score 'best' in the utility.*forward, reverse, chrf, bleu"),
        ("diverse:chrf,quality=both", "called 'utility' now.*forward[+]chrf for both"),
    ],
)
def test_bad_values_are_refused(decode: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"(?s){reason}"):
        parse_decoding(decode)
