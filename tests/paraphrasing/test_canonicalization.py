"""The standard form of texts: candidates that are not safe, the choice, what is held, texts that stay as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from toy_paraphraser import LABELS, ToyTranslator

from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.protocols import Variant
from paraloom.paraphrasing.canonicalization import Canonicalizer, CanonicalText
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.paraphrasing.spelling import Speller
from paraloom.paraphrasing.templates import TemplateTable


class Source:
    """Gives fixed candidates, the first ones more probable; the text itself is as probable as `own`."""

    signature = "source"

    def __init__(self, *candidates: str | Variant, own: float = -9.0) -> None:
        ranked = enumerate(candidates, start=1)
        self.candidates = [one if isinstance(one, Variant) else Variant(one, -float(rank), 1) for rank, one in ranked]
        self.own = own
        self.asked: list[str] = []

    def canonical_candidates(
        self, texts: Sequence[str], *, n: int = 5, decode: str | None = None, seed: int = 0
    ) -> list[list[Variant]]:
        self.asked += texts
        return [self.candidates[:n] for _ in texts]

    def canonical_logprobs(self, texts: Sequence[str], forms: Sequence[str]) -> list[float]:
        known = {one.text: one.logprob for one in self.candidates}
        return [self.own if form == text else known[form] for text, form in zip(texts, forms, strict=True)]


class Encoder:
    """Texts with the word 'cat' mean something else than texts without."""

    signature, dimension = "encoder", 2

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.array([[0, 1] if "cat" in text else [1, 0] for text in sentences], np.float32)


class Fluency:
    """The perplexity of a text is 1 with the word 'the', else 100."""

    signature = "fluency"

    def perplexity(self, texts: list[str]) -> npt.NDArray[np.float32]:
        return np.array([1 if "the" in text else 100 for text in texts], np.float32)


def form(text: str, *candidates: str | Variant, own: float = -9.0, **options: object) -> CanonicalText:
    (one,) = Canonicalizer(Source(*candidates, own=own), Encoder(), **options).canonicalize([text])  # type: ignore[arg-type]
    return one


def test_the_most_probable_form() -> None:
    one = form("i see u", "I see you.", "I saw you.")
    assert one == CanonicalText("I see you.", "i see u", "changed", "", 1.0, math.exp(-1.0))
    assert one.to_dict()["probability"] == math.exp(-1.0)


def test_a_text_that_is_its_own_form() -> None:
    assert form("I see you.", "I saw you.", own=-0.5).status == "unchanged"
    assert form("I see you.", "I see you.").status == "unchanged"
    assert form("I see you.", "I see you.", "I saw the cat.").status == "unchanged"


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        ("I see a cat.", "meaning changed"),
        ("...", "empty"),
        (Variant("I see you.", -1.0, 1, cut=True), "cut off by the decoder"),
        ("I see you you you.", "repeats a word"),
        ("I see you and all of the others.", "length"),
        ("I see you 2.", "number, link or field added"),
    ],
)
def test_candidates_that_are_not_safe(candidate: str | Variant, reason: str) -> None:
    one = form("i see u", candidate)
    assert (one.text, one.status, one.reason) == ("i see u", "kept", reason)
    assert form("i see u", candidate, "I see it.").text == "I see it."


def test_without_an_encoder_meaning_is_not_checked() -> None:
    one = Canonicalizer(Source("I see a cat.")).canonicalize(["i see u"])[0]
    assert one.text == "I see a cat." and math.isnan(one.meaning) and one.to_dict()["meaning"] is None


def test_what_is_held() -> None:
    source = Source("Give A1 to A2.", "Give it to A2.")
    one = Canonicalizer(source).canonicalize(["giv 5 to @ann"])[0]
    assert source.asked == ["giv A1 to A2"] and one.text == "Give 5 to @ann."
    one = Canonicalizer(Source("Give it to A2.")).canonicalize(["giv 5 to @ann"])[0]
    assert (one.text, one.status, one.reason) == ("giv 5 to @ann", "kept", "placeholder lost")


def test_texts_without_words_are_not_asked_for() -> None:
    source = Source("Hello.")
    forms = Canonicalizer(source).canonicalize(["", "@ann 5 https://a.org", "helo"])
    assert [one.status for one in forms] == ["kept", "kept", "changed"]
    assert forms[0].reason == "without words to write" and source.asked == ["helo"]
    assert Canonicalizer(source).canonicalize([]) == []


def test_meaning_is_that_of_the_words_outside_of_placeholders() -> None:
    one = form("i see Tom's cat on http://cat.org", "I see it on A2.", "I see A1 on A2.")
    assert one.status == "kept" and one.reason == "placeholder lost"
    assert form("i see cat on http://cat.org", "I see it on A1.").reason == "meaning changed"


def test_unknown_probabilities() -> None:
    unknown = Variant("I see you.", math.nan, 0)
    assert form("i see u", Variant("I see you.", -2.0, 2), own=math.nan).text == "I see you."
    assert form("i see u", "I see a cat.", own=math.nan).status == "kept"
    assert form("i see u", own=math.nan).reason == "without a candidate"
    assert math.isnan(form("i see u", unknown, own=math.nan).probability)
    assert form("i see u", unknown, "I see.", own=math.nan).text == "I see."


def test_a_language_model_prefers_fluent_forms() -> None:
    candidates = ("I see a dog.", "I see the dog.")
    assert form("i see dog", *candidates).text == "I see a dog."
    assert form("i see dog", *candidates, language_model=Fluency(), language_weight=1.0).text == "I see the dog."
    assert form("i see dog", *candidates, language_model=Fluency(), language_weight=0.0).text == "I see a dog."


def test_settings() -> None:
    for options in ({"meaning": 1.5}, {"candidates": 0}, {"language_weight": -1.0}):
        with pytest.raises(ConfigError, match=next(iter(options))):
            Canonicalizer(Source(), **options)  # type: ignore[arg-type]
    signature = Canonicalizer(Source(), Encoder(), meaning=0.7).signature
    assert signature.startswith("source|canonical|") and "0.7" in signature and "encoder" in signature


def paraphraser(*, canonical: bool) -> tuple[ControlledParaphraser, ToyTranslator]:
    translator = ToyTranslator(["It rains.", "<canonical> It pours."])
    settings = ParaphraserSettings(LABELS, canonical=canonical)
    return ControlledParaphraser(translator, settings, TemplateTable()), translator


def test_what_a_paraphraser_is_asked() -> None:
    model, translator = paraphraser(canonical=True)
    groups = model.canonical_candidates(["it rain <canonical>", "a|b", ""], n=2, seed=3)
    assert translator.calls == [
        {
            "sources": ["<canonical> it rain < canonical>", "<canonical> a", "<canonical> b", ""],
            "decode": "beam:5,nbest=2",
            "seed": 3,
            "prefixes": ["<sep>"] * 4,
        }
    ]
    assert [one.text for one in groups[0]] == ["It rains.", "It pours."]
    assert [one.text for one in groups[1]] == ["It rains. It rains.", "It pours. It pours."]
    assert [one.text for one in groups[2]] == [""]
    assert all(map(math.isnan, model.canonical_logprobs(["a"], ["b"])))  # this translator does not score
    with pytest.raises(ConfigError, match="'n' must be 1 or more"):
        model.canonical_candidates(["a"], n=0)


def test_a_model_that_was_not_trained_for_it() -> None:
    model, translator = paraphraser(canonical=False)
    with pytest.raises(ModelError, match=r"was not trained to write the standard form(.|\n)*--noisy-share 0.3"):
        model.canonical_candidates(["it rain"])
    assert not translator.calls


SPELLER = Speller(["see", "you", "the", "saw", "dog", "i", "late"])


def test_rules_without_a_model() -> None:
    speller = Canonicalizer(None, speller=SPELLER)
    forms = speller.canonicalize(["i see u @dgo 5", "I see you.", "@ann 5", "teh dog"])
    assert [(one.text, one.status) for one in forms] == [
        ("I see you @dgo 5", "changed"),
        ("I see you.", "unchanged"),
        ("@ann 5", "kept"),
        ("The dog.", "changed"),
    ]
    assert [one.source for one in forms] == ["i see u @dgo 5", "I see you.", "@ann 5", "teh dog"]
    assert speller.signature.startswith("rules|canonical|")


@pytest.mark.parametrize(
    ("candidate", "own", "text", "reason"),
    [
        ("I see you!", -2.0, "I see you!", ""),  # more probable by more than the margin
        ("I see you!", -1.1, "I see you.", ""),  # by less
        ("I saw you.", -2.0, "I see you.", ""),  # another word that is known
    ],
)
def test_rules_before_a_model(candidate: str, own: float, text: str, reason: str) -> None:
    one = form("i see u", candidate, own=own, speller=SPELLER)
    assert (one.text, one.source, one.status, one.reason) == (text, "i see u", "changed", reason)


def test_a_model_that_exchanges_known_words_changes_nothing() -> None:
    one = form("I see you.", "I saw you.", speller=SPELLER)
    assert (one.text, one.status, one.reason) == ("I see you.", "kept", "other words")
