"""Candidates of a trained paraphraser: free ones and those of templates, together and by name."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from toy_paraphraser import LABELS, ToyParser, ToyTranslator

from paraloom.api.paraphrase_sources import as_paraphraser
from paraloom.core.protocols import ParaphraseLike, Variant
from paraloom.paraphrasing import candidates, selection
from paraloom.paraphrasing.candidates import SelectingParaphraser, TemplateCandidates
from paraloom.paraphrasing.edits import lost_label
from paraloom.paraphrasing.examples import ParsedPair
from paraloom.paraphrasing.moves import Move
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.rewrites import rewrites
from paraloom.paraphrasing.selection import ParaphraseSelector
from paraloom.paraphrasing.selection_config import SelectionConfig
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


def test_templates_that_were_chosen_are_not_asked_for() -> None:
    model = paraphraser()
    model.translator = ToyTranslator(["rains now ."])
    assert {one.has_template for one in model.candidates(["it rains ."], n=3, template="auto")[0]} == {False}
    config = SelectionConfig(meaning=0, difference=0, fluency=0)
    source = TemplateCandidates(model, template="auto")
    _, selected = SelectingParaphraser(source, ParaphraseSelector(config), n=1, candidates=3).answer(["it rains ."])
    assert [one.text for one in selected.kept[0]] == ["rains now ."] and not selected.dropped
    assert selected.kept[0][0].template < 1, "the nearest to its template is still the best one"


@pytest.mark.parametrize("part", [rewrites, Move, lost_label])
def test_the_signature_has_the_rules_and_the_code_that_applies_them(
    part: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = paraphraser()
    model.settings = replace(model.settings, language="en")
    signed, selected = TemplateCandidates(model).signature, ParaphraseSelector().signature
    changed = tmp_path / "rewrites.py"
    changed.write_text("another", "utf-8")
    real = inspect.getfile
    with monkeypatch.context() as patch:
        patch.setattr(inspect, "getfile", lambda one: str(changed) if one is part else real(one))
        assert TemplateCandidates(model).signature != signed
    with monkeypatch.context() as patch:
        patch.setattr(candidates, "REWRITES", changed)
        assert TemplateCandidates(model).signature != signed
    assert TemplateCandidates(model).signature == signed
    monkeypatch.setattr(selection, "_BY_RULE", 0.5)
    assert ParaphraseSelector().signature != selected


def test_free_candidates_have_no_template() -> None:
    free = as_paraphraser(paraphraser())
    (variants,) = free.paraphrase(["it rains ."], n=3)
    assert sorted(one.text for one in variants) == sorted(CANDIDATES)
    assert {getattr(one, "template", None) for one in variants} == {None}


class Sentences:
    """Paraphrases sentences from a table, and takes one sentence at a time."""

    signature, table = "sentences", {"a b.": ["a c.", "a d."], "g h.": ["g i."]}

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        return [[f"{part}." for part in text.split(".") if part] or [text] for text in texts]

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[ParaphraseLike]]:
        return [[Variant(one, -1.0, 2) for one in self.table.get(text, [])] for text in texts]


def test_a_long_text_is_selected_by_sentences_and_keeps_the_others() -> None:
    config = SelectionConfig(meaning=0, difference=0, fluency=0, distinct=0)
    model = SelectingParaphraser(Sentences(), ParaphraseSelector(config), n=2, candidates=5)
    groups, selection = model.answer(["a b.e f.g h.", "a b.", "e f.e f.", "e f."])
    assert [[one.text for one in kept] for kept in selection.kept] == [
        ["a c. e f. g i.", "a d. e f. g i."], ["a c.", "a d."], [], []
    ]  # fmt: skip
    assert [len(group) for group in groups] == [2, 2, 0, 0]
    assert selection.positions == [[0, 1], [0, 1], [], []] and selection.reasons[0] == ["", ""]
    # Of each of the twelve characters of the text, eight are in sentences of which half of the words differ.
    assert selection.kept[0][0].difference == selection.measured[0][0].difference == pytest.approx(8 / 12 / 2)
    assert [kept[0].changes for kept in selection.kept[:2]] == ["word", "word"]


class GermanSentences(Sentences):
    language = "de"


@pytest.mark.parametrize("selector", [None, ParaphraseSelector(SelectionConfig(meaning=0, difference=0))])
def test_kinds_of_change_are_those_of_english(selector: ParaphraseSelector | None) -> None:
    for model, kind in ((Sentences(), "word"), (GermanSentences(), "")):
        _, selected = SelectingParaphraser(model, selector, n=1, candidates=2).answer(["a b.", "g h."])
        assert [one.changes for kept in selected.kept for one in kept] == [kind, kind]
