"""Parts of two texts that are in the same order on both sides, and the alignment that they make together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paraloom.alignment.search import Alignment, Band
from paraloom.core.array_types import Bools, Float32s, Ints

Rows = tuple[Ints, Ints]
"""Rows of the source text and of the target text, rising."""

# A bead across a place where sentences were taken out.
_CROSSING = np.float32(-1e9)


class OrderedPart(NamedTuple):
    """Sentences of both texts that are in the same order."""

    rows: Rows
    alignment: Alignment

    def beads(self) -> Ints:
        """The beads by rows of the whole texts."""
        beads = self.alignment.beads.copy()
        for column, rows in zip((0, 2), self.rows, strict=True):
            some = beads[:, column + 1] > 0
            beads[some, column] = rows[beads[some, column]]
        return beads


class LocalAlignment(NamedTuple):
    """Beads that may cross, with the parts of the texts that they come from."""

    beads: Ints
    gains: Float32s
    parts: Sequence[OrderedPart]
    ordered: Alignment


AnyAlignment = Alignment | LocalAlignment
"""Of texts in the same order, or only locally parallel."""


class Walls:
    """Rules out beads across places where sentences were taken out of a text."""

    def __init__(self, source: Ints, target: Ints) -> None:
        self._places = _places_before(source), _places_before(target)

    def add(self, first: int, rows: int, band: Band, out: Float32s) -> None:
        source, target = self._places
        sizes = np.arange(out.shape[1])
        if source[-1]:
            starts = np.minimum(first + np.arange(rows), band.sources)
            ends = np.minimum(starts[:, None] + sizes, band.sources)
            out[source[ends] > source[starts][:, None]] += _CROSSING
        if target[-1]:
            starts = np.minimum(band.lows[first : first + rows, None] + np.arange(band.width), band.targets)
            for size in sizes[1:]:
                crossed = target[np.minimum(starts + size, band.targets)] > target[starts]
                out[:, :, size] += np.where(crossed, _CROSSING, np.float32(0))[:, None]

    def are_crossed(self, beads: Ints) -> Bools:
        """Flags of the beads that cross a place where sentences were taken out."""
        source, target = self._places
        crossed: Bools = source[beads[:, 0] + beads[:, 1] - 1] > source[beads[:, 0]]
        return crossed | (target[beads[:, 2] + beads[:, 3] - 1] > target[beads[:, 2]])


def _places_before(rows: Ints) -> Ints:
    """Places before each remaining sentence, and before the end, where some were taken out."""
    places = np.zeros(len(rows) + 1, np.int64)
    if len(rows):
        places[1:-1] = np.cumsum(np.diff(rows) != 1)
        places[-1] = places[-2]
    return places


def restrict(part: OrderedPart, rows: Rows) -> Alignment:
    """The beads of a part whose sentences are all among some rows, by position among those, to search near them."""
    beads, gains = part.beads(), part.alignment.gains
    kept = (beads[:, 1] > 0) & (beads[:, 3] > 0)
    positions = beads.copy()
    for column, some in zip((0, 2), rows, strict=True):
        first = np.searchsorted(some, beads[:, column])
        last = np.searchsorted(some, beads[:, column] + beads[:, column + 1])
        kept &= last - first == beads[:, column + 1]
        positions[:, column] = first
    end = np.array([[len(rows[0]), 0, len(rows[1]), 0]])
    return Alignment(np.concatenate([positions[kept], end]), np.append(gains[kept], np.float32(0)))


def merge(parts: Sequence[OrderedPart], ordered: Alignment) -> LocalAlignment:
    """All beads in the order of the source; a target sentence without a counterpart follows the one before it."""
    beads = np.concatenate([part.beads() for part in parts])
    gains = np.concatenate([part.alignment.gains for part in parts])
    has_target = beads[:, 3] > 0
    by_target = np.lexsort((beads[:, 0], np.where(has_target, beads[:, 2], 0), ~has_target))
    places = np.empty(len(beads), np.int64)
    row = -1
    for index in by_target.tolist():
        if beads[index, 1] > 0:
            row = int(beads[index, 0])
        places[index] = row
    order = np.lexsort((beads[:, 2], beads[:, 1] == 0, places))
    return LocalAlignment(beads[order], gains[order], parts, ordered)
