"""What training makes small: the margin between a paraphrase and the hardest sentence that is none."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.embed import loss_kernels

Indices = npt.NDArray[np.int64]


class Triples(NamedTuple):
    """Rows of a batch of vectors, int64 (t,) each; a negative below 0: there is none, the triple counts as 0."""

    anchors: Indices
    positives: Indices
    negatives: Indices


class Loss(NamedTuple):
    """value: of the batch.  violations: triples inside the margin.  gradient: float32 (n, d), of value by vector.

    moved: bool (n,), whether any triple inside the margin holds the vector; elsewhere the gradient is 0.
    """

    value: float
    violations: int
    gradient: npt.NDArray[np.float32]
    moved: npt.NDArray[np.bool_]


def margin_loss(vectors: npt.NDArray[np.float32], triples: Triples, margin: float, pairs: int) -> Loss:
    """Σ max(0, δ − cos(anchor, positive) + cos(anchor, negative)) / pairs, and its gradient.

    vectors: float32 (n, d).  PNMT §4.1 has one triple a pair, (s, s', t); W17 §4.2 two, the other one from s'.
    A zero vector has cosine 0 with everything, and no gradient.

    >>> at = np.array
    >>> loss = margin_loss(np.float32([[1, 0], [1, 0], [0, 1]]), Triples(at([0]), at([1]), at([2])), 1.4, 1)
    >>> round(loss.value, 4), loss.violations
    (0.4, 1)
    """
    gradient, moved = np.zeros_like(vectors), np.zeros(len(vectors), np.bool_)
    value, violations = loss_kernels.margin(
        vectors, *triples, np.float32(margin), np.float32(1 / pairs), gradient, moved
    )
    return Loss(value, violations, gradient, moved)


def batch_triples(count: int, from_first: Indices, from_second: Indices | None = None) -> Triples:
    """The triples of a batch whose vectors are: `count` first sides, as many second sides, then the negatives.

    from_first, from_second: int64 (count,), the negatives' row in the mega-batch, −1 for none; only their sign counts
    here.  from_second is there for the two-sided loss.
    """
    first = np.arange(count, dtype=np.int64)
    second = first + count
    chosen = np.where(from_first >= 0, first + 2 * count, -1)
    if from_second is None:
        return Triples(first, second, chosen)
    back = np.where(from_second >= 0, first + 3 * count, -1)
    return Triples(np.r_[first, second], np.r_[second, first], np.r_[chosen, back])


def similarity_loss(vectors: npt.NDArray[np.float32], wanted: npt.NDArray[np.float32]) -> Loss:
    """Σ (cos(i, j) − wanted(i, j))² / n over all i ≠ j of a batch, and its gradient.

    vectors: float32 (n, d).  wanted: float32 (n, n), symmetric, such as another encoder's cosines; its diagonal is
    not looked at.  A zero vector has cosine 0 with everything, and no gradient.

    >>> loss = similarity_loss(np.float32([[1, 0], [0, 2]]), np.float32([[1, 0.5], [0.5, 1]]))
    >>> round(loss.value, 4)
    0.25
    """
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    known = norms > 0
    lengths = np.where(known, norms, 1)
    units = vectors / lengths
    off = units @ units.T
    off -= wanted
    np.fill_diagonal(off, 0)
    count = len(vectors)
    # A vector too long to have a length has the cosine 0 with everything here, which must not pass for learning.
    value = float(np.einsum("ij,ij->", off, off)) / count if np.isfinite(norms).all() else math.nan
    by_unit = off @ units
    by_unit *= 4 / count
    # Of d cos / d vector only what is at right angles to the vector remains.
    by_unit -= np.einsum("nd,nd->n", by_unit, units)[:, None] * units
    gradient = np.where(known, by_unit / lengths, 0).astype(np.float32, copy=False)
    return Loss(value, 0, gradient, known[:, 0])
