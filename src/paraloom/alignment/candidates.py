"""Candidate pairs of documents: the nearest neighbors of each document, so that not all pairs are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from paraloom.alignment.neighbor_kernels import greatest_entries, nearest_rows, row_products
from paraloom.core.array_types import Float32s, Floats, Ids, Ints
from paraloom.core.sorted_ids import find_ids
from paraloom.text.tokens import TokenLists

Matrix = Any
"""A scipy.sparse matrix of compressed rows, float32."""

# Documents whose neighbors are searched for at a time.
_BLOCK = 256
# Pairs that are scored at a time where all pairs are.
_MAX_SCORED = 1 << 20
# Entries of a document that take part in the search: the commonest words are most of the work and add little to the
# similarity.  Likewise the documents that the index has for each word: those in which it weighs most.
# Together they bound the work per document, however many documents there are.
_MAX_WORDS, _MAX_POSTINGS = 48, 1024


class CandidatePairs(NamedTuple):
    """Pairs of documents to compare, by source, then target."""

    sources: Ints
    targets: Ints


def word_counts(lists: TokenLists, columns: Ids) -> Matrix:
    from scipy import sparse

    present, indices = find_ids(columns, lists.ids)
    owners = np.repeat(np.arange(len(lists)), lists.lengths)
    ones = np.ones(int(present.sum()), np.float32)
    return sparse.csr_matrix((ones, (owners[present], indices[present])), (len(lists), len(columns)))


def unit_rows(matrix: Matrix) -> Matrix:
    """Divide each row by its Euclidean norm; empty rows stay empty."""
    from scipy import sparse

    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.maximum(norms, 1e-9)) @ matrix, dtype=np.float32)


def nearest_pairs(source: Matrix, target: Matrix, k: int) -> CandidatePairs:
    """The k nearest targets of each source and sources of each target, by the 48 heaviest entries of a row."""
    rows, columns = _nearest(source, target, k)
    back_columns, back_rows = _nearest(target, source, k)
    cells = np.unique(np.concatenate([rows * target.shape[0] + columns, back_rows * target.shape[0] + back_columns]))
    return CandidatePairs(cells // target.shape[0], cells % target.shape[0])


def nearest_dense_pairs(source: Float32s, target: Float32s, k: int) -> CandidatePairs:
    """As `nearest_pairs`, for dense vectors; pairs with products of 0 or less are left out."""
    cells = []
    for queries, keys, forward in ((source, target, True), (target, source, False)):
        count = min(k, len(keys))
        for start in range(0, len(queries) if count else 0, _BLOCK):
            products = queries[start : start + _BLOCK] @ keys.T
            nearest = np.argsort(-products, axis=1, kind="stable")[:, :count]
            rows = np.repeat(np.arange(len(products)), count)
            columns = nearest.ravel()
            positive = products[rows, columns] > 0
            rows, columns = rows[positive] + start, columns[positive]
            cells.append(rows * len(target) + columns if forward else columns * len(target) + rows)
    return _of_cells(np.unique(np.concatenate([np.empty(0, np.int64), *cells])), len(target))


def nearest_of_all(score: Callable[[CandidatePairs], Floats], sizes: tuple[int, int], k: int) -> CandidatePairs:
    """The k best targets of each source and the k best sources of each target, after scoring all n · m pairs."""
    sources, targets = sizes
    best_scores = np.zeros((0, targets))
    best_rows = np.zeros((0, targets), np.int64)
    cells = [np.empty(0, np.int64)]
    height = max(1, _MAX_SCORED // max(1, targets))
    for start in range(0, sources if targets else 0, height):
        rows = np.arange(start, min(start + height, sources))
        pairs = CandidatePairs(np.repeat(rows, targets), np.tile(np.arange(targets), len(rows)))
        table = score(pairs).reshape(len(rows), targets)
        near = np.argsort(-table, axis=1, kind="stable")[:, :k]
        kept = np.take_along_axis(table, near, 1) > 0
        cells.append((rows[:, None] * targets + near)[kept])
        best_scores, best_rows = (
            np.concatenate([best_scores, table]),
            np.concatenate([best_rows, np.repeat(rows[:, None], targets, 1)]),
        )
        order = np.argsort(-best_scores, axis=0, kind="stable")[:k]
        best_scores, best_rows = np.take_along_axis(best_scores, order, 0), np.take_along_axis(best_rows, order, 0)
    kept = best_scores > 0
    cells.append((best_rows * targets + np.arange(targets))[kept])
    return _of_cells(np.unique(np.concatenate(cells)), targets)


def union(sets: Sequence[CandidatePairs], targets: int) -> CandidatePairs:
    """The pairs in any of several sets, each once; `targets` is the number of target documents."""
    cells = [pairs.sources * targets + pairs.targets for pairs in sets]
    return _of_cells(np.unique(np.concatenate([np.empty(0, np.int64), *cells])), targets)


def _of_cells(cells: Ints, targets: int) -> CandidatePairs:
    return CandidatePairs(cells // max(1, targets), cells % max(1, targets))


def dot_products(source: Matrix, target: Matrix, pairs: CandidatePairs) -> Floats:
    from scipy import sparse

    sides = [sparse.csr_matrix(side, dtype=np.float32) for side in (source, target)]
    a, b = sides
    return row_products(
        a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, a.shape[1], pairs.sources, pairs.targets
    )


def greatest(matrix: Matrix, k: int, worth: Float32s | None = None) -> Matrix:
    """The k greatest entries of each row; of equal ones those that come first."""
    from scipy import sparse

    kept = greatest_entries(matrix.data if worth is None else matrix.data * worth[matrix.indices], matrix.indptr, k)
    lengths = np.minimum(np.diff(matrix.indptr), k)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_matrix((matrix.data[kept], matrix.indices[kept], bounds), matrix.shape)


def _nearest(queries: Matrix, keys: Matrix, k: int) -> tuple[Ints, Ints]:
    from scipy import sparse

    if not (queries.shape[0] and keys.shape[0]):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    index = sparse.csr_matrix(keys.T, dtype=np.float32)
    postings = greatest(index, _MAX_POSTINGS)
    # A common word says little of a long document, which weighs less in it than in the short ones of the index.
    lengths = np.diff(index.indptr)
    coverage = np.minimum(lengths > 0, _MAX_POSTINGS / np.maximum(lengths, 1)).astype(np.float32)
    used = greatest(sparse.csr_matrix(queries, dtype=np.float32), _MAX_WORDS, coverage)
    return nearest_rows(
        used.data, used.indices, used.indptr, postings.data, postings.indices, postings.indptr, keys.shape[0], k
    )
