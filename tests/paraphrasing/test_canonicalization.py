"""The standard form of texts: what is held, texts that stay as they are, abbreviations, what is gone."""

from __future__ import annotations

from paraloom.paraphrasing.spelling import Canonicalizer, CanonicalText, Speller, expand_abbreviations

SPELLER = Speller(["see", "you", "the", "saw", "dog", "i", "late"])


def test_rules() -> None:
    speller = Canonicalizer(SPELLER)
    forms = speller.canonicalize(["i see u @dgo 5", "I see you.", "@ann 5", "teh dog", ""])
    assert [(one.text, one.status) for one in forms] == [
        ("I see you @dgo 5", "changed"),
        ("I see you.", "unchanged"),
        ("@ann 5", "kept"),
        ("The dog.", "changed"),
        ("", "kept"),
    ]
    assert [one.source for one in forms] == ["i see u @dgo 5", "I see you.", "@ann 5", "teh dog", ""]
    assert forms[2] == CanonicalText("@ann 5", "@ann 5", "kept", "without words to write")
    assert speller.signature.startswith("rules|canonical|")


def test_abbreviations_in_full() -> None:
    assert expand_abbreviations("Thx 4 ur msg, idk y u r late @u #r") == (
        "Thanks 4 your message, I don't know why you are late @u #r"
    )
    assert expand_abbreviations("THX, its were") == "THANKS, its were"  # "its" and "were" may be right
