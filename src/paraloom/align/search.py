"""The best alignment of two texts: a dynamic programme over all beads, in a band that widens where it is too narrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from paraloom.align import search_kernels as kernels
from paraloom.align.band import Band, whole_band

Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float32]

# Rows whose scores are in memory at a time.
_ROWS = 512
# How many times as wide as at first a band gets at most: the path of texts that have nothing to do with each other runs
# along the edge of any band.
_WIDEST = 32
# A path that comes nearer than this to an edge of the band may have wanted to leave it.
_NEAR = 4


class Evidence(Protocol):
    """What speaks for or against a bead."""

    def add(self, first: int, rows: int, band: Band, out: Scores) -> None:
        """Add its scores (natural logarithms of probability, higher is likelier) of the beads that start in some rows.

        out: float32 (rows, A, A, W); out[r, a, b, w] is of the bead of a + 1 source sentences from first + r on and
        b + 1 target sentences from band.lows[first + r] + w on.  Cells beyond the texts' ends may hold anything.
        """


class Found(NamedTuple):
    """beads: int64 (n, 4), source start and count, target start and count.  gains: float32 (n,), what each adds."""

    beads: npt.NDArray[np.int64]
    gains: Scores


def best_alignment(
    evidence: Sequence[Evidence],
    priors: Floats,
    sources: int,
    targets: int,
    band_of: Callable[[int], Band],
    radius: int,
) -> Found:
    """The beads whose scores and priors add up to most, among those within a band.

    priors: float64 (A + 1, A + 1), natural logarithm of how likely a bead of so many sentences is.
    band_of: a band of a given radius; it is asked for one twice as wide whenever the path runs along an edge.
    Time and memory grow with (sources × width of the band), at most `_WIDEST` times that of the first.
    """
    widest = radius * _WIDEST
    while True:
        band = band_of(radius)
        if 4 * band.width > 3 * targets:
            band = whole_band(sources, targets)
        found, margin = _within(evidence, priors, band)
        if band.whole or margin >= _NEAR or radius >= widest:
            return found
        radius *= 2


def _within(evidence: Sequence[Evidence], priors: Floats, band: Band) -> tuple[Found, int]:
    most = len(priors) - 1
    best = np.full((most + 1, band.width), kernels.NOTHING)
    best[0, 0] = 0.0
    choices = np.zeros((band.sources + 1, band.width), np.uint8)
    gains = np.zeros((band.sources + 1, band.width), np.float32)
    for first in range(0, band.sources + 1, _ROWS):
        rows = min(_ROWS, band.sources + 1 - first)
        scores = np.zeros((rows, most, most, band.width), np.float32)
        for each in evidence:
            each.add(first, rows, band, scores)
        kernels.advance(first, scores, priors, band.lows, band.targets, best, choices, gains)
    beads, added, margin = kernels.trace(choices, gains, band.lows, band.targets)
    return Found(beads, added), margin
