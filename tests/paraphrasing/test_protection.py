"""Placeholders: what is held, that it comes back as it was, and that a candidate that loses one is noticed."""

from __future__ import annotations

import pytest

from paraloom.core.errors import ConfigError
from paraloom.paraphrasing.protection import ADDED, DISORDER, LOST, Protector

TEXTS = {
    "Mail bob.smith+x@example.org, or see https://example.org/a?b=1.": [
        "bob.smith+x@example.org",
        "https://example.org/a?b=1",
    ],
    "paid $5.50, 3% and 1,000 at 12:30 on 2024-01-02": ["$5.50", "3%", "1,000", "12:30", "2024-01-02"],
    "thanks @joe for #now, R&B and the 1st": ["@joe", "#now", "R&B"],
    "dear {name}, {{count}} of ${all}: %s and %(what)d": ["{name}", "{{count}}", "${all}", "%s", "%(what)d"],
    "a <b>very</b> good <img src='x'/> day": ["<b>", "</b>", "<img src='x'/>"],
    "how far is it from New York to Aspen ?": ["New York", "Aspen"],
    "Then I'd go. But I know Mary-Ann well": ["Mary-Ann"],
    "ALL OF THIS IS IN CAPITALS": [],
    "we bought Jet Lag and jet lag and jetlag and a CD": ["Jet Lag", "jet lag", "CD"],
    "5 or 6": ["5", "6"],
    "<i>3</i>": ["<i>", "3", "</i>"],
    "a back\\1slash {a\\g<0>b} end": ["{a\\g<0>b}"],
    "": [],
}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_held_comes_back(text: str) -> None:
    protector = Protector(terms=["jet lag", "CD"])
    protected = protector.protect(text)
    assert [part.text for part in protected.held] == TEXTS[text]
    assert not any(part.text in protected.text for part in protected.held if len(part.text) > 1)
    assert protector.restore(protected, protected.text) == (text, "")


@pytest.mark.parametrize(
    ("candidate", "result"),
    [
        ("A2 was seen by A1", ("2:30 was seen by @joe", "")),
        ("a2 was seen by a1.", ("2:30 was seen by @joe.", "")),
        ("A1 was seen", ("", LOST)),
        ("A1 saw A2 and A2", ("", LOST)),
        ("A1 saw A2 and A3", ("", LOST)),
        ("A1 saw A22", ("", LOST)),
        ("A1 saw A2x", ("", LOST)),
        ("A1 saw A2 and 7", ("", ADDED)),
        ("A1 saw A2 and @ann", ("", ADDED)),
        ("A1 saw A2 and Ann", ("@joe saw 2:30 and Ann", "")),
    ],
)
def test_each_placeholder_comes_back_once(candidate: str, result: tuple[str, str]) -> None:
    protector = Protector()
    protected = protector.protect("we know that @joe saw 2:30")
    assert protected.text == "we know that A1 saw A2"
    assert protector.restore(protected, candidate) == result


def test_markup_keeps_its_order() -> None:
    protector = Protector()
    protected = protector.protect("a <b>good</b> day")
    assert protected.text == "a A1 good A2 day"
    assert protector.restore(protected, "day A1 nice A2") == ("day <b>nice</b>", "")
    assert protector.restore(protected, "day A2 nice A1") == ("", DISORDER)


def test_another_letter_where_the_text_has_such_words() -> None:
    protector = Protector()
    protected = protector.protect("the a4 road takes 20 minutes")
    assert protected.text == "the a4 road takes X1 minutes"
    assert protector.restore(protected, "X1 minutes on the A4") == ("20 minutes on the A4", "")


def test_kinds_are_chosen() -> None:
    assert Protector(["numbers"]).protect("@joe has 2 in Rome").text == "@joe has A1 in Rome"
    assert Protector([]).protect("@joe has 2 in Rome").held == ()
    with pytest.raises(ConfigError, match="unknown kind 'number' of held text; did you mean 'numbers'"):
        Protector(["number"])
    with pytest.raises(ConfigError, match="a term is empty"):
        Protector(terms=["a", " "])


def test_longer_terms_first_and_only_whole_words() -> None:
    held = (
        Protector(["terms"], ["machine", "machine learning"]).protect("machine  learning by machines on a Machine").held
    )
    assert [part.text for part in held] == ["machine  learning", "Machine"]


def test_words_that_are_left() -> None:
    protector = Protector()
    assert [protector.words_left(protector.protect(text)) for text in ("@joe 5", "@joe says 5 things")] == [0, 2]
    assert protector.words_left(protector.protect("这部电影很好看")) == 7
