"""Semantic search and paraphrase mining among millions of vectors, in blocks read from disk."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Int32s, Ints
from paraloom.core.errors import ConfigError, DataError, imports_of_extra
from paraloom.core.progress import progress
from paraloom.core.seeds import generator
from paraloom.embed import mining_kernels
from paraloom.embed.average import Vectors, normalize_vectors

if TYPE_CHECKING:
    from types import ModuleType

BLOCK = 65_536  # Vectors that are in memory at a time

# Queries that are compared with a block at a time: their cosines take 16 MB.
_QUERIES = 64

StoredVectors: TypeAlias = npt.NDArray[np.floating]
"""Vectors of any precision, in memory or mapped from a file."""

_COMPARED = 8  # Sentences that are encoded again to see whether stored vectors are theirs
_TOLERANCE = 0.1  # Distance of unit vectors: half precision and other devices round

NEIGHBORS = 4  # Neighbors of the margin

# Vectors of highest cosine, besides the k, that the margin orders.
_RERANKED = 16

# Vectors per centroid in the sample for k-means, at most (faiss warns below 39).
_SAMPLE_PER_CENTROID = 256


class Found(NamedTuple):
    """A sentence of a corpus that is near to a query: its text, its cosine, and its row, from 0."""

    text: str
    cosine: float
    row: int


class SearchResult(NamedTuple):
    """The k nearest vectors of each of q queries, best first."""

    cosines: Vectors
    rows: Ints


class MinedPairs(NamedTuple):
    """p pairs of similar vectors, highest margin first."""

    first: Ints
    second: Ints
    cosines: Vectors
    margins: Vectors


def search(queries: Vectors, corpus: StoredVectors, k: int = 10, *, neighbors: int = NEIGHBORS) -> SearchResult:
    """Find the k vectors nearest to each query, of several by their ratio margin among the k + 16 highest cosines."""
    if k < 1:
        raise ConfigError(f"'k' is {k}; expected 1 or more")
    check_vectors(corpus, queries.shape[1])
    queries = unit_block(queries, slice(None))
    if not neighbors or len(queries) < 2:
        return _nearest(queries, corpus, k)
    nearest = _nearest(queries, corpus, max(k + _RERANKED, neighbors))
    rows = np.unique(nearest.rows[nearest.rows >= 0])
    means = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), BLOCK):
        block = unit_block(corpus, rows[start : start + BLOCK])
        back = _nearest(block, queries, min(neighbors, len(queries)))
        means[start : start + BLOCK] = back.cosines.mean(axis=1)
    known = (nearest.rows[:, :neighbors] >= 0).sum(axis=1)
    own = (nearest.cosines[:, :neighbors].sum(axis=1) / np.maximum(known, 1)).astype(np.float32)
    places = np.where(nearest.rows >= 0, np.searchsorted(rows, nearest.rows), -1)
    scores = mining_kernels.margins(nearest.cosines, places, own, means)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    cosines, rows = nearest
    return SearchResult(np.take_along_axis(cosines, order, axis=1), np.take_along_axis(rows, order, axis=1))


def _nearest(queries: Vectors, corpus: StoredVectors, k: int) -> SearchResult:
    """The k vectors of highest cosine to each of some unit vectors, exact, earlier rows first."""
    best = no_neighbors(len(queries), k)
    with progress("searching", len(corpus), unit="sentences") as advance:
        for start, block in unit_blocks(corpus, BLOCK):
            for first in range(0, len(queries), _QUERIES):
                part = slice(first, first + _QUERIES)
                _improve(SearchResult(best.cosines[part], best.rows[part]), queries[part] @ block.T, start)
            advance(len(block))
    return SearchResult(np.where(best.rows < 0, 0, best.cosines), best.rows)


def _improve(best: SearchResult, cosines: Vectors, start: int) -> None:
    """Merge the cosines of q queries and a block of the corpus, from row `start` on, into their best results so far."""
    k = best.cosines.shape[1]
    # After the first blocks few cosines are above the k-th best one so far.
    for query in np.flatnonzero(cosines.max(axis=1, initial=-np.inf) > best.cosines[:, -1]):
        rows = np.flatnonzero(cosines[query] > best.cosines[query, -1])
        candidates = np.concatenate([best.cosines[query], cosines[query, rows]])
        numbers = np.concatenate([best.rows[query], rows + start])
        if len(candidates) > 4 * k:
            # The k best and all that are equal to the last of them.
            lowest = np.partition(candidates, len(candidates) - k)[len(candidates) - k]
            chosen = np.flatnonzero(candidates >= lowest)
            candidates, numbers = candidates[chosen], numbers[chosen]
        order = np.argsort(-candidates, kind="stable")[:k]  # earlier rows first
        best.cosines[query], best.rows[query] = candidates[order], numbers[order]


def mine_pairs(
    corpus: StoredVectors,
    scratch: Path,
    *,
    above: float = 0.8,
    below: float = 1.0,
    k: int = 5,
    probes: int = 8,
    seed: int = 1,
) -> MinedPairs:
    """Find pairs of rows whose cosine lies in a range, by ratio margin; one of distant groups may be missed."""
    faiss = faiss_library()
    check_vectors(corpus)
    if not (k >= 1 and probes >= 1 and -1 <= above <= below):
        raise ConfigError(
            f"'k' is {k}, 'probes' {probes}, 'above' {above}, 'below' {below}; "
            "expected k and probes of 1 or more, and above not higher than below"
        )
    groups = group_vectors(corpus, scratch / "groups.npy", seed)
    _, order, bounds, stored = groups
    near = groups.near(probes)
    pairs: list[tuple[Ints, Ints, Vectors]] = []
    means = np.zeros(len(corpus), np.float32)
    with progress("mining", len(order), unit="sentences") as advance:
        for group in range(len(near)):
            own = slice(bounds[group], bounds[group + 1])
            queries = stored[own].astype(np.float32)
            if not len(queries):
                continue
            groups_near = near[group]
            others = np.concatenate([np.arange(bounds[other], bounds[other + 1]) for other in groups_near])
            candidates = np.concatenate([stored[bounds[other] : bounds[other + 1]] for other in groups_near])
            wanted = min(max(k, NEIGHBORS) + 1, len(candidates))
            cosines, indices = faiss.knn(
                queries, candidates.astype(np.float32), wanted, metric=faiss.METRIC_INNER_PRODUCT
            )
            first = order[own, None]
            second = order[others[indices]]
            known = (first != second) & (cosines <= below + 1e-3)
            neighbors = known & (np.cumsum(known, axis=1) <= NEIGHBORS)
            means[order[own]] = (cosines * neighbors).sum(axis=1) / np.maximum(neighbors.sum(axis=1), 1)
            kept = known & (cosines >= above)
            kept[:, k + 1 :] = False
            pairs.append((np.minimum(first, second)[kept], np.maximum(first, second)[kept], cosines[kept]))
            advance(len(queries))
    return _distinct(pairs, means)


def check_vectors(vectors: StoredVectors, width: int | None = None) -> None:
    remedy = "Encode the text again, with the same encoder."
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise DataError(
            f"expected an array of numbers with a row for each vector, got {vectors.dtype} of shape {vectors.shape}",
            remedy=remedy,
        )
    if width is not None and vectors.shape[1] != width:
        raise DataError(f"expected vectors of {width} dimensions, got {vectors.shape[1]}", remedy=remedy)


def check_stored(encode: Callable[[list[str]], Vectors], texts: Sequence[str], stored: StoredVectors) -> None:
    """Check that vectors are those of a few sentences, spread over the corpus that they are said to be of."""
    if len(stored) != len(texts):
        raise DataError(f"{len(stored):,} vectors for {len(texts):,} sentences", remedy="Encode the corpus again.")
    rows = np.unique(np.linspace(0, len(texts) - 1, _COMPARED).astype(np.int64))[: len(texts)]
    others = rows_of_others(encode, [texts[row] for row in rows], stored, rows)
    if len(others):
        raise DataError(
            f"the encoder gives sentence {others[0]} another vector: these are of another text or another encoder",
            remedy="Encode the corpus again.",
        )


def rows_of_others(encode: Callable[[list[str]], Vectors], texts: list[str], stored: StoredVectors, rows: Ints) -> Ints:
    """The rows whose stored vectors are not those of their texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lines without a known word
        expected = normalize_vectors(encode(texts))
    check_vectors(stored, expected.shape[1])
    return rows[np.linalg.norm(expected - unit_block(stored, rows), axis=1) > _TOLERANCE]


def unit_block(vectors: StoredVectors, rows: slice | Ints) -> Vectors:
    """Some rows of an array of vectors, divided by their norms."""
    block = vectors[rows].astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        bad = np.flatnonzero(~np.isfinite(np.linalg.norm(block, axis=1)))
    if len(bad):
        number = np.arange(len(vectors))[rows][bad[0]]
        raise DataError(
            f"vector {number + 1:,} contains values that are not finite, or too large", remedy="Encode the text again."
        )
    return normalize_vectors(block)


def unit_blocks(vectors: StoredVectors, size: int) -> Iterator[tuple[int, Vectors]]:
    """The first row of each block of an array of vectors, and the block, divided by its norms."""
    for start in range(0, len(vectors), size):
        yield start, unit_block(vectors, slice(start, start + size))


def no_neighbors(count: int, k: int) -> SearchResult:
    """The result for `count` vectors before any other was compared with them."""
    return SearchResult(np.full((count, k), -np.inf, np.float32), np.full((count, k), -1, np.int64))


class VectorGroups(NamedTuple):
    """Vectors in groups around centroids."""

    centroids: Vectors
    order: Ints
    bounds: Ints
    stored: npt.NDArray[np.float16]

    def near(self, probes: int) -> list[list[int]]:
        """The groups nearest to each group, itself included, at most `probes`, in the order of their numbers."""
        faiss = faiss_library()
        count = min(probes, len(self.centroids))
        _, near = faiss.knn(self.centroids, self.centroids, count, metric=faiss.METRIC_INNER_PRODUCT)
        return [sorted(groups) for groups in near.tolist()]


def group_vectors(corpus: StoredVectors, file: Path, seed: int) -> VectorGroups:
    """Group the rows of a corpus around √n centroids."""
    centroids = _centroids(corpus, seed)
    group = groups_of(corpus, centroids)
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(centroids) + 1))
    stored = np.lib.format.open_memmap(file, "w+", np.float16, corpus.shape)
    for start in range(0, len(order), BLOCK):
        rows = order[start : start + BLOCK]
        # Read in the order in which they lie on disk.
        ranks = np.argsort(rows)
        block = unit_block(corpus, rows[ranks])
        stored[start + ranks] = block.astype(np.float16)
    return VectorGroups(centroids, order, bounds, stored)


def faiss_library() -> ModuleType:
    """The module faiss; MissingExtraError where it is not installed."""
    with imports_of_extra("search", "mine"):
        import faiss
    return faiss


def _centroids(corpus: StoredVectors, seed: int) -> Vectors:
    """√n unit vectors, by k-means on a sample."""
    faiss = faiss_library()
    count = max(1, round(len(corpus) ** 0.5))
    selected = np.sort(generator(seed).permutation(len(corpus))[: _SAMPLE_PER_CENTROID * count])
    sample = unit_block(corpus, selected)
    means = faiss.Kmeans(corpus.shape[1], count, niter=10, spherical=True, seed=seed, min_points_per_centroid=1)
    means.train(sample)
    centroids: Vectors = means.centroids
    return centroids


def groups_of(corpus: StoredVectors, centroids: Vectors) -> Int32s:
    """The nearest centroid of each row, int32 `(n,)`."""
    faiss = faiss_library()
    group = np.empty(len(corpus), np.int32)
    for start, block in unit_blocks(corpus, BLOCK):
        _, nearest = faiss.knn(np.ascontiguousarray(block), centroids, 1, metric=faiss.METRIC_INNER_PRODUCT)
        group[start : start + BLOCK] = nearest[:, 0]
    return group


def _distinct(pairs: list[tuple[Ints, Ints, Vectors]], means: Vectors) -> MinedPairs:
    """Each pair once, highest margin first, ties in the order of their rows; 0 where both means are not positive."""
    if not pairs:
        empty = np.empty(0, np.int64)
        return MinedPairs(empty, empty, np.empty(0, np.float32), np.empty(0, np.float32))
    first, second, cosines = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
    _, selected = np.unique(np.stack([first, second], axis=1), axis=0, return_index=True)
    first, second, cosines = first[selected], second[selected], cosines[selected]
    mean = (means[first] + means[second]) / 2
    margins = np.divide(cosines, mean, out=np.zeros_like(mean), where=mean > 0)
    best = np.argsort(-margins, kind="stable")
    return MinedPairs(first[best], second[best], cosines[best], margins[best])


def lines_at(path: Path, rows: Ints) -> Iterator[str]:
    """The lines of an uncompressed text file at some rows, which count from 0, read on demand."""
    starts = array("q", [0])
    with path.open("rb") as stream:
        for line in stream:
            starts.append(starts[-1] + len(line))
        for row in rows.tolist():
            stream.seek(starts[row])
            yield stream.read(starts[row + 1] - starts[row]).decode().rstrip("\n")
