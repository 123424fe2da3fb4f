"""Kernels of mining: the k highest cosines of each row and of each column, updated block by block."""

from __future__ import annotations

import numpy as np

from paraloom.core.kernels import kernel


@kernel
def improve_rows(cosines, first_column, best, indices, begin, end):
    """Merge a block of cosines (r, c), whose first column is `first_column`, into the best k of its rows, in place."""
    last = best.shape[1] - 1
    for row in range(begin, end):
        values, numbers, line = best[row], indices[row], cosines[row]
        lowest = values[last]
        for column in range(len(line)):
            if line[column] > lowest:
                _insert(values, numbers, line[column], first_column + column)
                lowest = values[last]


@kernel
def improve_columns(cosines, first_row, best, indices, lowest, begin, end):
    """The same for the columns from begin to end: best (c, k), its last column `lowest` (c,), indices int64 (c, k)."""
    last = best.shape[1] - 1
    for row in range(len(cosines)):
        line = cosines[row]
        for column in range(begin, end):
            if line[column] > lowest[column]:
                _insert(best[column], indices[column], line[column], first_row + row)
                lowest[column] = best[column, last]


@kernel
def choose_once(sources, targets, source_count, target_count):
    """From first to last, the pairs whose source and target are in no earlier chosen one: bool (p,)."""
    used_sources, used_targets = np.zeros(source_count, np.bool_), np.zeros(target_count, np.bool_)
    chosen = np.zeros(len(sources), np.bool_)
    for pair in range(len(sources)):
        if not (used_sources[sources[pair]] or used_targets[targets[pair]]):
            used_sources[sources[pair]] = used_targets[targets[pair]] = chosen[pair] = True
    return chosen


@kernel
def _insert(values, numbers, value, number):
    slot = len(values) - 1
    while slot > 0 and values[slot - 1] < value:
        values[slot] = values[slot - 1]
        numbers[slot] = numbers[slot - 1]
        slot -= 1
    values[slot] = value
    numbers[slot] = number


@kernel
def margins(cosines, indices, own_means, other_means):
    """Ratio margin of each candidate, -inf where an index is negative or both mean cosines are not positive."""
    scores = np.full(cosines.shape, -np.inf, np.float32)
    for row in range(cosines.shape[0]):
        for slot in range(cosines.shape[1]):
            other = indices[row, slot]
            if other >= 0:
                mean = (own_means[row] + other_means[other]) / np.float32(2)
                if mean > 0:
                    scores[row, slot] = cosines[row, slot] / mean
    return scores
