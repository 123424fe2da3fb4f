"""Lengths in words, and repetition within a text: words and trigrams again, stretches at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Int32s
from paraloom.pairs.scoring import character_kernels
from paraloom.pairs.scoring.surface import MIN_REPEATS, MIN_WORD_CHARACTERS, REPEAT_LENGTHS
from paraloom.text.characters import white_table
from paraloom.text.ngrams import ngrams
from paraloom.text.token_list_kernels import long_tokens, repeated_counts
from paraloom.text.tokens import TokenLists, TokenSpans

if TYPE_CHECKING:
    from paraloom.text.chrf import Points


def repetition(lists: TokenLists) -> Float32s:
    """Compute the share of the entries of each list that occurred earlier in the list."""
    repeated, total = repeated_counts(lists.ids, lists.offsets), lists.lengths
    with np.errstate(invalid="ignore"):
        return (repeated / np.where(total > 0, total, np.nan)).astype(np.float32)


def unigram_repetition(spans: TokenSpans, lists: TokenLists) -> Float32s:
    """Compute `repetition` of the words of three characters or more, which neural translations repeat (W17 §5.6)."""
    words = long_tokens(spans.data, spans.starts, spans.ends, lists.ids, lists.offsets, MIN_WORD_CHARACTERS)
    return repetition(TokenLists(*words))


def trigram_repetition(lists: TokenLists) -> Float32s:
    """Compute `repetition` of word trigrams (W17 §5.6)."""
    return repetition(ngrams(lists, 3))


def repeats(points: Points) -> Int32s:
    """Count immediate repetitions of 3 to 100 characters, as OpusFilter's RepetitionFilter: a decoder in a loop."""
    return character_kernels.repeats(*points, white_table(), *REPEAT_LENGTHS, MIN_REPEATS)


def whitespace_words(points: Points) -> Int32s:
    """Count words between white space, punctuation attached, as OpusFilter does."""
    return character_kernels.whitespace_words(*points, white_table())


def length_ratio(a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> Float32s:
    """Divide the longer of two lengths by the shorter."""
    shorter, longer = np.minimum(a, b), np.maximum(a, b)
    ratio: Float32s = (longer / np.where(shorter > 0, shorter, np.nan)).astype(np.float32)
    return ratio
