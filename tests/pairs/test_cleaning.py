"""Cleaning: each rule at its bound, against a plain reading of it; texts of test sets."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraloom.core.errors import ConfigError
from paraloom.pairs.filtering.cleaning import CleaningRules, line_faults
from paraloom.pairs.filtering.held_out import HeldOut

PARALLEL = [
    ("ein Hund schläft", "a dog sleeps", None),
    ("", "a dog", "src: empty"),
    ("ein Hund", " \u2028", "tgt: empty"),
    ("Wort " * 150, "word " * 150, None),
    ("Wort " * 151, "word " * 150, "src: more than 150 words"),
    ("eins zwei", "one two three four five", None),  # 2.5 for one
    ("eins zwei", "one two three four five six", "more than 2.5 words for one of the other side"),
    ("zwei drei + + -", "two three plus plus minus", None),  # 0.4 of the words, 0.77 of the characters
    ("zwei + + - - =", "two plus minus is one more", "src: fewer than 0.4 of the words begin with a letter"),
    ("ab 12", "ab twelve", None),  # half of the characters
    ("ab 123", "ab more", "src: fewer than 0.5 of the characters are letters"),
    ("日本 語", "Japanese language", None),
    ("Hello World", "hello world", "both sides are the same"),
    ("ein H\ufffdnd", "a dog", "src: damaged characters"),
]


@pytest.mark.parametrize(("src", "tgt", "reason"), PARALLEL)
def test_a_pair_is_kept_or_goes_for_the_first_rule_it_breaks(src: str, tgt: str, reason: str | None) -> None:
    assert line_faults({"src": [src], "tgt": [tgt]}, CleaningRules()).tolist() == [reason]


def test_rules_can_be_left_out() -> None:
    free = CleaningRules(most=0, ratio=0, wordlike=0, letters=0, identical=True, damaged=True)
    lines = [(src, tgt) for src, tgt, reason in PARALLEL if reason and "empty" not in reason]
    sides = {"src": [src for src, _ in lines], "tgt": [tgt for _, tgt in lines]}
    assert line_faults(sides, free).tolist() == [None] * len(lines)


def test_a_single_text_has_no_other_side() -> None:
    rules = CleaningRules(fewest=2)
    assert line_faults({"text": ["one", "one two", None, "1 2"]}, rules).tolist() == [  # type: ignore[list-item]
        "text: fewer than 2 words", None, "text: empty", "text: fewer than 0.4 of the words begin with a letter",
    ]  # fmt: skip
    assert line_faults({"text": []}, rules).tolist() == []


def _plain_reading(text: str, rules: CleaningRules) -> bool:
    """Whether a text passes, word by word and letter by letter."""
    words = text.split()
    letters = [unicodedata.category(character)[0] in "LM" for character in text if not character.isspace()]
    begin = sum(unicodedata.category(word[0])[0] in "LM" for word in words)
    return (
        rules.fewest <= len(words) <= rules.most
        and begin >= rules.wordlike * len(words)
        and sum(letters) >= rules.letters * len(letters)
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.sampled_from("aBü1-+. 日"), max_size=12), max_size=6))
def test_rules_say_what_a_plain_reading_says(texts: list[str]) -> None:
    rules = CleaningRules(fewest=1, most=4)
    found = line_faults({"text": texts}, rules)
    assert [reason is None for reason in found] == [_plain_reading(" ".join(text.split()), rules) for text in texts]


@pytest.mark.parametrize("given", [{"fewest": 3, "most": 2}, {"ratio": 0.4}, {"letters": 1.5}, {"wordlike": -1}])
def test_rules_that_cannot_be_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        CleaningRules(**given)  # type: ignore[arg-type]


def test_held_out_texts_are_found_whatever_their_case_and_punctuation() -> None:
    held = HeldOut([["“Yes,” he said.", "", "..."], ["Straße"], []])
    assert len(held) == 2
    texts = ["yes he said", "Yes  he said!", "yes she said", "", "?!", None, "STRASSE", "straße."]
    assert held.holds(texts).tolist() == [True, True, False, False, False, False, False, True]  # type: ignore[arg-type]


def test_of_nothing_held_out_nothing_is_held() -> None:
    assert HeldOut([]).holds(["a"]).tolist() == HeldOut([[""]]).holds(["a"]).tolist() == [False]
    assert HeldOut([["a"]]).holds([]).tolist() == []
