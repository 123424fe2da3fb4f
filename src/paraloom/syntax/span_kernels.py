"""Loops of the span parser, compiled by numba: the numbers of the spans, and the tree of the best ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Ints
from paraloom.core.kernels import kernel

_EPSILON = np.float32(1e-5)


@kernel
def best_splits(scores: Float32s, n: int) -> npt.NDArray[np.int16]:
    """Find the binary tree whose spans have the highest sum of scores (Stern, Andreas and Klein 2017, §3)."""
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


@kernel
def spans_of_splits(splits: npt.NDArray[np.int16], n: int) -> Ints:
    """List the spans of a binary tree, each before its parts."""
    spans = np.empty((2 * n - 1, 3), np.int64)
    waiting = np.empty((n, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, n
    count = 1
    for row in range(len(spans)):
        count -= 1
        start, end = waiting[count]
        index = span_index(start, end, n)
        spans[row, 0], spans[row, 1], spans[row, 2] = start, end, index
        if end > start + 1:
            split = splits[index]
            waiting[count, 0], waiting[count, 1] = split, end
            waiting[count + 1, 0], waiting[count + 1, 1] = start, split
            count += 2
    return spans


@kernel(inline="always")
def span_index(start: int, end: int, n: int) -> int:
    """Number of the span from word `start` to before word `end` of n, ordered by start, then by end."""
    return start * n - start * (start - 1) // 2 + end - start - 1


@kernel(fastmath={"reassoc", "contract", "nsz"})
def normalized_spans(ends: Float32s, bias: Float32s, scale: Float32s, offset: Float32s, multiple: int) -> Float32s:
    """Compute the numbers of all spans of a sentence from those of their ends (Ba, Kiros and Hinton 2016, §3)."""
    n, size = len(ends) - 1, ends.shape[1]
    count = n * (n + 1) // 2
    spans = np.empty((-(-count // multiple) * multiple, size), np.float32)
    spans[count:] = 0
    row = 0
    for start in range(n):
        for end in range(start + 1, n + 1):
            span = spans[row]
            squares = np.float32(0)
            for k in range(size):
                value = ends[end, k] - ends[start, k] + bias[k]
                span[k] = value
                squares += value * value
            inverse = np.float32(1) / np.sqrt(squares / np.float32(size) + _EPSILON)
            for k in range(size):
                span[k] = max(span[k] * inverse * scale[k] + offset[k], np.float32(0))
            row += 1
    return spans
