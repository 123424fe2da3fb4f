"""Minimum Bayes risk: the choice by hand, the same samples as their decoding draws, seeds, threads, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paraloom.core.errors import ConfigError
from paraloom.core.protocols import Variant
from paraloom.mt import Mbr, Translator, parse_decoding, translate_stream
from paraloom.mt.minimum_risk import minimum_risk

SENTENCES = ["Guten Morgen", "Ich bin müde.", "", "Der Hund läuft über die Straße.", "Wo ist das Buch?"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("de-en", check_costs=False)


def test_the_best_agree_with_the_samples() -> None:
    # chrF by hand, as in tests/text/test_utility.py; "ab" occurs twice, in different subwords.
    samples = [Variant("ac", -1.0, 2), Variant("ab", -3.0, 2), Variant("a", -0.5, 1), Variant("ab", -2.0, 3)]
    (chosen,) = minimum_risk([samples], [[]], Mbr(samples=4, nbest=4))
    assert [(variant.text, variant.logprob, variant.tokens) for variant in chosen] == [
        ("ab", -2.0, 3),
        ("a", -0.5, 1),
        ("ac", -1.0, 2),
    ]
    utilities = [(200 + 25 + 500 / 6) / 4, (100 + 3 * 500 / 9) / 4, (100 + 50 + 500 / 6) / 4]
    np.testing.assert_allclose([variant.utility for variant in chosen], utilities)


def test_a_further_candidate_is_chosen_but_not_compared_with() -> None:
    # "ab" has precision 1 and recall (2/3 + 1/2) / 2 of each sample; each sample (2/3 + 1/2 + 0) / 3 of another one.
    samples = [Variant("abc", -2.0, 2), Variant("abd", -3.0, 2), Variant("abe", -4.0, 2)]
    recall, other = (2 / 3 + 1 / 2) / 2, (2 / 3 + 1 / 2) / 3
    further = [Variant("ab", -9.0, 1)]
    (chosen,) = minimum_risk([samples], [further], Mbr(samples=3, nbest=3))
    assert [variant.text for variant in chosen] == ["ab", "abc", "abd"]
    utilities = [100 * 5 * recall / (4 + recall), *[100 * (1 + 2 * other) / 3] * 2]
    np.testing.assert_allclose([variant.utility for variant in chosen], utilities)
    (without,) = minimum_risk([samples], [[]], Mbr(samples=3, nbest=2))
    assert chosen[1:] == without


def test_equal_utilities_are_ordered_by_likelihood() -> None:
    samples = [Variant("ab", -3.0, 2), Variant("cd", -1.0, 2)]
    assert [variant.text for variant in minimum_risk([samples], [[]], Mbr(samples=2, nbest=2))[0]] == ["cd", "ab"]


@pytest.mark.parametrize("decode", ["mbr:chrf,samples=4,nbest=2", "mbr:bleu,samples=4,nbest=2,beam=2,within=20"])
def test_the_choice_is_among_the_samples_of_the_same_seed(translator: Translator, decode: str) -> None:
    decoding = parse_decoding(decode)
    assert isinstance(decoding, Mbr)
    samples = translator.translate(SENTENCES, decode=decoding.proposal, seed=3)
    beam = translator.translate(SENTENCES, decode="beam:2")
    chosen = translator.translate(SENTENCES, decode=decode, seed=3)
    assert chosen == translator.translate(SENTENCES, decode=decode, seed=3)
    for text, drawn, further, best in zip(SENTENCES, samples, beam, chosen, strict=True):
        if not text:
            assert best == [Variant("", 0.0, 0)]
            continue
        candidates = {*drawn, *further} if decoding.beam else {*drawn}
        assert {variant._replace(utility=None) for variant in best} <= candidates
        assert 1 <= len(best) <= 2 and len({variant.text for variant in best}) == len(best)
        utilities = [variant.utility or 0 for variant in best]
        assert sorted(utilities, reverse=True) == utilities and 0 < utilities[0] <= 100


def test_the_number_of_threads_changes_nothing(translator: Translator) -> None:
    model = translator.with_decoding("mbr:chrf,samples=4,within=20")
    chunks = [SENTENCES[:2], SENTENCES[2:4], SENTENCES[4:]]
    one, three = (list(translate_stream(model, chunks, threads=n, seed=4)) for n in (1, 3))
    assert one == three


def test_signatures_name_the_samples(translator: Translator) -> None:
    first, second = (translator.signature_of(f"mbr:chrf,samples={n}") for n in (16, 64))
    assert "mbr:chrf,samples=16" in first and first != second


def test_a_toy_translator_pairs_each_reference_with_its_choice(toy_translator: Path) -> None:
    from paraloom import backtranslate

    pairs = backtranslate(
        [("rako gor mili dasat", "the big dog sees the cat")] * 2,
        toy_translator,
        decode="mbr:chrf,samples=4",
        check_languages=False,
    )
    first, second = pairs.to_list()
    assert first["rank"] == second["rank"] == 0 and first["method"] == "mbr:chrf,samples=4"


@pytest.mark.parametrize(
    ("decode", "reason"),
    [
        ("mbr:chrf,samples=2,nbest=3", "the number of samples, got 'mbr:chrf,samples=2,nbest=3"),
        ("mbr:foo", r"unknown metric 'foo' of decoding 'mbr'\n?.*Metrics: chrf, bleu"),
        ("mbr:chfr", "did you mean 'chrf'"),
        ("mbr:chrf,samples=1", "samples must be at least 2"),
        ("mbr:chrf,samples=many", "expected a whole number, got 'many'"),
        ("mbr:chrf,samples=4,nbest=5", "between 1 and the number of samples"),
        ("mbr:chrf,p=0", "p must be above 0"),
        ("mbr:chrf,temperature=0", "temperature must be above 0"),
        ("mbr:chrf,within=1", "within must be 0"),
        ("mbr:chrf,beam=-1", "beam must be 0"),
        ("mbr:chrf,shortlist=2", "shortlist must be 0 or 1"),
    ],
)
def test_bad_values_are_refused(decode: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"(?s){reason}"):
        parse_decoding(decode)
