"""Minimum Bayes risk: the choice by hand, the same samples as their decoding draws, seeds, threads, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paraloom.core.errors import ConfigError
from paraloom.core.protocols import Variant
from paraloom.mt import Mbr, Translator, parse_decoding, translate_stream
from paraloom.mt.choice import minimum_risk
from paraloom.mt.utility import candidate_scores
from paraloom.text.cross_encoder import CrossEncoder

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


class Reverse:
    """Gives the source a log-probability by the length of the candidate, and two tokens."""

    def score(self, sources: list[str], targets: list[str]) -> list[tuple[float, int]]:
        return [(-2.0 * len(source), 2) for source in sources]


def test_a_sum_adds_standard_scores() -> None:
    samples = [Variant("aaa", -1.0, 1), Variant("bb", -2.0, 1), Variant("c", -6.0, 1)]
    # Forward costs 1, 2, 6 and reverse costs 3, 2, 1 nats a subword, each minus its mean, by its standard deviation.
    forward, reverse = -np.array([-2.0, -1.0, 3.0]) / np.sqrt(14 / 3), np.array([-1.0, 0.0, 1.0]) / np.sqrt(2 / 3)
    decoding = Mbr("forward+reverse", samples=3, nbest=3)
    (chosen,) = minimum_risk([samples], [[]], decoding, ["x"], Reverse())  # type: ignore[arg-type]
    sums = dict(zip(("aaa", "bb", "c"), forward + reverse, strict=True))
    assert [one.utility for one in chosen] == pytest.approx(sorted(sums.values(), reverse=True))
    assert [one.utility for one in chosen] == pytest.approx([sums[one.text] for one in chosen])


def test_unknown_probabilities_leave_the_choice_to_the_other_scores() -> None:
    samples = [Variant(text, np.nan, 1) for text in ("aaa", "bb", "c")]
    decoding = Mbr("forward+reverse", samples=3)
    assert minimum_risk([samples], [[]], decoding, ["x"], Reverse())[0][0].text == "c"  # type: ignore[arg-type]


def test_reverse_is_the_bundled_translator_of_the_other_direction(translator: Translator) -> None:
    decode = "mbr:forward+reverse+chrf,samples=4,nbest=2,beam=2,within=20"
    chosen = translator.translate(SENTENCES, decode=decode, seed=3)
    assert chosen == translator.translate(SENTENCES, decode=f"{decode},reverse=en-de", seed=3)
    assert chosen[2] == [Variant("", 0.0, 0)] and all(group[0].utility is not None for group in chosen[:2])


def test_a_beam_is_chosen_from_by_a_utility(translator: Translator) -> None:
    chosen = translator.translate(SENTENCES, decode="beam:4,nbest=2,utility=reverse+chrf")
    beam = translator.translate(SENTENCES, decode="beam:4,nbest=4")
    for text, all_of_it, best in zip(SENTENCES, beam, chosen, strict=True):
        assert {one._replace(utility=None) for one in best} <= {*all_of_it}
        assert not text or len(best) == len({one.text for one in best}) == 2
    decoding = parse_decoding("beam:4,nbest=2,utility=reverse+chrf")
    expected = minimum_risk(beam, [[] for _ in beam], decoding, SENTENCES, Translator.load("en-de"))  # type: ignore[arg-type]
    assert chosen == expected
    assert "utility" not in translator.signature_of("beam:4")


def test_reverse_needs_a_translator(toy_translator: Path) -> None:
    with pytest.raises(ConfigError, match=r"(?s)needs a translator the other way.*reverse=FOLDER"):
        Translator.load(toy_translator, check_costs=False).translate(["rako"], decode="mbr:reverse,samples=2")


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
        ("mbr:foo", "unknown score 'foo' in the utility 'foo'.*a sum of forward, reverse, chrf, bleu"),
        ("mbr:forward+chfr", "did you mean 'chrf'"),
        ("mbr:chrf+chrf", "twice the score 'chrf'"),
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


@pytest.mark.parametrize("labels", [("entailment", "other"), ("value",)])
def test_a_cross_encoder_reads_source_and_candidate(tmp_path: Path, labels: tuple[str, ...]) -> None:
    for package in ("onnx", "onnxruntime", "tokenizers", "torch", "transformers"):
        pytest.importorskip(package, reason="pip install 'paraloom[cross-encoder,onnx,train]'")
    from tiny_cross_encoder import SENTENCES as TEXTS
    from tiny_cross_encoder import save_tiny_cross_encoder

    model = CrossEncoder.load(save_tiny_cross_encoder(tmp_path, labels))
    candidates = [[Variant(text, -1.0, 4) for text in TEXTS[1:4]], [Variant(TEXTS[4], -1.0, 4), Variant("", -1.0, 1)]]
    name = f"cross-encoder:{tmp_path}"
    first, second = (row[name] for row in candidate_scores(name, candidates, candidates, [TEXTS[0], TEXTS[5]]))
    raw = model.predict([TEXTS[0]] * 3 + [TEXTS[5]], TEXTS[1:5])
    values = 100 * (raw if len(labels) > 1 else 1 / (1 + np.exp(-raw)))
    np.testing.assert_allclose([*first, second[0]], values, rtol=1e-5)
    assert np.isnan(second[1])
    decoding = parse_decoding(f"mbr:{name},samples=3")
    assert isinstance(decoding, Mbr)
    (best, *_), _ = minimum_risk(candidates, [[], []], decoding, [TEXTS[0], TEXTS[5]])
    assert best.text == TEXTS[1 + int(values[:3].argmax())]
