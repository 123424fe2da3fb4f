"""Tokens, n-grams, normalization and sentences: kernels against plain-Python references, and real text."""

from __future__ import annotations

import gzip
import subprocess
import sys
import unicodedata
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paraloom.core.errors import ConfigError
from paraloom.text.characters import character_class, class_table
from paraloom.text.ngrams import character_ngrams, ngrams
from paraloom.text.normalize import lowercase, normalize
from paraloom.text.tokens import TokenLists, token_hash, token_strings, tokenize, words

# A few characters, so that they often meet, beside all of Unicode: joiners, digits, marks, wide characters, spaces.
TEXT = st.text(st.one_of(st.sampled_from("aБ9½'’-‐.,: \t\u0301\u200d\u00a0字🙂!_"), st.characters(codec="utf-8")))
TEXTS = st.lists(TEXT, max_size=5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\u2028\u200b", []),
        ("Don't", ["don't"]),
        ("don’t stop", ["don’t", "stop"]),
        ("'quoted'", ["'", "quoted", "'"]),
        ("well-known", ["well-known"]),
        ("a--b", ["a", "-", "-", "b"]),
        ("-a-", ["-", "a", "-"]),
        ("3.5 1,000 10:30", ["3.5", "1,000", "10:30"]),
        ("3. .5 3..5", ["3", ".", ".", "5", "3", ".", ".", "5"]),
        ("3-4 a.b a3 3'a", ["3", "-", "4", "a", ".", "b", "a3", "3", "'", "a"]),
        ("x² Ⅳ ½", ["x²", "ⅳ", "½"]),
        ("e\u0301t\u0301", ["e\u0301t\u0301"]),
        ("snake_case", ["snake", "_", "case"]),
        ("ok🙂👍!", ["ok", "🙂", "👍", "!"]),
        ("日本語 한국어 नमस्ते", ["日本語", "한국어", "नमस्ते"]),
        ("a\u00a0b\ufeffc", ["a", "b", "c"]),
        ("ŽLUŤOUČKÝ ΟΔΟΣ", ["žluťoučký", "οδοσ"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected
    assert token_strings([text]).to_pylist() == [expected]
    assert tokenize([text])[0].tolist() == [token_hash(word) for word in expected]


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.booleans(), st.booleans())
@example(["", "a", ""], True, True)
@example(["a'", "'b", "1.", "2"], False, False)
def test_the_kernel_equals_the_regular_expression(texts: list[str], lower: bool, punctuation: bool) -> None:
    expected = [words(text, lower=lower, punctuation=punctuation) for text in texts]
    lists = tokenize(texts, lower=lower, punctuation=punctuation)
    assert lists.lengths.tolist() == [len(tokens) for tokens in expected]
    assert lists.ids.tolist() == [token_hash(token) for tokens in expected for token in tokens]
    assert token_strings(texts).to_pylist() == [words(text) for text in texts]


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(1, 5), st.booleans())
def test_character_ngrams(texts: list[str], n: int, boundary: bool) -> None:
    expected = []
    for text in lowercase(texts).to_pylist():
        padded = f" {text} " if boundary else text
        expected.append([token_hash(padded[i : i + n]) for i in range(len(padded) - n + 1)])
    lists = character_ngrams(texts, n, boundary=boundary)
    assert [lists[i].tolist() for i in range(len(lists))] == expected


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=4), st.integers(1, 4))
def test_ngrams_have_equal_ids_if_and_only_if_their_tokens_are_equal(lists: list[list[int]], n: int) -> None:
    flat = TokenLists(np.array([*chain(*lists)], np.uint64), np.cumsum([0, *map(len, lists)]))
    expected = [tuple(parts[i : i + n]) for parts in lists for i in range(len(parts) - n + 1)]
    grams = ngrams(flat, n)
    assert grams.lengths.tolist() == [max(0, len(parts) - n + 1) for parts in lists]
    ids = grams.ids.tolist()
    assert len(set(ids)) == len(set(expected)) == len(set(zip(ids, expected, strict=True)))


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["x y", "a b", None, "ä"]),
        pa.array(["x y", "a b", None, "ä"], pa.large_string()),
        pa.array(["x y", "a b", None, "ä"], pa.string_view()),
        pa.array(["x y", "a b", None, "ä"]).dictionary_encode(),
        pa.chunked_array([["x y", "a b"], [None, "ä"]]),
    ],
    ids=lambda array: str(array.type),
)
def test_all_arrow_string_types(array: pa.Array) -> None:
    expected = [[token_hash("a"), token_hash("b")], [], [token_hash("ä")]]
    assert tokenize(array.slice(1)).to_arrow().to_pylist() == expected
    assert character_ngrams(array.slice(1)).lengths.tolist() == [3, 0, 1]


@pytest.mark.parametrize("array", [[], pa.array([], pa.string()), pa.chunked_array([], pa.string()), [""], [None]])
def test_empty_input(array: pa.Array) -> None:
    assert tokenize(array).ids.tolist() == []
    assert len(tokenize(array)) == len(array) == len(ngrams(tokenize(array), 2)) == len(character_ngrams(array))


@pytest.mark.parametrize("content", [b"\xf8\xff\xff\xff\xff", b"a\xf0\x9f", b"\xf7\xbf\xbf\xbf", b"\xc3"])
def test_invalid_utf8_does_not_read_out_of_bounds(content: bytes) -> None:
    buffers = [None, pa.py_buffer(np.array([0, len(content)], np.int32)), pa.py_buffer(content)]
    broken = pa.Array.from_buffers(pa.string(), 1, buffers)
    assert tokenize(broken, lower=False).lengths.tolist()[0] >= 1


def test_lists_share_memory_with_arrow() -> None:
    lists = tokenize(["a b", "c"])
    assert lists.to_arrow().values.buffers()[1].address == lists.ids.ctypes.data
    assert not lists.ids.flags.writeable


def test_class_table_covers_all_assigned_code_points() -> None:
    table = class_table()
    unassigned = {"Cn", "Co", "Cs"}
    for point in range(0, 0x110000, 7):
        if point > 0x3FFFF and unicodedata.category(chr(point)) in unassigned:
            continue
        assert table[point] == character_class(chr(point)), hex(point)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e\u0301", "é"),
        ("a\u2003\u200bb\x00c", "a b c"),
        ("\ufeffa\r\n", "a"),
        ("a  b", "a b"),
        ("", ""),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_normalize(text: str, expected: str) -> None:
    assert normalize([text]).to_pylist() == [expected]


@settings(deadline=None)
@given(TEXTS)
def test_normalize_is_idempotent(texts: list[str]) -> None:
    once = normalize(texts)
    assert normalize(once) == once


@pytest.mark.parametrize("n", [0, -1])
def test_order_of_ngrams_must_be_positive(n: int) -> None:
    for call in (lambda: ngrams(tokenize(["a"]), n), lambda: character_ngrams(["a"], n)):
        with pytest.raises(ConfigError, match=f"must be 1 or more, got {n}"):
            call()


@pytest.mark.slow
def test_import_is_light() -> None:
    code = "import sys, paraloom.text.tokens; print({'transformers', 'torch'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_real_sentences(data: Path) -> None:
    for name in ("en", "cs"):
        packed = (data / f"bitext/multi30k/task1/val.{name}.gz").read_bytes()
        lines = gzip.decompress(packed).decode().split("\n")
        assert token_strings(lines).to_pylist() == [words(line) for line in lines]
