"""Inner loops of the glitches of translators, compiled by numba: runs, loops, truncation, words of other languages.

Tokens are those of `paraloom.pairs.scoring.word_classes.ClassifiedWords`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.kernels import kernel
from paraloom.pairs.scoring.word_class_kernels import MARK as SIGN
from paraloom.pairs.scoring.word_class_kernels import WORD, Kinds, Rows
from paraloom.pairs.scoring.word_classes import ENDS_NOTHING
from paraloom.text.token_kernels import EMPTY_SLOT, Ids, Int, Ints, Points, slot_of

Flags = npt.NDArray[np.bool_]
Shares = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int32]

_FULL_STOP = 46
_W = 119

OPEN_ENDS = (44, 45, 8208, 8211, 8212, 59, 40, 91)
"""Comma, hyphens, dashes, semicolon and opening brackets: signs that end no sentence."""


@kernel
def character_runs(
    points: Points, starts: Ints, ends: Ints, kinds: Kinds, offsets: Ints, lower: Points, numerals: Flags, period: int
) -> Counts:
    """How often a stretch of 1 to `period` letters occurs in a row inside a word, at the maximum: int32 (n,)."""
    runs = np.zeros(len(offsets) - 1, np.int32)
    for text in range(len(runs)):
        for k in range(offsets[text], offsets[text + 1]):
            if kinds[k] != WORD:
                continue
            start, end = starts[k], ends[k]
            runs[text] = max(runs[text], 1)
            if _is_numeral(points, start, end, numerals) or _is_www(points, start, end, lower):
                continue
            for size in range(1, period + 1):
                same = 0
                for i in range(start, end - size):
                    same = same + 1 if lower[points[i]] == lower[points[i + size]] else 0
                    runs[text] = max(runs[text], same // size + 1)
    return runs


@kernel
def _is_numeral(points: Points, start: Int, end: Int, numerals: Flags) -> bool:
    """Whether a word is a Roman numeral: capitals I, V, X, L, C, D, M alone, at most four in a row."""
    for i in range(start, end):
        if not numerals[points[i]]:
            return False
    return bool(end - start <= 5)


@kernel
def _is_www(points: Points, start: Int, end: Int, lower: Points) -> bool:
    if end - start != 3 or end >= len(points) or points[end] != _FULL_STOP:
        return False
    return lower[points[start]] == _W and lower[points[start + 1]] == _W and lower[points[start + 2]] == _W


@kernel
def loops(ids: Ids, starts: Ints, ends: Ints, kinds: Kinds, offsets: Ints) -> Shares:
    """Share of the tokens covered by the stretch that covers most by immediate repetition: float32 (n,).

    Stretches of signs and numbers alone ("...", "1 1/2") do not count, nor initials ("B.B."). NaN for a text without
    tokens.
    """
    shares = np.full(len(offsets) - 1, np.nan, np.float32)
    for text in range(len(shares)):
        start, end = offsets[text], offsets[text + 1]
        if start == end:
            continue
        covered = 0
        for period in range(1, (end - start) // 2 + 1):
            same, words = 0, 0
            for k in range(start, end - period):
                if ids[k] != ids[k + period]:
                    same, words = 0, 0
                    continue
                same += 1
                words += kinds[k] == WORD and (period == 1 or ends[k] - starts[k] > 1)
                if words and same >= period:
                    covered = max(covered, (same // period + 1) * period)
        shares[text] = covered / (end - start)
    return shares


@kernel
def ends(
    points: Points,
    starts: Ints,
    kinds: Kinds,
    offsets: Ints,
    rows: Rows,
    features: Rows,
    finals: Flags,
    closers: Flags,
) -> Counts:
    """How each text ends: 0 empty, 1 with a final mark, 2 as no sentence ends, 3 otherwise: int32 (n,).

    Closing quotes and brackets after the end are passed over.
    """
    kinds_of_end = np.zeros(len(offsets) - 1, np.int32)
    for text in range(len(kinds_of_end)):
        k = offsets[text + 1] - 1
        while k > offsets[text] and kinds[k] == SIGN and closers[points[starts[k]]]:
            k -= 1
        if k < offsets[text]:
            continue
        point = points[starts[k]]
        if kinds[k] == SIGN and finals[point]:
            kinds_of_end[text] = 1
        elif (kinds[k] == SIGN and point in OPEN_ENDS) or features[rows[k], ENDS_NOTHING]:
            kinds_of_end[text] = 2
        else:
            kinds_of_end[text] = 3
    return kinds_of_end


@kernel
def copied_words(
    points: Points,
    ids: Ids,
    starts: Ints,
    ends: Ints,
    kinds: Kinds,
    offsets: Ints,
    src_ids: Ids,
    src_offsets: Ints,
    pivot_ids: Ids,
    pivot_offsets: Ints,
    capitals: Flags,
    min_letters: int,
) -> Shares:
    """Share of the words of each text that are in the pivot and not in the first side: float32 (n,).

    Words have `min_letters` letters or more; capitalized ones are not counted as copied. NaN without words or pivot.
    """
    shares = np.full(len(offsets) - 1, np.nan, np.float32)
    for text in range(len(shares)):
        if pivot_offsets[text] == pivot_offsets[text + 1]:
            continue
        words, copied = 0, 0
        for k in range(offsets[text], offsets[text + 1]):
            if kinds[k] != WORD or ends[k] - starts[k] < min_letters:
                continue
            words += 1
            if capitals[points[starts[k]]]:
                continue
            if _occurs(ids[k], pivot_ids, pivot_offsets[text], pivot_offsets[text + 1]):
                copied += not _occurs(ids[k], src_ids, src_offsets[text], src_offsets[text + 1])
        if words:
            shares[text] = copied / words
    return shares


@kernel
def _occurs(word: np.uint64, ids: Ids, start: Int, end: Int) -> bool:
    for k in range(start, end):  # noqa: SIM110
        if ids[k] == word:
            return True
    return False


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
