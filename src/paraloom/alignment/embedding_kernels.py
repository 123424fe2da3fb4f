"""Numba kernel of the evidence of sentence embeddings: margins of all beads of some rows, as log-likelihood ratios."""

from __future__ import annotations

import math

import numpy as np

from paraloom.core.array_types import Float32s, Floats, Ints
from paraloom.core.kernels import kernel


@kernel
def log_ratio(margin: float, match: tuple[float, float], random: tuple[float, float], lowest: float) -> float:
    """log N(margin; match) − log N(margin; random), at least `lowest`; margins above the mean count as it."""
    margin = min(margin, match[0])
    near, far = (margin - match[0]) / match[1], (margin - random[0]) / random[1]
    return max(lowest, (far * far - near * near) / 2 - math.log(match[1] / random[1]))


@kernel
def add_log_ratios(
    first: int,
    weight: float,
    source: Float32s,
    target: Float32s,
    source_norms: Floats,
    target_norms: Floats,
    source_levels: Floats,
    target_levels: Floats,
    match: tuple[float, float],
    random: tuple[float, float],
    lowest: float,
    lows: Ints,
    out: Float32s,
) -> None:
    """Add weight × the log-likelihood ratio of the margin of each bead to `out`."""
    rows, max_size, _, width = out.shape
    sources, targets = len(source), len(target)
    # Of the block so far, the sum of its products with all target sentences before each one from `low` on.
    sums = np.zeros(width + max_size)
    for r in range(min(rows, sources - first)):
        i, low = first + r, lows[first + r]
        reach = min(width + max_size - 1, targets - low)
        sums[:] = 0.0
        for a in range(min(max_size, sources - i)):
            total = 0.0
            for t in range(reach):
                dot = 0.0
                for k in range(source.shape[1]):
                    dot += source[i + a, k] * target[low + t, k]
                total += dot
                sums[t + 1] += total
            norm = max(source_norms[a, i], 1e-9)
            level = (source_levels[i + a + 1] - source_levels[i]) / norm
            for b in range(min(max_size, reach)):
                for w in range(min(width, reach - b)):
                    j = low + w
                    other = max(target_norms[b, j], 1e-9)
                    cosine = (sums[w + b + 1] - sums[w]) / max(norm * other, 1e-9)
                    margin = cosine - (level + (target_levels[j + b + 1] - target_levels[j]) / other) / 2
                    out[r, a, b, w] += weight * log_ratio(margin, match, random, lowest)
