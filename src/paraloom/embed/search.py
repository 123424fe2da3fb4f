"""Nearest sentences among millions: exact search in blocks, and mining of all close pairs, by faiss, off the disk."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError, MissingExtraError
from paraloom.core.progress import progress
from paraloom.core.seeds import generator
from paraloom.embed.average import Vectors, unit

BLOCK = 65_536
"""Vectors that are in memory at a time."""

# Vectors that a region's centre is found from, at most (faiss warns below 39).
_SAMPLE = 256


class Found(NamedTuple):
    """The nearest of each query, best first: float32 (q, k), and int64 (q, k), −1 where there are fewer."""

    cosines: Vectors
    places: npt.NDArray[np.int64]


class Close(NamedTuple):
    """Pairs of sentences that lie close together, closest first: int64 (p,), int64 (p,), float32 (p,)."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    cosines: Vectors


def search(queries: Vectors, corpus: npt.NDArray[np.floating[Any]], k: int = 10) -> Found:
    """The k vectors of the corpus with the highest cosine to each query; exact.

    corpus: (n, d), such as a memory-mapped .npy file: it is read a block at a time.  A zero vector has cosine 0.

    >>> search(np.float32([[1, 0]]), np.float32([[0, 1], [2, 0]]), k=1).places.tolist()
    [[1]]
    """
    faiss = _faiss()
    if k < 1:
        raise ConfigError(f"k is {k}, and must be 1 or more")
    queries = np.ascontiguousarray(unit(queries.astype(np.float32, copy=False)))
    best = faiss.ResultHeap(len(queries), k, keep_max=True)
    with progress("searching", len(corpus), unit="sentences") as advance:
        for start in range(0, len(corpus), BLOCK):
            block = np.ascontiguousarray(unit(corpus[start : start + BLOCK].astype(np.float32)))
            cosines, places = faiss.knn(queries, block, min(k, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
            best.add_result(cosines, places.astype(np.int64) + start)
            advance(len(block))
    best.finalize()
    return Found(np.where(best.I < 0, 0, best.D), best.I)


def mine(
    corpus: npt.NDArray[np.floating[Any]],
    scratch: Path,
    *,
    above: float = 0.8,
    below: float = 1.0,
    k: int = 5,
    probes: int = 8,
    seed: int = 1,
) -> Close:
    """Pairs of different rows whose cosine is from `above` to `below`: of each row the k nearest ones at most.

    corpus: (n, d), such as a memory-mapped .npy file.  Rows are sorted into regions around √n centres into a file in
    `scratch`, half precision; each is compared with those of its own region and of the `probes` − 1 nearest, so that a
    pair across distant regions may be missed.  Memory holds the regions that are compared, and the pairs.
    """
    faiss = _faiss()
    if not (k >= 1 and probes >= 1 and -1 <= above <= below):
        raise ConfigError("k and probes are 1 or more, and 'above' is no higher than 'below'")
    centres = _centres(corpus, seed)
    order, bounds = _regions(corpus, centres)
    stored = np.lib.format.open_memmap(scratch / "regions.npy", "w+", np.float16, corpus.shape)
    for start in range(0, len(order), BLOCK):
        rows = order[start : start + BLOCK]
        # Read in the order they lie on the disk.
        ranks = np.argsort(rows)
        block = unit(corpus[rows[ranks]].astype(np.float32))
        stored[start + ranks] = block.astype(np.float16)
    probes = min(probes, len(centres))
    _, near = faiss.knn(centres, centres, probes, metric=faiss.METRIC_INNER_PRODUCT)
    pairs: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Vectors]] = []
    with progress("mining", len(order), unit="sentences") as advance:
        for region in range(len(centres)):
            own = slice(bounds[region], bounds[region + 1])
            asked = stored[own].astype(np.float32)
            if not len(asked):
                continue
            others = np.concatenate([np.arange(bounds[each], bounds[each + 1]) for each in sorted(near[region])])
            given = np.concatenate([stored[bounds[each] : bounds[each + 1]] for each in sorted(near[region])])
            wanted = min(k + 1, len(given))
            cosines, places = faiss.knn(asked, given.astype(np.float32), wanted, metric=faiss.METRIC_INNER_PRODUCT)
            first = np.repeat(order[own], wanted)
            second = order[others[places.ravel()]]
            cosine = cosines.ravel()
            kept = (first != second) & (cosine >= above) & (cosine <= below + 1e-3)
            pairs.append((np.minimum(first, second)[kept], np.maximum(first, second)[kept], cosine[kept]))
            advance(len(asked))
    return _distinct(pairs)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise MissingExtraError.for_verb("search", "search") from None
    return faiss


def _centres(corpus: npt.NDArray[np.floating[Any]], seed: int) -> Vectors:
    """√n unit vectors, the means of the regions of a sample."""
    faiss = _faiss()
    count = max(1, round(len(corpus) ** 0.5))
    chosen = np.sort(generator(seed).permutation(len(corpus))[: _SAMPLE * count])
    sample = unit(corpus[chosen].astype(np.float32))
    means = faiss.Kmeans(corpus.shape[1], count, niter=10, spherical=True, seed=seed, min_points_per_centroid=1)
    means.train(sample)
    centres: Vectors = means.centroids
    return centres


def _regions(
    corpus: npt.NDArray[np.floating[Any]], centres: Vectors
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows sorted by the region they lie in, int64 (n,), and where each region begins, int64 (regions + 1,)."""
    faiss = _faiss()
    region = np.empty(len(corpus), np.int32)
    for start in range(0, len(corpus), BLOCK):
        block = np.ascontiguousarray(unit(corpus[start : start + BLOCK].astype(np.float32)))
        _, nearest = faiss.knn(block, centres, 1, metric=faiss.METRIC_INNER_PRODUCT)
        region[start : start + BLOCK] = nearest[:, 0]
    order = np.argsort(region, kind="stable")
    return order, np.searchsorted(region[order], np.arange(len(centres) + 1))


def _distinct(pairs: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Vectors]]) -> Close:
    """Each pair once, closest first, equal ones in the order of their rows."""
    if not pairs:
        return Close(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    first, second, cosines = (np.concatenate(each) for each in zip(*pairs, strict=True))
    _, chosen = np.unique(np.stack([first, second], axis=1), axis=0, return_index=True)
    chosen = chosen[np.argsort(-cosines[chosen], kind="stable")]
    return Close(first[chosen], second[chosen], cosines[chosen])


def lines_at(path: Path, places: npt.NDArray[np.int64]) -> Iterator[str]:
    """The lines of an uncompressed text file at these places, from 0, as they are asked for."""
    starts = array("q", [0])
    with path.open("rb") as stream:
        for line in stream:
            starts.append(starts[-1] + len(line))
        for place in places.tolist():
            stream.seek(starts[place])
            yield stream.read(starts[place + 1] - starts[place]).decode().rstrip("\n")
