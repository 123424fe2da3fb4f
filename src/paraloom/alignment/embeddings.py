"""Evidence of vectors for beads: cosines between the summed vectors of the sentences on either side."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from paraloom.alignment import embedding_kernels as kernels
from paraloom.alignment.search import Band
from paraloom.core.array_types import Float32s, Floats, Ints
from paraloom.core.seeds import generator

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Sentences whose nearest ones show what corresponds; rows of cosines in memory at a time; random pairs.
_SAMPLE, _ROWS, _RANDOM_PAIRS = 1000, 128, 2000
# Pairs of nearest sentences to estimate a distribution from; its deviation, and a log-likelihood ratio, at least.
_MIN_MATCHES, _MIN_DEVIATION, _MIN_RATIO = 3, 1e-3, -6.0


class EmbeddingEvidence:
    """Scores a bead by weight × the log-likelihood ratio of the margin between its sides, −6 at least.

    The margin is the cosine less the mean cosine of either side with the other text (Artetxe and Schwenk 2019): normal
    among mutually nearest sentences and among random pairs. What is more similar than usual counts as usual.
    """

    def __init__(self, source: Float32s, target: Float32s, sizes: tuple[Ints, Ints], weight: float = 1.0) -> None:
        units = [unit_rows(side) for side in (source, target)]
        means = units[1].mean(axis=0), units[0].mean(axis=0)
        levels = [side @ mean for side, mean in zip(units, means, strict=True)]
        matching, random = _nearest_margins(*units, *levels), _random_margins(*units, *levels)
        few = len(matching) < _MIN_MATCHES
        self._weight = 0.0 if few else weight
        self._match = (0.0, 1.0) if few else (float(np.median(matching)), float(matching.std()))
        self._random = float(random.mean()), max(float(random.std()), _MIN_DEVIATION)
        self._match = self._match[0], max(self._match[1], self._random[1])
        scaled = [side * np.maximum(size, 1)[:, None] for side, size in zip((source, target), sizes, strict=True)]
        self._sides = [np.asarray(side, np.float32) for side in scaled]
        self._levels = [side @ mean for side, mean in zip(scaled, means, strict=True)]
        self._prepare()

    def _prepare(self) -> None:
        self._norms: dict[int, list[Floats]] = {}
        # The mean cosine of a block is the sum of its sentences' products with the mean, over its norm.
        self._products = [_cumulative(levels) for levels in self._levels]

    def weighted(self, factor: float) -> EmbeddingEvidence:
        other = copy.copy(self)
        other._weight = factor * self._weight
        return other

    def select(self, source: Ints, target: Ints) -> EmbeddingEvidence:
        """The evidence of some of the sentences; what is similar is judged by all of them."""
        other, rows = copy.copy(self), (source, target)
        other._sides = [side[some] for side, some in zip(self._sides, rows, strict=True)]
        other._levels = [levels[some] for levels, some in zip(self._levels, rows, strict=True)]
        other._prepare()
        return other

    def add(self, first: int, rows: int, band: Band, out: Float32s) -> None:
        if not self._weight:
            return
        (source, target), (source_levels, target_levels) = self._sides, self._products
        max_size = out.shape[1]
        if max_size not in self._norms:
            self._norms[max_size] = [block_norms(side, max_size) for side in self._sides]
        source_norms, target_norms = self._norms[max_size]
        kernels.add_log_ratios(
            first,
            self._weight,
            source,
            target,
            source_norms,
            target_norms,
            source_levels,
            target_levels,
            self._match,
            self._random,
            _MIN_RATIO,
            band.lows,
            out,
        )

    def anchors(self) -> tuple[Ints, Ints, Floats]:
        """Pairs of sentences that are each other's nearest by margin, and more probably correspond than not."""
        if not self._weight:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        norms = [np.maximum(np.linalg.norm(side, axis=1), 1e-9) for side in self._sides]
        (source, target), (rows, columns) = (
            [
                values / norm if values.ndim == 1 else values / norm[:, None]
                for values, norm in zip(vectors, norms, strict=True)
            ]
            for vectors in (self._sides, self._levels)
        )
        forward, margins = _nearest(source, target, rows, columns)
        backward, _ = _nearest(target, source, columns, rows)
        ratios = self.log_ratios(margins)
        chosen = np.flatnonzero((backward[forward] == np.arange(len(forward))) & (ratios > 0))
        return chosen, forward[chosen], ratios[chosen]

    def log_ratios(self, margins: Floats) -> Floats:
        """The log-likelihood ratio of each margin: corresponding against random, −6 at least."""
        ratios = [kernels.log_ratio(float(margin), self._match, self._random, _MIN_RATIO) for margin in margins]
        return np.array(ratios, np.float64)


def _nearest(
    source: Float32s, target: Float32s, source_levels: Float32s, target_levels: Float32s
) -> tuple[Ints, Floats]:
    """The target sentence with the highest margin for each source sentence, and that margin."""
    nearest, margins = np.zeros(len(source), np.int64), np.zeros(len(source))
    for start in range(0, len(source), _ROWS):
        some = slice(start, start + _ROWS)
        block = source[some] @ target.T - (source_levels[some, None] + target_levels) / 2
        nearest[some] = block.argmax(axis=1)
        margins[some] = block.max(axis=1)
    return nearest, margins


def _nearest_margins(source: Float32s, target: Float32s, source_levels: Float32s, target_levels: Float32s) -> Float32s:
    """Margins of pairs that are each other's nearest, of 1,000 source sentences spread over the text at most."""
    rows = np.unique(np.linspace(0, len(source) - 1, min(len(source), _SAMPLE)).astype(np.int64))
    nearest, margins = _nearest(source[rows], target, source_levels[rows], target_levels)
    backward, _ = _nearest(target[nearest], source, target_levels[nearest], source_levels)
    return np.asarray(margins[backward == rows], np.float32)


def _random_margins(source: Float32s, target: Float32s, source_levels: Float32s, target_levels: Float32s) -> Float32s:
    """Margins of 2,000 random pairs; always the same sample."""
    pairs = generator(1).integers(0, (len(source), len(target)), (_RANDOM_PAIRS, 2))
    cosines = np.einsum("nd,nd->n", source[pairs[:, 0]], target[pairs[:, 1]])
    margins: Float32s = cosines - (source_levels[pairs[:, 0]] + target_levels[pairs[:, 1]]) / 2
    return margins


def unit_rows(vectors: Float32s) -> Float32s:
    """Vectors of norm 1; zero ones stay zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-9), np.float32)


def _cumulative(values: Float32s) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])


def block_norms(rows: Float32s | csr_array, max_size: int) -> Floats:
    """Norms of the vectors of 1, 2 … `max_size` sentences together, by the first one: (A, n); 0 beyond the end."""
    norms = np.zeros((max_size, rows.shape[0]))
    block = rows
    for count in range(1, min(max_size, rows.shape[0]) + 1):
        squares = (block * block if isinstance(block, np.ndarray) else block.multiply(block)).sum(axis=1)
        norms[count - 1, : block.shape[0]] = np.sqrt(np.asarray(squares, np.float64).ravel())
        block = block[:-1] + rows[count:]
    return norms
