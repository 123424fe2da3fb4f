"""Rules about meaning and degenerate output: values by hand, plain references, and other languages."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraloom.pairs.scoring.meaning import order_inversions
from paraloom.pairs.scoring.table import GROUPS, score
from paraloom.pairs.scoring.word_classes import ClassifiedWords, classify, language_indices, word_table
from paraloom.pairs.scoring.word_lists import german_number
from paraloom.text.buffers import code_points


def value(name: str, src: str | None, tgt: str | None, **columns: str) -> Any:
    row = {"src": src, "tgt": tgt, **columns}
    batch = pa.RecordBatch.from_arrays([pa.array([text], pa.string()) for text in row.values()], list(row))
    return score(batch, [name]).column(name)[0].as_py()


CASES = [
    # Quantities: (missing on either side) / (counted on both).
    ("quantity_mismatch", "ten dogs", "10 dogs", 0),
    ("quantity_mismatch", "ten dogs", "eleven dogs", 1),
    ("quantity_mismatch", "twenty-one", "21", 0),
    ("quantity_mismatch", "twenty one of them", "21 of them", 0),
    ("quantity_mismatch", "a hundred men", "100 men", 0),
    ("quantity_mismatch", "one hundred and five", "105", 0),
    ("quantity_mismatch", "two million people", "2,000,000 people", 0),
    ("quantity_mismatch", "2.5 million", "2,500,000", 0),
    ("quantity_mismatch", "$5m", "5 million dollars", 0),
    ("quantity_mismatch", "5bn", "five billion", 0),
    ("quantity_mismatch", "1,000 men", "1000 men", 0),
    ("quantity_mismatch", "the third man", "the 3rd man", 0),
    ("quantity_mismatch", "the twenty-third", "the 23rd", 0),
    ("quantity_mismatch", "a dozen eggs", "12 eggs", 0),
    ("quantity_mismatch", "two dozen eggs", "24 eggs", 0),
    ("quantity_mismatch", "half a million", "500,000", 0),
    ("quantity_mismatch", "two and a half hours", "2.5 hours", 0),
    ("quantity_mismatch", "nineteen eighty-four", "1984", 0),
    ("quantity_mismatch", "in the 1990s", "in the nineties", 0),
    ("quantity_mismatch", "one of the dogs", "a dog", 0),
    ("quantity_mismatch", "one dog", "1 dog", 0),
    ("quantity_mismatch", "both dogs", "2 dogs", 0),
    ("quantity_mismatch", "3 and 3", "3", 0),
    ("quantity_mismatch", "3 cats, 4 dogs", "3 cats, 5 dogs", 2 / 4),
    ("quantity_mismatch", "7 cats", "cats", 1),
    ("quantity_mismatch", "at 9:30", "at 9.30", 0),
    ("quantity_mismatch", "in 3 months", "within a third of it", 0),
    ("quantity_mismatch", "three hundred thousand", "300,000", 0),
    ("quantity_mismatch", "several thousand men", "many men", 0),
    ("quantity_mismatch", "", "3", None),
    ("negation_mismatch", "He did not come.", "He came.", 1),
    ("negation_mismatch", "He didn’t come.", "He did not come.", 0),
    ("negation_mismatch", "No one came.", "Nobody came.", 0),
    ("negation_mismatch", "He is not only rich.", "He is rich.", 0),
    ("negation_mismatch", "It is not nothing.", "It is something.", 0),
    ("negation_mismatch", "Neither he nor she came.", "They did not come.", 0),
    ("negation_mismatch", "He cannot and will not.", "He cannot.", 0.5),
    ("negation_mismatch", "He is unhappy.", "He is happy.", 0),
    ("negation_mismatch", "He could not.", "He was unable to.", 0),
    ("negation_mismatch", "No, he came.", "He came.", 0),
    ("negation_mismatch", "He came, didn't he?", "He came, right?", 0),
    ("negation_mismatch", "room no 5", "room 5", 0),
    ("negation_mismatch", "I do n't know", "I do know", 1),
    ("order_inversions", "alpha beta gamma", "gamma beta alpha", 1),
    ("order_inversions", "alpha beta gamma", "alpha gamma beta", 1 / 3),
    ("order_inversions", "alpha", "alpha", None),
    ("src_content_missing", "The big dogs barked", "A dog was barking", 1 / 3),
    ("tgt_content_missing", "The big dogs barked", "A dog was barking", 0),
    ("src_content_missing", "He was there", "dog", None),
]


@pytest.mark.parametrize(("name", "src", "tgt", "expected"), CASES)
def test_values_worked_out_by_hand(name: str, src: str, tgt: str, expected: float | None) -> None:
    assert value(name, src, tgt) == (None if expected is None else pytest.approx(expected, rel=1e-6))


@pytest.mark.parametrize(
    ("name", "src", "tgt", "expected"),
    [
        ("quantity_mismatch", "zweihundertfünf Hunde", "205 Hunde", 0),
        ("quantity_mismatch", "2,5 Millionen", "2.500.000", 0),
        ("quantity_mismatch", "der dritte Mann", "der dritte von 3", 0),
        ("quantity_mismatch", "zwölf", "ein Dutzend", 0),
        ("negation_mismatch", "Er kommt nicht.", "Er kommt.", 1),
        ("negation_mismatch", "Weder er noch sie kam.", "Keiner kam.", 0),
    ],
)
def test_german(name: str, src: str, tgt: str, expected: float) -> None:
    assert value(name, src, tgt, src_lang="de", tgt_lang="de-AT") == pytest.approx(expected)


@pytest.mark.parametrize("name", [name for name in GROUPS["meaning"] if "mismatch" in name])
def test_a_language_without_word_lists_gives_null(name: str) -> None:
    assert value(name, "deux chiens", "trois chiens", src_lang="fr", tgt_lang="fr") is None
    assert value(name, "deux chiens", "trois chiens", src_lang="und", tgt_lang="") is not None


def test_content_needs_function_words_and_order_does_not() -> None:
    french = {"src_lang": "fr", "tgt_lang": "fr"}
    assert value("src_content_missing", "le petit chien", "un chien", **french) == pytest.approx(1 / 2)
    assert value("src_content_missing", "alfa beta", "beta alfa", src_lang="xx", tgt_lang="xx") is None
    assert value("order_inversions", "alfa beta", "beta alfa", src_lang="xx", tgt_lang="xx") == 1


def _classified(words: list[str]) -> ClassifiedWords:
    return classify(code_points([" ".join(words)]), language_indices(pa.array(["en"])))


@settings(max_examples=100, deadline=None)
@given(st.permutations(["alpha", "bravo", "tango", "delta", "kilos"]))
def test_order_inversions_agree_with_a_count(words: list[str]) -> None:
    first = ["alpha", "bravo", "tango", "delta", "kilos"]
    inverted = sum(words.index(a) > words.index(b) for a, b in combinations(first, 2))
    share = order_inversions(*(_classified(side) for side in (first, words)))[0]
    assert share == pytest.approx(inverted / 10)


def test_german_numbers() -> None:
    assert [german_number(n) for n in (7, 16, 30, 101, 345, 2000)] == [
        *("sieben", "sechzehn", "dreißig", "einhunderteins", "dreihundertfünfundvierzig", "zweitausend")
    ]


def test_word_lists_have_lower_case_words_in_one_table() -> None:
    assert len(word_table().features) == len(word_table().numbers) > 4000


def test_groups_keep_what_is_left() -> None:
    assert "glitches" not in GROUPS
    assert {"quantity_mismatch", "negation_mismatch", "order_inversions"} <= {*GROUPS["meaning"]}
