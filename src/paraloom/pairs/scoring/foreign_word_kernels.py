"""Inner loop that counts function words of other languages, compiled by numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.kernels import kernel
from paraloom.pairs.scoring.word_class_kernels import WORD, Kinds, Rows
from paraloom.text.token_kernels import EMPTY_SLOT, Ids, Ints, Points, slot_of

Flags = npt.NDArray[np.bool_]
Shares = npt.NDArray[np.float32]


@kernel
def foreign_words(
    points: Points,
    ids: Ids,
    starts: Ints,
    ends: Ints,
    kinds: Kinds,
    offsets: Ints,
    languages: Rows,
    table: Ids,
    positions: Rows,
    bits: Ids,
    scripts: Ids,
    capitals: Flags,
) -> Shares:
    """Share of the words of each text that are function words of other languages: float32 (n,).

    languages: index of the language of each text, whose bit is in `bits`, -1 for unknown ones. table, positions, bits:
    hash table of words and the languages of each; scripts: bit of the language of each code point's script.
    """
    shares = np.full(len(offsets) - 1, np.nan, np.float32)
    for text in range(len(shares)):
        if languages[text] < 0:
            continue
        own = np.uint64(1) << np.uint64(languages[text])
        words, foreign = 0, 0
        for k in range(offsets[text], offsets[text + 1]):
            if kinds[k] != WORD:
                continue
            words += 1
            point = points[starts[k]]
            known = scripts[point]
            # One letter is a symbol ("α"), but a word in Chinese.
            if ends[k] - starts[k] < 2 and point < 0x2E80:
                continue
            if not known and not (ends[k] - starts[k] > 1 and capitals[points[starts[k] + 1]]):  # "UN", "EU"
                slot = slot_of(table, ids[k])
                if table[slot] != EMPTY_SLOT:
                    known = bits[positions[slot] - 1]
            foreign += known != 0 and (known & own) == 0
        if words:
            shares[text] = foreign / words
    return shares
