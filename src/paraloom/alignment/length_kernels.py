"""Numba kernels of the evidence of lengths for beads."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from paraloom.core.kernels import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float32]


@kernel
def add_lengths(
    first: int,
    source: Floats,
    target: Floats,
    ratio: float,
    variance: float,
    table: Floats,
    steps: int,
    lows: Ints,
    out: Scores,
) -> None:
    """Add table[|δ| × steps] of each bead to `out`; δ is the difference of lengths in standard deviations."""
    rows, max_size, _, width = out.shape
    sources, targets = len(source) - 1, len(target) - 1
    for r in range(rows):
        i = first + r
        for a in range(min(max_size, sources - i)):
            expected = (source[i + a + 1] - source[i]) * ratio
            for b in range(max_size):
                for w in range(min(width, targets - b - lows[i])):
                    j = lows[i] + w
                    actual = target[j + b + 1] - target[j]
                    deviation = abs(actual - expected) / math.sqrt((expected + actual) / 2 * variance)
                    out[r, a, b, w] += table[min(len(table) - 1, int(deviation * steps))]


@kernel
def add_length_contrast(
    first: int,
    weight: float,
    source: Floats,
    target: Floats,
    ratio: float,
    variance: float,
    constant: float,
    source_background: Floats,
    target_background: Floats,
    lows: Ints,
    out: Scores,
) -> None:
    """Add weight × (constant − log σ − mean of the two background log-densities) of each bead to `out`."""
    rows, max_size, _, width = out.shape
    sources, targets = len(source) - 1, len(target) - 1
    for r in range(rows):
        i = first + r
        for a in range(min(max_size, sources - i)):
            expected = (source[i + a + 1] - source[i]) * ratio
            for b in range(max_size):
                for w in range(min(width, targets - b - lows[i])):
                    j = lows[i] + w
                    square = (expected + target[j + b + 1] - target[j]) / 2 * variance
                    background = (source_background[a, i] + target_background[b, j]) / 2
                    out[r, a, b, w] += weight * (constant - math.log(square) / 2 - background)
