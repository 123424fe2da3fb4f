"""Candidates of a trained paraphraser: free ones and those of templates, together and by name."""

from __future__ import annotations

from toy_paraphraser import LABELS, ToyParser, ToyTranslator

from paraloom.api.paraphrase_sources import as_paraphraser
from paraloom.paraphrasing.candidates import CombinedParaphraser, TemplateCandidates
from paraloom.paraphrasing.examples import ParsedPair
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable

CANDIDATES = ["it rains .", "now , it rains .", "rains now ."]


def paraphraser(*, templates: bool = True) -> ControlledParaphraser:
    table = TemplateTable()
    own, other = ToyParser().parse(["it rains .", "now , it rains ."])
    table.add([ParsedPair("a", "b", own, other)] * templates)
    return ControlledParaphraser(ToyTranslator(CANDIDATES), ParaphraserSettings(LABELS), table, ToyParser())


def test_options_are_those_of_every_call() -> None:
    model = TemplateCandidates(paraphraser(), template="(S (ADVP) (,) (NP) (VP) (.))")
    (variants,) = model.paraphrase(["it rains ."], n=2)
    assert [(one.text, one.distance) for one in variants] == [("now , it rains .", 0), ("it rains .", 2)]
    assert model.signature.startswith("paraphraser|model:")
    assert model.signature != TemplateCandidates(paraphraser()).signature


def test_free_candidates_and_those_of_templates_take_turns() -> None:
    both = as_paraphraser(paraphraser())
    assert isinstance(both, CombinedParaphraser) and len(both.paraphrasers) == 2
    (variants,) = both.paraphrase(["it rains ."], n=3)
    assert sorted(one.text for one in variants) == sorted(CANDIDATES)
    by_text = {one.text: getattr(one, "template", None) for one in variants}
    assert by_text["rains now ."] is None and by_text["now , it rains ."] is not None
    without = as_paraphraser(paraphraser(templates=False))
    assert isinstance(without, CombinedParaphraser) and len(without.paraphrasers) == 1
