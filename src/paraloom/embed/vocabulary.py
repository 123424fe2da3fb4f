"""Vocabularies of words and character n-grams: counted over a stream of sentences, looked up by hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from paraloom.core.array_types import Bools, Floats, Ids, Int32s, Ints
from paraloom.core.errors import ModelError
from paraloom.embed import list_kernels
from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.ngrams import (
    character_ngrams,
    plain_word_ngrams,
    spell_word_bigrams,
    spell_word_ngrams,
    word_bigrams,
    word_ngrams,
)
from paraloom.text.normalize import lowercase
from paraloom.text.token_kernels import build_table, hash_spans
from paraloom.text.tokens import TokenLists, token_strings, tokenize, words

_TRIGRAM = 3


@dataclass(frozen=True)
class Unit:
    """A kind of token that sentences are split into."""

    # Splits sentences; returns the ids (`paraloom.text.tokens.token_hash`) of each one's tokens.
    split: Callable[[Texts], TokenLists]
    # Given m sentences and one position in each, int64 `(m,)`, returns those m tokens as text.
    spell: Callable[[Texts, Ints], list[str]]
    # Splits one sentence into the same tokens, as text, without compiled code.
    plain: Callable[[str], list[str]] | None = None


def _spell_words(texts: Texts, positions: Ints) -> list[str]:
    lists = token_strings(texts)
    offsets = lists.offsets.to_numpy()
    spelled: list[str] = lists.values.take(pa.array(offsets[:-1] + positions)).to_pylist()
    return spelled


def _spell_trigrams(texts: Texts, positions: Ints) -> list[str]:
    lowered: list[str] = lowercase(texts).to_pylist()
    return [f" {text} "[start : start + _TRIGRAM] for text, start in zip(lowered, positions.tolist(), strict=True)]


def _plain_trigrams(text: str) -> list[str]:
    padded = f" {lowercase([text])[0]} "
    return [padded[start : start + _TRIGRAM] for start in range(len(padded) - _TRIGRAM + 1)]


UNITS: dict[str, Unit] = {
    "word": Unit(tokenize, _spell_words, words),
    "trigram": Unit(character_ngrams, _spell_trigrams, _plain_trigrams),
    "bigram": Unit(word_bigrams, spell_word_bigrams),
    "ngram": Unit(word_ngrams, spell_word_ngrams, plain_word_ngrams),
}
"""Kinds of token by name: words, character trigrams (PNMT §4.1), bigrams of words, and words with the n-grams within
them (fastText), lower-cased, with punctuation marks."""


class RowLists(NamedTuple):
    """n lists of table rows in flat form: list i is `rows[offsets[i]:offsets[i + 1]]`."""

    rows: Int32s
    offsets: Ints


class Vocabulary:
    """The token types for which a part has a vector; entry i belongs to row i of its table."""

    def __init__(self, unit: str, entries: Sequence[str]) -> None:
        self.unit = unit
        self.entries = tuple(entries)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def identity(self) -> bytes:
        """Bytes that determine how texts are split and numbered; part of an encoder's signature."""
        return "\n".join(self.entries).encode()

    def row_lists(self, texts: Texts) -> RowLists:
        """Rows of the tokens of n texts; unknown ones are left out, so that a list may be empty."""
        return self.look_up(UNITS[self.unit].split(texts))

    def look_up(self, lists: TokenLists) -> RowLists:
        """Rows of tokens that are given by their ids; unknown ones are left out, so that a list may be empty."""
        return RowLists(*list_kernels.look_up(lists.ids, lists.offsets, *self._hash_table))

    def coverage(self, texts: Texts) -> float:
        """Share of the tokens of texts that have a row."""
        lists = UNITS[self.unit].split(texts)
        return len(self.look_up(lists).rows) / max(1, len(lists.ids))

    @property
    def is_plain(self) -> bool:
        """True if `plain_rows` can be called."""
        return self.unit in UNITS and UNITS[self.unit].plain is not None

    def plain_rows(self, text: str) -> list[int]:
        """Rows of the tokens of one text, as in `row_lists`, without compiled code."""
        plain = UNITS[self.unit].plain
        return [self._rows[token] for token in (plain(text) if plain else ()) if token in self._rows]

    def check(self) -> None:
        if len(self._rows) != len(self):
            repeated = Counter(self.entries).most_common(1)[0][0]
            raise ModelError(f"the {self.unit} vocabulary has the entry '{repeated}' twice")

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {entry: row for row, entry in enumerate(self.entries)}

    @cached_property
    def _hash_table(self) -> tuple[Ids, Int32s]:
        self.check()
        return build_table(hash_entries(self.entries))


def padded(lists: RowLists, chunk: Ints) -> tuple[Ints, Bools]:
    """The rows of n lists, int64 `(n, t)` padded with 0, and their mask, bool `(n, t)`."""
    starts, lengths = lists.offsets[chunk], np.diff(lists.offsets)[chunk]
    positions = np.arange(lengths.max())
    mask = positions < lengths[:, None]
    rows = np.zeros(mask.shape, np.int64)
    rows[mask] = lists.rows[(starts[:, None] + positions)[mask]]
    return rows, mask


class CountedVocabulary(NamedTuple):
    """A vocabulary that was counted over a corpus."""

    vocabulary: Vocabulary
    rows: Int32s
    frequencies: Floats


class VocabularyCounter:
    """Counts the tokens of a stream of sentences, which is read only once; memory grows with the number of types."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self._spellings: list[str] = []
        self._counts = np.zeros(1 << 15, np.int64)
        self._keys, self._rows = build_table(np.empty(0, np.uint64), 1 << 14)

    def count(self, texts: Texts, lists: TokenLists) -> Int32s:
        self._reserve(len(self._spellings) + len(lists.ids))
        ids, first = list_kernels.intern(lists.ids, self._keys, self._rows, self._counts, len(self._spellings))
        if len(first):
            owners = np.searchsorted(lists.offsets, first, side="right") - 1
            array = pa.array(texts, pa.large_string()) if not isinstance(texts, pa.Array) else texts
            self._spellings += UNITS[self.unit].spell(array.take(pa.array(owners)), first - lists.offsets[owners])
        return ids

    def counts(self) -> dict[str, int]:
        """Number of occurrences of each token type so far."""
        return dict(zip(self._spellings, self._counts.tolist(), strict=False))

    def most_common(self, size: int) -> CountedVocabulary:
        """The `size` most frequent types, ties in alphabetical order; types are lines, without breaks."""
        allowed = np.array(["\n" not in spelling for spelling in self._spellings], np.bool_)
        counts = np.where(allowed, self._counts[: len(allowed)], 0)
        # Of millions of n-grams most occur once or twice: only those that can be among the most frequent are sorted.
        lowest = np.partition(counts, len(counts) - size)[len(counts) - size] if 0 < size < len(counts) else 1
        order = sorted(
            np.flatnonzero(counts >= max(1, lowest)).tolist(),
            key=lambda number: (-counts[number], self._spellings[number]),
        )[:size]
        rows = np.full(len(self._spellings), -1, np.int32)
        rows[order] = np.arange(len(order), dtype=np.int32)
        frequencies = self._counts[order] / max(1, self._counts.sum())
        vocabulary = Vocabulary(self.unit, [self._spellings[number] for number in order])
        return CountedVocabulary(vocabulary, rows, frequencies)

    def _reserve(self, needed: int) -> None:
        """Make room for so many types."""
        if needed > len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros(needed, np.int64)])
        if 2 * needed > len(self._keys):
            used = self._rows > 0
            ordered = np.empty(len(self._spellings), np.uint64)
            ordered[self._rows[used] - 1] = self._keys[used]
            self._keys, self._rows = build_table(ordered, 2 * needed)


def hash_entries(entries: Sequence[str]) -> Ids:
    """`paraloom.text.tokens.token_hash` of n entries, uint64 `(n,)`."""
    if not entries:
        return np.empty(0, np.uint64)
    content, bounds = text_buffers(entries)
    return hash_spans(content, bounds[:-1], bounds[1:])
