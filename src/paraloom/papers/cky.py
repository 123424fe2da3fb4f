"""The CKY algorithm, compiled by numba: the most likely tree of a sentence under a binarized grammar."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.kernels import kernel

IMPOSSIBLE = np.float32(-np.inf)


@kernel
def fill(
    first_tag: npt.NDArray[np.int64],
    tags: npt.NDArray[np.int32],
    tag_scores: npt.NDArray[np.float32],
    first_single: npt.NDArray[np.int64],
    single_parents: npt.NDArray[np.int32],
    single_scores: npt.NDArray[np.float32],
    first_pair: npt.NDArray[np.int64],
    rights: npt.NDArray[np.int32],
    parents: npt.NDArray[np.int32],
    pair_scores: npt.NDArray[np.float32],
    beam: float,
    scores: npt.NDArray[np.float32],
    rules: npt.NDArray[np.int32],
    splits: npt.NDArray[np.int16],
    active: npt.NDArray[np.int32],
    active_count: npt.NDArray[np.int32],
) -> None:
    """Fill the chart (Younger 1967) of a sentence; words i to j, both included, have the cell `cell(i, j, n)`."""
    n = len(first_tag) - 1
    for i in range(n):
        current = cell(i, i, n)
        scores[current] = IMPOSSIBLE
        for k in range(first_tag[i], first_tag[i + 1]):
            tag = tags[k]
            if tag_scores[k] > scores[current, tag]:
                scores[current, tag] = tag_scores[k]
                rules[current, tag] = -1
        for k in range(first_tag[i], first_tag[i + 1]):
            tag = tags[k]
            for r in range(first_single[tag], first_single[tag + 1]):
                score = tag_scores[k] + single_scores[r]
                parent = single_parents[r]
                if score > scores[current, parent]:
                    scores[current, parent] = score
                    rules[current, parent] = -2 - tag
        active_count[current] = _prune(scores[current], active[current], beam)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            current = cell(i, j, n)
            row = scores[current]
            row[:] = IMPOSSIBLE
            for split in range(i, j):
                left_cell = cell(i, split, n)
                right = scores[cell(split + 1, j, n)]
                if active_count[cell(split + 1, j, n)] == 0:
                    continue
                for a in range(active_count[left_cell]):
                    left = active[left_cell, a]
                    base = scores[left_cell, left]
                    for r in range(first_pair[left], first_pair[left + 1]):
                        score = base + right[rights[r]] + pair_scores[r]
                        if score > row[parents[r]]:
                            row[parents[r]] = score
                            rules[current, parents[r]] = r
                            splits[current, parents[r]] = split
            active_count[current] = _prune(row, active[current], beam)


@kernel(inline="always")
def cell(i: int, j: int, n: int) -> int:
    """Index of the cell of words i to j, both included, of n."""
    return i * n - i * (i - 1) // 2 + j - i


@kernel
def _prune(row: npt.NDArray[np.float32], kept: npt.NDArray[np.int32], beam: float) -> int:
    """Keep the symbols of a cell whose scores are close to the best one; the others lose theirs."""
    floor = row.max() - np.float32(beam) if beam > 0 else IMPOSSIBLE
    count = 0
    for symbol in range(len(row)):
        if row[symbol] > IMPOSSIBLE:
            if row[symbol] >= floor:
                kept[count] = symbol
                count += 1
            else:
                row[symbol] = IMPOSSIBLE
    return count
