"""Losses with their gradients, and the search for hard negatives."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from paraloom.core.array_types import Bools, Float32s, Ids, Ints
from paraloom.embed import loss_kernels
from paraloom.embed.threads import ThreadTeam

# Anchors whose cosines are in memory at a time; with 4,000 candidates these take 4 MB.
_BLOCK = 256
# Products of unit vectors differ by less than half of this between implementations of matrix multiplication.
_TOLERANCE = np.float32(1e-4)


class Triples(NamedTuple):
    """Triples of rows in a batch of vectors, int64 `(t,)` each; a triple without a negative (-1) has loss 0."""

    anchors: Ints
    positives: Ints
    negatives: Ints


class Loss(NamedTuple):
    """A loss and its gradient."""

    value: float
    violations: int
    gradient: Float32s
    active: Bools


def margin_loss(vectors: Float32s, triples: Triples, margin: float, pairs: int) -> Loss:
    """Σ max(0, margin − cos(anchor, positive) + cos(anchor, negative)) / pairs and gradient (PNMT §4.1, W17 §4.2)."""
    gradient, active = np.zeros_like(vectors), np.zeros(len(vectors), np.bool_)
    value, violations = loss_kernels.margin(
        vectors, *triples, np.float32(margin), np.float32(1 / pairs), gradient, active
    )
    return Loss(value, violations, gradient, active)


def batch_triples(count: int, of_first: Ints, of_second: Ints | None = None) -> Triples:
    """The triples of a batch whose rows are `count` first sides, `count` second sides, then the negatives."""
    first = np.arange(count, dtype=np.int64)
    second = first + count
    negatives = np.where(of_first >= 0, first + 2 * count, -1)
    if of_second is None:
        return Triples(first, second, negatives)
    second_negatives = np.where(of_second >= 0, first + 3 * count, -1)
    return Triples(np.r_[first, second], np.r_[second, first], np.r_[negatives, second_negatives])


def hardest_negatives(vectors: Float32s, keys: Ids, other_keys: Ids, team: ThreadTeam) -> Ints:
    """The most similar sentence of another pair, for each of a mega-batch (PNMT §4.1); no pair that shares one."""
    count = len(vectors)
    negatives, nearest = np.full(count, -1, np.int64), np.full(count, -2, np.float32)
    for start in range(0, count, _BLOCK):
        # Each pair of vectors once: anchors of the rows search to the right, anchors of the columns upwards.
        cosines = vectors[start : start + _BLOCK] @ vectors[start:].T
        rows, columns = cosines.shape
        arguments: Any = (cosines, vectors, start, keys, other_keys, _TOLERANCE, negatives, nearest)
        team.parallel_for(rows, partial(loss_kernels.search_rows, *arguments))
        team.parallel_for(columns - rows, partial(_search_columns, arguments, rows))
    return negatives


def _search_columns(arguments: Any, first: int, begin: int, end: int) -> None:
    """Search for the anchors of the columns from first + begin to first + end, which are not rows of the block."""
    loss_kernels.search_columns(*(*arguments, first + begin, first + end))


def contrastive_loss(vectors: Float32s, keys: Ids, other_keys: Ids, temperature: float, margin: float = 0.0) -> Loss:
    """Cross-entropy of finding the other sides of pairs in the batch (InfoNCE), with a margin (Yang et al. 2019)."""
    count = len(vectors) // 2
    batch = _unit_rows(vectors)
    first, second = batch.units[:count], batch.units[count:]
    scores = (first @ second.T) / np.float32(temperature)
    scores[_sharing(keys, other_keys)] = -np.inf
    diagonal = np.arange(count)
    scores[diagonal, diagonal] -= np.float32(margin / temperature)
    positive = scores[diagonal, diagonal]
    by_row, by_column = _softmax(scores, 1), _softmax(scores, 0)
    tiny = np.finfo(np.float32).tiny
    value = -0.5 * float(np.log(np.maximum(by_row[diagonal, diagonal], tiny)).mean(dtype=np.float64))
    value -= 0.5 * float(np.log(np.maximum(by_column[diagonal, diagonal], tiny)).mean(dtype=np.float64))
    if not batch.finite:
        value = math.nan
    violations = int((scores.max(axis=1) > positive).sum() + (scores.max(axis=0) > positive).sum())
    by_score = by_row + by_column
    by_score[diagonal, diagonal] -= 2
    by_score *= np.float32(0.5 / (count * temperature))
    by_unit: Float32s = np.concatenate([by_score @ second, by_score.T @ first])
    return Loss(value, violations, batch.gradient(by_unit), batch.known[:, 0])


def _sharing(keys: Ids, other_keys: Ids) -> Bools:
    """bool `(n, n)`, different pairs that share a sentence."""
    shared: Bools = (keys[:, None] == keys) | (other_keys[:, None] == other_keys)
    shared |= keys[:, None] == other_keys
    shared |= shared.T
    np.fill_diagonal(shared, False)
    return shared


def _softmax(scores: Float32s, axis: int) -> Float32s:
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    powers /= powers.sum(axis=axis, keepdims=True)
    return powers


class _UnitRows(NamedTuple):
    """The rows of a batch divided by their norms; a zero row stays zero."""

    units: Float32s
    lengths: Float32s
    known: Bools
    finite: bool

    def gradient(self, by_unit: Float32s) -> Float32s:
        """Gradient by the rows, float32 `(n, d)`: of that by the unit rows, what is orthogonal to the row."""
        along: Float32s = np.einsum("nd,nd->n", by_unit, self.units)[:, None] * self.units
        return np.where(self.known, (by_unit - along) / self.lengths, 0).astype(np.float32, copy=False)


def _unit_rows(vectors: Float32s) -> _UnitRows:
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    known = norms > 0
    lengths: Float32s = np.where(known, norms, np.float32(1))
    units: Float32s = (vectors / lengths).astype(np.float32, copy=False)
    return _UnitRows(units, lengths, known, bool(np.isfinite(norms).all()))


def similarity_loss(vectors: Float32s, target: Float32s) -> Loss:
    """Σ (cos(i, j) − target(i, j))² / n over i ≠ j of a batch, with gradient; zero vectors have cosine 0 and none."""
    batch = _unit_rows(vectors)
    units = batch.units
    errors = units @ units.T
    errors -= target
    np.fill_diagonal(errors, 0)
    count = len(vectors)
    value = float(np.einsum("ij,ij->", errors, errors)) / count if batch.finite else math.nan
    by_unit: Float32s = (errors @ units * (4 / count)).astype(np.float32, copy=False)
    return Loss(value, 0, batch.gradient(by_unit), batch.known[:, 0])


def distribution_loss(vectors: Float32s, target: Float32s, temperature: float) -> Loss:
    """Mean over i of KL(softmax_j(target(i, j) / τ) ‖ softmax_j(cos(i, j) / τ)), j ≠ i (Wada et al. 2025, §3.3)."""
    batch = _unit_rows(vectors)
    units = batch.units
    count = len(vectors)
    cosines: Float32s = units @ units.T
    ours, theirs = _log_softmax(cosines, temperature), _log_softmax(target.astype(np.float32), temperature)
    wanted = np.exp(theirs)
    np.fill_diagonal(wanted, 0)
    value = float(np.einsum("ij,ij->", wanted, theirs - ours)) / count if batch.finite else math.nan
    by_cosine = np.exp(ours)
    np.fill_diagonal(by_cosine, 0)
    by_cosine -= wanted
    by_cosine *= np.float32(1 / (count * temperature))
    by_unit: Float32s = (by_cosine + by_cosine.T) @ units
    return Loss(value, 0, batch.gradient(by_unit), batch.known[:, 0])


def _log_softmax(cosines: Float32s, temperature: float) -> Float32s:
    """log softmax over the other elements of each row; the diagonal is 0."""
    scores: Float32s = cosines / np.float32(temperature)
    np.fill_diagonal(scores, -np.inf)
    scores -= scores.max(axis=1, keepdims=True)
    np.fill_diagonal(scores, -np.inf)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    np.fill_diagonal(scores, 0)
    return scores
