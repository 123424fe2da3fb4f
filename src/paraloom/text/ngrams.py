"""N-grams of tokens, bigrams of words, and n-grams of characters, also within words, as lists of 64-bit ids."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Int32s, Ints
from paraloom.core.errors import ConfigError
from paraloom.text import token_kernels as kernels
from paraloom.text import word_ngram_kernels
from paraloom.text.buffers import Texts, string_array, text_buffers
from paraloom.text.normalize import lowercase
from paraloom.text.tokens import TokenLists, TokenSpans, token_spans, token_strings, words

# Smallest and largest n of n-grams within words; in Hangul, Han and kana a character is a syllable or a word.
_ORDERS, _SYLLABIC_ORDERS = np.array([3, 5]), np.array([1, 3])
_SYLLABIC = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af]")

# First bytes of combining marks and of Hangul letters: text without them is composed already.
_UNCOMPOSED = (0xCC, 0xCD, 0xE1)


def ngrams(lists: TokenLists, n: int) -> TokenLists:
    _check_order(n)
    if n == 1:
        return lists
    return TokenLists(*kernels.ngrams(lists.ids, lists.offsets, n))


def character_ngrams(texts: Texts, n: int = 3, *, boundary: bool = True, lower: bool = True) -> TokenLists:
    """List the n-grams of characters of each text, spaces included: with n = 3 those of the TRIGRAM encoder (PNMT)."""
    _check_order(n)
    return TokenLists(*kernels.character_ngrams(*text_buffers(lowercase(texts) if lower else texts), n, boundary))


def word_bigrams(texts: Texts) -> TokenLists:
    """List each two consecutive tokens of each text, lowercased, punctuation included."""
    spans = token_spans(texts)
    return TokenLists(*kernels.hash_bigrams(spans.data, spans.starts, spans.ends, spans.offsets))


def spell_word_bigrams(texts: Texts, positions: Ints) -> list[str]:
    lists = token_strings(texts)
    first = pa.array(lists.offsets.to_numpy()[:-1] + positions)
    second = pc.add(first, 1)
    bigrams: list[str] = pc.binary_join_element_wise(
        lists.values.take(first), lists.values.take(second), pa.scalar(" ", pa.large_string())
    ).to_pylist()
    return bigrams


def word_ngrams(texts: Texts) -> TokenLists:
    """List the words of each text and their runs of 3 to 5 characters, marked `<word>` (Bojanowski et al. 2017, §3.2).

    With Hangul, Han or kana they are runs of 1 to 3: each of these characters says as much as a few letters.
    """
    spans = _composed_spans(texts)
    return TokenLists(
        *word_ngram_kernels.word_ngrams(spans.data, spans.starts, spans.ends, spans.offsets, _ORDERS, _SYLLABIC_ORDERS)
    )


def plain_word_ngrams(text: str) -> list[str]:
    """List the units of `word_ngrams` of one text, spelled: slow, but without compiled code."""
    units = []
    for word in words(unicodedata.normalize("NFC", text)):
        marked = f"<{word}>"
        low, high = _SYLLABIC_ORDERS if _SYLLABIC.search(word) else _ORDERS
        for first in range(len(marked)):
            for n in range(low, min(high, len(marked) - first) + 1):
                # The marks alone say nothing.
                if n > 1 or 0 < first < len(marked) - 1:
                    units.append(marked[first : first + n])
        if len(marked) > high:
            units.append(marked)
    return units


def spell_word_ngrams(texts: Texts, positions: Ints) -> list[str]:
    spans = _composed_spans(texts)
    data, bounds = word_ngram_kernels.spell_word_ngrams(
        spans.data, spans.starts, spans.ends, spans.offsets, _ORDERS, _SYLLABIC_ORDERS, positions
    )
    flat = pa.LargeStringArray.from_buffers(len(positions), pa.py_buffer(bounds), pa.py_buffer(data))
    spelled: list[str] = flat.to_pylist()
    return spelled


def _composed_spans(texts: Texts) -> TokenSpans:
    array = string_array(texts)
    data, offsets = text_buffers(array)
    data = data[offsets[0] : offsets[-1]]
    if any((data == byte).any() for byte in _UNCOMPOSED):
        array = pc.utf8_normalize(array, form="NFC")
    return token_spans(array)


def ngram_totals(lengths: npt.NDArray[np.integer], n: int) -> Int32s:
    totals: Int32s = np.maximum(np.asarray(lengths, np.int32) - np.int32(n - 1), 0)
    return totals


def _check_order(n: int) -> None:
    if n < 1:
        raise ConfigError(f"the order of n-grams must be 1 or more, got {n}")
