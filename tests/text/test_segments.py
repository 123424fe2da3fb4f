"""Texts with structure: their segments together are the text, and only sentences are worked on."""

from __future__ import annotations

import random

import pytest

from paraloom.text.segments import CODE, ENDLESS, JSON, LAYOUT, MARKUP, TABLE, WORDLESS, keeps_marks, split_segments


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two!\n", [("One.", None), ("Two!", None)]),
        ("Dr. Smith came, e.g. on Monday. He left.", [("Dr. Smith came, e.g. on Monday.", None), ("He left.", None)]),
        ('He said "No." Then he left.', [('He said "No."', None), ("Then he left.", None)]),
        ("これは犬です。猫です。", [("これは犬です。", None), ("猫です。", None)]),
        ("# A title\n\n- one\n  2) two\n> said", [("A title", None), ("one", None), ("two", None), ("said", None)]),
        ("Do it:\n```py\nx = 1\n```\nDone.", [("Do it:", None), ("```py\nx = 1\n```\n", CODE), ("Done.", None)]),
        ("~~~\nnot closed. At all.", [("~~~\nnot closed. At all.", CODE)]),
        ("Look:\n\n    x = 1\n    y = 2\n", [("Look:", None), ("    x = 1\n    y = 2\n", CODE)]),
        ("Run `a. B`. Done.", [("Run `a. B`.", None), ("Done.", None)]),
        ("\n    x = 1\n    # A note.\n\n    - Item", [("    x = 1\n    # A note.\n", CODE), ("Item", None)]),
        ('{"a": ["b. C."]}', [('{"a": ["b. C."]}', JSON)]),
        ('So:\n{"a":\n [1]}\n[1] No.', [("So:", None), ('{"a":\n [1]}\n', JSON), ("[1] No.", None)]),
        ("{not json}", [("{not json}", None)]),
        ("| a | b |\n|---|---|\n", [("| a | b |\n|---|---|\n", TABLE)]),
        ("12:30 --> 12:31", [("12:30 --> 12:31", WORDLESS)]),
        ("See: a. https://a.org/b", [("See: a.", None), ("https://a.org/b", WORDLESS)]),
        ("https://example.org/a", [("https://example.org/a", WORDLESS)]),
        ("a" * 10_001, [("a" * 10_001, ENDLESS)]),
        ("\ufeff# A title", [("A title", None)]),
        ('\ufeff{"a": 1}', [('{"a": 1}', JSON)]),
        (" \n\t\n", []),
    ],
)  # fmt: skip
def test_segments_are_sentences_and_what_is_left_alone(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [tuple(one) for one in split_segments(text) if one.reason != LAYOUT] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog sleeps\nin the garden.\nIt rains.", [("A dog sleeps\nin the garden.", None), ("It rains.", None)]),
        ("- one\n  and more\n- two", [("one\n  and more", None), ("two", None)]),
        ("One  \nTwo\\\nThree", [("One", None), ("Two\\", None), ("Three", None)]),
        ("# Title\nText\n---\nMore", [("Title", None), ("Text", None), ("---\n", MARKUP), ("More", None)]),
        ("---\na: b\n---\nText", [("---\na: b\n---\n", MARKUP), ("Text", None)]),
        ("<p>\nA dog.\n\nText", [("<p>\nA dog.\n", MARKUP), ("Text", None)]),
        ("<!-- A dog.\n\nA cat. -->\nText", [("<!-- A dog.\n\nA cat. -->\n", MARKUP), ("Text", None)]),
        ("[a]: https://a.org\n[^1]: A note.", [("[a]: https://a.org\n", MARKUP), ("[^1]: A note.", None)]),
        ("A dog\n```\ncode\n```\n", [("A dog", None), ("```\ncode\n```\n", CODE)]),
    ],
)  # fmt: skip
def test_markdown_is_wrapped(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [tuple(one) for one in split_segments(text, wrapped=True) if one.reason != LAYOUT] == expected


def test_segments_together_are_the_text() -> None:
    random_ = random.Random(1)
    parts = [
        "```",
        "~~~",
        "\n",
        "\n\n",
        "    ",
        "\t",
        "- ",
        "1. ",
        "# ",
        "> ",
        "|",
        "A dog.",
        "z. B. ",
        " ",
        "\r\n",
        "“No.” ",
        "<p>",
        "<!--",
        "---\n",
    ]
    for _ in range(2000):
        text = "".join(random_.choices([*parts, "{", "}", "[1]", "`x`", "。", "\u2028", "é"], k=random_.randint(0, 25)))
        for wrapped in (False, True):
            assert "".join(one.text for one in split_segments(text, wrapped=wrapped)) == text


def test_a_sentence_that_loses_a_link_or_code_is_noticed() -> None:
    assert keeps_marks("See https://a.org/x, and `f(x)`.", "Siehe `f(x)` und https://a.org/x!")
    assert not keeps_marks("Call `f(x)`.", "Rufe f(x) auf.")
    assert not keeps_marks("See https://a.org/x.", "Siehe https://a.org/y.")
    assert keeps_marks("A *dog* is [here](a.md)<br>.", "Ein *Hund* ist [hier](a.md)<br>.")
    assert not keeps_marks("A dog is [here](a.md).", "Ein Hund ist [hier] (a.md).")
    assert not keeps_marks("A *dog*.", "Ein * Hund.")
    assert not keeps_marks("A **dog** here.", "here. dog** A **")
    assert not keeps_marks("See [it](a.md) now.", "now ](a.md) [it See")
    assert not keeps_marks("In 2017.", "2017. In")
    assert not keeps_marks("Run `a\nb`.", "Run `A B`.")
