"""Joins neighboring beads that share a piece of a sentence.

A piece is a heading, say, that one text has at the end of a sentence, the other at the beginning of the next.  Every
boundary is wrong there: cut, the piece's words are unexplained on both sides; as one bead, all words predict each other
less precisely, as order within a bead does not count.  So each cut of the best path is compared with one that takes the
words around it out of both beads, to explain each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from paraloom.alignment import piece_kernels as kernels
from paraloom.alignment.lexical import LexicalDirection
from paraloom.alignment.numbered_words import entries_between
from paraloom.alignment.search import Alignment
from paraloom.core.array_types import Floats, Ints
from paraloom.text.tokens import TokenLists

# Words of a piece, at most; longer ones are sentences of their own.
_MAX_WORDS = 12
# Pairs of beads whose cuts are in memory at a time.
_PAIRS = 4096


class PieceEvidence(NamedTuple):
    """Evidence from words, or prefixes, of two texts that predict each other."""

    weight: float
    lists: tuple[TokenLists, TokenLists]
    directions: tuple[LexicalDirection, LexicalDirection]
    by_word: Callable[[int, TokenLists], LexicalDirection]


def join_shared_pieces(
    alignment: Alignment, evidence: Sequence[PieceEvidence], costs: Floats, max_bead_size: int
) -> Alignment:
    """Join each bead with the next one where they share a piece."""
    beads = alignment.beads
    cuts = np.flatnonzero(np.isfinite(costs))
    changes = np.full(len(costs), -np.inf)
    for start in range(0, len(cuts), _PAIRS):
        some = cuts[start : start + _PAIRS]
        gains = [_best_cuts(beads[some], beads[some + 1], side, evidence) for side in (0, 1)]
        changes[some] = np.maximum(*gains) - costs[some]
    kept: list[Ints] = []
    totals: list[float] = []
    for cut, (bead, gain) in enumerate(zip(beads, alignment.gains.tolist(), strict=True)):
        if cut and changes[cut - 1] > 0 and (kept[-1] + bead)[1::2].max() <= max_bead_size:
            kept[-1] = kept[-1] + bead * (0, 1, 0, 1)
            totals[-1] += gain + changes[cut - 1]
        else:
            kept.append(bead)
            totals.append(gain)
    return Alignment(np.array(kept, np.int64).reshape(-1, 4), np.array(totals, np.float32))


def _best_cuts(first: Ints, second: Ints, tail_side: int, evidence: Sequence[PieceEvidence]) -> Floats:
    """By how much the best piece changes the score of each pair of beads; `tail_side` has it at a first bead's end."""
    sides = tail_side, 1 - tail_side
    ends = first[:, 2 * sides[0]] + first[:, 2 * sides[0] + 1] - 1, second[:, 2 * sides[1]]
    lengths = [evidence[0].lists[side].lengths[rows] for side, rows in zip(sides, ends, strict=True)]
    counts = np.arange(_MAX_WORDS)
    exists = (counts[:, None] < lengths[0][:, None, None]) & (counts < lengths[1][:, None, None])
    out = np.where(exists, 0.0, -np.inf)
    for item in evidence:
        windows = [
            _window(item.lists[side], rows, is_tail)
            for side, rows, is_tail in zip(sides, ends, (True, False), strict=True)
        ]
        singles = [item.by_word(side, words).model for side, (words, _) in zip(sides, windows, strict=True)]
        for own, bead in enumerate((first, second)):
            side, other, is_tail = sides[own], sides[1 - own], own == 0
            own_part, other_part = bead[:, 2 * side :][:, :2].copy(), bead[:, 2 * other :][:, :2].copy()
            words, starts = windows[own]
            direction = item.directions[other]
            numbers = np.searchsorted(direction.observed.types, words.ids).astype(np.int32)
            gains = kernels.present_gains(direction.model, other_part, own_part, numbers, starts, is_tail)
            weight, other_starts = item.weight * direction.explained_share, windows[1 - own][1]
            kernels.add_moved(out, weight, singles[1 - own], numbers, starts, gains, other_starts, is_tail)
            direction = item.directions[side]
            weight = item.weight * direction.explained_share
            kernels.add_lost(out, weight, direction.model, singles[own], own_part, other_part, starts, is_tail)
    best: Floats = out.reshape(len(out), -1).max(axis=1, initial=-np.inf)
    return best


def _window(lists: TokenLists, rows: Ints, is_tail: bool) -> tuple[TokenLists, Ints]:
    """The words of some sentences that are next to the cut, each a list by itself, and the first of each sentence."""
    begins, ends = lists.offsets[rows], lists.offsets[rows + 1]
    if is_tail:
        begins = np.maximum(begins, ends - _MAX_WORDS)
    else:
        ends = np.minimum(ends, begins + _MAX_WORDS)
    entries, starts = entries_between(begins, ends)
    return TokenLists(lists.ids[entries], np.arange(len(entries) + 1)), starts
