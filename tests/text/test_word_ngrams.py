"""Words and the n-grams within them, against a plain reference in Unicode's own terms."""

from __future__ import annotations

import unicodedata

import numpy as np
import pyarrow as pa
import pytest

from paraloom.text.ngrams import plain_word_ngrams, spell_word_ngrams, word_ngrams
from paraloom.text.tokens import token_hash, words

TEXTS = [
    "A dog runs!",
    "Zwei Hunde – it's 3.5°",
    "",
    "한국어 문장입니다.",
    "日本語 テスト 𠮷",
    "İstanbul'da çok güzel, IŞIK",
    "Příliš žluťoučký kůň",
    "<tag> a>b 😀😀",
    "ไทย",
]
SYLLABIC = ("HANGUL", "CJK", "HIRAGANA", "KATAKANA")


def plain_units(text: str) -> list[str]:
    """The definition: of each marked word the runs of 3 to 5 characters (1 to 3 if it has syllables), and the whole."""
    units = []
    for word in words(unicodedata.normalize("NFC", text)):
        marked = f"<{word}>"
        syllabic = any(unicodedata.name(character, " ").split(" ")[0] in SYLLABIC for character in word)
        low, high = (1, 3) if syllabic else (3, 5)
        for start in range(len(marked)):
            for n in range(low, min(high, len(marked) - start) + 1):
                if marked[start : start + n] not in ("<", ">") or 0 < start < len(marked) - 1:
                    units.append(marked[start : start + n])
        if len(marked) > high:
            units.append(marked)
    return units


def test_units_of_a_word_by_hand() -> None:
    assert plain_units("cats") == ["<ca", "<cat", "<cats", "cat", "cats", "cats>", "ats", "ats>", "ts>", "<cats>"]
    assert plain_units("한국") == ["<한", "<한국", "한", "한국", "한국>", "국", "국>", "<한국>"]


def test_ids_are_those_of_the_definition() -> None:
    lists = word_ngrams(TEXTS)
    for text, ids in zip(TEXTS, lists, strict=True):
        assert ids.tolist() == [token_hash(unit) for unit in plain_units(text)]
        assert plain_word_ngrams(text) == plain_units(text)
    assert word_ngrams([]).lengths.tolist() == []
    array = pa.array(["left out", None, *TEXTS], pa.string()).slice(1)
    np.testing.assert_array_equal(word_ngrams(array).ids, lists.ids)


@pytest.mark.parametrize(("written", "composed"), [("e\u0301cole", "école"), ("\u1112\u1161\u11ab", "한")])
def test_text_is_composed_first(written: str, composed: str) -> None:
    assert word_ngrams([written])[0].tolist() == word_ngrams([composed])[0].tolist()


def test_every_unit_can_be_spelled() -> None:
    for text in TEXTS:
        units = plain_units(text)
        assert spell_word_ngrams([text] * len(units), np.arange(len(units))) == units
