"""Alignment of texts that are only locally parallel: passages that were moved are cut out and aligned by themselves.

The texts are aligned as if they were in the same order.  Sentences that this leaves without a counterpart, or with an
improbable one, are free.  Runs of free sentences of both sides that share rare words are aligned with each other, and
where that is much more probable than what their sentences have now, the passage is taken out of both texts.  What
remains is aligned again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from paraloom.alignment.local_parts import LocalAlignment, OrderedPart, Rows, merge, restrict
from paraloom.alignment.prepared_pairs import LearnedState, PreparedPair
from paraloom.alignment.search import Alignment, LogPriors
from paraloom.core.array_types import Bools, Floats, Ints
from paraloom.core.lazy import late

ranks_of = late("paraloom.alignment.assignment:ranks_of")  # only in local order

# A passage counts as moved if it scores this many times log(m n) more than its sentences do where they are: it could be
# at any of m n places.
_EVIDENCE = 0.7
# Cost of a sentence without a counterpart among free sentences, most of which have none; and inside a passage.
_FREE_GAP, _INNER_GAP = 1.2, 0.3
# How often passages are taken out and the remainder is aligned again, and how often its free sentences are searched.
_ROUNDS, _SEARCHES = 3, 3
# Runs of the other side that each run of free sentences is compared with, at most.
_PARTNERS = 5
# Free sentences next to each other that make a run, at least.
_MIN_RUN = 2
# Sentences at each end that a passage may grow by at a time, and what that has to add to its score.
_NEIGHBORS, _MIN_GROWTH = 4, 0.5


class _Passage(NamedTuple):
    """Consecutive sentences of both sides, and how much more probable their beads are than what they had before."""

    score: float
    rows: Rows


class LocalSearch:
    """Aligns a pair of texts of which passages may have been moved."""

    def __init__(self, texts: PreparedPair) -> None:
        self.texts = texts
        self.min_score = _EVIDENCE * math.log(max(2, texts.sizes[0]) * max(2, texts.sizes[1]))

    def align(self, aligner: LearnedState, previous: Alignment | LocalAlignment | None = None) -> LocalAlignment:
        previous = previous.ordered if isinstance(previous, LocalAlignment) else previous
        ordered = self.texts.align(aligner, previous)
        whole = np.arange(self.texts.sizes[0]), np.arange(self.texts.sizes[1])
        remainder = OrderedPart(whole, ordered)
        searching = replace(aligner, priors=_with_free_gaps(aligner.priors))
        moved: list[_Passage] = []
        for _ in range(_ROUNDS):
            current = _Current(remainder, self.texts.sizes)
            grown = [self._grow(searching, passage, current) for passage in moved]
            new = self._find(searching, current)
            if not new and all(after is before for after, before in zip(grown, moved, strict=True)):
                break
            moved = grown + new
            rows = _without(whole, moved)
            near = restrict(remainder, rows)
            remainder = OrderedPart(rows, self.texts.select(*rows).align(aligner, near))
        parts = [OrderedPart(passage.rows, self.texts.select(*passage.rows).align(aligner)) for passage in moved]
        return merge([remainder, *parts], ordered)

    def _grow(self, searching: LearnedState, passage: _Passage, current: _Current) -> _Passage:
        """A moved passage, with sentences of the remainder next to it where they fit better than where they are."""
        larger = self._strongest_stretch(searching, current, current.with_neighbors(passage.rows))
        if larger.score < passage.score + _MIN_GROWTH:
            return passage
        current.take(larger.rows)
        return larger

    def _find(self, searching: LearnedState, current: _Current) -> list[_Passage]:
        """Strong passages around the free sentences of the remainder, none of which share a sentence."""
        passages: list[_Passage] = []
        compared: dict[tuple[int, ...], _Passage] = {}
        for _ in range(_SEARCHES):
            candidates = []
            for runs in self._likely_runs(searching, current.free):
                near = current.with_neighbors(runs)
                ends = tuple(int(row) for side in near for row in (side[0], side[-1]))
                if ends not in compared:
                    compared[ends] = self._strongest_stretch(searching, current, near)
                candidates.append(compared[ends])
            strong = sorted(
                (passage for passage in candidates if passage.score >= self.min_score),
                key=lambda passage: -passage.score,
            )
            before = len(passages)
            for passage in strong:
                if current.has(passage.rows):
                    current.take(passage.rows)
                    passages.append(passage)
            if len(passages) == before:
                break
        return passages

    def _likely_runs(self, searching: LearnedState, free: tuple[Bools, Bools]) -> Iterator[Rows]:
        """Runs of free source rows and of free target rows that share anchors."""
        rows = np.flatnonzero(free[0]), np.flatnonzero(free[1])
        if not len(rows[0]) or not len(rows[1]):
            return
        # A word that is rare among the free sentences need not be so in the whole texts.
        sources, targets, weights = self.texts.select(*rows).anchors(searching)
        runs = _Runs.of(free[0]), _Runs.of(free[1])
        long = runs[0].lengths[rows[0][sources]] >= _MIN_RUN
        long &= runs[1].lengths[rows[1][targets]] >= _MIN_RUN
        sources, targets, weights = sources[long], targets[long], weights[long]
        count = len(runs[1].bounds)
        cells = runs[0].numbers[rows[0][sources]] * count + runs[1].numbers[rows[1][targets]]
        cells, inverse = np.unique(cells, return_inverse=True)
        totals = np.bincount(inverse, weights, len(cells)).astype(np.float64)
        left, right = cells // count, cells % count
        chosen = np.minimum(ranks_of(totals, left), ranks_of(totals, right)) < _PARTNERS
        for i, j in zip(left[chosen].tolist(), right[chosen].tolist(), strict=True):
            yield np.arange(*runs[0].bounds[i]), np.arange(*runs[1].bounds[j])

    def _strongest_stretch(self, searching: LearnedState, current: _Current, rows: Rows) -> _Passage:
        """The stretch of the best alignment of some consecutive sentences that gains most over where they are."""
        alignment = self.texts.select(*rows).align(searching)
        beads = alignment.beads
        lost = [
            _sums(worth[some], beads[:, column : column + 2])
            for worth, some, column in zip(current.worth, rows, (0, 2), strict=True)
        ]
        start, end, score = heaviest_stretch(_worth(alignment) - np.maximum(*lost))
        if end == start:
            return _Passage(0.0, (rows[0][:0], rows[1][:0]))
        first, last = beads[start], beads[end - 1]
        source, target = (slice(first[column], last[column] + last[column + 1]) for column in (0, 2))
        return _Passage(score, (rows[0][source], rows[1][target]))


class _Current:
    """State of the remainder: free and available rows of either side, and the worth of their beads."""

    def __init__(self, remainder: OrderedPart, sizes: tuple[int, int]) -> None:
        beads, worth = remainder.beads(), _worth(remainder.alignment)
        weak, strong = remainder.alignment.gains < 0, worth > 0
        self.available = _marked(sizes[0], remainder.rows[0]), _marked(sizes[1], remainder.rows[1])
        self.free = (
            _spread(sizes[0], beads[weak, :2], np.ones(weak.sum())) > 0,
            _spread(sizes[1], beads[weak, 2:], np.ones(weak.sum())) > 0,
        )
        self.worth = (
            _spread(sizes[0], beads[strong, :2], worth[strong]),
            _spread(sizes[1], beads[strong, 2:], worth[strong]),
        )

    def take(self, rows: Rows) -> None:
        for side in (0, 1):
            self.available[side][rows[side]] = self.free[side][rows[side]] = False

    def has(self, rows: Rows) -> bool:
        return all(bool(self.available[side][rows[side]].all()) for side in (0, 1))

    def with_neighbors(self, rows: Rows) -> Rows:
        """Consecutive rows with the available ones next to them."""
        return _with_neighbors(rows[0], self.available[0]), _with_neighbors(rows[1], self.available[1])


class _Runs(NamedTuple):
    """Runs of consecutive free rows: bounds (runs, 2), and the number and the length of the run of each row."""

    bounds: Ints
    numbers: Ints
    lengths: Ints

    @classmethod
    def of(cls, free: Bools) -> _Runs:
        edges = np.flatnonzero(np.diff(np.concatenate([[0], free.astype(np.int8), [0]])))
        bounds = edges.reshape(-1, 2).astype(np.int64)
        sizes = bounds[:, 1] - bounds[:, 0]
        numbers, lengths = np.full(len(free), -1, np.int64), np.zeros(len(free), np.int64)
        numbers[free], lengths[free] = np.repeat(np.arange(len(bounds)), sizes), np.repeat(sizes, sizes)
        return cls(bounds, numbers, lengths)


def heaviest_stretch(gains: Floats) -> tuple[int, int, float]:
    """First index, last index + 1 and sum of the consecutive gains with the highest sum; empty if all are negative."""
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    end = int(np.argmax(sums - np.minimum.accumulate(sums)))
    start = int(np.argmin(sums[: end + 1]))
    return start, end, float(sums[end] - sums[start])


def _with_free_gaps(priors: LogPriors) -> LogPriors:
    """The priors where most sentences have no counterpart."""
    kinds = priors.kinds.copy()
    kinds[0, 1] = kinds[1, 0] = -_FREE_GAP
    return LogPriors(kinds, (-_FREE_GAP, -_FREE_GAP))


def _worth(alignment: Alignment) -> Floats:
    """Log-odds of each bead against its sentences without a counterpart."""
    beads = alignment.beads
    both = (beads[:, 1] > 0) & (beads[:, 3] > 0)
    worth: Floats = np.where(both, alignment.gains + _FREE_GAP * (beads[:, 1] + beads[:, 3]), -_INNER_GAP)
    return worth


def _marked(size: int, rows: Ints) -> Bools:
    flags = np.zeros(size, np.bool_)
    flags[rows] = True
    return flags


def _spread(size: int, spans: Ints, values: Floats) -> Floats:
    """Values of spans (first row, count) in equal shares by their rows, which are in one span each."""
    counts = spans[:, 1]
    shares = np.repeat(values / np.maximum(counts, 1), counts)
    rows = np.repeat(spans[:, 0] - np.cumsum(counts) + counts, counts) + np.arange(len(shares))
    spread = np.zeros(size)
    spread[rows] = shares
    return spread


def _sums(values: Floats, spans: Ints) -> Floats:
    """The sums of some consecutive values, by first index and count, (n, 2)."""
    cumulative = np.concatenate([[0.0], np.cumsum(values)])
    sums: Floats = cumulative[spans[:, 0] + spans[:, 1]] - cumulative[spans[:, 0]]
    return sums


def _with_neighbors(rows: Ints, available: Bools) -> Ints:
    """Consecutive rows with up to `_NEIGHBORS` available ones before and after them."""
    start, end = int(rows[0]), int(rows[-1]) + 1
    for _ in range(_NEIGHBORS):
        start -= start > 0 and bool(available[start - 1])
        end += end < len(available) and bool(available[end])
    return np.arange(start, end)


def _without(rows: Rows, passages: Sequence[_Passage]) -> Rows:
    kept = [_marked(len(side), side) for side in rows]
    for passage in passages:
        for side in (0, 1):
            kept[side][passage.rows[side]] = False
    return np.flatnonzero(kept[0]), np.flatnonzero(kept[1])
