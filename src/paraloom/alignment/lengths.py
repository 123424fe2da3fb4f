"""Evidence of lengths for beads: Gale and Church's model in characters, adapted to the texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from paraloom.alignment import length_kernels as kernels
from paraloom.alignment.search import Band
from paraloom.core.array_types import Float32s, Floats, Ints

VARIANCE = 6.8
"""Variance of the target's characters for each source character (Gale and Church 1993)."""

# The table of deviations: entries for one standard deviation, and its end.
_STEPS, _MAX_DEVIATION = 100, 12
# Weight of the distribution observed in the texts beside Gale and Church's, given many beads; half of it given so few.
_OBSERVED_WEIGHT, _HALF_WEIGHT_BEADS = 0.5, 10
# Median |δ| of a standard normal distribution.
_NORMAL_MEDIAN = 0.6745
# The median of fewer beads says little of how loose texts are.
_FEWEST_BEADS = 15


class LengthModel(NamedTuple):
    """Distribution of the length ratio of corresponding sentences."""

    ratio: float
    table: Floats


def fit_length_model(characters: Sequence[tuple[Floats, Floats]], beads: Sequence[Ints]) -> LengthModel:
    """Estimate a length model from 1:1 beads: the observed distribution and Gale and Church's in equal parts."""
    source, target = [np.empty(0)], [np.empty(0)]
    for (source_characters, target_characters), text_beads in zip(characters, beads, strict=True):
        single = text_beads[(text_beads[:, 1] == 1) & (text_beads[:, 3] == 1)]
        source.append(source_characters[single[:, 0]] + 1.0)
        target.append(target_characters[single[:, 2]] + 1.0)
    a, b = np.concatenate(source), np.concatenate(target)
    if not len(a):
        return _unadapted_model(characters)
    # The ratio of all texts together: a short text with unaligned sentences has no reliable one of its own.
    ratio = float(b.sum() / a.sum())
    observed = np.sort(np.abs(b - a * ratio) / np.sqrt(VARIANCE * a))
    exceeding = (len(observed) - np.searchsorted(observed, _grid() - 1e-9)) / len(observed)
    # Where lengths vary more than theirs, as in loose translations, the deviation is multiplied by the variance ratio;
    # its root would fit most sentences, but the tail of such texts is heavier than a normal one.
    looseness = max(1.0, float(np.median(observed)) / _NORMAL_MEDIAN) ** 2 if len(observed) >= _FEWEST_BEADS else 1.0
    theirs = np.exp(log_probabilities(_grid() / looseness))
    weight = _OBSERVED_WEIGHT * len(observed) / (len(observed) + _HALF_WEIGHT_BEADS)
    return LengthModel(ratio, np.log(weight * exceeding + (1 - weight) * theirs))


def _unadapted_model(characters: Sequence[tuple[Floats, Floats]]) -> LengthModel:
    """Gale and Church's distribution around the ratio of the whole texts."""
    source, target = (sum(float(sides[side].sum() + len(sides[side])) for sides in characters) for side in (0, 1))
    return LengthModel(max(target, 1.0) / max(source, 1.0), _gale_church_table())


class LengthEvidence:
    """Scores a bead by weight × log P(|δ|), its lengths' difference in standard deviations (Gale and Church 1993,
    §3.3).

    The contrast makes it a log-likelihood ratio: how much likelier two lengths are together than apart.
    """

    def __init__(
        self,
        source: Floats,
        target: Floats,
        weight: float = 1.0,
        contrast: float = 0.0,
        max_size: int = 0,
        model: LengthModel | None = None,
    ) -> None:
        self.cumulative = (_cumulative(source), _cumulative(target))
        self.ratio, table = model or _unadapted_model([(source, target)])
        self.table = weight * table
        self.contrast = contrast
        # P(|δ|) falls from 1 as a density does; its integral is the mean of |δ|, of both signs together.
        mean_deviation = float(np.exp(table).sum()) / _STEPS
        self.constant = math.log(self.ratio) / 2 - math.log(2 * mean_deviation)
        source_cumulative, target_cumulative = self.cumulative
        self.backgrounds = _block_densities(source_cumulative, max_size), _block_densities(target_cumulative, max_size)

    def add(self, first: int, rows: int, band: Band, out: Float32s) -> None:
        kernels.add_lengths(
            first,
            *self.cumulative,
            self.ratio,
            VARIANCE,
            self.table,
            _STEPS,
            self.contrast,
            self.constant,
            *self.backgrounds,
            band.lows,
            out,
        )

    def scores(self, beads: Ints) -> Floats:
        """The scores of some beads with sentences on both sides, at most `max_size` if there is a contrast."""
        source, target = self.cumulative
        expected = (source[beads[:, 0] + beads[:, 1]] - source[beads[:, 0]]) * self.ratio
        actual = target[beads[:, 2] + beads[:, 3]] - target[beads[:, 2]]
        variances = (expected + actual) / 2 * VARIANCE
        deviations = np.abs(actual - expected) / np.sqrt(variances)
        scores: Floats = self.table[np.minimum(len(self.table) - 1, (deviations * _STEPS).astype(np.int64))]
        if self.contrast:
            one, other = self.backgrounds
            background = (one[beads[:, 1] - 1, beads[:, 0]] + other[beads[:, 3] - 1, beads[:, 2]]) / 2
            scores = scores + self.contrast * (self.constant - np.log(variances) / 2 - background)
        return scores


def _block_densities(cumulative: Floats, max_size: int) -> Floats:
    """Log-density of the characters of 1, 2 … max_size sentences from each on, by a gamma distribution: (A, n)."""
    lengths = np.diff(cumulative)
    mean, variance = float(lengths.mean()), max(float(lengths.var()), float(lengths.mean()))
    shape, scale = mean**2 / variance, variance / mean
    densities = np.zeros((max_size, len(lengths)))
    for size in range(1, min(max_size, len(lengths)) + 1):
        block = cumulative[size:] - cumulative[:-size]
        k = size * shape
        log_density = (k - 1) * np.log(block) - block / scale - k * math.log(scale) - math.lgamma(k)
        densities[size - 1, : len(block)] = log_density
    return densities


def log_probabilities(deviations: Floats) -> Floats:
    """log 2 (1 − Φ(|δ|)), the log-probability of a difference of at least |δ| standard deviations."""
    return np.array([math.log(max(math.erfc(abs(delta) / math.sqrt(2)), 1e-300)) for delta in deviations])


def _grid() -> Floats:
    return np.arange(_MAX_DEVIATION * _STEPS + 1) / _STEPS


@cache
def _gale_church_table() -> Floats:
    return log_probabilities(_grid())


def _cumulative(lengths: Floats) -> Floats:
    # Each sentence counts one character more, the space between sentences, so that no length is zero.
    return np.concatenate([[0.0], np.cumsum(lengths + 1.0)])
