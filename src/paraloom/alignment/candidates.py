"""Candidate pairs of documents: the nearest neighbors of each document, so that not all pairs are compared."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from paraloom.text.tokens import TokenLists

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]
Matrix = Any
"""A scipy.sparse matrix of compressed rows, float32."""

# Documents whose neighbors are searched for at a time, and the words of each that take part: the commonest words are
# most of the work and add little to the similarity.
_BLOCK, _MAX_WORDS = 256, 48
# Entries of both rows that are multiplied at a time: some hundred megabytes.
_MAX_ENTRIES = 1 << 23


class CandidatePairs(NamedTuple):
    """Pairs of documents to compare, by source, then target.

    Args:
        sources: int64 (pairs,), indices of source documents.
        targets: int64 (pairs,), indices of target documents.
    """

    sources: Ints
    targets: Ints


def word_counts(lists: TokenLists, columns: npt.NDArray[np.uint64]) -> Matrix:
    """Count the words of each document.

    Args:
        lists: Words of n documents.
        columns: Token ids to count, ascending; other words are ignored.

    Returns:
        Sparse float32 (n, columns).
    """
    indices = np.searchsorted(columns, lists.ids)
    present = indices < len(columns)
    present[present] = columns[indices[present]] == lists.ids[present]
    owners = np.repeat(np.arange(len(lists)), lists.lengths)
    ones = np.ones(int(present.sum()), np.float32)
    return sparse.csr_matrix((ones, (owners[present], indices[present])), (len(lists), len(columns)))


def unit_rows(matrix: Matrix) -> Matrix:
    """Divide each row by its Euclidean norm; empty rows stay empty.

    Args:
        matrix: Sparse (n, d).
    """
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.maximum(norms, 1e-9)) @ matrix, dtype=np.float32)


def nearest_pairs(source: Matrix, target: Matrix, k: int) -> CandidatePairs:
    """The k nearest targets of each source, and the k nearest sources of each target, by dot product.

    Only the 48 greatest entries of a row take part in the search, so that a neighbor of a long row may be missed.

    Args:
        source: Sparse (n, d).
        target: Sparse (m, d).
        k: Neighbors of each row.

    Returns:
        At most k · (n + m) pairs, none with a product of 0; of equal neighbors those that come first.
    """
    rows, columns = _nearest(source, target, k)
    back_columns, back_rows = _nearest(target, source, k)
    cells = np.unique(np.concatenate([rows * target.shape[0] + columns, back_rows * target.shape[0] + back_columns]))
    return CandidatePairs(cells // target.shape[0], cells % target.shape[0])


def nearest_dense_pairs(source: Vectors, target: Vectors, k: int) -> CandidatePairs:
    """As `nearest_pairs`, for dense vectors; pairs with products of 0 or less are left out.

    Args:
        source: float32 (n, d).
        target: float32 (m, d).
        k: Neighbors of each row.
    """
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


def union(first: CandidatePairs, second: CandidatePairs, targets: int) -> CandidatePairs:
    """The pairs in either, each once; `targets` is the number of target documents."""
    cells = [pairs.sources * targets + pairs.targets for pairs in (first, second)]
    return _of_cells(np.unique(np.concatenate(cells)), targets)


def _of_cells(cells: Ints, targets: int) -> CandidatePairs:
    return CandidatePairs(cells // max(1, targets), cells % max(1, targets))


def dot_products(source: Matrix, target: Matrix, pairs: CandidatePairs) -> Floats:
    """The dot product of the rows of each pair, in bounded memory.

    Args:
        source: Sparse (n, d).
        target: Sparse (m, d).
        pairs: Rows of both.

    Returns:
        float64 (pairs,).
    """
    products = np.zeros(len(pairs.sources))
    entries = np.diff(source.indptr)[pairs.sources].astype(np.int64) + np.diff(target.indptr)[pairs.targets]
    parts = np.cumsum(entries) // _MAX_ENTRIES
    bounds = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(products)]
    for block in (slice(*bound) for bound in pairwise(bounds)):
        both = source[pairs.sources[block]].multiply(target[pairs.targets[block]])
        products[block] = np.asarray(both.sum(axis=1)).ravel()
    return products


def _nearest(queries: Matrix, keys: Matrix, k: int) -> tuple[Ints, Ints]:
    transposed = sparse.csr_matrix(keys.T)
    rows: list[Ints] = []
    columns: list[Ints] = []
    for start in range(0, queries.shape[0], _BLOCK):
        similarity = sparse.csr_matrix(_greatest(queries[start : start + _BLOCK], _MAX_WORDS) @ transposed)
        kept = _greatest(similarity, k)
        rows.append(np.repeat(np.arange(kept.shape[0], dtype=np.int64) + start, np.diff(kept.indptr)))
        columns.append(kept.indices.astype(np.int64))
    return np.concatenate([np.empty(0, np.int64), *rows]), np.concatenate([np.empty(0, np.int64), *columns])


def _greatest(matrix: Matrix, k: int) -> Matrix:
    """The k greatest entries of each row; of equal ones those that come first."""
    lengths = np.diff(matrix.indptr)
    owners = np.repeat(np.arange(matrix.shape[0]), lengths)
    order = np.lexsort((matrix.indices, -matrix.data, owners))
    ranks = np.arange(len(order)) - np.repeat(matrix.indptr[:-1], lengths)
    chosen = np.sort(order[ranks < k])
    offsets = np.concatenate([[0], np.cumsum(np.minimum(lengths, k))])
    return sparse.csr_matrix((matrix.data[chosen], matrix.indices[chosen], offsets), matrix.shape)
