"""Mining of translations: sentence pairs of two texts by margin scores over nearest neighbors in both directions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Lock
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from paraloom.core.array_types import Bools, Ints
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.progress import Advance, progress
from paraloom.embed import mining_kernels
from paraloom.embed.average import Vectors
from paraloom.embed.search import (
    BLOCK,
    NEIGHBORS,
    SearchResult,
    StoredVectors,
    check_vectors,
    faiss_library,
    no_neighbors,
    unit_block,
    unit_blocks,
)
from paraloom.embed.threads import ThreadTeam, available_threads

Index: TypeAlias = Literal["auto", "exact", "graph"]

MARGIN_THRESHOLD = 1.2
"""Margin from which a pair is taken for a translation: about the best one for averages of subwords in three languages
(`benchmarks/bilingual.py`). CCMatrix has 1.06, for the vectors of LASER."""

# Cosines that are in memory at a time: 4,096 × 8,192, 128 MB.
_ROWS, _COLUMNS = 4096, 8192

# Links of a vector in the graph, and vectors that are visited when one is added, and when neighbors are searched. With
# these, mining among 20,000 lines loses .3 points of F1; with half the links .7, with half the visits .6.
_LINKS, _VISITED_TO_BUILD, _VISITED = 32, 100, 128

# Cosines up to which all of them are computed: some ten minutes on two processors.
_EXACT = 1e11


class MinedBitext(NamedTuple):
    """p pairs of a source and a target vector, highest margin first."""

    sources: Ints
    targets: Ints
    margins: Vectors
    cosines: Vectors


class Neighbors(NamedTuple):
    """The k nearest vectors of the other side, for each vector of both sides."""

    forward: SearchResult
    backward: SearchResult


def check_mining(*, k: int = NEIGHBORS, threshold: float = MARGIN_THRESHOLD, index: str = "auto") -> None:
    """Check the settings of `bitext_neighbors` and `select_pairs`."""
    if index not in get_args(Index):
        raise ConfigError(f"unknown index '{index}'{nearest(index, get_args(Index))}")
    if k < 1:
        raise ConfigError(f"'k' is {k}; expected 1 or more")
    if np.isnan(threshold):
        raise ConfigError("the minimum margin is nan; expected a number, such as 1.2")


def bitext_neighbors(
    source: StoredVectors, target: StoredVectors, *, k: int = NEIGHBORS, index: Index = "auto"
) -> Neighbors:
    """The k nearest vectors of the other side for all vectors: exactly, or by HNSW (Malkov and Yashunin 2018)."""
    check_mining(k=k, index=index)
    check_vectors(source)
    check_vectors(target)
    if source.shape[1] != target.shape[1]:
        raise DataError(
            f"the vectors of the source have {source.shape[1]} dimensions, those of the target {target.shape[1]}",
            remedy="Encode both with the same encoder.",
        )
    if index == "graph" or (index == "auto" and len(source) * len(target) > _EXACT):
        return _graph_neighbors(source, target, k)
    return _exact_neighbors(source, target, k)


def select_pairs(neighbors: Neighbors, *, threshold: float = MARGIN_THRESHOLD) -> MinedBitext:
    """Choose pairs by the ratio margin, the best of both directions (Artetxe and Schwenk 2019, §3, max. retrieval).

    Each vector is in one pair at most.
    """
    check_mining(threshold=threshold)
    means = [_mean_cosines(side) for side in neighbors]
    forward = _best_candidates(neighbors.forward, means[0], means[1])
    backward = _best_candidates(neighbors.backward, means[1], means[0])
    backward = MinedBitext(backward.targets, backward.sources, backward.margins, backward.cosines)
    pairs = MinedBitext(
        np.concatenate([forward.sources, backward.sources]),
        np.concatenate([forward.targets, backward.targets]),
        np.concatenate([forward.margins, backward.margins]),
        np.concatenate([forward.cosines, backward.cosines]),
    )
    pairs = _where(pairs, np.lexsort((pairs.targets, pairs.sources, -pairs.margins)))
    counts = [len(side.rows) for side in neighbors]
    pairs = _where(pairs, mining_kernels.choose_once(pairs.sources, pairs.targets, *counts))
    return _where(pairs, pairs.margins >= threshold)


def _mean_cosines(side: SearchResult) -> Vectors:
    count = (side.rows >= 0).sum(axis=1)
    return (side.cosines.sum(axis=1) / np.maximum(count, 1)).astype(np.float32)


def _best_candidates(side: SearchResult, own: Vectors, other: Vectors) -> MinedBitext:
    """The candidate of highest margin of each row that has one; `sources` are the rows."""
    scores = mining_kernels.margins(side.cosines, side.rows, own, other)
    rows = np.arange(len(scores))
    best = scores.argmax(axis=1) if scores.shape[1] else np.zeros(len(scores), np.int64)
    if not scores.size:
        empty = np.empty(0, np.int64)
        return MinedBitext(empty, empty, np.empty(0, np.float32), np.empty(0, np.float32))
    # A zero vector has cosine 0 with all.
    known = np.isfinite(scores[rows, best]) & (side.cosines[:, 0] > 0)
    rows, best = rows[known], best[known]
    return MinedBitext(rows, side.rows[rows, best], scores[rows, best], side.cosines[rows, best])


def _where(pairs: MinedBitext, chosen: Ints | Bools) -> MinedBitext:
    return MinedBitext._make(array[chosen] for array in pairs)


def _exact_neighbors(source: StoredVectors, target: StoredVectors, k: int) -> Neighbors:
    forward, backward = no_neighbors(len(source), min(k, len(target))), no_neighbors(len(target), min(k, len(source)))
    if not (len(source) and len(target)):
        return Neighbors(forward, backward)
    lowest = np.full(len(target), -np.inf, np.float32)
    team = ThreadTeam(available_threads())
    try:
        with progress("mining", len(source), unit="sentences") as advance:
            for first_row, rows in unit_blocks(source, _ROWS):
                block = slice(first_row, first_row + len(rows))
                of_rows = (forward.cosines[block], forward.rows[block])
                for first, columns in unit_blocks(target, _COLUMNS):
                    cosines = rows @ columns.T
                    team.parallel_for(len(rows), partial(mining_kernels.improve_rows, cosines, first, *of_rows))
                    span = slice(first, first + len(columns))
                    of_columns = (backward.cosines[span], backward.rows[span], lowest[span])
                    improve = partial(mining_kernels.improve_columns, cosines, first_row, *of_columns)
                    team.parallel_for(len(columns), improve)
                advance(len(rows))
    finally:
        team.close()
    return Neighbors(forward, backward)


def _graph_neighbors(source: StoredVectors, target: StoredVectors, k: int) -> Neighbors:
    """Both directions at a time, each in a thread of its own."""
    directions = ((source, target), (target, source))
    lock, stopped = Lock(), Event()
    with progress("mining", 2 * (len(source) + len(target)), unit="sentences") as advance:

        def advance_one(count: int) -> None:
            if stopped.is_set():
                raise KeyboardInterrupt
            with lock:
                advance(count)

        with ThreadPoolExecutor(len(directions)) as pool:
            searches = [pool.submit(_search_graph, *sides, k, advance_one) for sides in directions]
            try:
                forward, backward = (search.result() for search in searches)
            except BaseException:
                stopped.set()
                raise
    return Neighbors(forward, backward)


def _search_graph(queries: StoredVectors, corpus: StoredVectors, k: int, advance: Advance) -> SearchResult:
    """The k nearest vectors of each query that a walk in a graph of the corpus finds; their cosines are exact."""
    faiss = faiss_library()
    index = faiss.IndexHNSWSQ(corpus.shape[1], faiss.ScalarQuantizer.QT_8bit, _LINKS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = _VISITED_TO_BUILD, _VISITED
    # The graph depends on the order in which vectors enter it: with several threads, on chance.
    faiss.omp_set_num_threads(1)
    if len(corpus):
        index.train(unit_block(corpus, slice(0, BLOCK)))
    for _, block in unit_blocks(corpus, _ROWS):
        index.add(block)
        advance(len(block))
    faiss.omp_set_num_threads(max(1, available_threads() // 2))
    result = no_neighbors(len(queries), min(k, len(corpus)))
    for start, block in unit_blocks(queries, _ROWS):
        if result.rows.shape[1]:
            rows = index.search(block, result.rows.shape[1])[1]
            near = unit_block(corpus, rows.ravel()).reshape(*rows.shape, -1)
            cosines = np.where(rows < 0, -np.inf, np.einsum("qd,qkd->qk", block, near))
            order = np.argsort(-cosines, axis=1, kind="stable")
            span = slice(start, start + len(block))
            result.rows[span] = np.take_along_axis(rows, order, axis=1)
            result.cosines[span] = np.take_along_axis(cosines, order, axis=1)
        advance(len(block))
    return SearchResult(np.where(result.rows < 0, 0, result.cosines), result.rows)
