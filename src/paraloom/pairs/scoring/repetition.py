"""How much of a text is repeated: words and trigrams that occurred before, and immediate repetition of any stretch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring import character_kernels
from paraloom.pairs.scoring.token_list_kernels import long_tokens, repeated_counts
from paraloom.text.characters import white_table
from paraloom.text.chrf import Points
from paraloom.text.ngrams import ngrams
from paraloom.text.tokens import TokenLists, TokenSpans

MIN_WORD_CHARACTERS = 3
"""Shorter words are left out of `unigram_repetition`, as in W17."""

REPEAT_LENGTHS = (3, 100)
"""Minimum and maximum number of characters of a stretch that `repeats` finds."""

MIN_REPEATS = 2
"""Fewer immediate repetitions count as none."""


def repetition(lists: TokenLists) -> npt.NDArray[np.float32]:
    """Compute the share of the entries of each list that occurred earlier in the list.

    Args:
        lists: n lists of ids.

    Returns:
        float32 `(n,)`, 0 (all different) to below 1; NaN for an empty list.

    Example:
        >>> from paraloom.text.tokens import tokenize
        >>> repetition(tokenize(["to be or not to be"])).round(3)
        array([0.333], dtype=float32)
    """
    repeated, total = repeated_counts(lists.ids, lists.offsets), lists.lengths
    with np.errstate(invalid="ignore"):
        return (repeated / np.where(total > 0, total, np.nan)).astype(np.float32)


def unigram_repetition(spans: TokenSpans, lists: TokenLists) -> npt.NDArray[np.float32]:
    """Compute `repetition` of the words of three characters or more, which neural translations repeat more often.

    Args:
        spans: Tokens of n texts.
        lists: The same tokens as ids.

    Returns:
        float32 `(n,)`, 0 to below 1; NaN for a text without such a word.

    Reference:
        Wieting, Mallinson, Gimpel 2017 (W17), §5.6 and Table 9.

    Example:
        >>> from paraloom.text.tokens import token_spans
        >>> spans = token_spans(["the man and the dog"])
        >>> unigram_repetition(spans, spans.to_lists())
        array([0.2], dtype=float32)
    """
    words = long_tokens(spans.data, spans.starts, spans.ends, lists.ids, lists.offsets, MIN_WORD_CHARACTERS)
    return repetition(TokenLists(*words))


def trigram_repetition(lists: TokenLists) -> npt.NDArray[np.float32]:
    """Compute `repetition` of word trigrams.

    Args:
        lists: Tokens of n texts, as ids.

    Returns:
        float32 `(n,)`, 0 to below 1; NaN for a text without trigrams.

    Reference:
        Wieting, Mallinson, Gimpel 2017 (W17), §5.6 and Table 9.

    Example:
        >>> from paraloom.text.tokens import tokenize
        >>> trigram_repetition(tokenize(["a b c a b c"]))
        array([0.25], dtype=float32)
    """
    return repetition(ngrams(lists, 3))


def repeats(points: Points) -> npt.NDArray[np.int32]:
    """Count the immediate repetitions of a stretch of 3 to 100 characters, the mark of a decoder in a loop.

    The same figure as OpusFilter's RepetitionFilter at its default threshold.

    Args:
        points: Code points of n texts, from `paraloom.text.buffers.code_points`.

    Returns:
        int32 `(n,)`: how often the first stretch that is repeated at least twice is repeated; 0 if there is none.

    Example:
        >>> from paraloom.text.buffers import code_points
        >>> repeats(code_points(["we go and go and go and stop", "we go and go"])).tolist()
        [2, 0]
    """
    return character_kernels.repeats(*points, white_table(), *REPEAT_LENGTHS, MIN_REPEATS)
