"""Anchors: sentences of two texts that share a word which few sentences of either side have."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from paraloom.core.array_types import Floats, Ids, Ints
from paraloom.text.tokens import TokenLists

# Sentences of a side that have a rare word, at most.
_MAX_FREQUENCY = 3


WordPlaces = tuple[Ids, Ints]
"""Ids of words, and the sentence in which each is."""


def word_places(lists: TokenLists, first: int = 0) -> WordPlaces:
    """The places of all words of some sentences, numbered from `first` on."""
    return lists.ids, first + np.repeat(np.arange(len(lists)), lists.lengths)


def rare_words(blocks: Iterable[WordPlaces]) -> WordPlaces:
    """The words that few sentences of a text have, given block by block: each once a sentence, by id and sentence."""
    ids, rows, common = np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint64)
    for new_ids, new_rows in blocks:
        new = ~np.isin(new_ids, common)
        ids, rows = np.append(ids, new_ids[new]), np.append(rows, new_rows[new])
        order = np.lexsort((rows, ids))
        ids, rows = ids[order], rows[order]
        distinct = np.ones(len(ids), np.bool_)
        distinct[1:] = (ids[1:] != ids[:-1]) | (rows[1:] != rows[:-1])
        ids, rows = ids[distinct], rows[distinct]
        types, counts = np.unique(ids, return_counts=True)
        common = np.union1d(common, types[counts > _MAX_FREQUENCY])
        rare = np.repeat(counts <= _MAX_FREQUENCY, counts)
        ids, rows = ids[rare], rows[rare]
    return ids, rows


def shared_words(expected: WordPlaces, observed: WordPlaces) -> tuple[Ints, Ints, Floats]:
    """Pairs of sentences that share a rare word: rows of either side, and weights."""
    expected_types, left_starts, left = np.unique(expected[0], return_index=True, return_counts=True)
    observed_types, right_starts, right = np.unique(observed[0], return_index=True, return_counts=True)
    _, a, b = np.intersect1d(expected_types, observed_types, assume_unique=True, return_indices=True)
    left_starts, left, right_starts, right = left_starts[a], left[a], right_starts[b], right[b]
    rows, columns, weights = [], [], []
    for i, j in product(range(_MAX_FREQUENCY), repeat=2):
        some = (left > i) & (right > j)
        rows.append(expected[1][left_starts[some] + i])
        columns.append(observed[1][right_starts[some] + j])
        weights.append(1.0 / (left[some] * right[some]))
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(weights)
