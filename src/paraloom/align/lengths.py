"""What lengths say about a bead: Gale and Church 1993, on characters, and how lengths go together in the texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.align import lexical_kernels as match_kernels
from paraloom.align.band import Band

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float32]

# Gale and Church's variance of the target's characters for each of the source's.
VARIANCE = 6.8
# Deviations are looked up: so many to one, up to so many.
_STEPS, _FARTHEST = 100, 12
# What the texts show counts for so much beside Gale and Church, given many beads, and for half of that given so few.
_OWN, _FEW = 0.5, 10


class LengthHabits(NamedTuple):
    """How lengths go together in some texts.

    ratio: target characters for one of the source.  table: float64, log P(|δ|) as `log_probabilities` has it, by
    hundredths of δ.
    """

    ratio: float
    table: Floats


def habits_of(characters: Sequence[tuple[Floats, Floats]], beads: Sequence[Ints]) -> LengthHabits:
    """What the beads of one sentence a side that were found in some texts show.

    characters: of the sentences of each pair of texts.  beads: (n, 4) of each, as search.Found has them.
    P(|δ|) is half how often one at least so large was met, half Gale and Church's: translators of one kind of text
    keep nearer to its lengths than theirs did, and now and then stray far, which no normal distribution has both of;
    all of what was met would be trusted more than lengths deserve beside words.  The ratio is that of all texts
    together: a short text in which sentences have no counterpart has none of its own.

    >>> lengths = np.array([10.0, 20.0, 30.0])
    >>> pairs = np.array([[0, 1, 0, 1], [1, 1, 1, 1], [2, 1, 2, 1]] * 100)
    >>> habits = habits_of([(lengths - 1, 2 * lengths - 1)], [pairs])
    >>> habits.ratio, round(float(habits.table[100] - log_probabilities(np.array([1.0]))[0]), 2)
    (2.0, -0.66)
    """
    source, target = [np.empty(0)], [np.empty(0)]
    for (ours, theirs), found in zip(characters, beads, strict=True):
        single = found[(found[:, 1] == 1) & (found[:, 3] == 1)]
        source.append(ours[single[:, 0]] + 1.0)
        target.append(theirs[single[:, 2]] + 1.0)
    a, b = np.concatenate(source), np.concatenate(target)
    if not len(a):
        # Nothing was found to learn from.
        behind = [sum(float(each[side].sum() + len(each[side])) for each in characters) for side in (0, 1)]
        return LengthHabits(max(behind[1], 1.0) / max(behind[0], 1.0), _usual())
    ratio = float(b.sum() / a.sum())
    met = np.sort(np.abs(b - a * ratio) / np.sqrt(VARIANCE * a))
    over = (len(met) - np.searchsorted(met, _grid() - 1e-9)) / len(met)
    own = _OWN * len(met) / (len(met) + _FEW)
    return LengthHabits(ratio, np.log(own * over + (1 - own) * np.exp(_usual())))


class LengthMatch:
    """weight × log P(|δ|), δ the difference of the lengths in standard deviations (Gale and Church 1993, §3.3).

    source, target: float64 (m,) and (n,), characters of each sentence.  ratio: target characters expected for one of
    the source; that of the two texts where none is given.  habits: in the place of that and of Gale and Church's P.

    >>> from paraloom.align.band import whole_band
    >>> scores = np.zeros((1, 1, 1, 3), np.float32)
    >>> LengthMatch(np.array([10.0]), np.array([10.0, 30.0]), ratio=1.0).add(0, 1, whole_band(1, 2), scores)
    >>> scores[0, 0, 0, :2].astype(float).round(1).tolist()
    [0.0, -2.4]
    """

    def __init__(
        self,
        source: Floats,
        target: Floats,
        weight: float = 1.0,
        ratio: float | None = None,
        habits: LengthHabits | None = None,
    ) -> None:
        self.behind = (_cumulative(source), _cumulative(target))
        own = max(self.behind[1][-1], 1.0) / max(self.behind[0][-1], 1.0)
        self.ratio = habits.ratio if habits else ratio or own
        self.table = weight * (habits.table if habits else _usual())

    def add(self, first: int, rows: int, band: Band, out: Scores) -> None:
        match_kernels.add_lengths(first, *self.behind, self.ratio, VARIANCE, self.table, _STEPS, band.lows, out)


def _grid() -> Floats:
    return np.arange(_FARTHEST * _STEPS + 1) / _STEPS


@cache
def _usual() -> Floats:
    return log_probabilities(_grid())


def log_probabilities(deviations: Floats) -> Floats:
    """log 2 (1 − Φ(|δ|)): how likely a difference at least so large is; 0 for none, falling.

    >>> log_probabilities(np.array([0.0, 1.96])).round(2).tolist()
    [0.0, -3.0]
    """
    return np.array([math.log(max(math.erfc(abs(each) / math.sqrt(2)), 1e-300)) for each in deviations])


def _cumulative(lengths: Floats) -> Floats:
    # One more for each sentence: the blank between them, and no length is nought.
    return np.concatenate([[0.0], np.cumsum(lengths + 1.0)])
