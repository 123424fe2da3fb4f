"""The hardest negative of each sentence in a mega-batch: several mini-batches joined for the search (PNMT §4.1)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.embed import loss_kernels
from paraloom.embed.threads import Team

# Anchors whose cosines are held at a time; with 4,000 candidates that is 4 MB at most.
_BLOCK = 256
# Products of unit vectors differ by less than half of this between implementations of matrix multiplication.
_SLACK = np.float32(1e-4)


def hardest_negatives(
    vectors: npt.NDArray[np.float32], keys: npt.NDArray[np.uint64], other_keys: npt.NDArray[np.uint64], team: Team
) -> npt.NDArray[np.int64]:
    """For each sentence the most similar one of another pair, int64 (n,); −1 where there is none.

    vectors: unit vectors (n, d) of one side of n pairs.  keys, other_keys: uint64 (n,), what identifies the sentence
    on this side and on the other.  A pair that shares a sentence with the anchor's pair is never drawn: neither
    itself, nor a duplicate of the anchor or of its paraphrase, nor another paraphrase of either.

    PNMT and W17 draw t from ⟨t, ·⟩ ∈ S_b, the anchor's own side of the other pairs.

    >>> vectors = np.float32([[1, 0], [1, 0], [0, 1]])
    >>> hardest_negatives(vectors, np.uint64([7, 7, 8]), np.uint64([4, 5, 6]), Team(1)).tolist()
    [2, 2, 0]
    """
    count = len(vectors)
    negatives, nearest = np.full(count, -1, np.int64), np.full(count, -2, np.float32)
    for start in range(0, count, _BLOCK):
        # Each pair of vectors once: the rows' anchors look to the right, the columns' anchors up.
        cosines = vectors[start : start + _BLOCK] @ vectors[start:].T
        rows, columns = cosines.shape
        found: Any = (cosines, vectors, start, keys, other_keys, _SLACK, negatives, nearest)
        team.share(rows, partial(loss_kernels.raise_rows, *found))
        team.share(columns - rows, partial(_columns, found, rows))
    return negatives


def _columns(found: Any, first: int, begin: int, end: int) -> None:
    """The anchors of the columns from first + begin to first + end: those that are no rows themselves."""
    loss_kernels.raise_columns(*(*found, first + begin, first + end))
