"""SCPN's examples by hand, and both networks as one translator, with fixed answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from paraloom.core.errors import ConfigError
from paraloom.core.protocols import PrefixTranslatorLike, Variant
from paraloom.papers.scpn.scpn_translator import (
    PARSE_DECODING,
    ScpnTranslator,
    drop_constituents,
    leaf_labels,
    parse_request,
    scpn_example,
)
from paraloom.paraphrasing.config import ControlConfig, ScpnConfig
from paraloom.paraphrasing.control import ControlledVariant
from paraloom.paraphrasing.examples import ParsedPair, source_text, target_prefix
from paraloom.paraphrasing.linearization import template_tokens, tokens_of
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable

PLAIN = "(S (NP (DT a) (NN dog)) (VP (VBZ barks)) (. .))"
FRONTED = "(S (ADVP (RB now)) (, ,) (NP (DT a) (NN dog)) (VP (VBZ barks)) (. .))"
PLAIN_PARSE, FRONTED_PARSE = "(S (NP (DT) (NN)) (VP (VBZ)) (.))", "(S (ADVP (RB)) (,) (NP (DT) (NN)) (VP (VBZ)) (.))"
PAIR = ParsedPair("a dog barks .", "now , a dog barks .", PLAIN, FRONTED)
TAGS = ("DT", "NN", "VBZ", "RB", ".", ",")


def tokens(template: str) -> str:
    return "".join(template_tokens(template))


def example(pair: ParsedPair = PAIR, seed: int = 1, same_rate: float = 1.0, **settings: Any) -> Any:
    control = ControlConfig(source_parse_share=settings.pop("shown", 1.0))
    return scpn_example(pair, control, ScpnConfig(**settings), np.random.default_rng(seed), same_rate=same_rate)


def test_an_example() -> None:
    whole = example(level_dropout=1.0)
    assert whole.source == f"a dog barks . <sep>{tokens(FRONTED_PARSE)}" and whole.target == "now , a dog barks ."
    assert whole.parse_source == f"{tokens(PLAIN_PARSE)}<sep>{tokens('(S (ADVP) (,) (NP) (VP) (.))')}"
    assert (whole.parse_target, whole.height) == (tokens(FRONTED_PARSE), 2)
    assert example(shown=0.0, level_dropout=1.0).parse_source.startswith("<sep><(S>")
    assert example(PAIR._replace(source_tree=None)).parse_source.startswith("<sep><(S>")
    assert example(level_dropout=0.0).height == 3
    assert example(max_parse_labels=6).parse_target == tokens("(S (ADVP) (,) (NP) (VP) (.))")


def test_pairs_without_an_example() -> None:
    assert example(PAIR._replace(paraphrase_tree=None)) is None
    assert example(PAIR._replace(paraphrase_tree=PLAIN.replace("dog", "cat"))) is None
    # The same template, in another parse: only the paraphrase generator learns from it, at a rate of 0.
    other = PAIR._replace(paraphrase_tree=PLAIN.replace("(DT a) ", ""))
    assert example(other, same_rate=0.0).parse_source == "" and example(other, same_rate=1.0).parse_source


def test_heights_are_drawn_level_by_level() -> None:
    tree = "(S (A (B (C (D x)))))"
    heights = Counter(example(ParsedPair("x", "y", None, tree), seed, level_dropout=0.5).height for seed in range(2000))
    assert sorted(heights) == [2, 3, 4, 5]
    assert [heights[height] / 2000 for height in (2, 3, 4, 5)] == pytest.approx([0.5, 0.25, 0.125, 0.125], abs=0.04)


def test_dropped_constituents() -> None:
    random = np.random.default_rng(1)
    assert drop_constituents(FRONTED_PARSE, 0.0, random) == FRONTED_PARSE
    assert drop_constituents(FRONTED_PARSE, 1.0, random) == "(S (ADVP) (,) (NP) (VP) (.))"
    deep = "(S (NP (NP (DT) (NN)) (PP (IN))) (VP))"
    seen = {drop_constituents(deep, 0.5, np.random.default_rng(seed)) for seed in range(50)}
    # What is left below NP, or nothing.
    assert seen == {
        "(S (NP) (VP))",
        deep,
        "(S (NP (NP) (PP)) (VP))",
        "(S (NP (NP) (PP (IN))) (VP))",
        "(S (NP (NP (DT) (NN)) (PP)) (VP))",
    }
    assert tokens_of(example(tree_dropout=1.0).source) == template_tokens("(S (ADVP) (,) (NP) (VP) (.))")
    # The parse generator still writes the full parse.
    assert example(tree_dropout=1.0).parse_target == tokens(FRONTED_PARSE)


def test_labels_of_leaves() -> None:
    assert leaf_labels(FRONTED_PARSE) == set(TAGS)
    assert leaf_labels("(S (NP) (VP (VBZ)))") == {"NP", "VBZ"} and leaf_labels("(S)") == {"S"}


class Fixed:
    """A network with fixed answers that remembers what it was asked."""

    signature = "fixed"
    source = "en"

    def __init__(self, answers: Sequence[str]) -> None:
        self.answers = answers
        self.calls: list[dict[str, Any]] = []

    def translate(self, sentences: Sequence[str], **options: Any) -> list[list[Variant]]:
        self.calls.append({"sentences": list(sentences), **options})
        return [[Variant(text, -float(rank), 3) for rank, text in enumerate(self.answers)] for _ in sentences]

    def split(self, sentences: Sequence[str], *, reserve: int = 0) -> list[list[str]]:
        return [[text] for text in sentences]


def scpn(parses: Sequence[str]) -> tuple[ScpnTranslator, Fixed, Fixed]:
    sentences, generator = Fixed(["x", "y"]), Fixed(parses)
    return ScpnTranslator(sentences, generator, TAGS, "(FRAG (NP))"), sentences, generator


def test_a_template_becomes_a_parse_then_a_paraphrase() -> None:
    model, sentences, generator = scpn(["<(S><(NP>", tokens(FRONTED_PARSE)])
    assert isinstance(model, PrefixTranslatorLike)
    template = "(S (ADVP) (,) (NP) (VP) (.))"
    source = source_text("a dog barks .", PLAIN_PARSE)
    groups = model.translate([source, source], decode="beam:2", seed=7, prefixes=[target_prefix(template)] * 2)
    assert [[one.text for one in group] for group in groups] == [["x", "y"]] * 2
    # Equal requests are one; the first hypothesis is not a parse.
    assert generator.calls == [{"sentences": [parse_request(PLAIN_PARSE, template)], "decode": PARSE_DECODING}]
    asked = f"a dog barks . <sep>{tokens(FRONTED_PARSE)}"
    assert sentences.calls == [{"sentences": [asked] * 2, "decode": "beam:2", "seed": 7}]


def test_what_the_parse_generator_cannot_write() -> None:
    model, sentences, _ = scpn(["<(S>", "<)>"])
    model.translate(["a"], prefixes=[target_prefix("(S (NP))")])
    assert sentences.calls[0]["sentences"] == [source_text("a", "(S (NP))")]


def test_a_full_parse_needs_no_parse_generator() -> None:
    model, sentences, generator = scpn([])
    model.translate(["a dog"], prefixes=[target_prefix(FRONTED_PARSE)])
    assert not generator.calls and sentences.calls[0]["sentences"] == [source_text("a dog", FRONTED_PARSE)]


def test_free_paraphrases() -> None:
    model, sentences, generator = scpn([tokens(PLAIN_PARSE)])
    model.translate([source_text("a", FRONTED_PARSE), "b", ""])
    assert generator.calls[0]["sentences"] == [
        parse_request(FRONTED_PARSE, "(S (ADVP) (,) (NP) (VP) (.))"),
        parse_request(None, "(FRAG (NP))"),
    ]
    assert sentences.calls[0]["sentences"] == [source_text("a", PLAIN_PARSE), source_text("b", PLAIN_PARSE), ""]


class Parser:
    """Knows one tree."""

    signature = "parser"

    def parse(self, sentences: Sequence[str]) -> list[str]:
        return [PLAIN for _ in sentences]


def test_a_paraphraser_shows_the_full_parse_of_its_source() -> None:
    translator, sentences, generator = scpn([tokens(PLAIN_PARSE)])
    settings = ParaphraserSettings(("S", "NP", "VP", *TAGS), network="scpn", max_parse_labels=125, tags=TAGS)
    model = ControlledParaphraser(translator, settings, TemplateTable(), Parser())
    (variants,) = model.candidates(["a dog barks ."], n=1, template="(S (NP) (VP) (.))")
    assert generator.calls[0]["sentences"] == [parse_request(PLAIN_PARSE, "(S (NP) (VP) (.))")]
    assert variants == [ControlledVariant("x", 0.0, 3, "(S (NP) (VP) (.))", "(S (NP) (VP) (.))", 0)]
    assert sentences.calls[0]["decode"] == "beam:5,nbest=5"


@pytest.mark.parametrize("settings", [{"level_dropout": 1.5}, {"tree_dropout": -0.1}, {"max_parse_labels": 0}])
def test_bad_settings(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"'{next(iter(settings))}' must be"):
        ScpnConfig(**settings)
