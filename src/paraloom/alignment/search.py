"""Search for the best alignment of two texts: dynamic programming over all beads within a band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from paraloom.alignment import search_kernels as kernels
from paraloom.core.array_types import Bools, Float32s, Floats, Ints

# Rows whose scores are in memory at a time.
_ROWS = 512
# The band never gets wider than this many times its first width: the path of unrelated texts runs along the edge of
# any band.
_MAX_WIDENING = 32
# Anchors before and after that an anchor is compared with, how many have to agree with it, by how many columns they may
# differ, and by what part of their distance.
_NEIGHBORS, _MIN_AGREEING, _TOLERANCE, _SLOPE_TOLERANCE = 3, 2, 5, 0.1
# If more anchors than this stand alone, the texts are not of one slope, and all count.
_MAX_ALONE = 0.1
# A path that comes nearer than this to an edge of the band may have been constrained by it.
_EDGE = 4


@dataclass(frozen=True, eq=False)
class Band:
    """The boundaries that a search visits; boundary (i, j) means that i source and j target sentences are aligned."""

    lows: Ints  # First target boundary of each source boundary, int64 (sources + 1,), never falling
    width: int  # Target boundaries in each row: row i holds lows[i] … lows[i] + width − 1
    sources: int  # Number of source sentences
    targets: int  # Number of target sentences


class Evidence(Protocol):
    """One source of scores for beads: lengths, words, embeddings …"""

    def add(self, first: int, rows: int, band: Band, out: Float32s) -> None:
        """Add the scores of the beads that start in some rows of the band."""


class LogPriors(NamedTuple):
    kinds: Floats
    gap_extensions: tuple[float, float]


class Alignment(NamedTuple):
    beads: Ints
    gains: Float32s


def best_alignment(
    evidence: Sequence[Evidence],
    priors: LogPriors,
    sources: int,
    targets: int,
    make_band: Callable[[int], Band],
    radius: int,
    breaks: tuple[Floats, Floats] | None = None,
) -> Alignment:
    """Find the beads within a band whose evidence and priors have the highest sum, in time sources × its width."""
    max_radius = radius * _MAX_WIDENING
    breaks = breaks or (np.zeros(sources + 1), np.zeros(targets + 1))
    while True:
        band = make_band(radius)
        if 4 * band.width > 3 * targets:
            band = full_band(sources, targets)
        alignment, margin = _search(evidence, priors, band, breaks)
        if band.width > targets or margin >= _EDGE or radius >= max_radius:
            return alignment
        radius *= 2


def _search(
    evidence: Sequence[Evidence], priors: LogPriors, band: Band, breaks: tuple[Floats, Floats]
) -> tuple[Alignment, int]:
    max_size = len(priors.kinds) - 1
    best = np.full((2, max_size + 1, band.width), kernels.IMPOSSIBLE)
    best[0, 0, 0] = 0.0
    boundaries = 2, band.sources + 1, band.width
    reached = kernels.Reached(best, np.zeros(boundaries, np.uint16), np.zeros(boundaries, np.float32))
    for first in range(0, band.sources + 1, _ROWS):
        rows = min(_ROWS, band.sources + 1 - first)
        scores = np.zeros((rows, max_size, max_size, band.width), np.float32)
        for scorer in evidence:
            scorer.add(first, rows, band, scores)
        kernels.advance(first, scores, priors.kinds, priors.gap_extensions, breaks, band.lows, band.targets, reached)
    ends = best[:, band.sources % (max_size + 1), band.targets - int(band.lows[-1])]
    state = int(ends[1] > ends[0])
    beads, added, margin = kernels.trace(reached, state, band.lows, band.targets)
    return Alignment(beads, added), margin


def full_band(sources: int, targets: int) -> Band:
    return Band(np.zeros(sources + 1, np.int64), targets + 1, sources, targets)


def band_along(path: Floats, targets: int, radius: int, smooth: int) -> Band:
    sources = len(path) - 1
    rows = np.arange(sources + 1)
    lows = np.floor(path[np.maximum(rows - smooth, 0)]).astype(np.int64) - radius
    highs = np.ceil(path[np.minimum(rows + smooth, sources)]).astype(np.int64) + radius
    width = min(int((highs - lows).max()) + 1, targets + 1)
    lows = np.clip(lows, 0, targets + 1 - width)
    lows[0] = 0
    lows[-1] = targets + 1 - width
    return Band(np.maximum.accumulate(lows), width, sources, targets)


def path_from_lengths(source: Floats, target: Floats) -> Floats:
    """The target boundary that leaves the same share of characters behind as each source boundary."""
    source_shares, target_shares = _cumulative_shares(source), _cumulative_shares(target)
    return np.interp(source_shares, target_shares, np.arange(len(target_shares), dtype=np.float64))


def path_from_beads(beads: Ints, sources: int) -> Floats:
    """The path of an alignment; the boundaries inside a bead are interpolated."""
    x = np.concatenate([[0], beads[:, 0] + beads[:, 1]])
    y = np.concatenate([[0], beads[:, 2] + beads[:, 3]])
    return np.interp(np.arange(sources + 1), x, y)


def path_from_anchors(anchors: Sequence[tuple[Ints, Ints, Floats]], sources: int, targets: int) -> Floats | None:
    """The path through the heaviest chain of anchors that rises on both sides."""
    rows, columns, weights = (np.concatenate([anchor[field] for anchor in anchors]) for field in range(3))
    cells, inverse = np.unique(rows * (targets + 1) + columns, return_inverse=True)
    total = np.bincount(inverse, weights, len(cells))
    rows, columns = cells // (targets + 1), cells % (targets + 1)
    order = np.lexsort((-columns, rows))
    chain = kernels.heaviest_chain(rows[order], columns[order], total[order].astype(np.float64), targets)
    if len(chain) < max(4, sources // 200):
        return None
    picked = order[chain]
    picked = picked[_agree(rows[picked], columns[picked])]
    x = np.concatenate([[0], rows[picked] + 0.5, [sources]])
    y = np.concatenate([[0], columns[picked] + 0.5, [targets]])
    return np.interp(np.arange(sources + 1), x, y)


def _agree(rows: Ints, columns: Ints) -> Bools:
    """Flags of the anchors with others near the same line: one alone is rare by chance, and bends the path."""
    if len(rows) <= _NEIGHBORS:
        return np.ones(len(rows), np.bool_)
    votes = np.zeros(len(rows), np.int64)
    slope = np.median((columns[_NEIGHBORS:] - columns[:-_NEIGHBORS]) / (rows[_NEIGHBORS:] - rows[:-_NEIGHBORS]))
    for step in range(1, _NEIGHBORS + 1):
        expected = slope * (rows[step:] - rows[:-step])
        actual = columns[step:] - columns[:-step]
        agree = np.abs(actual - expected) <= _TOLERANCE + _SLOPE_TOLERANCE * expected
        votes[step:] += agree
        votes[:-step] += agree
    agreeing = votes >= _MIN_AGREEING
    return agreeing if np.mean(~agreeing) <= _MAX_ALONE else np.ones(len(rows), np.bool_)


def _cumulative_shares(lengths: Floats) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(lengths)])
    return total / max(total[-1], 1e-9)
