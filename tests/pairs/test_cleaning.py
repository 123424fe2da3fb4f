"""Cleaning: each rule at its bound, compared with a plain Python version; texts of test sets."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraloom.core.errors import ConfigError
from paraloom.pairs.filtering.cleaning import CleaningRules, line_faults
from paraloom.pairs.filtering.duplicates import sketch_bands, sketches
from paraloom.pairs.filtering.held_out import HeldOut

PARALLEL = [
    ("ein Hund schläft", "a dog sleeps", None),
    ("", "a dog", "src: empty"),
    ("ein Hund", " \u2028", "tgt: empty"),
    ("Wort " * 150, "word " * 150, None),
    ("Wort " * 151, "word " * 150, "src: more than 150 words"),
    ("eins zwei", "one two three four five", None),  # 2.5 for one
    ("eins zwei", "one two three four five six", "one side has more than 2.5 times as many words as the other"),
    ("zwei drei + + -", "two three plus plus minus", None),  # 0.4 of the words, 0.77 of the characters
    ("zwei + + - - =", "two plus minus is one more", "src: fewer than 0.4 of the words begin with a letter"),
    ("ab 12", "ab twelve", None),  # half of the characters
    ("ab 123", "ab more", "src: fewer than 0.5 of the characters are letters"),
    ("日本 語", "Japanese language", None),
    ("Hello World", "hello world", "both sides are the same"),
    ("ein H\ufffdnd", "a dog", "src: damaged characters"),
]


@pytest.mark.parametrize(("src", "tgt", "reason"), PARALLEL)
def test_the_first_violated_rule_is_the_reason(src: str, tgt: str, reason: str | None) -> None:
    assert line_faults({"src": [src], "tgt": [tgt]}, CleaningRules()).tolist() == [reason]


def test_rules_can_be_switched_off() -> None:
    rules = CleaningRules(
        max_words=0,
        max_word_ratio=0,
        min_alphabetic_words=0,
        min_alphabetic_characters=0,
    )
    lines = [(src, tgt) for src, tgt, reason in PARALLEL if reason and not re.search("empty|same|damaged", reason)]
    sides = {"src": [src for src, _ in lines], "tgt": [tgt for _, tgt in lines]}
    assert line_faults(sides, rules).tolist() == [None] * len(lines)


def test_monolingual_text_has_one_side() -> None:
    rules = CleaningRules(min_words=2)
    assert line_faults({"text": ["one", "one two", None, "1 2"]}, rules).tolist() == [  # type: ignore[list-item]
        "text: fewer than 2 words", None, "text: empty", "text: fewer than 0.4 of the words begin with a letter",
    ]  # fmt: skip
    assert line_faults({"text": []}, rules).tolist() == []


def passes(text: str, rules: CleaningRules) -> bool:
    """Whether a text passes the rules, in plain Python."""
    words = text.split()
    letters = [unicodedata.category(character)[0] in "LM" for character in text if not character.isspace()]
    begin = sum(unicodedata.category(word[0])[0] in "LM" for word in words)
    return (
        rules.min_words <= len(words) <= rules.max_words
        and begin >= rules.min_alphabetic_words * len(words)
        and sum(letters) >= rules.min_alphabetic_characters * len(letters)
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.sampled_from("aBü1-+. 日"), max_size=12), max_size=6))
def test_rules_agree_with_a_plain_python_version(texts: list[str]) -> None:
    rules = CleaningRules(min_words=1, max_words=4)
    reasons = line_faults({"text": texts}, rules)
    assert [reason is None for reason in reasons] == [passes(" ".join(text.split()), rules) for text in texts]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"min_words": 3, "max_words": 2}, "'max_words' is 2, less than 'min_words', 3"),
        ({"min_words": -1}, "'min_words' must be 0 or more, not -1"),
        ({"max_word_ratio": 0.4}, "'max_word_ratio' must be 1 or more"),
        ({"min_alphabetic_characters": 1.5}, "'min_alphabetic_characters' must be from 0 to 1, not 1.5"),
        ({"min_alphabetic_words": -1.0}, "'min_alphabetic_words' must be from 0 to 1"),
    ],
)
def test_values_out_of_range_are_errors(values: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CleaningRules(**values)  # type: ignore[arg-type]


def test_held_out_texts_are_compared_without_case_and_punctuation() -> None:
    held_out = HeldOut([["“Yes,” he said.", "", "..."], ["Straße"], []])
    assert len(held_out.hashes) == 2
    texts = ["yes he said", "Yes  he said!", "yes she was", "", "?!", None, "STRASSE", "straße."]
    assert held_out.find(texts).tolist() == [1, 1, 0, 0, 0, 0, 0, 1]  # type: ignore[arg-type]


def test_an_empty_set_of_texts_contains_none() -> None:
    assert HeldOut([]).find(["a"]).tolist() == HeldOut([[""]]).find(["a"]).tolist() == [0]
    assert HeldOut([["a"]]).find([]).tolist() == []


def test_levels_are_those_of_a_hand_count() -> None:
    words = [f"w{chr(97 + k)}{chr(97 + k)}x" for k in range(20)]
    held_out = HeldOut([[" ".join(words)], ["The cat sat on the mat."]])
    texts = [
        " ".join(["before", *words[:13], "after"]),  # 13 words in a row
        " ".join([*words[:12], "other", *["none"] * 9]),  # 12
        " ".join(words[:7]),  # 7 words: neither 8 in a row nor half of the 5-grams
        "the cat sat on the hat",  # 5-grams of both: 20 of 24
        "a dog ran by the lake",
    ]
    assert held_out.find(texts).tolist() == [2, 3, 0, 4, 0]
    assert held_out.met([" ".join(words), "The cat sat on the mat."]).tolist() == [2, 4]
    assert HeldOut([["the cat sat on the mat"]], equal_only=True).find(texts).tolist() == [0] * 5


def test_near_duplicates_are_those_of_exact_jaccard_similarity() -> None:
    def similarity(one: str, other: str) -> float:
        grams = [{f" {text} "[i : i + 5] for i in range(len(text) - 2)} for text in (one, other)]
        return len(grams[0] & grams[1]) / len(grams[0] | grams[1])

    text = "seven green ships sailed home"
    for other in ("ship", "boats", "yachts"):
        exact = similarity(text, text.replace("ships", other))
        for threshold in (exact - 0.2, exact + 0.2):  # 64 hashes estimate it
            near = HeldOut([[text]], similarity=threshold).find([text.replace("ships", other)]).tolist()
            assert near == [4 if threshold < exact else 0]


@pytest.mark.parametrize("similarity", [0.5, 0.6, 0.7])
def test_bands_are_looked_up_as_if_all_were_compared(similarity: float) -> None:
    draw = np.random.default_rng(1)
    words = ["".join(draw.choice(list("abcdefgh"), 5)) for _ in range(14)]
    texts = [" ".join(sorted(draw.choice(words, 6, replace=False))) for _ in range(300)]
    tests, train = texts[:150], texts[150:]
    known, new = sketches(tests, plain=True), sketches(train, plain=True)
    agree = (new[:, None] == known[None]).mean(axis=2) >= similarity
    bands = [sketch_bands(rows, similarity) for rows in (new, known)]
    expected = agree & (bands[0][:, None] == bands[1][None]).any(axis=2)
    held_out = HeldOut([tests], similarity=similarity)
    assert ((held_out.find(train) > 0) == expected.any(axis=1)).all()
    assert ((held_out.met(tests) > 0) == expected.any(axis=0)).all()
    assert 0 < expected.any(axis=1).mean() < 1
