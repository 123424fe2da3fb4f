"""Alignment of texts that are only locally parallel: passages that were moved are cut out and aligned by themselves.

The texts are aligned as if they were in the same order.  Sentences that this leaves without a counterpart, or with an
improbable one, are free: runs of free sentences on both sides are aligned with each other, and where the evidence is
strong the passage is taken out of both texts.  What remains is aligned again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from paraloom.alignment.search import Alignment, Band, LogPriors

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

# A bead across a place where sentences were taken out.
_CROSSING = -1e9
# A passage counts as moved if it scores this many times log(m n) more than where it is.
_EVIDENCE = 0.7
# What a sentence without a counterpart costs among free sentences, where most have none; and what one costs that is
# inside a passage.
_FREE_GAP, _INNER_GAP = 1.2, 0.3
# How often passages are taken out and the remainder is aligned again, and how often the free sentences are searched.
_ROUNDS, _SEARCHES = 3, 3
# Sentences on each end that a passage may grow by at a time, and what that has to add to its score.
_NEIGHBORS, _MIN_GROWTH = 4, 0.5
# Runs of target sentences that each run of source sentences is compared with, and the reverse.
_PARTNERS = 8


class Walls:
    """Rules out beads across places where sentences were taken out of a text.

    Args:
        source: Rows of the whole source text that remain, rising.
        target: Rows of the whole target text that remain, rising.

    Example:
        >>> from paraloom.alignment.search import full_band
        >>> scores = np.zeros((3, 2, 2, 3), np.float32)
        >>> Walls(np.array([0, 5]), np.array([0, 1])).add(0, 3, full_band(2, 2), scores)
        >>> bool(scores[0, 0, 1, 0] == 0), bool(scores[0, 1, 0, 0] < -1e6)
        (True, True)
    """

    def __init__(self, source: Ints, target: Ints) -> None:
        self._before = tuple(_gaps_before(rows) for rows in (source, target))

    def add(self, first: int, rows: int, band: Band, out: Scores) -> None:
        """See `search.Evidence`."""
        source, target = self._before
        sizes = np.arange(out.shape[1])
        starts = first + np.arange(rows)
        ends = np.minimum(starts[:, None] + sizes, band.sources)
        blocked = source[ends] > source[np.minimum(starts, band.sources)][:, None]
        out[blocked] += _CROSSING
        if target[-1]:
            starts = np.minimum(band.lows[first : first + rows, None] + np.arange(band.width), band.targets)
            ends = np.minimum(starts[:, None, :] + sizes[:, None], band.targets)
            crossed = target[ends] > target[starts][:, None, :]
            out += np.where(crossed, np.float32(_CROSSING), np.float32(0))[:, None]


def _gaps_before(rows: Ints) -> Ints:
    """Places up to each remaining sentence where some were taken out, (n + 1,)."""
    counts = np.concatenate([[0], np.cumsum(np.diff(rows) != 1)]) if len(rows) else np.zeros(0, np.int64)
    return np.concatenate([counts, counts[-1:] if len(counts) else [0]]).astype(np.int64)


class Part(NamedTuple):
    """Sentences of both texts that are in the same order.

    Args:
        source: Rows of the source text, rising.
        target: Rows of the target text, rising.
        alignment: Their beads, by position among those rows.
    """

    source: Ints
    target: Ints
    alignment: Alignment

    def beads(self) -> Ints:
        """The beads by rows of the whole texts."""
        beads = self.alignment.beads.copy()
        for side, rows in ((0, self.source), (2, self.target)):
            some = beads[:, side + 1] > 0
            beads[some, side] = rows[beads[some, side]]
        return beads


class LocalAlignment(NamedTuple):
    """Beads that may cross, with the parts of the texts that they come from.

    Args:
        beads: As in `search.Alignment`, in the order of the source.
        gains: As in `search.Alignment`.
        parts: What is in the same order on both sides, then each moved passage.
        ordered: The best alignment without crossings.
    """

    beads: Ints
    gains: Scores
    parts: Sequence[Part]
    ordered: Alignment


class Texts(Protocol):
    """A pair of texts that can be aligned in order, and so can a selection of their sentences."""

    sizes: tuple[int, int]

    def select(self, source: Ints, target: Ints) -> Self:
        """Some of the sentences, by rows; no bead joins sentences that were not next to each other."""

    def anchors(self, aligner: Any) -> tuple[Ints, Ints, Floats]:
        """Pairs of sentences that probably correspond: source rows, target rows, weights."""

    def align(self, aligner: Any, previous: Alignment | None = None) -> Alignment:
        """The best alignment without crossings."""


class _Passage(NamedTuple):
    """A passage that was moved, and how much more probable its beads are than none."""

    score: float
    part: Part


class LocalSearch:
    """Aligns a pair of texts of which passages may have been moved.

    Args:
        texts: The texts.
        evidence: A passage is moved if its score is more than this many times log(m n): by chance, the best of the
            m n places of a passage scores about the logarithm of their number.
    """

    def __init__(self, texts: Texts, evidence: float = _EVIDENCE) -> None:
        self.texts = texts
        self.min_score = evidence * math.log(max(2, texts.sizes[0]) * max(2, texts.sizes[1]))

    def align(self, aligner: Any, previous: Alignment | LocalAlignment | None = None) -> LocalAlignment:
        """The best alignment found, searched for near the one in the same order of a previous round.

        Args:
            aligner: What scores the beads.
            previous: The alignment of the previous round.
        """
        previous = previous.ordered if isinstance(previous, LocalAlignment) else previous
        remaining = tuple(np.arange(size) for size in self.texts.sizes)
        ordered = self.texts.align(aligner, previous)
        whole = remainder = Part(*remaining, ordered)
        searching = replace(aligner, priors=_with_free_gaps(aligner.priors))
        moved: list[_Passage] = []
        for _ in range(_ROUNDS):
            passages = self._grown(searching, moved, remainder)
            passages += self._found(searching, passages, remainder)
            if len(passages) == len(moved) and all(a is b for a, b in zip(passages, moved, strict=True)):
                break
            moved = passages
            source, target = (_without(whole[side], [passage.part[side] for passage in moved]) for side in (0, 1))
            near = _restricted(remainder, source, target)
            remainder = Part(source, target, self.texts.select(source, target).align(aligner, near))
        parts = [passage.part for passage in moved]
        aligned = [part._replace(alignment=self.texts.select(part.source, part.target).align(aligner)) for part in parts]
        return _merged([remainder, *aligned], ordered)

    def _grown(self, searching: Any, moved: Sequence[_Passage], remainder: Part) -> list[_Passage]:
        """Moved passages with sentences of the remainder next to them that fit there better."""
        worth = _worth_of_rows(remainder, self.texts.sizes)
        available = [np.isin(np.arange(size), remainder[side]) for side, size in enumerate(self.texts.sizes)]
        grown = []
        for passage in moved:
            near = [_with_neighbors(passage.part[side], available[side]) for side in (0, 1)]
            larger = self._strongest_stretch(searching, worth, *near)
            if larger.score > passage.score + _MIN_GROWTH:
                passage = larger
                for side in (0, 1):
                    available[side][passage.part[side]] = False
            grown.append(passage)
        return grown

    def _found(self, searching: Any, moved: Sequence[_Passage], remainder: Part) -> list[_Passage]:
        """Strong passages among the free sentences of the remainder, none of which share a sentence."""
        worth = _worth_of_rows(remainder, self.texts.sizes)
        free = _free_rows(remainder, self.texts.sizes)
        available = [np.isin(np.arange(size), remainder[side]) for side, size in enumerate(self.texts.sizes)]
        for passage in moved:
            for side in (0, 1):
                free[side][passage.part[side]] = available[side][passage.part[side]] = False
        found: list[_Passage] = []
        for _ in range(_SEARCHES):
            candidates = [
                self._strongest_stretch(
                    searching, worth, *(_with_neighbors(run, flags) for run, flags in zip(runs, available, strict=True))
                )
                for runs in self._likely_runs(searching, free)
            ]
            before = len(found)
            for passage in sorted(candidates, key=lambda candidate: -candidate.score):
                rows = passage.part
                if passage.score >= self.min_score and all(available[side][rows[side]].all() for side in (0, 1)):
                    for side in (0, 1):
                        free[side][rows[side]] = available[side][rows[side]] = False
                    found.append(passage)
            if len(found) == before:
                break
        return found

    def _likely_runs(self, aligner: Any, free: tuple[Flags, Flags]) -> Iterator[tuple[Ints, Ints]]:
        """Runs of free source rows and of free target rows that share anchors."""
        free_rows = [np.flatnonzero(side) for side in free]
        if not all(map(len, free_rows)):
            return
        # A word that is rare among the free sentences need not be so in the whole texts.
        rows, columns, weights = self.texts.select(*free_rows).anchors(aligner)
        runs = [_runs(side) for side in free]
        left, right = runs[0].number[free_rows[0][rows]], runs[1].number[free_rows[1][columns]]
        count = max(1, len(runs[1].bounds))
        cells, inverse = np.unique(left * count + right, return_inverse=True)
        totals = np.bincount(inverse, weights, len(cells))
        left, right = cells // count, cells % count
        chosen = _best_of_each(left, totals, _PARTNERS) | _best_of_each(right, totals, _PARTNERS)
        for i, j in zip(left[chosen].tolist(), right[chosen].tolist(), strict=True):
            yield np.arange(*runs[0].bounds[i]), np.arange(*runs[1].bounds[j])

    def _strongest_stretch(
        self, searching: Any, worth: tuple[Floats, Floats], source: Ints, target: Ints
    ) -> _Passage:
        """The stretch of the best alignment of some consecutive sentences that gains most over where they are."""
        alignment = self.texts.select(source, target).align(searching)
        lost = [_sums(worth[0][source], alignment.beads[:, :2]), _sums(worth[1][target], alignment.beads[:, 2:])]
        start, end, score = _heaviest_stretch(_worth(alignment) - np.maximum(*lost))
        beads = alignment.beads[start:end]
        if not len(beads):
            return _Passage(0.0, Part(source[:0], target[:0], alignment))
        i, j = beads[0, 0], beads[0, 2]
        last = beads[-1]
        part = Part(
            source[i : last[0] + last[1]],
            target[j : last[2] + last[3]],
            Alignment(beads - np.array([i, 0, j, 0]), alignment.gains[start:end]),
        )
        return _Passage(score, part)


class _Runs(NamedTuple):
    """Runs of consecutive free rows: bounds (runs, 2), and the number of each row's run, −1 for a row that is not."""

    bounds: Ints
    number: Ints


def _runs(free: Flags) -> _Runs:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], free.astype(np.int8), [0]])))
    bounds = edges.reshape(-1, 2)
    number = np.full(len(free), -1, np.int64)
    number[free] = np.repeat(np.arange(len(bounds)), bounds[:, 1] - bounds[:, 0])
    return _Runs(bounds, number)


def _free_rows(part: Part, sizes: tuple[int, int]) -> tuple[Flags, Flags]:
    """Which rows of the whole texts are in a bead of the part that is less probable than none."""
    beads = part.beads()[part.alignment.gains < 0]
    free = tuple(np.zeros(size, np.bool_) for size in sizes)
    for side, column in ((0, 0), (1, 2)):
        starts, counts = beads[:, column], beads[:, column + 1]
        firsts = np.repeat(starts, counts)
        free[side][firsts + np.arange(len(firsts)) - np.repeat(np.cumsum(counts) - counts, counts)] = True
    return free[0], free[1]


def _best_of_each(groups: Ints, weights: Floats, count: int) -> Flags:
    """Which entries are among the `count` heaviest ones of their group."""
    order = np.lexsort((-weights, groups))
    ordered = groups[order]
    ranks = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    chosen = np.zeros(len(order), np.bool_)
    chosen[order] = ranks < count
    return chosen


def _heaviest_stretch(gains: Scores) -> tuple[int, int, float]:
    """First index, last index + 1 and sum of the consecutive gains with the highest sum.

    Example:
        >>> _heaviest_stretch(np.array([-1.0, 2.0, -1.0, 3.0, -5.0, 1.0]))
        (1, 4, 4.0)
    """
    sums = np.concatenate([[0.0], np.cumsum(gains, dtype=np.float64)])
    lows = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - lows))
    start = int(np.argmin(sums[: end + 1]))
    return start, end, float(sums[end] - sums[start])


def _with_free_gaps(priors: LogPriors) -> LogPriors:
    """The priors where most sentences have no counterpart."""
    kinds = priors.kinds.copy()
    kinds[0, 1] = kinds[1, 0] = -_FREE_GAP
    return LogPriors(kinds, (-_FREE_GAP, -_FREE_GAP))


def _worth(alignment: Alignment) -> Floats:
    """How much more probable each bead is than its sentences without a counterpart."""
    sizes = alignment.beads[:, 1] + alignment.beads[:, 3]
    both = (alignment.beads[:, 1] > 0) & (alignment.beads[:, 3] > 0)
    return np.where(both, alignment.gains + _FREE_GAP * sizes, -_INNER_GAP)


def _worth_of_rows(part: Part, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """The worth of the beads of a part where it is positive, in equal shares by the sentences of either side."""
    beads, worth = part.beads(), _worth(part.alignment)
    sides = []
    for size, column in zip(sizes, (0, 2), strict=True):
        strong = worth > 0
        starts, counts = beads[strong, column], beads[strong, column + 1]
        steps = np.zeros(size + 1)
        np.add.at(steps, starts, worth[strong] / counts)
        np.add.at(steps, starts + counts, -worth[strong] / counts)
        sides.append(np.maximum(np.cumsum(steps)[:-1], 0.0))
    return sides[0], sides[1]


def _sums(values: Floats, spans: Ints) -> Floats:
    """The sums of some consecutive values, by first index and count, (n, 2)."""
    cumulative = np.concatenate([[0.0], np.cumsum(values)])
    return cumulative[spans[:, 0] + spans[:, 1]] - cumulative[spans[:, 0]]


def _with_neighbors(rows: Ints, available: Flags) -> Ints:
    """Consecutive rows with up to `_NEIGHBORS` available ones before and after them."""
    start, end = int(rows[0]), int(rows[-1]) + 1
    for _ in range(_NEIGHBORS):
        start -= start > 0 and bool(available[start - 1])
        end += end < len(available) and bool(available[end])
    return np.arange(start, end)


def _without(rows: Ints, taken: Sequence[Ints]) -> Ints:
    return np.setdiff1d(rows, np.concatenate(taken), assume_unique=True)


def _restricted(part: Part, source: Ints, target: Ints) -> Alignment:
    """The beads of a part whose sentences all remain, by position among those; its last one is the end of both."""
    beads, gains = part.beads(), part.alignment.gains
    kept = (beads[:, 1] > 0) & (beads[:, 3] > 0)
    positions = beads.copy()
    for column, rows in ((0, source), (2, target)):
        first = np.searchsorted(rows, beads[:, column])
        last = np.searchsorted(rows, beads[:, column] + beads[:, column + 1])
        kept &= last - first == beads[:, column + 1]
        positions[:, column] = first
    end = np.array([[len(source), 0, len(target), 0]])
    return Alignment(np.concatenate([positions[kept], end]), np.append(gains[kept], np.float32(0)))


def _merged(parts: Sequence[Part], ordered: Alignment) -> LocalAlignment:
    """All beads in the order of the source; a target sentence without a counterpart follows the one before it."""
    beads = np.concatenate([part.beads() for part in parts])
    gains = np.concatenate([part.alignment.gains for part in parts])
    by_target = np.lexsort((beads[:, 0], np.where(beads[:, 3] > 0, beads[:, 2], np.iinfo(np.int64).max)))
    places = np.empty(len(beads), np.int64)
    place = -1
    for index in by_target.tolist():
        if beads[index, 1] > 0:
            place = int(beads[index, 0])
        places[index] = place
    order = np.lexsort((beads[:, 2], beads[:, 1] == 0, places))
    return LocalAlignment(beads[order], gains[order], parts, ordered)
