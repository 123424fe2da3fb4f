"""Evidence of vectors for beads: cosines between the summed vectors of the sentences on either side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.alignment.search import Band
from paraloom.core.seeds import generator

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]

# Random sentence pairs that estimate the cosine of unrelated sentences.
_RANDOM_PAIRS = 2000


class BeadCosines(NamedTuple):
    """Cosines of the beads that start in one row of a band and have the same number of target sentences.

    Args:
        row: The row, from the first one asked for.
        targets: Target sentences of each bead.
        starts: Columns of the band at which the beads start.
        cosines: float64 (a, starts), of 1, 2 … a source sentences.
    """

    row: int
    targets: int
    starts: Ints
    cosines: Floats


class BlockCosines:
    """Cosines between blocks of consecutive sentences; a block's vector is the sum of its sentences' vectors.

    Args:
        source: A vector for each source sentence, (m, d): a NumPy array or a SciPy sparse matrix of rows.
        target: The same for the target sentences, (n, d).
    """

    def __init__(self, source: Any, target: Any) -> None:
        self._sides = source, target
        self._norms: dict[int, list[list[Floats]]] = {}

    def blocks(self, first: int, rows: int, band: Band, max_size: int) -> Iterator[BeadCosines]:
        """The cosines of all beads that start in some rows of the band; 0 where a block has no vector.

        Args:
            first: Source boundary of the first row.
            rows: Number of rows.
            band: The search band.
            max_size: Sentences on one side of a bead at most.
        """
        norms = self._norms.get(max_size)
        if norms is None:
            norms = self._norms[max_size] = [_block_norms(side, max_size) for side in self._sides]
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
            source_norms = np.array([norms[0][a][i] for a in range(lines)])
            for b in range(min(max_size, reach)):
                starts = np.arange(min(band.width, reach - b))
                scale = source_norms[:, None] * norms[1][b][None, low + starts]
                cosines = (sums[:, starts + b + 1] - sums[:, starts]) / np.maximum(scale, 1e-9)
                yield BeadCosines(row, b + 1, starts, cosines)


class CosineEvidence:
    """Scores a bead by weight × cosine of its sides.

    Args:
        cosines: The cosines.
        weight: Factor of the score.
    """

    def __init__(self, cosines: BlockCosines, weight: float) -> None:
        self._cosines, self._weight = cosines, weight

    def add(self, first: int, rows: int, band: Band, out: Scores) -> None:
        """See `search.Evidence`."""
        for block in self._cosines.blocks(first, rows, band, out.shape[1]):
            cells = (block.row, slice(len(block.cosines)), block.targets - 1, slice(len(block.starts)))
            out[cells] += self._weight * block.cosines


class EmbeddingEvidence:
    """Scores a bead of a and b sentences by weight × (1 − c), c = (1 − cosine) · a · b / (1 − mean random cosine).

    c is vecalign's cost; the factor a · b makes up for longer blocks always being more alike.

    Args:
        source: Sentence embeddings, float32 (m, d).
        target: Sentence embeddings in the same space, float32 (n, d).
        sizes: Words of each source sentence (m,) and target sentence (n,), the weights of the embeddings in a sum.
        weight: Factor of the score.

    Reference:
        Thompson and Koehn 2019, Vecalign: Improved Sentence Alignment in Linear Time and Space, §3.
    """

    def __init__(self, source: Scores, target: Scores, sizes: tuple[Ints, Ints], weight: float) -> None:
        scaled = [side * np.maximum(size, 1)[:, None] for side, size in zip((source, target), sizes, strict=True)]
        self._cosines = BlockCosines(*(np.asarray(side, np.float32) for side in scaled))
        self._random, self._weight = mean_random_cosine(source, target), weight

    def add(self, first: int, rows: int, band: Band, out: Scores) -> None:
        """See `search.Evidence`."""
        for block in self._cosines.blocks(first, rows, band, out.shape[1]):
            sources = np.arange(1, len(block.cosines) + 1)[:, None]
            costs = (1 - block.cosines) * sources * block.targets / max(1e-3, 1 - self._random)
            cells = (block.row, slice(len(block.cosines)), block.targets - 1, slice(len(block.starts)))
            out[cells] += self._weight * (1 - costs)


def mean_random_cosine(source: Scores, target: Scores) -> float:
    """Mean cosine of 2,000 random pairs of a source and a target sentence; always the same sample.

    Args:
        source: float32 (m, d).
        target: float32 (n, d).
    """
    pairs = generator(1).integers(0, (len(source), len(target)), (_RANDOM_PAIRS, 2))
    a, b = source[pairs[:, 0]], target[pairs[:, 1]]
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = (a * b).sum(axis=1) / np.maximum(norms, 1e-9)
    return float(cosines.mean())


def _block_norms(rows: Any, max_size: int) -> list[Floats]:
    """Norms of the vectors of 1, 2 … `max_size` sentences together, by the sentence that they start at."""
    norms = []
    block = rows
    for count in range(1, max_size + 1):
        squares = (block * block if isinstance(block, np.ndarray) else block.multiply(block)).sum(axis=1)
        norms.append(np.sqrt(np.asarray(squares, np.float64).ravel()))
        block = block[: max(0, block.shape[0] - 1)] + rows[count:]
    return norms
