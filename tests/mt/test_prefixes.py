"""Forced prefixes: translations begin with them, and probabilities are those of the rest, as the engine scores it."""

from __future__ import annotations

import pytest

from paraloom.core.errors import ConfigError
from paraloom.core.protocols import PrefixTranslatorLike
from paraloom.mt.translator import Translator

SOURCES = ["Ich habe heute keine Zeit, ins Kino zu gehen.", "Der Hund schläft.", "Das ist ein schönes Haus.", ""]
PREFIXES = ["Today I", "A", "", "The"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("de-en", check_costs=False)


@pytest.mark.parametrize("decode", ["beam:4,nbest=2", "beam:4,length_penalty=0", "greedy", "nucleus:0.9,nbest=2"])
def test_probabilities_are_those_of_what_follows(
    translator: Translator, decode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The subwords that were chosen: a text has several spellings.
    monkeypatch.setattr(translator._codec, "decode", lambda rows: [" ".join(row) for row in rows])
    variants = translator.translate(SOURCES, decode=decode, seed=3, prefixes=PREFIXES)
    assert isinstance(translator, PrefixTranslatorLike)
    for source, prefix, group in zip(SOURCES[:3], PREFIXES, variants, strict=False):
        beginning = translator._codec.encode_target([prefix])[0]
        for variant in group:
            rest = variant.text.split(" ")
            (scored,) = translator._decoder.engine().score_batch(
                translator._codec.encode([source]), [[*beginning, *rest]]
            )
            own = scored.log_probs[len(beginning) :]
            assert variant.tokens == len(own) == len(rest) + 1
            assert variant.logprob == pytest.approx(sum(own), abs=0.02)
    assert [(variant.text, variant.tokens) for variant in variants[3]] == [("", 0)]


def test_an_empty_prefix_changes_nothing(translator: Translator) -> None:
    assert translator.translate(SOURCES, prefixes=[""] * 4) == translator.translate(SOURCES)
    assert translator.translate(SOURCES[1], prefixes=["A"])[0].text == "dog is sleeping."


def test_parts_of_a_long_text_begin_alike(translator: Translator) -> None:
    (variant,) = translator.translate("Der Hund schläft. " * 100, decode="greedy", prefixes=["A"])
    assert variant.pieces == 100
    assert variant.text == " ".join(["dog is sleeping."] * 100)
    assert translator.split(["Der Hund schläft. " * 2, ""], reserve=250) == [["Der Hund schläft."] * 2, [""]]


def test_as_many_prefixes_as_texts(translator: Translator) -> None:
    with pytest.raises(ConfigError, match="expected 4 prefixes, one for each text, got 1"):
        translator.translate(SOURCES, prefixes=["A"])
    with pytest.raises(ConfigError, match="expected 4 prefixes, one for each text, got 1"):
        translator.translate(SOURCES, prefixes="A")  # type: ignore[arg-type]
