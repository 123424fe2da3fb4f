"""Cosines between runs of sentences of two texts, for the formulas of published aligners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.alignment.embeddings import block_norms
from paraloom.alignment.search import Band

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class BeadCosines(NamedTuple):
    """Cosines of the beads that start in one row of a band and have the same number of target sentences."""

    row: int
    targets: int
    starts: Ints
    cosines: Floats


class BlockCosines:
    """Cosines between blocks of consecutive sentences; a block's vector is the sum of its sentences' vectors."""

    def __init__(self, source: Any, target: Any) -> None:
        self._sides = source, target
        self._norms: dict[int, tuple[Floats, Floats]] = {}

    def norms(self, max_size: int) -> tuple[Floats, Floats]:
        """Norms of the blocks of 1, 2 … `max_size` sentences of either side, by their first sentence: (A, n)."""
        if max_size not in self._norms:
            source, target = (block_norms(side, max_size) for side in self._sides)
            self._norms[max_size] = source, target
        return self._norms[max_size]

    def blocks(self, first: int, rows: int, band: Band, max_size: int) -> Iterator[BeadCosines]:
        """The cosines of all beads that start in some rows of the band; 0 where a block has no vector."""
        norms = self.norms(max_size)
        source, target = self._sides
        for row in range(min(rows, band.sources - first)):
            i, low = first + row, int(band.lows[first + row])
            reach = min(band.width + max_size - 1, band.targets - low)
            if reach <= 0:
                continue
            lines = min(max_size, band.sources - i)
            products = source[i : i + lines] @ target[low : low + reach].T
            products = products if isinstance(products, np.ndarray) else products.toarray()
            dots = products.astype(np.float64).cumsum(axis=0)
            sums = np.concatenate([np.zeros((lines, 1)), dots.cumsum(axis=1)], axis=1)
            source_norms = norms[0][:lines, i]
            for b in range(min(max_size, reach)):
                starts = np.arange(min(band.width, reach - b))
                scale = source_norms[:, None] * norms[1][b, low + starts]
                cosines = (sums[:, starts + b + 1] - sums[:, starts]) / np.maximum(scale, 1e-9)
                yield BeadCosines(row, b + 1, starts, cosines)
