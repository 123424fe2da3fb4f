"""Numba kernels of the evidence of lengths for beads."""

from __future__ import annotations

import math

from paraloom.core.array_types import Float32s, Floats, Ints
from paraloom.core.kernels import kernel


@kernel
def add_lengths(
    first: int,
    source: Floats,
    target: Floats,
    ratio: float,
    variance: float,
    table: Floats,
    steps: int,
    contrast: float,
    constant: float,
    source_background: Floats,
    target_background: Floats,
    lows: Ints,
    out: Float32s,
) -> None:
    """Add table[|δ| × steps] of each bead, and contrast × (constant − log σ − mean of both background densities)."""
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
                    square = (expected + actual) / 2 * variance
                    deviation = abs(actual - expected) / math.sqrt(square)
                    out[r, a, b, w] += table[min(len(table) - 1, int(deviation * steps))]
                    if contrast:
                        background = (source_background[a, i] + target_background[b, j]) / 2
                        out[r, a, b, w] += contrast * (constant - math.log(square) / 2 - background)
