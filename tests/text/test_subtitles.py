"""Subtitles: cues are found in whatever is around them, and nothing but their sentences changes."""

from __future__ import annotations

import random

import pytest

from paraloom.core.errors import DataError
from paraloom.text.segments import LAYOUT
from paraloom.text.subtitles import OUTSIDE, subtitle_segments, wrapped_like

TIMES = "00:00:01,000 --> 00:00:02,500\n"


@pytest.mark.parametrize(
    ("cue", "expected"),
    [
        ("A dog.\nA cat.\n", ["A dog.", "A cat."]),
        ("A dog sleeps\r\nhere.\r\n", ["A dog sleeps\r\nhere."]),
        ("<i>A dog.</i>\n", ["A dog."]),
        ("{\\an8}<b>A <i>dog</i></b>", ["A <i>dog"]),
        ("- Where?\n- Here\n- No!", ["Where?", "Here", "No!"]),
        ("<i>-Where?</i>\n<i>-Here.</i>", ["Where?", "Here."]),
        ("<v Ada>A dog - or\na cat.", ["A dog - or\na cat."]),
        ("♪ La la ♪", ["La la"]),
        ("", []),
    ],
)  # fmt: skip
def test_cues(cue: str, expected: list[str]) -> None:
    segments = subtitle_segments(f"1\n{TIMES}{cue}\n\n2\n{TIMES}Last.")
    assert [one.text for one in segments if one.reason is None] == [*expected, "Last."]
    assert {one.reason for one in segments} <= {None, LAYOUT}


def test_what_is_outside_of_cues_is_counted() -> None:
    segments = subtitle_segments(f"WEBVTT - Title\n\nNOTE by Ada\n\n{TIMES.replace(',', '.')}A dog.\n\nlost text\n")
    assert [tuple(one) for one in segments if one.reason != LAYOUT] == [
        ("NOTE by Ada\n", OUTSIDE),
        ("A dog.", None),
        ("lost text\n", OUTSIDE),
    ]
    with pytest.raises(DataError, match="no subtitles found"):
        subtitle_segments("A dog.\n")


def test_segments_together_are_the_subtitles() -> None:
    draw = random.Random(1)
    parts = [
        "\n",
        "\r\n",
        "\n\n",
        TIMES,
        "7\n",
        "- ",
        "<i>",
        "</i>",
        "A dog.",
        "and ",
        " ",
        "♪",
        "{\\an8}",
        "-->",
        "\ufeff",
    ]
    for _ in range(2000):
        text = "".join([TIMES, *draw.choices(parts, k=draw.randint(0, 25))])
        assert "".join(one.text for one in subtitle_segments(text)) == text


def test_a_sentence_is_wrapped_as_before() -> None:
    assert wrapped_like("Ein Hund schläft heute im Garten.", "A dog\nsleeps.") == "Ein Hund schläft\nheute im Garten."
    assert wrapped_like("Ein Hund.", "A\r\nb\r\nc") == "Ein\r\nHund."
    assert wrapped_like(" Ein  Hund\n\nhier ", "A dog.") == "Ein Hund hier"


def test_a_long_gap_takes_linear_time() -> None:
    cue = f"A dog.{' ' * 200_000}A cat.\n"  # a quarter of an hour where each space is a place to begin
    assert [one.text for one in subtitle_segments(TIMES + cue) if one.reason is None] == ["A dog.", "A cat."]
