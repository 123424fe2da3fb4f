"""Candidate pairs of documents: each one's nearest by its strongest words, so that not all are compared with all."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.core.optional import OptionalModule
from paraloom.text.tokens import TokenLists

sparse = OptionalModule("scipy.sparse", "aligning documents", "align")

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Matrix = Any
"""scipy.sparse's compressed rows, float32."""

# Documents whose neighbours are looked for at a time, and the words of each that take part: the commonest words hold
# most of the work and little of the likeness.
_BLOCK, _STRONGEST = 256, 48
# Entries of both rows that are multiplied at a time: some hundred megabytes.
_AT_A_TIME = 1 << 23


class Candidates(NamedTuple):
    """Pairs that may be pairs: int64 (pairs,) of source documents and of target documents, in order."""

    sources: Ints
    targets: Ints


def counts_of(lists: TokenLists, columns: npt.NDArray[np.uint64]) -> Matrix:
    """How often each document has each word of `columns` (rising ids): float32 (documents, columns)."""
    places = np.searchsorted(columns, lists.ids)
    there = places < len(columns)
    there[there] = columns[places[there]] == lists.ids[there]
    owners = np.repeat(np.arange(len(lists)), lists.lengths)
    ones = np.ones(int(there.sum()), np.float32)
    return sparse.csr_matrix((ones, (owners[there], places[there])), (len(lists), len(columns)))


def unit_rows(matrix: Matrix) -> Matrix:
    """Each row divided by its length; empty ones stay."""
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.maximum(lengths, 1e-9)) @ matrix, dtype=np.float32)


def candidates_of(source: Matrix, target: Matrix, most: int) -> Candidates:
    """The `most` nearest targets of each source and sources of each target, by the product of their rows.

    source, target: (n, d) and (m, d).  At most `most` · (n + m) pairs; of equals those that come first, and none whose
    product is 0.  Long rows are looked up by their 48 greatest entries alone, so that the nearest may be missed.
    StageContext: for each document its strongest words times the documents that have them.
    """
    rows, columns = _nearest(source, target, most)
    others, theirs = _nearest(target, source, most)
    cells = np.unique(np.concatenate([rows * target.shape[0] + columns, theirs * target.shape[0] + others]))
    return Candidates(cells // target.shape[0], cells % target.shape[0])


def products(source: Matrix, target: Matrix, pairs: Candidates) -> Floats:
    """The product of the rows of each pair, float64 (pairs,).  source, target: (n, d) and (m, d).

    Memory: bounded, however long the rows are, but for a single pair of them.
    """
    found = np.zeros(len(pairs.sources))
    entries = np.diff(source.indptr)[pairs.sources].astype(np.int64) + np.diff(target.indptr)[pairs.targets]
    parts = np.cumsum(entries) // _AT_A_TIME
    bounds = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(found)]
    for block in (slice(*bound) for bound in pairwise(bounds)):
        both = source[pairs.sources[block]].multiply(target[pairs.targets[block]])
        found[block] = np.asarray(both.sum(axis=1)).ravel()
    return found


def _nearest(of: Matrix, among: Matrix, most: int) -> tuple[Ints, Ints]:
    transposed = sparse.csr_matrix(among.T)
    rows: list[Ints] = []
    columns: list[Ints] = []
    for start in range(0, of.shape[0], _BLOCK):
        likeness = sparse.csr_matrix(_strongest(of[start : start + _BLOCK], _STRONGEST) @ transposed)
        kept = _strongest(likeness, most)
        rows.append(np.repeat(np.arange(kept.shape[0], dtype=np.int64) + start, np.diff(kept.indptr)))
        columns.append(kept.indices.astype(np.int64))
    return np.concatenate([np.empty(0, np.int64), *rows]), np.concatenate([np.empty(0, np.int64), *columns])


def _strongest(matrix: Matrix, most: int) -> Matrix:
    """Each row with its `most` greatest entries alone; of equals those that come first."""
    lengths = np.diff(matrix.indptr)
    owners = np.repeat(np.arange(matrix.shape[0]), lengths)
    order = np.lexsort((matrix.indices, -matrix.data, owners))
    ranks = np.arange(len(order)) - np.repeat(matrix.indptr[:-1], lengths)
    chosen = np.sort(order[ranks < most])
    offsets = np.concatenate([[0], np.cumsum(np.minimum(lengths, most))])
    return sparse.csr_matrix((matrix.data[chosen], matrix.indices[chosen], offsets), matrix.shape)
