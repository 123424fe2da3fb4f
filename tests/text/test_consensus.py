"""Minimum Bayes risk: expected chrF equals the mean of sacreBLEU, order of ties and repeats, checks of decodings."""

from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.metrics import CHRF

from paraloom import Translator
from paraloom.core.errors import ConfigError
from paraloom.mt.decoding import Mbr, describe_decoding, parse_decoding
from paraloom.text.consensus import expected_chrf, most_agreed

SAMPLES = ["A dog runs.", "The dog is running.", "A dog runs.", "Dogs run", "Ein Hund läuft.", ""]


def test_expected_chrf_is_the_mean_of_sacrebleus_sentence_scores() -> None:
    metric = CHRF()
    samples = [sample for sample in SAMPLES if sample]
    hypotheses = [*samples, "Something else altogether."]
    wanted = [np.mean([metric.sentence_score(h, [r]).score for r in samples]) for h in hypotheses]
    assert expected_chrf(hypotheses, samples) == pytest.approx(wanted, abs=1e-6)


def test_by_hand() -> None:
    # One character: chrF of order 1 only. "a" against "a", "a", "b": (100 + 100 + 0) / 3.
    assert expected_chrf(["a", "b", "c"], ["a", "a", "b"]).tolist() == pytest.approx([200 / 3, 100 / 3, 0])


def test_empty_texts_agree_with_nothing() -> None:
    assert expected_chrf(["", "a"], ["a", ""]).tolist() == pytest.approx([0, 50])
    assert expected_chrf([], ["a"]).tolist() == []
    assert expected_chrf(["a"], []).tolist() == [0]


def test_the_most_agreed_come_first_and_once() -> None:
    assert most_agreed(SAMPLES) == [0]
    best = most_agreed(SAMPLES, nbest=6)
    assert len({SAMPLES[index] for index in best}) == len(best) == 5
    expected = expected_chrf([SAMPLES[index] for index in best], SAMPLES)
    assert (np.diff(expected) <= 0).all()


def test_written_and_read() -> None:
    assert parse_decoding("mbr:chrf,samples=8,within=0") == Mbr(samples=8, within=0)
    assert parse_decoding(describe_decoding(Mbr(samples=8, temperature=0.5))) == Mbr(samples=8, temperature=0.5)
    assert parse_decoding("mbr") == Mbr()


@pytest.mark.parametrize(
    "text", ["mbr:comet", "mbr:chrf,samples=1", "mbr:chrf,nbest=17", "mbr:chrf,within=1", "mbr:chrf,k=3"]
)
def test_bad_values(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_decoding(text)


def test_a_translator_returns_samples_in_order_of_agreement() -> None:
    translator = Translator.load("de-en")
    texts = ["Ich habe keine Zeit.", "Ein Hund schläft.", ""]
    first = translator.translate(texts, decode="mbr:chrf,samples=8,nbest=3", seed=5)
    again = translator.translate(texts, decode="mbr:chrf,samples=8,nbest=3", seed=5)
    assert first == again
    samples = translator.translate(texts, decode="topk:10,nbest=8", seed=5)
    for group, drawn in zip(first[:2], samples, strict=False):
        names = [variant.text for variant in group]
        assert len(set(names)) == len(names) <= 3
        assert set(names) <= {variant.text for variant in drawn}
        expected = expected_chrf(names, [variant.text for variant in drawn])
        assert (np.diff(expected) <= 1e-9).all()
    assert [variant.text for variant in first[2]] == [""]
