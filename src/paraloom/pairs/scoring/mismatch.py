"""Numbers and names that only one side of a pair has: where a paraphrase says something else."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring.character_kernels import numbers
from paraloom.pairs.scoring.characters import Points
from paraloom.pairs.scoring.kernels import missing_counts, name_flags, shared_counts
from paraloom.text.characters import LETTER, capital_table, class_table, decimal_table
from paraloom.text.tokens import Texts, TokenLists, token_spans, tokens

_NUMBER_JOINERS = ".,:'’\u00a0\u2009\u202f"


def number_mismatch(a: Points, b: Points) -> npt.NDArray[np.float32]:
    """Share of the numbers of the side with more of them that the other side lacks: 0 (all there, or none) to 1.

    a, b: code points of n texts each.  Returns float32 (n,).  A number counts by its digits alone, in any script, so
    that "1,000", "1.000" and "١٠٠٠" are one; number words are not read.

    >>> from paraloom.text.tokens import code_points
    >>> number_mismatch(code_points(["From 9:30 to 11"]), code_points(["9.30 until 12"]))
    array([0.5], dtype=float32)
    """
    first, second = (TokenLists(*numbers(*side, decimal_table(), _joiners())) for side in (a, b))
    shared = shared_counts(first.ids, first.offsets, second.ids, second.offsets)
    most = np.maximum(first.lengths, second.lengths)
    return (1 - (shared + (most == 0)) / np.maximum(most, 1)).astype(np.float32)


def name_mismatch(a: Texts, b: Texts) -> npt.NDArray[np.float32]:
    """Share of the names on either side whose word is nowhere on the other: 0 (all there, or none) to 1.

    Returns float32 (n,).  A name is a capitalised word within a sentence (one that opens it is not told from any
    other word); it is looked for in small letters too.  For pairs in one language that capitalises names alone;
    German nouns all look like names.

    >>> name_mismatch(["We met Anna in Prague."], ["In Prague we met Eva."]).round(2)
    array([0.5], dtype=float32)
    """
    found = np.zeros((2, len(a), 2), np.int64)
    words = [tokens(side) for side in (a, b)]
    for place, side in enumerate((a, b)):
        spans = token_spans(side, lower=False)
        flags = name_flags(spans.data, spans.starts, spans.ends, spans.offsets, capital_table(), class_table(), LETTER)
        own, other = words[place], words[1 - place]
        found[place] = missing_counts(own.ids, own.offsets, flags, other.ids, other.offsets)
    names, missing = found.sum(0).T
    return (missing / np.maximum(names, 1)).astype(np.float32)


@cache
def _joiners() -> npt.NDArray[np.bool_]:
    table = np.zeros(0x110000, np.bool_)
    table[[ord(character) for character in _NUMBER_JOINERS]] = True
    return table
