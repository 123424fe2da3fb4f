"""Texts as words with the classes that the rules about meaning need: number, currency, negation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Bools, Floats, Ids, Int32s, Ints
from paraloom.pairs.scoring import word_class_kernels as kernels
from paraloom.pairs.scoring.word_lists import (
    CURRENCIES,
    DANGLING,
    MORE_FUNCTION_WORDS,
    NEAR_NEGATIONS,
    NEGATIONS,
    NUMBERS,
    UNNEGATED,
    Role,
)
from paraloom.pairs.scoring.word_lists import VAGUE as VAGUE_WORDS
from paraloom.text.buffers import code_points
from paraloom.text.characters import class_table, decimal_table
from paraloom.text.chrf import Points
from paraloom.text.function_words import FUNCTION_WORDS
from paraloom.text.normalize import lowercase
from paraloom.text.token_kernels import build_table

LANGUAGES = tuple(FUNCTION_WORDS)
"""Languages with function words."""

RULED = ("en", "de")
"""Languages with word lists for the rules about meaning."""

UNKNOWN = "und"
DEFAULT = "en"
"""Language of a text without one."""

ROLES: tuple[Role | str, ...] = (
    *("", "unit", "ten", "hundred", "scale", "plural_scale", "ordinal", "denominator", "dozen", "half", "loose"),
    "short_scale",
)
MARKS = {
    "and": "and und &",
    "article": "a an ein eine einen einem einer",
    "no": "no",
    "not": "not nicht kein",
    "neither": "neither weder",
    "nor": "nor noch",
}
"""Words that rules ask for by themselves."""

ROLE, CURRENCY, NEGATION, UNNEGATES, VAGUE, FUNCTION, ENDS_NOTHING, WORD_MARK = range(8)
"""Columns of the features of a word."""

MARK = {name: number for number, name in enumerate(MARKS, start=1)}
NEGATES, NEARLY_NEGATES = 1, 2
_DECIMAL_MARKS = {"en": ".", "de": ","}


class WordTable(NamedTuple):
    table: Ids
    rows: Int32s
    features: Int32s
    numbers: Floats


@dataclass(frozen=True, eq=False)
class ClassifiedWords:
    """The words, numbers and marks of n texts."""

    points: Int32s  # Code points of the texts, int32 `(characters,)`
    ids: Ids  # Hash of each token, lower-cased, uint64 `(tokens,)`
    starts: Ints  # int64 `(tokens,)`; token k is `points[starts[k]:ends[k]]`
    ends: Ints  # int64 `(tokens,)`
    kinds: npt.NDArray[np.uint8]  # WORD, NUMBER or MARK of `word_class_kernels`, uint8 `(tokens,)`
    values: Floats  # Values of the numbers in digits, float64 `(tokens,)`; NaN for other tokens
    offsets: Ints  # int64 `(n + 1,)`; the tokens of text i are those from `offsets[i]` to `offsets[i + 1]`
    rows: Int32s  # Row of each token in `word_table().features`, int32 `(tokens,)`; 0 for words in no list
    languages: Int32s  # Index of the language of each text in `LANGUAGES`, int32 `(n,)`; -1 for languages without lists

    @property
    def ruled(self) -> Bools:
        """True where the text is in a language of `RULED`: bool `(n,)`."""
        return np.isin(self.languages, [LANGUAGES.index(language) for language in RULED])

    @property
    def listed(self) -> Bools:
        """True where the text is in a language with function words: bool `(n,)`."""
        return self.languages >= 0


def classify(points: Points, languages: Int32s) -> ClassifiedWords:
    """Split texts, given as code points, to words and look their classes up."""
    words = word_table()
    ids, starts, ends, kinds, values, offsets = kernels.segment(
        *points, languages, class_table(), lower_table(), decimal_table(), _decimal_marks()
    )
    rows = kernels.look_up(ids, offsets, languages, words.table, words.rows)
    return ClassifiedWords(points[0], ids, starts, ends, kinds, values, offsets, rows, languages)


def language_indices(languages: pa.Array) -> Int32s:
    """Index of each language in `LANGUAGES`, int32 `(n,)`; English where it is unknown, -1 for any other."""
    codes = pc.replace_substring_regex(pc.utf8_lower(languages.cast(pa.string())), "[-_].*", "")
    codes = pc.fill_null(codes, UNKNOWN)
    codes = pc.if_else(pc.is_in(codes, pa.array([UNKNOWN, ""])), DEFAULT, codes)
    positions = pc.fill_null(pc.index_in(codes, pa.array(LANGUAGES)), -1)
    return np.asarray(positions.to_numpy(zero_copy_only=False), np.int32)


@cache
def word_table() -> WordTable:
    """The word lists of all languages as arrays; made once per process."""
    features: dict[tuple[str, str], dict[int, int]] = {}
    numbers: dict[tuple[str, str], float] = {}

    def add(language: str, words: Iterable[str], column: int, value: int) -> None:
        for word in words:
            features.setdefault((language, word), {})[column] = value

    for language in LANGUAGES:
        function_words = [*FUNCTION_WORDS[language].split(), *MORE_FUNCTION_WORDS.get(language, "").split()]
        add(language, function_words, FUNCTION, 1)
    for language in RULED:
        for word, (role, value) in NUMBERS[language].items():
            add(language, [word], ROLE, ROLES.index(role))
            numbers[language, word] = value
        add(language, CURRENCIES.split(), CURRENCY, 1)
        add(language, NEAR_NEGATIONS[language].split(), NEGATION, NEARLY_NEGATES)
        add(language, NEGATIONS[language].split(), NEGATION, NEGATES)
        add(language, UNNEGATED[language].split(), UNNEGATES, 1)
        add(language, VAGUE_WORDS[language].split(), VAGUE, 1)
        add(language, DANGLING[language].split(), ENDS_NOTHING, 1)
        for name, text in MARKS.items():
            add(language, text.split(), WORD_MARK, MARK[name])
    values = np.zeros((len(features) + 1, WORD_MARK + 1), np.int32)
    for row, entry in enumerate(features.values(), start=1):
        for column, value in entry.items():
            values[row, column] = value
    hashes = hash_words([word for _, word in features])
    indices = (LANGUAGES.index(language) for language, _ in features)
    pairs = zip(hashes, indices, strict=True)
    keys = np.array([kernels.language_key(word, language) for word, language in pairs], np.uint64)
    amounts = np.array([np.nan, *(numbers.get(name, np.nan) for name in features)])
    return WordTable(*build_table(keys), values, amounts)


def hash_words(words: Sequence[str]) -> Ids:
    """Hash words as `classify` does, uint64 `(words,)`."""
    points, offsets = code_points(words)
    lower = lower_table()
    hashes = [kernels.hash_points(points, offsets[k], offsets[k + 1], lower) for k in range(len(words))]
    return np.array(hashes, np.uint64)


@cache
def lower_table() -> Int32s:
    """Lower-case form of each code point: int32 `(0x110000,)`."""
    table = np.arange(0x110000, dtype=np.int32)
    for first, last in ((0, 0xD800), (0xE000, 0x30000)):
        characters = lowercase([chr(point) for point in range(first, last)])
        lowered, offsets = code_points(characters)
        single = np.diff(offsets) == 1
        table[first:last][single] = lowered[offsets[:-1][single]]
    table.setflags(write=False)
    return table


@cache
def _decimal_marks() -> Int32s:
    return np.array([ord(_DECIMAL_MARKS.get(language, "\0")) for language in LANGUAGES], np.int32)


def text_languages(batch: pa.RecordBatch, column: str) -> Int32s:
    """`language_indices` of the texts of a batch by its column `src_lang` or `tgt_lang`, which may be missing."""
    known = column in batch.schema.names
    languages = batch.column(column) if known else pa.nulls(batch.num_rows, pa.string())
    return language_indices(languages)
