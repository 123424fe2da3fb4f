"""Standard forms by rules and a list of words: each rule, each kind of typing error, and what stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paraloom.api.canonicalization import english_speller
from paraloom.paraphrasing.spelling import FREQUENT, FREQUENT_FIRST, MISSPELLINGS, Speller

WORDS = ["the", "i", "you", "are", "cat", "because", "cats", "late", "so", "too", "sees", "honored", "realize", "it's"]
SPELLER = Speller(WORDS)


@pytest.mark.parametrize(
    ("word", "correction"),
    [
        ("becausee", "because"),  # a letter too many
        ("becase", "because"),  # too few
        ("becauae", "because"),  # another
        ("becuase", "because"),  # two swapped
        ("beacuase", None),  # two errors
        ("sooooo", "so"),
        ("toooo", "too"),
        ("Becuase", "Because"),
        ("BECUASE", "BECAUSE"),
        ("teh", "the"),
        ("because", None),  # known
        ("honoured", None),  # British
        ("realise", None),
        ("te", None),  # too short
        ("zebra", None),
    ],
)
def test_corrections(word: str, correction: str | None) -> None:
    assert SPELLER.correction(word) == correction


def test_frequent_misspellings() -> None:
    speller = Speller(["definately", "teh", "letter"])  # as lists of words from the web have them
    assert speller.standard_form("teh alot definately latter") == "The a lot definitely letter."
    assert speller.correction("Definately") == "Definitely" and not speller.knows("teh")
    known = english_speller()
    assert known is not None and all(known.knows(word) for right in MISSPELLINGS.values() for word in right.split())


def test_the_most_frequent_correction() -> None:
    assert Speller(["bat", "cat"]).correction("xat") == "bat"
    assert Speller(["cat", "bat"]).correction("xat") == "cat"
    filler = [f"word{number}" for number in range(FREQUENT)]
    assert Speller([*filler[:-1], "because"]).correction("becausse") == "because"
    assert Speller([*filler, "because"]).correction("becausse") is None  # known, but too rare for a correction
    assert Speller([*filler, "because"]).correction("because") is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("u r late", "You are late."),
        ("i'm late and i am too", "I'm late and I am too."),
        ("ARE YOU TOO LATE?", "Are you too late?"),
        ("NASA LATE", "NASA LATE."),  # two words in capitals may be names
        ("teh cat, “teh cat”", "The cat, “the cat”."),
        ('"teh cats are late"', '"The cats are late".'),
        ("the Caat sees you", "The Caat sees you."),  # perhaps a name
        ("you are late, @teh #teh teh.com", "You are late, @teh #teh teh.com"),
        ("you are late #tag", "You are late #tag"),
        ("are you late?!", "Are you late?!"),
        ("you are 5", "You are 5"),
        ("bale nagising kasi gumagalaw, teh cat", "Bale nagising kasi gumagalaw, teh cat."),  # another language
        ("becausee becuasee seees teh cat you", "Because becuasee sees the cat you."),  # three unknown words
        ("  ", ""),
    ],
)
def test_standard_forms(text: str, form: str) -> None:
    assert SPELLER.standard_form(text) == form


def test_a_first_word_with_a_capital_becomes_a_frequent_word_only() -> None:
    filler = [f"word{number}" for number in range(FREQUENT_FIRST)]
    speller = Speller([*filler, "milky"])
    assert speller.standard_form("Milby said") == "Milby said."
    assert speller.standard_form("milby said") == "Milky said."
    assert Speller(["milky"]).standard_form("Milby said") == "Milky said."


@example("I?I?I")
@example("xU”I”IU")
@example("a?III")
@given(st.text(alphabet=st.sampled_from("abc tehcxaIU'’.,!?@#12“”"), max_size=40))
def test_a_standard_form_stays(text: str) -> None:
    once = SPELLER.standard_form(text)
    assert SPELLER.standard_form(once) == once


def test_the_speller_of_a_language() -> None:
    speller = english_speller()
    assert speller is not None and speller.correction("yesterdya") == "yesterday"
    assert speller.signature.startswith("speller|words:")
