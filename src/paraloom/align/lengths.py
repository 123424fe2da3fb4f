"""What lengths say about a bead: Gale and Church 1993, on characters."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from paraloom.align.band import Band

Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float32]

# Gale and Church's variance of the target's characters for each of the source's.
VARIANCE = 6.8
# Deviations are looked up: so many to one, up to so many.
_STEPS, _FARTHEST = 100, 12


class LengthMatch:
    """weight × log P(|δ|), δ the difference of the lengths in standard deviations (Gale and Church 1993, §3.3).

    source, target: float64 (m,) and (n,), characters of each sentence.  ratio: target characters expected for one of
    the source; that of the two texts where none is given.

    >>> from paraloom.align.band import whole_band
    >>> scores = np.zeros((1, 1, 1, 3), np.float32)
    >>> LengthMatch(np.array([10.0]), np.array([10.0, 30.0]), ratio=1.0).add(0, 1, whole_band(1, 2), scores)
    >>> scores[0, 0, 0, :2].astype(float).round(1).tolist()
    [0.0, -2.4]
    """

    def __init__(self, source: Floats, target: Floats, weight: float = 1.0, ratio: float | None = None) -> None:
        self.behind = (_cumulative(source), _cumulative(target))
        self.ratio = ratio if ratio else max(self.behind[1][-1], 1.0) / max(self.behind[0][-1], 1.0)
        self.table = weight * log_probabilities(np.arange(_FARTHEST * _STEPS + 1) / _STEPS)

    def add(self, first: int, rows: int, band: Band, out: Scores) -> None:
        from paraloom.align import match_kernels

        match_kernels.add_lengths(first, *self.behind, self.ratio, VARIANCE, self.table, _STEPS, band.lows, out)


def log_probabilities(deviations: Floats) -> Floats:
    """log 2 (1 − Φ(|δ|)): how likely a difference at least so large is; 0 for none, falling.

    >>> log_probabilities(np.array([0.0, 1.96])).round(2).tolist()
    [0.0, -3.0]
    """
    return np.array([math.log(max(math.erfc(abs(each) / math.sqrt(2)), 1e-300)) for each in deviations])


def _cumulative(lengths: Floats) -> Floats:
    # One more for each sentence: the blank between them, and no length is nought.
    return np.concatenate([[0.0], np.cumsum(lengths + 1.0)])
