"""Cosines between the sums of vectors of several sentences on either side, for all beads in a band."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.align.band import Band
from paraloom.core.seeds import generator

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]

# Random pairs of sentences that say what cosine two have that do not belong together.
_RANDOM = 2000


class Block(NamedTuple):
    """Beads of 1, 2 … a sources from first + row on and `targets` targets from each of the places `starts` of the band.

    cosines: float64 (a, starts).
    """

    row: int
    targets: int
    starts: Ints
    cosines: Floats


class BlockCosines:
    """source, target: a row a sentence, (m, d) and (n, d), scipy's sparse rows or numpy's; the sum of a block's rows is
    its vector.  Cosines of blocks without a vector are 0."""

    def __init__(self, source: Any, target: Any) -> None:
        self._sides = source, target

    def blocks(self, first: int, rows: int, band: Band, most: int) -> Iterator[Block]:
        """Those that start in some rows of the band, within the texts."""
        lengths = [_block_lengths(side, most) for side in self._sides]
        source, target = self._sides
        for row in range(min(rows, band.sources - first)):
            i, low = first + row, int(band.lows[first + row])
            reach = min(band.width + most - 1, band.targets - low)
            if reach <= 0:
                continue
            lines = min(most, band.sources - i)
            found = source[i : i + lines] @ target[low : low + reach].T
            dots = (found if isinstance(found, np.ndarray) else found.toarray()).astype(np.float64).cumsum(axis=0)
            sums = np.concatenate([np.zeros((lines, 1)), dots.cumsum(axis=1)], axis=1)
            ours = np.array([lengths[0][a][i] for a in range(lines)])
            for b in range(min(most, reach)):
                starts = np.arange(min(band.width, reach - b))
                norms = ours[:, None] * lengths[1][b][None, low + starts]
                yield Block(row, b + 1, starts, (sums[:, starts + b + 1] - sums[:, starts]) / np.maximum(norms, 1e-9))


class CosineMatch:
    """weight × cosine of each bead's sides."""

    def __init__(self, cosines: BlockCosines, weight: float) -> None:
        self._cosines, self._weight = cosines, weight

    def add(self, first: int, rows: int, band: Band, out: Scores) -> None:
        for block in self._cosines.blocks(first, rows, band, out.shape[1]):
            places = (block.row, slice(len(block.cosines)), block.targets - 1, slice(len(block.starts)))
            out[places] += self._weight * block.cosines


class VectorMatch:
    """weight × (1 − c), c = (1 − cosine) · a · b / (1 − usual): vecalign's cost (Thompson, Koehn 2019), turned.

    source, target: float32 (m, d) and (n, d), a vector of each sentence, both in one space.  sizes: the words of each
    sentence, by which sums of vectors are weighted.  a, b: sentences on each side of a bead, for longer blocks are
    always more alike.  usual: the mean cosine of sentences drawn by chance.
    """

    def __init__(self, source: Scores, target: Scores, sizes: tuple[Ints, Ints], weight: float) -> None:
        scaled = [side * np.maximum(size, 1)[:, None] for side, size in zip((source, target), sizes, strict=True)]
        self._cosines = BlockCosines(*(np.asarray(side, np.float32) for side in scaled))
        self._usual, self._weight = usual_cosine(source, target), weight

    def add(self, first: int, rows: int, band: Band, out: Scores) -> None:
        for block in self._cosines.blocks(first, rows, band, out.shape[1]):
            sources = np.arange(1, len(block.cosines) + 1)[:, None]
            costs = (1 - block.cosines) * sources * block.targets / max(1e-3, 1 - self._usual)
            places = (block.row, slice(len(block.cosines)), block.targets - 1, slice(len(block.starts)))
            out[places] += self._weight * (1 - costs)


def usual_cosine(source: Scores, target: Scores) -> float:
    """The mean cosine of sentences drawn by chance; always the same draw."""
    draw = generator(1)
    pairs = draw.integers(0, (len(source), len(target)), (_RANDOM, 2))
    a, b = source[pairs[:, 0]], target[pairs[:, 1]]
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = (a * b).sum(axis=1) / np.maximum(norms, 1e-9)
    return float(cosines.mean())


def _block_lengths(rows: Any, most: int) -> list[Floats]:
    """The lengths of the vectors of 1, 2 … `most` sentences together, by the sentence that they start at."""
    found = []
    block = rows
    for count in range(1, most + 1):
        squares = (block * block if isinstance(block, np.ndarray) else block.multiply(block)).sum(axis=1)
        found.append(np.sqrt(np.asarray(squares, np.float64).ravel()))
        block = block[: max(0, block.shape[0] - 1)] + rows[count:]
    return found
