"""The likeliest tree of a sentence under a binary grammar: the CKY algorithm over rules sorted by their left child."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

NOTHING = np.float32(-np.inf)


@njit(cache=True, nogil=True)
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
    width: float,
    scores: npt.NDArray[np.float32],
    rules: npt.NDArray[np.int32],
    splits: npt.NDArray[np.int16],
    active: npt.NDArray[np.int32],
    active_count: npt.NDArray[np.int32],
) -> None:
    """Fill the chart of a sentence of n words; the cell of words i to j, both in it, is `cell(i, j, n)`.

    first_tag, tags, tag_scores: the tags of word i are those from first_tag[i] to first_tag[i + 1].  first_single …,
    first_pair …: likewise the rules of a child, and of a left child.  width: symbols that are this many nats below
    the best of their cell build nothing; 0 keeps all.
    scores, rules, splits (cells, symbols): log-probability, the rule that gave it (−1: a tag, −2 − s: a phrase over
    the lone tag s), and the last word of its left child.  active (cells, symbols), active_count (cells,): room for the
    symbols of each cell.
    """
    n = len(first_tag) - 1
    for i in range(n):
        here = cell(i, i, n)
        scores[here] = NOTHING
        for k in range(first_tag[i], first_tag[i + 1]):
            tag = tags[k]
            if tag_scores[k] > scores[here, tag]:
                scores[here, tag] = tag_scores[k]
                rules[here, tag] = -1
        for k in range(first_tag[i], first_tag[i + 1]):
            tag = tags[k]
            for r in range(first_single[tag], first_single[tag + 1]):
                score = tag_scores[k] + single_scores[r]
                parent = single_parents[r]
                if score > scores[here, parent]:
                    scores[here, parent] = score
                    rules[here, parent] = -2 - tag
        active_count[here] = _choose(scores[here], active[here], width)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            here = cell(i, j, n)
            row = scores[here]
            row[:] = NOTHING
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
                            rules[here, parents[r]] = r
                            splits[here, parents[r]] = split
            active_count[here] = _choose(row, active[here], width)


@njit(cache=True, nogil=True, inline="always")
def cell(i: int, j: int, n: int) -> int:
    """The number of the cell of words i to j, both in it, of n."""
    return i * n - i * (i - 1) // 2 + j - i


@njit(cache=True, nogil=True)
def _choose(row: npt.NDArray[np.float32], chosen: npt.NDArray[np.int32], width: float) -> int:
    """Keep the symbols of a cell that are not too far below its best; the others get no score."""
    floor = row.max() - np.float32(width) if width > 0 else NOTHING
    count = 0
    for symbol in range(len(row)):
        if row[symbol] > NOTHING:
            if row[symbol] >= floor:
                chosen[count] = symbol
                count += 1
            else:
                row[symbol] = NOTHING
    return count
