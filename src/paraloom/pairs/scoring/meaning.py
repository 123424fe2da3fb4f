"""Meaning by rules: quantities, negations and content words that only one side has."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Bools, Float32s, Floats, Ids, Int32s, Ints
from paraloom.pairs.scoring import meaning_kernels as kernels
from paraloom.pairs.scoring.word_classes import LANGUAGES, ClassifiedWords, lower_table, word_table


def quantity_mismatch(a: ClassifiedWords, b: ClassifiedWords) -> Float32s:
    """Compute the share of the quantities of both sides that the other side lacks, in digits or words.

    "ten", "10" and "10th" are equal, as are "1,000", "a thousand" and "1 thousand", "2.5 million" and "2,500,000".
    One, two and the halves are in too many other words ("once", "both", "a", "first", "second", "a pair"): these match
    "1" and "2", but are never missing. Repetition does not count.
    """
    counts = kernels.missing_quantities(*_quantities(a), *_quantities(b)).astype(np.float32)
    return _ruled(counts[:, 1] / np.maximum(counts[:, 0], 1), a, b)


def negation_mismatch(a: ClassifiedWords, b: ClassifiedWords) -> Float32s:
    """Compare the numbers of negations of both sides.

    An odd difference counts: one negation more or fewer turns the statement over, two cancel out. "Not only", "no
    doubt", "No, thanks" and question tags negate nothing, "neither … nor" counts once, and a word with a negative
    meaning ("unable", "refused", "few") can stand for the negation of the other side. Antonyms made with un- or im-
    count on neither side.
    """
    (a_count, a_near), (b_count, b_near) = _negations(a), _negations(b)
    odd = (a_count - b_count) % 2 == 1
    excused = ((a_count == 0) & a_near) | ((b_count == 0) & b_near)
    both = (a_count > 0) & (b_count > 0)
    return _ruled(np.where(both, 0.5, 1.0) * (odd & ~excused), a, b)


def content_missing(a: ClassifiedWords, b: ClassifiedWords) -> Float32s:
    """Compute the share of the content words of one side without a counterpart on the other.

    Content words are all but function words. A counterpart is the same word, or one with the same first five
    characters; in English, endings (-s, -ed, -ing) are left out first.
    """
    (a_keys, a_offsets), (b_keys, b_offsets) = _content(a), _content(b)
    return np.where(a.listed & b.listed, kernels.missing_keys(a_keys, a_offsets, b_keys, b_offsets), np.float32(np.nan))


def order_inversions(a: ClassifiedWords, b: ClassifiedWords) -> Float32s:
    """Compute the share of pairs of shared content words that the other side has in another order.

    Only words that occur once on each side count. It is (1 − τ) / 2 of Kendall's τ of their positions. In a language
    without function words, all words count. See Kendall 1938, "A new measure of rank correlation".
    """
    (a_keys, a_offsets), (b_keys, b_offsets) = _content(a), _content(b)
    return kernels.order_inversions(a_keys, a_offsets, b_keys, b_offsets)


def _quantities(words: ClassifiedWords) -> tuple[Floats, Bools, Ints]:
    table = word_table()
    return kernels.quantities(
        *(words.points, words.starts, words.ends, words.kinds, words.values, words.offsets, words.rows),
        *(table.features, table.numbers),
    )


def _negations(words: ClassifiedWords) -> tuple[Int32s, Bools]:
    parts = (words.points, words.starts, words.ends, words.kinds, words.offsets, words.rows)
    return kernels.negations(*parts, word_table().features)


def _content(words: ClassifiedWords) -> tuple[Ids, Ints]:
    parts = (words.points, words.starts, words.ends, words.kinds, words.offsets, words.rows, words.languages)
    return kernels.content_keys(*parts, word_table().features, lower_table(), LANGUAGES.index("en"))


def _ruled(values: npt.NDArray[np.floating], a: ClassifiedWords, b: ClassifiedWords) -> Float32s:
    """The values, NaN where a text is in a language without word lists."""
    return np.where(a.ruled & b.ruled, values, np.nan).astype(np.float32)
