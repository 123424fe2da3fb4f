"""Sentence alignment by Park et al. 2017: length, a constant, and the cosine of a translation and the other text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.alignment.embeddings import block_norms
from paraloom.alignment.lengths import VARIANCE, LengthEvidence, log_probabilities
from paraloom.alignment.search import Band, Evidence, LogPriors, band_along, best_alignment, path_from_lengths
from paraloom.alignment.sentences import to_beads
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import MAX_BEAD_SIZE, Bead
from paraloom.core.errors import DataError
from paraloom.text.tokens import TokenLists, tokenize

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LENGTH, CONSTANT, COSINE = 0.04, 0.21, 0.75
"""λ1, λ2 and λ3 of Park et al. 2017, §4.2."""

# Boundaries on each side of the expected path, which lengths alone determine here.
_BAND_RADIUS = 64

# λ1, and the share of λ2 in what λ1 leaves, among which the best are searched.  Small values of λ1 are denser: log2 P
# falls to -50 and lower, while the cosine ends at 1.
_LENGTHS = (0.0, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24)
_CONSTANT_SHARES = (0.0, 0.05, 0.1, 0.15, 0.22, 0.3, 0.4, 0.5, 0.6)


class Park17Weights(NamedTuple):
    """The weights λ of the formula, by default PARK17's; only their ratios matter for which beads are best."""

    length: float = LENGTH
    constant: float = CONSTANT
    cosine: float = COSINE


PUBLISHED = Park17Weights()
"""The weights of the paper, estimated on its Korean and English news."""

WEIGHTS_FILE = "weights.json"
"""File in the artifact of `tune-aligner`."""


def write_weights(folder: Path, weights: Park17Weights) -> None:
    """Write weights.json into a folder."""
    (folder / WEIGHTS_FILE).write_text(json.dumps(weights._asdict(), indent=1) + "\n", encoding="utf-8")


def read_weights(path: Path) -> Park17Weights:
    """Read the weights of an artifact of `tune-aligner`."""
    file = path / WEIGHTS_FILE if path.is_dir() else path
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
        return Park17Weights(**{name: float(values[name]) for name in Park17Weights._fields})
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            f"expected the weights {', '.join(Park17Weights._fields)} as JSON",
            file=file,
            remedy="Name a stage `tune-aligner`, or its folder.",
        ) from None


def weight_grid() -> Iterator[Park17Weights]:
    """The weights among which `tune-aligner` chooses: the published ones first, all sum to 1."""
    yield PUBLISHED
    yield from _cells()


def choose_weights(f1: Mapping[Park17Weights, float], beads: int) -> Park17Weights:
    """The weights for other documents, by the F1 on some.

    On a few hundred beads, F1 of neighboring weights differs by chance, so that the best ones are often bad for
    others.  Each cell of the grid counts with the mean of its neighborhood of 3 × 3, and the published weights are
    kept unless the best mean is better by more than the standard error, √(F1 (1 − F1) / beads).
    """
    cells = list(_cells())
    grid = np.array([f1[weights] for weights in cells]).reshape(len(_LENGTHS), len(_CONSTANT_SHARES))
    means = [
        float(grid[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2].mean())
        for row, column in np.ndindex(*grid.shape)
    ]
    published = f1[PUBLISHED]
    error = math.sqrt(max(0.0, published * (1 - published)) / max(1, beads))
    best = int(np.argmax(means))
    return cells[best] if means[best] > published + error else PUBLISHED


def _cells() -> Iterator[Park17Weights]:
    """The grid, by λ1, then λ2."""
    for length in _LENGTHS:
        for share in _CONSTANT_SHARES:
            constant = (1 - length) * share
            yield Park17Weights(length, constant, 1 - length - constant)


@dataclass(frozen=True)
class Park17Aligner:
    """PARK17's aligner as an object, like `sentences.SentenceAligner`; see `align_by_cosine`."""

    weights: Park17Weights = PUBLISHED
    max_bead_size: int = MAX_BEAD_SIZE

    def align(self, pair: TextPair) -> list[Bead]:
        """The beads of a pair of texts, in order; every sentence is in one of them."""
        return align_by_cosine(pair, self.max_bead_size, self.weights)


def open_aligner(max_bead_size: int, weights: Path | tuple[float, float, float] | None = None) -> Park17Aligner:
    """The aligner with the weights of a folder of `tune-aligner`, with given ones, or with the published ones."""
    if isinstance(weights, Path):
        return Park17Aligner(read_weights(weights), max_bead_size)
    return Park17Aligner(PUBLISHED if weights is None else Park17Weights(*weights), max_bead_size)


def align_by_cosine(
    pair: TextPair, max_bead_size: int = MAX_BEAD_SIZE, weights: Park17Weights = PUBLISHED
) -> list[Bead]:
    """Find the beads with the highest sum of λ1 log2 P(δ | match) + λ2 + λ3 cos(sources, targets).

    A baseline: `sentences.align` is more accurate.  An unaligned sentence has no cosine, and the δ of a sentence of
    mean length. See Park, Dugast, Hong, Shin and Cha 2017 (PARK17), §4.2.
    """
    source, target = pair.source, pair.target
    if not source or not target:
        unaligned = [Bead((i,), ()) for i in range(len(source))]
        return unaligned + [Bead((), (j,)) for j in range(len(target))]
    characters = [np.array([len(text) for text in texts], np.float64) for texts in (source, target)]
    # λ1 · log2 P = λ1 / ln 2 · ln P
    length_weight = weights.length / math.log(2)
    lengths = LengthEvidence(characters[0], characters[1], length_weight)
    translated = pair.source_translations[0] if pair.source_translations else source
    cosines = CosineEvidence(_word_counts(tokenize(translated), tokenize(target)), weights.cosine)
    evidence: list[Evidence] = [lengths, cosines]
    priors = np.full((max_bead_size + 1, max_bead_size + 1), weights.constant)
    for side, ratio, cell in ((0, lengths.ratio, (1, 0)), (1, 1 / lengths.ratio, (0, 1))):
        deviation = math.sqrt((characters[side].mean() + 1) * ratio / VARIANCE)
        priors[cell] += length_weight * float(log_probabilities(np.array([deviation]))[0])
    priors[0, 2:] = priors[2:, 0] = -1e30

    def make_band(radius: int) -> Band:
        return band_along(path_from_lengths(*characters), len(target), radius, 8)

    log_priors = LogPriors(priors, (float(priors[1, 0]), float(priors[0, 1])))
    return to_beads(best_alignment(evidence, log_priors, len(source), len(target), make_band, _BAND_RADIUS))


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


def _word_counts(source: TokenLists, target: TokenLists) -> BlockCosines:
    """Counts of the words of each sentence, in columns shared by both texts."""
    from scipy import sparse

    columns, numbers = np.unique(np.concatenate([source.ids, target.ids]), return_inverse=True)
    words = numbers[: len(source.ids)], numbers[len(source.ids) :]
    sides = [
        sparse.csr_matrix((np.ones(len(side), np.float32), side, lists.offsets), (len(lists), len(columns)))
        for side, lists in zip(words, (source, target), strict=True)
    ]
    return BlockCosines(*sides)


class CosineEvidence:
    """Scores a bead by weight × cosine of its sides."""

    def __init__(self, cosines: BlockCosines, weight: float) -> None:
        self._cosines, self._weight = cosines, weight

    def add(self, first: int, rows: int, band: Band, out: npt.NDArray[np.float32]) -> None:
        """See `search.Evidence`."""
        for block in self._cosines.blocks(first, rows, band, out.shape[1]):
            cells = (block.row, slice(len(block.cosines)), block.targets - 1, slice(len(block.starts)))
            out[cells] += self._weight * block.cosines
