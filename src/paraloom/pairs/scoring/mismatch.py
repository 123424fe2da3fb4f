"""Numbers and names that only one side of a pair has: signs that a paraphrase changed the meaning."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from paraloom.core.array_types import Bools, Float32s
from paraloom.pairs.scoring.character_kernels import numbers
from paraloom.text.buffers import Texts
from paraloom.text.characters import LETTER, capital_table, class_table, decimal_table
from paraloom.text.token_list_kernels import missing_counts, name_flags, shared_counts
from paraloom.text.tokens import TokenLists, token_spans, tokenize

if TYPE_CHECKING:
    from paraloom.text.chrf import Points

_NUMBER_JOINERS = ".,:'’\u00a0\u2009\u202f"


def number_mismatch(a: Points, b: Points) -> Float32s:
    """Compute the share of the numbers of the side with more numbers that the other side lacks.

    Numbers are compared by their digits alone, in any script: "1,000", "1.000" and "١٠٠٠" are equal. Number words do
    not count.
    """
    first, second = (TokenLists(*numbers(*side, decimal_table(), _joiners())) for side in (a, b))
    shared = shared_counts(first.ids, first.offsets, second.ids, second.offsets)
    total = np.maximum(first.lengths, second.lengths)
    share: Float32s = (1 - (shared + (total == 0)) / np.maximum(total, 1)).astype(np.float32)
    return share


def name_mismatch(a: Texts, b: Texts) -> Float32s:
    """Compute the share of the names of both sides that do not occur on the other side, in any case.

    A name is a capitalized word that does not begin a sentence. Use it for pairs in one language that capitalizes
    names only; in German, all nouns count as names.
    """
    counts = np.zeros((2, len(a), 2), np.int64)
    words = [tokenize(side) for side in (a, b)]
    for index, side in enumerate((a, b)):
        spans = token_spans(side, lower=False)
        flags = name_flags(spans.data, spans.starts, spans.ends, spans.offsets, capital_table(), class_table(), LETTER)
        own, other = words[index], words[1 - index]
        counts[index] = missing_counts(own.ids, own.offsets, flags, other.ids, other.offsets)
    names, missing = counts.sum(0).T
    share: Float32s = (missing / np.maximum(names, 1)).astype(np.float32)
    return share


@cache
def _joiners() -> Bools:
    table = np.zeros(0x110000, np.bool_)
    table[[ord(character) for character in _NUMBER_JOINERS]] = True
    return table
