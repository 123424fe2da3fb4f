"""Faults of translators: loops of letters and words, cut endings, untranslated words, words of another language."""

from __future__ import annotations

import pyarrow as pa
import pytest

from paraloom.pairs.scoring.glitches import character_loop, is_truncated, loop_share
from paraloom.pairs.scoring.table import score


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssss", 4),
        ("It EVEVEV now", 6),
        ("the babababa of it", 8),
        ("bananas, committees and Mississippi", 0),
        ("www.example.com in 10000000", 0),
        ("Wait... what!!!", 0),
        ("", 0),
    ],
)
def test_character_loops(text: str, expected: int) -> None:
    assert character_loop(text) == expected


def test_word_loops() -> None:
    assert loop_share("go go go") == pytest.approx(6 / 8)
    assert loop_share("the man and the man and the man") == pytest.approx(12 / 31)  # "the man and", a second time
    assert loop_share("more and more people") == 0
    assert loop_share("") == 0


@pytest.mark.parametrize(
    ("src", "tgt", "expected"),
    [
        ("He came.", "He came to the", True),
        ("He came.", "He came", True),
        ("He came.", "He came, and", True),
        ("He came.", 'He "came."', False),
        ("A headline", "Another headline", False),
        ("What for?", "What is it for?", False),
        ("He came.", "", False),
    ],
)
def test_truncated(src: str, tgt: str, expected: bool) -> None:
    assert is_truncated(src, tgt) == expected


def test_untranslated_words() -> None:
    row = {"src": "The hospital in Köln is new.", "pivot": "Das Krankenhaus in Köln ist neu.", "pivot_lang": "de",
           "tgt": "The Krankenhaus in Köln ist new.", "tgt_lang": "en"}  # fmt: skip
    batch = score(pa.RecordBatch.from_pylist([row]), ["tgt_copied", "tgt_foreign"])
    assert batch.column("tgt_copied")[0].as_py() == pytest.approx(1 / 2)  # Krankenhaus, not Köln
    assert batch.column("tgt_foreign")[0].as_py() == pytest.approx(1 / 6)  # ist; "in" is English, too


def test_without_a_pivot_or_a_language() -> None:
    batch = score(
        pa.RecordBatch.from_pylist([{"src": "a", "tgt": "b", "tgt_lang": "xx"}]), ["tgt_copied", "tgt_foreign"]
    )
    assert batch.column("tgt_copied").null_count == batch.column("tgt_foreign").null_count == 1
