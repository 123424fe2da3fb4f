"""Loops of the span parser, compiled by numba: the tree of the best spans."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True, nogil=True)
def best_splits(scores: npt.NDArray[np.float32], n: int) -> npt.NDArray[np.int16]:
    """Find the binary tree whose spans have the highest sum of scores.

    Args:
        scores: float32 `(n (n + 1) / 2,)`, of each span of words, in the order of `span_index`.
        n: Number of words.

    Returns:
        int16, of each span, in the same order: where its second part begins; 0 for single words.

    Reference:
        Stern, Andreas and Klein 2017, "A minimal span-based neural constituency parser", §3.
    """
    total = scores.copy()
    splits = np.zeros(len(scores), np.int16)
    for length in range(2, n + 1):
        for start in range(n - length + 1):
            end = start + length
            best, at = np.float32(-np.inf), start + 1
            for split in range(start + 1, end):
                value = total[span_index(start, split, n)] + total[span_index(split, end, n)]
                if value > best:
                    best, at = value, split
            total[span_index(start, end, n)] += best
            splits[span_index(start, end, n)] = at
    return splits


@njit(cache=True, nogil=True, inline="always")
def span_index(start: int, end: int, n: int) -> int:
    """Number of the span from word `start` to before word `end` of n, ordered by start, then by end."""
    return start * n - start * (start - 1) // 2 + end - start - 1
