"""Selection of paraphrases: thresholds, reasons, ranks by hand, and how different the kept ones are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from paraloom.core.errors import ConfigError
from paraloom.core.protocols import Variant
from paraloom.paraphrasing import selection as selecting
from paraloom.paraphrasing.control import ControlledVariant, join_parts, warn_of_distance
from paraloom.paraphrasing.edits import replaces_words
from paraloom.paraphrasing.rewrites import Rewrite
from paraloom.paraphrasing.selection import ParaphraseSelector, text_units, unit_difference
from paraloom.paraphrasing.selection_config import (
    SELECTION_PRESETS,
    CandidateSelection,
    SelectionConfig,
    selection_config,
)
from paraloom.paraphrasing.word_evidence import word_evidence

SOURCE = "the small dog sleeps in the garden"
FREE = SelectionConfig(
    **dict.fromkeys(("meaning", "difference", "fluency", "probability", "distinct"), 0.0),
    **dict.fromkeys(("difference_weight", "fluency_weight", "template_weight", "variety_weight"), 0.0),
)


class Angles:
    """An encoder whose vectors are given as angles in degrees."""

    signature, dimension = "angles", 2

    def __init__(self, angles: dict[str, float]) -> None:
        self.angles = angles

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        radians = np.radians([self.angles[text] for text in sentences])
        return 3 * np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


class Judge:
    """A judge with a table; 1 for pairs that are not in it."""

    signature = "judge"

    def __init__(self, table: dict[tuple[str, str], float]) -> None:
        self.table = table
        self.asked: list[str] = []

    def predict(self, firsts: list[str], seconds: list[str]) -> npt.NDArray[np.float32]:
        self.asked += seconds
        return np.array([self.table.get(pair, 1.0) for pair in zip(firsts, seconds, strict=True)], np.float32)


def variants(*texts: str) -> list[Variant]:
    return [Variant(text, -1.0, 4) for text in texts]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("A dog sleeps.", "a dog, sleeps", 0),
        ("a dog sleeps", "the dog sleeps", 1 / 3),
        ("a dog sleeps", "a dog sleeps here", 1 / 4),
        ("good", "bad", 1),
        ("今天天气好", "今天天气坏", 1 / 5),
        ("", "", 0),
    ],
)
def test_difference_counts_words(first: str, second: str, expected: float) -> None:
    assert unit_difference(text_units(first), text_units(second)) == pytest.approx(expected)
    assert unit_difference(text_units(second), text_units(first)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (Variant("", 0.0, 0), selecting.EMPTY),
        (Variant(" . ", -1.0, 2), selecting.EMPTY),
        (Variant("a little dog is asleep there", -1.0, 4, cut=True), selecting.CUT),
        (Variant("a little dog is asleep there", -1.0, 4, reason="too long"), selecting.REFUSED),
        (Variant("dog dog dog in the garden now", -1.0, 4), selecting.REPETITION),
        (Variant("The small dog sleeps in the garden!", -1.0, 4), selecting.COPY),
        (Variant("the small dog sleeps in a garden", -1.0, 4), selecting.COPY),
        (Variant("dog asleep now", -1.0, 4), selecting.LENGTH),
        (Variant("a little dog was asleep there far away from home and from all others", -1.0, 4), ""),
        (
            Variant("a little dog was asleep there far away from home and from all other ones", -1.0, 4),
            selecting.LENGTH,
        ),
    ],
)
def test_reasons_of_the_surface(candidate: Variant, reason: str) -> None:
    kept, dropped, *_ = ParaphraseSelector(SelectionConfig(difference=0.2)).select([SOURCE], [[candidate]])
    assert dict(dropped) == ({reason: 1} if reason else {})
    assert len(kept[0]) == (not reason)


def test_meaning_is_a_cosine() -> None:
    texts = ["a little dog is asleep", "a dog barks", "stocks fell"]
    encoder = Angles({SOURCE: 10, texts[0]: 40, texts[1]: 70, texts[2]: 190})
    selector = ParaphraseSelector(SelectionConfig(meaning=0.5, difference=0.1, length_ratio=9), encoder)
    kept, dropped, *_ = selector.select([SOURCE], [variants(*texts)], 5)
    assert [(one.text, round(one.meaning, 4)) for one in kept[0]] == [(texts[0], 0.866), (texts[1], 0.5)]
    assert dict(dropped) == {selecting.DRIFT: 1}


def test_what_was_measured_of_dropped_candidates() -> None:
    texts = ["a little dog is asleep", "stocks fell", SOURCE, ""]
    encoder = Angles({SOURCE: 10, texts[0]: 40, texts[1]: 70})
    selector = ParaphraseSelector(SelectionConfig(meaning=0.6, difference=0.1, length_ratio=9), encoder)
    selection = selector.select([SOURCE], [variants(*texts)])
    assert selection.reasons == [["", selecting.DRIFT, selecting.COPY, selecting.EMPTY]]
    (measured,) = selection.measured
    # Of seven words, all but "dog" are others; the copy is dropped before its meaning is measured.
    assert [one.difference for one in measured] == pytest.approx([6 / 7, 1.0, 0.0, math.nan], nan_ok=True)
    assert [one.meaning for one in measured] == pytest.approx([0.75**0.5, 0.5, math.nan, math.nan], nan_ok=True)


def logistic(*terms: float) -> float:
    return 1 / (1 + math.exp(-sum(terms)))


def evidence(source: str, candidate: str) -> float:
    """Of words that were replaced: what their neighbors and translations add."""
    fit, gain, likeness = word_evidence(source.split(), candidate.split())
    return 0.15 * fit + 0.24 * gain + 0.23 * likeness


def test_both_orders_must_pass_the_judge() -> None:
    texts = ["the little dog is asleep", "the dog is asleep outside", "the dog barks"]
    judge = Judge({(SOURCE, texts[0]): 0.9, (texts[0], SOURCE): 0.6, (texts[1], SOURCE): 0.2, (SOURCE, texts[2]): 0.1})
    config = SelectionConfig(**{**vars(FREE), "probability": 0.3, "length_ratio": 9})
    kept, dropped, _, _, measured = ParaphraseSelector(config, judge=judge).select([SOURCE], [variants(*texts)], 5)
    # The lower verdict, the cost of all tokens, and an unknown cosine of the words that changed.
    expected = logistic(-0.2, 0.79 * math.log(0.6 / 0.4), -0.3 * 1.0, 1.9 * 0.6, evidence(SOURCE, texts[0]))
    assert [(one.text, round(one.judge, 4)) for one in kept[0]] == [(texts[0], 0.6)]
    assert kept[0][0].score == kept[0][0].probability == pytest.approx(expected)
    assert dict(dropped) == {selecting.DOUBTFUL: 2}
    assert [one.judge for one in measured[0]] == pytest.approx([0.6, 0.2, 0.1])
    assert judge.asked == [*texts, SOURCE, SOURCE]  # of what fails in one order, the other is not asked


def test_what_is_doubtful_with_the_highest_verdict_is_not_judged() -> None:
    cheap, costly = (
        Variant(text, -cost, 2) for text, cost in (("in the garden it sleeps", 1.0), ("it is in the garden", 30.0))
    )
    assert logistic(-1.35, 1.1 * math.log(0.98 / 0.02), -0.48 * 30.0, 3.9) < 0.3
    judge = Judge({})
    config = SelectionConfig(**{**vars(FREE), "probability": 0.3, "length_ratio": 9})
    selected = ParaphraseSelector(config, judge=judge).select(["it sleeps in the garden"], [[cheap, costly]], 5)
    assert selected.reasons == [["", selecting.DOUBTFUL]] and math.isnan(selected.measured[0][1].judge)
    assert judge.asked == [cheap.text, "it sleeps in the garden"]


def test_the_probability_reads_the_words_that_changed() -> None:
    encoder = Angles({SOURCE: 0, "small": 10, "little": 40, "the little dog sleeps in the garden": 5})
    encoder.angles["in the garden the small dog sleeps"] = encoder.angles["the small dog sleeps in"] = 0
    texts = ["the little dog sleeps in the garden", "in the garden the small dog sleeps", "the small dog sleeps in"]
    kept = ParaphraseSelector(FREE, encoder, judge=Judge({})).select([SOURCE], [variants(*texts)], 5).kept
    by_text = {one.text: one.probability for one in kept[0]}
    judged = math.log(0.98 / 0.02)  # the highest verdict that counts
    expected = [
        logistic(-0.2, 0.79 * judged, -0.3 * 1.0, 1.9 * math.cos(math.radians(30)), evidence(SOURCE, texts[0])),
        *[logistic(-1.35, 1.1 * judged, -0.48 * 1.0, 3.9 * 0.2)] * 2,
    ]
    assert [by_text[text] for text in texts] == pytest.approx(expected)
    nothing_known = selecting.probability_right([math.nan, 0.5], math.nan, math.nan)
    assert nothing_known == pytest.approx([math.nan, logistic(-1.35, -0.48 * 4.5, 3.9 * 0.7)], nan_ok=True)


def test_what_a_rule_wrote_is_right_unless_the_judge_doubts_it() -> None:
    source, sure, doubtful = "What film was that?", "Which film was that?", "Which movie was that?"
    judge = Judge({(source, sure): 0.4, (source, doubtful): 0.1})
    network = Variant(sure, -1.0, 5)
    ruled = [Rewrite(sure, "what"), Rewrite(doubtful, "what")]
    selector = ParaphraseSelector(replace(FREE, probability=0.9), judge=judge)
    selection = selector.select([source], [[network, *ruled]], 3)
    assert [one.probability for one in selection.kept[0]] == [0.95]
    assert selection.reasons[0][1] == ""
    assert selection.reasons[0][0] != "" and selection.reasons[0][2] == selecting.DOUBTFUL


@pytest.mark.parametrize("text", ["Ich habe das Buch gestern gelesen.", "Cliquez sur le bouton pour ouvrir la page."])
def test_a_text_in_another_language_keeps_nothing_and_is_counted(text: str) -> None:
    groups = [variants("a text", "another one"), variants("the little dog sleeps in the garden")]
    selected = ParaphraseSelector(FREE, judge=Judge({})).select([text, SOURCE], groups)
    assert [len(one) for one in selected.kept] == [0, 1]
    assert selected.dropped == {selecting.FOREIGN: 2}


def test_without_a_judge_of_english_any_language_may_be_selected() -> None:
    kept = (
        ParaphraseSelector(FREE).select(["Ich habe das Buch gelesen."], [variants("Das Buch habe ich gelesen.")]).kept
    )
    assert len(kept[0]) == 1


def test_fluency_is_the_mean_probability_of_tokens() -> None:
    candidates = [Variant("one two", 4 * math.log(0.5), 4), Variant("three four", math.nan, 4)]
    kept = ParaphraseSelector(FREE).select(["five six"], [candidates], 2).kept[0]
    assert kept[0].fluency == pytest.approx(0.5)
    assert math.isnan(kept[1].fluency) and kept[1].score == 0


def test_a_kind_of_change_is_asked_for() -> None:
    candidates = [variants("At noon we left early.", "We went away early at noon.", "We left at noon.")]
    config = SelectionConfig(meaning=0, difference=0, fluency=0, distinct=0, change="word")
    selection = ParaphraseSelector(config).select(["We left early at noon."], candidates, 3)
    assert [one.changes for one in selection.kept[0]] == ["word"]
    assert selection.reasons == [[selecting.OTHER_CHANGE, "", selecting.OTHER_CHANGE]]
    anything = ParaphraseSelector(FREE).select(["We left early at noon."], candidates, 3)
    assert {one.text: one.changes for one in anything.kept[0]} == {
        "At noon we left early.": "order",
        "We went away early at noon.": "word",
        "We left at noon.": "",
    }


def test_an_unknown_kind_of_change() -> None:
    with pytest.raises(ConfigError, match="unknown kind of change 'words'; did you mean 'word'"):
        SelectionConfig(change="words")


def test_the_score_is_a_weighted_sum() -> None:
    config = SelectionConfig(
        meaning=0, difference=0, fluency=0, difference_weight=2, fluency_weight=3, template_weight=4
    )
    encoder = Angles({"five six": 0, "one six": 60})
    near = ("(S (NP (DT)))", "(S (NP (NN)))", 1)
    candidate = ControlledVariant("one six", 2 * math.log(0.25), 2, *near, exemplar=True)
    [[one]] = ParaphraseSelector(config, encoder).select(["five six"], [[candidate]]).kept
    assert (one.difference, one.template) == (0.5, 0.5)
    assert one.score == pytest.approx(0.5 + 2 * 0.5 + 3 * 0.25 + 4 * 0.5)


def test_what_has_another_template_is_dropped() -> None:
    config = SelectionConfig(meaning=0, difference=0, fluency=0)
    template = "(S (NP (DT)))"
    candidates = [
        ControlledVariant("one six", -1.0, 2, template, "(S (NP (NN)))", 1),
        ControlledVariant("one seven", -1.0, 2, template, "(S (VP (NN)))", 2, exemplar=True),
        ControlledVariant("one eight", -1.0, 2, template, template, 0),
    ]
    selection = ParaphraseSelector(config).select(["five six"], [candidates])
    assert selection.reasons == [["another template", "another template", ""]]


def test_words_in_each_other_s_place_are_no_replacement() -> None:
    assert replaces_words("Dogs bite men.", "Dogs bite people.")
    assert not replaces_words("Dogs bite men.", "Men bite dogs.")


def test_a_network_changes_words_alone_for_a_template() -> None:
    source, template = "But we left the house at noon.", "(S (PP))"
    texts = [
        "But at noon we left the house.",
        "We left the house at noon.",
        "But we left this house at noon.",
        "But we left the house at noon!",
        "But we left the building at noon.",
    ]
    wrote = [ControlledVariant(text, -1.0, 8, template, template, 0) for text in texts]
    assert ParaphraseSelector(FREE, judge=Judge({})).select([source], [wrote], 5).reasons == [
        [*[selecting.MORE_THAN_WORDS] * 3, selecting.COPY, ""]
    ]
    by_rule = [one._replace(rule="moved constituent", logprob=math.nan) for one in (wrote[0], wrote[2])]
    assert ParaphraseSelector(FREE, judge=Judge({})).select([source], [by_rule], 3).reasons == [["", ""]]
    doubtful = replace(FREE, probability=0.0)
    costly = wrote[-1]._replace(logprob=-9.0)
    assert ParaphraseSelector(doubtful, judge=Judge({})).select([source], [[costly]]).reasons == [[selecting.DOUBTFUL]]
    free = costly._replace(distance=None)
    assert ParaphraseSelector(doubtful, judge=Judge({})).select([source], [[free]]).reasons == [[""]]


def test_of_joined_texts_all_parts_must_have_the_template() -> None:
    asked, own, other = "(S (NP (DT)) (VP))", "(S (NP (NN)) (VP))", "(S (VP))"
    has, lacks, unknown = (
        ControlledVariant("one six", -1.0, 2, asked, parsed, distance, rule="rule", exemplar=True)
        for parsed, distance in ((own, 1), (other, 3), (None, None))
    )
    named = ControlledVariant("one six", -1.0, 2, asked, asked, 0)
    for row, expected in [
        ([has, has], True),
        ([has, lacks], False),
        ([lacks, unknown], False),
        ([has, unknown], None),
        ([named, named], True),
        ([named, named._replace(distance=2)], False),
    ]:
        [whole] = join_parts([[one] for one in row])
        assert whole.has_template is expected and whole.pieces == 2
        assert (whole.exemplar, whole.rule) == (row[0].exemplar, row[0].rule)
    [[kept]] = (
        ParaphraseSelector(SelectionConfig(meaning=0, difference=0, fluency=0))
        .select(["five six. five six."], [join_parts([[has], [has]])])
        .kept
    )
    assert kept.text == "one six one six"
    with pytest.warns(UserWarning, match=r"the nearest is 'one six one six'$"):
        warn_of_distance(["five six. five six."], [join_parts([[lacks], [unknown]])])


def test_what_the_paraphraser_finds_improbable_is_dropped() -> None:
    probable, improbable, unknown = (
        Variant(text, logprob, 2)
        for text, logprob in (("one six", 2 * math.log(0.5)), ("one seven", 2 * math.log(0.4)), ("one eight", math.nan))
    )
    selector = ParaphraseSelector(SelectionConfig(fluency=0.45, distinct=0))
    selection = selector.select(["five six"], [[probable, improbable, unknown]], 3)
    assert selection.reasons == [["", selecting.IMPROBABLE, ""]]


def test_kept_ones_differ_from_one_another() -> None:
    encoder = Angles({"s t u v": 0, "a b c d": 10, "a b c e": 11, "w x y z": 40})
    candidates = variants("a b c d", "a b c e", "w x y z")

    def texts(**values: float) -> tuple[list[str], dict[str, int]]:
        config = SelectionConfig(**{**vars(FREE), **values})
        kept, dropped, *_ = ParaphraseSelector(config, encoder).select(["s t u v"], [candidates], 2)
        return [one.text for one in kept[0]], dict(dropped)

    assert texts() == (["a b c d", "a b c e"], {selecting.SURPLUS: 1})
    assert texts(variety_weight=0.5) == (["a b c d", "w x y z"], {selecting.SURPLUS: 1})
    assert texts(distinct=0.3) == (["a b c d", "w x y z"], {selecting.DUPLICATE: 1})


def test_every_candidate_has_a_reason_or_is_kept() -> None:
    groups = [variants("a b", "c d", "c d", ""), variants("e f", "g h")]
    selection = ParaphraseSelector(FREE).select(["a b", "x y"], groups, 2)
    assert selection.reasons == [
        ["near copy of the text", "", "near-duplicate of a better candidate", "empty"],
        ["", ""],
    ]
    assert selection.positions == [[1], [0, 1]]
    assert [[one.text for one in ones] for ones in selection.kept] == [["c d"], ["e f", "g h"]]
    assert selection.dropped == {"near copy of the text": 1, "near-duplicate of a better candidate": 1, "empty": 1}


def test_nothing_to_select() -> None:
    kept, dropped, *_ = ParaphraseSelector(FREE, Angles({})).select(["a b", "c"], [[], []], 3)
    assert kept == [[], []] and not dropped


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"probability": 2}, "'probability' must be from 0 to 1"),
        ({"meaning": 1.01}, "'meaning' must be from 0 to 1, got 1.01"),
        ({"difference": -0.1}, "'difference' must be from 0 to 1, got -0.1"),
        ({"length_ratio": 0.5}, "'length_ratio' must be 1 or more"),
        ({"variety_weight": -1}, "'variety_weight' must be 0 or more"),
        ({"menaing": 0.5}, "did you mean 'meaning'"),
    ],
)
def test_values_out_of_range(values: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        selection_config("strict", **values)


def test_presets() -> None:
    with pytest.raises(ConfigError, match="did you mean 'strict'"):
        selection_config("stricter")
    assert [*SELECTION_PRESETS] == ["strict", "balanced", "loose"]
    assert SELECTION_PRESETS["strict"].meaning == max(preset.meaning for preset in SELECTION_PRESETS.values())
    assert selection_config("loose", difference=0.5).meaning == SELECTION_PRESETS["loose"].meaning


def test_a_replaced_word_of_twenty_is_no_copy_where_one_text_stands_for_another() -> None:
    text = " ".join(["word"] * 19)
    for preset, expected in (("strict", [f"{text} easy"]), ("balanced", []), ("loose", [])):
        candidates = variants(f"{text} simple.", f"{text} easy")
        kept = ParaphraseSelector(SELECTION_PRESETS[preset]).select([f"{text} simple"], [candidates]).kept
        assert [one.text for one in kept[0]] == expected


def test_settings_of_a_selection_that_is_none() -> None:
    assert not CandidateSelection(preset="none").selects
    for name, value in (("meaning", 0.5), ("difference", 0.5), ("candidates", 5)):
        with pytest.raises(ConfigError, match=f"'{name}' is for a selection"):
            CandidateSelection(preset="none", **{name: value})


def test_the_signature_has_every_setting() -> None:
    judge, configs = Judge({}), [SelectionConfig(), *(SelectionConfig(probability=value) for value in (0.7, 0.9))]
    configs += [SelectionConfig(length_ratio=1.5), SelectionConfig(variety_weight=0.1)]
    signatures = {ParaphraseSelector(config, judge=judge).signature for config in configs}
    assert len(signatures) == len(configs)
