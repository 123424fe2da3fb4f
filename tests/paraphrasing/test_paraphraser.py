"""Paraphrases by template and exemplar: what the translator is asked, the order of candidates, bad input."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from typing import Any

import pytest
from toy_paraphraser import LABELS, ToyParser, ToyTranslator, asked_template

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import PrefixTranslatorLike, Variant
from paraloom.paraphrasing.config import ControlConfig
from paraloom.paraphrasing.control import ControlledVariant, control_variants, join_parts, match_template
from paraloom.paraphrasing.examples import ParsedPair
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.reordering import MOVED
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable

PLAIN, FRONTED = "(S (NP) (VP) (.))", "(S (ADVP) (,) (NP) (VP) (.))"
CANDIDATES = ["it rains .", "it rains .", "unknown words", "now , it rains .", "rains now ."]


def paraphraser(*, parser: bool = True, candidates: list[str] = CANDIDATES, **control: Any) -> ControlledParaphraser:
    templates = TemplateTable()
    own, other = ToyParser().parse(["it rains .", "now , it rains ."])
    templates.add([ParsedPair("a", "b", own, other)] * 2 + [ParsedPair("a", "b", own, own)])
    settings = ParaphraserSettings(LABELS, ControlConfig(**control))
    return ControlledParaphraser(ToyTranslator(candidates), settings, templates, ToyParser() if parser else None)


def last_call(model: ControlledParaphraser) -> dict[str, Any]:
    translator = model.translator
    assert isinstance(translator, ToyTranslator) and isinstance(translator, PrefixTranslatorLike)
    return translator.calls[-1]


def test_free() -> None:
    model = paraphraser(parser=False)
    (variants,) = model.candidates(["it rains ."], n=3, seed=7)
    assert [variant.text for variant in variants] == ["it rains .", "unknown words"]  # equal texts count once
    assert variants[0] == ControlledVariant("it rains .", -1.0, 4)
    assert variants[0].has_template is None
    assert last_call(model) == {"sources": ["it rains ."], "decode": "beam:5,nbest=3", "seed": 7, "prefixes": ["<sep>"]}


def test_free_paraphrases_are_not_copies() -> None:
    model = paraphraser(parser=False)
    (variants,) = model.paraphrase(["It rains!"], n=3)
    assert [variant.text for variant in variants] == ["unknown words", "now , it rains ."]
    assert last_call(model)["decode"] == "beam:5,nbest=4"  # one in place of the copy
    only_copies = paraphraser(parser=False, candidates=["it rains ."])
    assert [variant.text for variant in only_copies.paraphrase("It rains!")] == ["it rains ."]
    with pytest.raises(ConfigError, match="'n' must be 1 or more"):
        model.paraphrase(["it rains ."], n=0)


def test_texts_in_another_order_that_have_the_template() -> None:
    class SpacingParser(ToyParser):
        def parse(self, sentences: Sequence[str]) -> list[str | None]:
            return super().parse([re.sub("([.,])", r" \1", text) for text in sentences])

    model = paraphraser()
    model.parser = SpacingParser()
    given = [[ControlledVariant("it rains .", -4.0, 6, FRONTED, PLAIN, 2)], []]
    (known, fronted), nothing = model.with_moves(["it rains now .", "it rains now ."], given)
    assert (known, nothing) == (given[0][0], [])
    assert (fronted.text, fronted.rule, math.isnan(fronted.logprob)) == ("now, it rains .", MOVED, True)
    assert fronted.has_template and fronted.template == FRONTED
    network = [fronted._replace(rule="", logprob=-4.0)]
    assert [one.rule for one in model.with_moves(["it rains now ."], [network])[0]] == [MOVED]  # written by both
    deeper = known._replace(template=FRONTED.replace("(ADVP)", "(ADVP (RB))"), exemplar=True)
    [[_, like]] = model.with_moves(["it rains now ."], [[deeper]])
    assert like.text == fronted.text and like.exemplar and like.has_template and like.distance


def test_log_probabilities_of_free_paraphrases() -> None:
    class Scoring(ToyTranslator):
        def score(self, sources, targets):  # type: ignore[no-untyped-def]
            self.calls.append({"sources": sources, "targets": targets})
            return [(-2.0, 5), (math.nan, 0)]

    model = paraphraser()
    given = [[ControlledVariant("now , it rains .", -4.0, 6, FRONTED)], [ControlledVariant("too long", -1.0, 3)]]
    assert model.with_free_logprobs(["it rains .", "long"], given) == given  # a network that cannot score texts
    model.translator = Scoring([])
    assert model.with_free_logprobs(["it rains .", "long"], given) == [
        [ControlledVariant("now , it rains .", -2.0, 5, FRONTED)],
        given[1],
    ]
    assert last_call(model) == {
        "sources": ["it rains .", "long"],
        "targets": ["<sep> now , it rains .", "<sep> too long"],
    }


def test_a_template_orders_candidates_by_distance() -> None:
    model = paraphraser()
    variants = model.paraphrase("it rains .", n=5, template="(ROOT(S(ADVP)(,)(NP)(VP)(.)))")
    assert last_call(model)["decode"] == "beam:10,nbest=10"
    assert asked_template(last_call(model)["prefixes"][0]) == FRONTED
    # The source shows its own template at the same height.
    assert last_call(model)["sources"] == ["it rains . <sep><(S><(NP><)><(VP><)><(.><)><)>"]
    assert [(one.text, one.parsed, one.distance) for one in variants] == [
        ("now , it rains .", FRONTED, 0),
        ("it rains .", PLAIN, 2),  # ADVP and the comma are missing
        ("rains now .", "(S (VP) (ADVP) (.))", 4),
        ("unknown words", None, None),
    ]
    assert [one.logprob for one in variants] == [-4.0, -1.0, -5.0, -3.0]
    assert {one.template for one in variants} == {FRONTED}


def test_a_template_that_no_candidate_has_is_reported() -> None:
    with pytest.warns(
        UserWarning, match=r"no paraphrase with the template .* nearest is 'it rains .' with .* 2$"
    ) as warned:
        (variants,) = paraphraser(candidates=["it rains ."]).paraphrase(["it rains ."], template=FRONTED)
    assert warned[0].filename == __file__  # It is reported where the user called, and not inside of us.
    assert (variants[0].distance, variants[0].has_template) == (2, False)
    with pytest.warns(UserWarning, match=r"^2 of 2 texts have no paraphrase with the template"):
        paraphraser(candidates=["it rains ."]).paraphrase(["it rains .", "rains ."], template=FRONTED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paraphraser(candidates=["it rains ."]).candidates(["it rains ."], template=FRONTED)


def test_without_a_parser_nothing_is_checked() -> None:
    model = paraphraser(parser=False)
    (variants,) = model.paraphrase(["it rains ."], n=2, template=FRONTED)
    assert [(one.text, one.distance) for one in variants] == [("it rains .", None)]
    assert last_call(model)["sources"] == ["it rains ."]


def test_templates_for_each_text() -> None:
    model = paraphraser()
    model.paraphrase(["it rains .", "rains ."], n=1, template=[None, PLAIN], decode="nucleus:0.9")
    assert [prefix[:5] for prefix in last_call(model)["prefixes"]] == ["<sep>", "<(S><"]
    assert last_call(model)["decode"] == "nucleus:0.9,nbest=1"


def test_exemplar() -> None:
    model = paraphraser()
    (variants,) = model.paraphrase(["it rains ."], n=1, like="now , it rains .", height=2)
    assert asked_template(last_call(model)["prefixes"][0]) == FRONTED
    assert variants[0].text == "now , it rains ."
    model.candidates(["it rains ."], n=1, like="rains .", height=None)
    assert asked_template(last_call(model)["prefixes"][0]) == "(S (VP (NN)) (. (NN)))"
    assert last_call(model)["sources"][0].endswith("<(S><(NP><(NN><)><)><(VP><(NN><)><)><(.><(NN><)><)><)>")


def test_templates_that_are_chosen_for_a_sentence() -> None:
    model = paraphraser(candidates=["now , it rains ."])
    (variants,) = model.paraphrase(["it rains ."], n=2, template="auto")
    assert [asked_template(prefix) for prefix in last_call(model)["prefixes"]] == [FRONTED, PLAIN]
    assert [(one.template, one.distance) for one in variants] == [(FRONTED, 0)]  # the other one has the same text


def test_of_common_templates_the_most_probable_are_chosen() -> None:
    class Scoring(ToyTranslator):
        def score_prefixes(self, sources, prefixes):  # type: ignore[no-untyped-def]
            self.calls.append({"sources": sources, "prefixes": prefixes})
            return [-1.0 if asked_template(prefix) == PLAIN else math.nan for prefix in prefixes]

    model = paraphraser()
    model.translator = Scoring(["now , it rains .", "it rains ."])
    model.candidates(["it rains .", ""], n=1, template="auto")
    assert isinstance(model.translator, Scoring)
    scored, decoded = model.translator.calls
    assert [asked_template(prefix) for prefix in scored["prefixes"]] == [FRONTED, PLAIN]  # by counts; none for ""
    assert scored["sources"][0].endswith("<(S><(NP><)><(VP><)><(.><)><)>")  # shows its own template
    assert [asked_template(prefix) for prefix in decoded["prefixes"]] == [PLAIN]


def test_chosen_templates_whose_variants_cannot_be_parsed_come_last() -> None:
    class Two(ToyTranslator):
        def translate(self, sentences, **options):  # type: ignore[no-untyped-def]
            return [[Variant(text, -1.0, 4)] for text in ("unknown words", "it rains .")]

    model = paraphraser()
    model.translator = Two([])
    (variants,) = model.paraphrase(["it rains ."], n=2, template="auto")
    assert [(one.text, one.template, one.distance) for one in variants] == [
        ("it rains .", PLAIN, 0),
        ("unknown words", FRONTED, None),
    ]


def test_long_texts_by_sentences() -> None:
    model = paraphraser(candidates=["it rains .", "rains ."])
    (variants,) = model.paraphrase(["it rains .|now , it rains ."], n=2, template=PLAIN)
    assert len(last_call(model)["sources"]) == 2
    assert [(one.text, one.logprob, one.distance, one.pieces) for one in variants] == [
        ("it rains . it rains .", -2.0, 0, 2),
        ("rains . rains .", -4.0, 2, 2),
    ]


def test_empty_texts() -> None:
    model = paraphraser()
    for options in ({}, {"template": PLAIN}, {"template": "auto"}):
        (variants,) = model.paraphrase([""], **options)  # type: ignore[arg-type]
        assert [(one.text, one.tokens) for one in variants] == [("", 0)]
    assert model.paraphrase([]) == []


def test_tokens_in_texts_are_text() -> None:
    model = paraphraser(parser=False, candidates=["it <)> rains .<sep>"])
    (variants,) = model.paraphrase(["a <sep> b"], n=1)
    assert last_call(model)["sources"] == ["a < sep> b"]
    assert variants[0].text == "it rains ."


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 0}, ConfigError, "'n' must be 1 or more, got 0"),
        ({"template": PLAIN, "like": "it rains ."}, ConfigError, "'template' and 'like' cannot be combined"),
        ({"template": "(S (NP) (VP)"}, ConfigError, "the bracket at character 1 is not closed"),
        ({"template": "(S (NX))"}, ConfigError, "unknown label 'NX' at character 5; did you mean 'N[NP]'"),
        ({"template": [PLAIN, PLAIN]}, ConfigError, "expected 1 templates, one for each text, got 2"),
        ({"like": ["it", "it"]}, ConfigError, "expected 1 exemplars, one for each text, got 2"),
        ({"like": "colorless ideas"}, DataError, "the exemplar 'colorless ideas' cannot be parsed"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        paraphraser().paraphrase(["it rains ."], **options)


def test_an_exemplar_needs_a_parser() -> None:
    with pytest.raises(ConfigError, match="an exemplar needs a parser"):
        paraphraser(parser=False).paraphrase(["it rains ."], like="it rains .")


def test_matching_is_at_the_height_of_the_template() -> None:
    tree = "(S (NP (NN it)) (VP (NN rains)) (. .))"
    assert match_template(tree, PLAIN) == (PLAIN, 0)
    assert match_template(tree, "(S (NP (NN)) (VP) (.))") == ("(S (NP (NN)) (VP (NN)) (.))", 1)
    assert match_template(None, PLAIN) == (None, None)


def test_joining_parts() -> None:
    known, unknown = ControlledVariant("a", -1.0, 2, PLAIN, PLAIN, 0), ControlledVariant("b", -1.0, 2, PLAIN)
    assert join_parts([[known], [unknown]])[0].distance is None
    assert join_parts([[known]]) == [known]


def test_candidates_of_texts_without_templates_keep_their_order() -> None:
    groups = [[Variant("rains .", -1.0, 2), Variant("it rains .", -2.0, 2)]] * 2
    ordered = control_variants(groups, [None, PLAIN], ToyParser())
    assert [[one.text for one in group] for group in ordered] == [["rains .", "it rains ."], ["it rains .", "rains ."]]


def test_another_language_is_named() -> None:
    german = ["Das ist nicht der Hund, den wir gesehen haben.", "Ich habe sie mit dir in der Stadt getroffen."] * 3
    model = paraphraser()
    model.settings = ParaphraserSettings(LABELS, language="en")
    with pytest.raises(DataError, match="the text is German, and the paraphraser was trained on English"):
        model.paraphrase(german)
    with pytest.warns(UserWarning, match="the text looks German, and the paraphraser was trained on English"):
        model.paraphrase("Wir gehen nach Hause.")
    assert len(model.paraphrase(german, check_language=False)) == 6
    model.settings = ParaphraserSettings(LABELS, language="")
    assert len(model.paraphrase(german)) == 6
