"""Beginnings of words, which inflected names, loans and OCR's half-right words still share."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.token_kernels import hash_spans
from paraloom.text.tokens import TokenLists, token_strings

# Characters of a beginning; a syllable or ideogram tells as much as two letters.
_LETTERS, _SYLLABLES = 4, 2
_SYLLABIC = r"^[\p{Hangul}\p{Han}\p{Hiragana}\p{Katakana}]"


def stems(texts: Texts) -> TokenLists:
    """The first four characters of each word (two where they are syllables or ideograms), as lists of ids.

    >>> from paraloom.text.tokens import tokenize
    >>> bool((stems(["Virginian oaks"]).ids == tokenize(["virg oaks"]).ids).all())
    True
    """
    lists = token_strings(texts)
    words = lists.values
    cut = pc.if_else(
        pc.match_substring_regex(words, _SYLLABIC),
        pc.utf8_slice_codeunits(words, 0, _SYLLABLES),
        pc.utf8_slice_codeunits(words, 0, _LETTERS),
    )
    data, bounds = text_buffers(cut.cast(pa.large_string()))
    return TokenLists(hash_spans(data, bounds[:-1], bounds[1:]), np.asarray(lists.offsets))
