"""Scores of characters, repetition and mismatch: values worked out by hand, and libraries on real captions."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from paraloom.pairs.scoring.repetition import repeats, trigram_repetition, unigram_repetition
from paraloom.pairs.scoring.table import score
from paraloom.text.buffers import code_points
from paraloom.text.chrf import chrf_from_points
from paraloom.text.tokens import token_spans, words

ODD = [
    "",
    " ",
    "\n",
    "a",
    "ab",
    "été — e\u0301te\u0301",
    "👩‍👩‍👧 🎉 🎉 🎉",
    "שלום עולם",
    "no no no no no",
    "x" * 300,
    "a\x00b",
]
TEXTS = st.text(alphabet="ab é\n€🎉", max_size=25)


def value(name: str, src: str, tgt: str) -> Any:
    batch = pa.RecordBatch.from_pydict({"src": [src], "tgt": [tgt]})
    return score(batch, [name]).column(name)[0].as_py()


def captions(data: Path, language: str, count: int = 1000) -> list[str]:
    lines = gzip.decompress((data / f"bitext/multi30k/task1/train.{language}.gz").read_bytes()).decode().splitlines()
    return lines[:count]


@pytest.mark.parametrize(
    ("name", "src", "tgt", "expected"),
    [
        ("src_words", "Well, I never!", "", 3),
        ("tgt_characters", "", "né", 2),
        ("word_ratio", "a b c", "a, b", 1.5),
        ("character_ratio", "abcd", "ab", 2.0),
        ("character_ratio", "abcd", "", None),
        ("edit_distance", "kitten", "sitting", 3 / 7),
        ("edit_distance", "same", "same", 0.0),
        ("edit_distance", "", "a", None),
        ("chrf", "abc", "abc", 100.0),
        ("chrf", "abc", "xyz", 0.0),
        ("chrf", "abc", " ", None),
        # One of the, man, and, the, dog (5 words of three letters or more) occurred before.
        ("src_unigram_repetition", "the man and the dog", "", 1 / 5),
        ("src_unigram_repetition", "to be or not to be", "", 0.0),
        ("src_unigram_repetition", "a b", "", None),
        ("tgt_trigram_repetition", "", "a b c a b c", 1 / 4),
        ("tgt_trigram_repetition", "", "a b", None),
        ("src_repeats", "we go and go and go and stop", "", 2),
        ("src_repeats", "hahahahahaha", "", 2),
        ("src_repeats", "we go and go", "", 0),
        ("number_mismatch", "From 9:30 to 11", "9.30 until 12", 0.5),
        ("number_mismatch", "1,000 men", "1000 men", 0.0),
        ("number_mismatch", "١٠٠٠", "1.000", 0.0),
        ("number_mismatch", "no figure", "none here", 0.0),
        ("number_mismatch", "3 and 3", "3", 0.5),
        ("number_mismatch", "", "3", None),
        ("name_mismatch", "We met Anna in Prague.", "In Prague we met Eva.", 0.5),
        ("name_mismatch", "Dogs bark. Cats purr.", "Cats purr. Dogs bark.", 0.0),
        ("name_mismatch", "Yes, I'm here", "No, I am there", 0.0),
        ("name_mismatch", "he likes Élodie", "he likes élodie", 0.0),
    ],
)
def test_values_worked_out_by_hand(name: str, src: str, tgt: str, expected: float | None) -> None:
    assert value(name, src, tgt) == (None if expected is None else pytest.approx(expected, rel=1e-5))


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_chrf_is_that_of_sacrebleu(translation: str, reference: str) -> None:
    score = float(chrf_from_points(code_points([translation]), code_points([reference]))[0])
    if not translation.split() or not reference.split():
        assert math.isnan(score)
    else:
        assert score == pytest.approx(CHRF().sentence_score(translation, [reference]).score, abs=1e-3)


def test_chrf_of_real_captions_is_that_of_sacrebleu(data: Path) -> None:
    a, b = captions(data, "en"), captions(data, "de")
    peer = [CHRF().sentence_score(x, [y]).score for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(chrf_from_points(code_points(a), code_points(b)), peer, atol=1e-3)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(alphabet="ab \n", max_size=40), st.sampled_from(ODD)))
def test_repeats_agree_with_the_pattern_of_opusfilter(text: str) -> None:
    regex = pytest.importorskip("regex")
    match = regex.compile(r"(\S.{2,100}?)(?: *\1){2,}").search(text)
    expected = match.group(0).count(match.group(1)) - 1 if match else 0
    assert repeats(code_points([text])).tolist() == [expected]


@pytest.mark.parametrize(
    ("column", "kind", "options"),
    [
        ("words", "LengthFilter", {}),
        ("characters", "LengthFilter", {"unit": "char"}),
        ("repeats", "RepetitionFilter", {}),
        ("word_ratio", "LengthRatioFilter", {}),
        ("character_ratio", "LengthRatioFilter", {"unit": "char"}),
    ],
)
def test_counts_are_those_of_opusfilter(data: Path, column: str, kind: str, options: dict[str, Any]) -> None:
    filters = pytest.importorskip("opusfilter.filters", reason="OpusFilter is not installed: pip install opusfilter")
    pairs = list(zip(captions(data, "en"), captions(data, "de"), strict=True))
    pairs += [("he said said said said it", "und und und und"), ("one two three", "eins"), ("no no no no", "ja")]
    batch = pa.RecordBatch.from_pydict({"src": [a for a, _ in pairs], "tgt": [b for _, b in pairs]})
    peer = list(getattr(filters, kind)(**options).score(pairs))
    if column.endswith("_ratio"):
        assert score(batch, [column]).column(column).to_pylist() == pytest.approx(peer)
        return
    sides = [f"src_{column}", f"tgt_{column}"]
    values = list(zip(*(score(batch, sides).column(side).to_pylist() for side in sides), strict=True))
    assert [max(row) if column == "repeats" else list(row) for row in values] == peer


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="abc d", max_size=40))
def test_repetition_agrees_with_counters(text: str) -> None:
    spans = token_spans([text])
    repetition = {1: unigram_repetition(spans, spans.to_lists())[0], 3: trigram_repetition(spans.to_lists())[0]}
    for n, share in repetition.items():
        tokens = [word for word in words(text) if n > 1 or len(word) >= 3]
        grams = list(zip(*(tokens[i:] for i in range(n)), strict=False))
        repeated = sum(count - 1 for count in Counter(grams).values())
        assert share == pytest.approx(repeated / len(grams) if grams else math.nan, nan_ok=True)
