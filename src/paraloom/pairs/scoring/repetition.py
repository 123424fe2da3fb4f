"""How much a sentence says again (W17 §5.6): repeated words and trigrams, a mark of neural translation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring.kernels import long_tokens, repeated_counts
from paraloom.text.tokens import TokenLists, TokenSpans, ngrams

SHORTEST_WORD = 3


def repetition(lists: TokenLists) -> npt.NDArray[np.float32]:
    """Share of the entries of each list that stood in it before: 0 (all different) to below 1.

    Returns float32 (n,); NaN for an empty list.

    >>> from paraloom.text.tokens import tokens
    >>> repetition(tokens(["to be or not to be"])).round(3)
    array([0.333], dtype=float32)
    """
    repeated, total = repeated_counts(lists.ids, lists.offsets), lists.lengths
    with np.errstate(invalid="ignore"):
        return (repeated / np.where(total > 0, total, np.nan)).astype(np.float32)


def unigram_repetition(spans: TokenSpans, lists: TokenLists) -> npt.NDArray[np.float32]:
    """`repetition` of the words of three characters or more (W17 §5.6, Table 9); `lists` are those of `spans`.

    NaN where there is no such word.

    >>> from paraloom.text.tokens import token_spans
    >>> spans = token_spans(["the man and the dog"])
    >>> unigram_repetition(spans, spans.lists())
    array([0.2], dtype=float32)
    """
    return repetition(
        TokenLists(*long_tokens(spans.data, spans.starts, spans.ends, lists.ids, lists.offsets, SHORTEST_WORD))
    )


def trigram_repetition(lists: TokenLists) -> npt.NDArray[np.float32]:
    """`repetition` of the trigrams of words; NaN where there is none.

    >>> from paraloom.text.tokens import tokens
    >>> trigram_repetition(tokens(["a b c a b c"]))
    array([0.25], dtype=float32)
    """
    return repetition(ngrams(lists, 3))
