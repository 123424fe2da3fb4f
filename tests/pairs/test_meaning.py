"""Rules of meaning by hand: quantities, units, negation, quantifiers, persons, order; other languages."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from paraloom.pairs.scoring.meaning import english_words, quantities
from paraloom.pairs.scoring.table import score


def value(name: str, src: str, tgt: str, **columns: str) -> float | None:
    row = {"src": src, "tgt": tgt, **columns}
    result: float | None = score(pa.RecordBatch.from_pylist([row]), [name]).column(name)[0].as_py()
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ten men", [10]),
        ("twenty-one", [21]),
        ("two hundred and five", [205]),
        ("a hundred", [100]),
        ("five hundred thousand", [500_000]),
        ("2 million, 1.5 million", [1_500_000, 2_000_000]),
        ("two thousand three hundred and four", [2304]),
        ("1,000.5 and 1,000", [1000, 1000.5]),
        ("three and four", [3, 4]),
        ("3 2 1", [1, 2, 3]),
        ("one of the men", []),
        ("the third dozen", [3, 12]),
        ("a second", []),
        ("half past nine", [0.5, 9]),
    ],
)
def test_quantities(text: str, expected: list[float]) -> None:
    assert sorted(quantities(english_words(text)).elements()) == expected


@pytest.mark.parametrize(
    ("name", "src", "tgt", "expected"),
    [
        ("quantity_mismatch", "He has ten dogs.", "He has 10 dogs.", 0),
        ("quantity_mismatch", "He has ten dogs and two cats.", "He has 10 dogs.", 0.5),
        ("quantity_mismatch", "Dogs.", "Cats.", 0),
        ("unit_mismatch", "5 km", "five kilometers", 0),
        ("unit_mismatch", "5 km", "5 miles", 1),
        ("unit_mismatch", "a long day", "a long week", 0),
        ("unit_mismatch", "$5", "5 dollars", 0),
        ("negation_mismatch", "I don't know.", "I do not know.", 0),
        ("negation_mismatch", "I never knew.", "I knew.", 1),
        ("negation_mismatch", "Not only he came.", "He came, too.", 0),
        ("negation_mismatch", "It isn’t so.", "It is so.", 1),
        ("quantifier_mismatch", "All came.", "Everyone came.", 0),
        ("quantifier_mismatch", "All came before noon.", "Some came before noon.", 2 / 3),
        ("person_mismatch", "He saw me.", "He looked at me.", 0),
        ("person_mismatch", "He saw me.", "She saw me.", 2 / 3),
        ("order_inversions", "red green blue", "blue green red", 1),
        ("order_inversions", "red green blue", "red blue green", 1 / 3),
        ("role_swap", "The dog bit the man.", "The man bit the dog.", 1),
        ("role_swap", "The dog bit the man.", "The man was bitten by the dog.", 0),
        ("src_content_missing", "translated books", "translation of books", 0),
        ("src_content_missing", "old books", "new books", 0.5),
        ("tgt_content_missing", "books", "books, papers", 0.5),
    ],
)
def test_by_hand(name: str, src: str, tgt: str, expected: float) -> None:
    assert value(name, src, tgt) == pytest.approx(expected)


def test_both_sides_must_be_english_or_unlabeled() -> None:
    pair = ("Ich weiß nicht.", "Ich weiß.")
    assert value("negation_mismatch", "I never knew.", "I knew.", src_lang="en-US", tgt_lang="und") == 1
    assert value("negation_mismatch", *pair, src_lang="de", tgt_lang="de") is None
    assert value("quantity_mismatch", "two", "zwei", src_lang="en", tgt_lang="de") is None


def test_empty_sides_are_undefined() -> None:
    assert value("negation_mismatch", "", "I knew.") is None
    assert math.isclose(value("person_mismatch", "…", "I") or 0, 0)


def test_scores_are_symmetric() -> None:
    a, b = "All of the 20 men saw her before 9 pm.", "She was not seen by 12 boys, 3 km away."
    for name in ("quantity_mismatch", "unit_mismatch", "negation_mismatch", "quantifier_mismatch", "person_mismatch",
                 "order_inversions", "role_swap"):  # fmt: skip
        assert value(name, a, b) == value(name, b, a)
    assert value("src_content_missing", a, b) == value("tgt_content_missing", b, a)
