"""Choice of document pairs among scored candidates: best target, mutual best, or one-to-one assignment."""

from __future__ import annotations

import numpy as np

from paraloom.alignment.candidates import CandidatePairs
from paraloom.core.array_types import Floats, Ints
from paraloom.core.errors import ConfigError, nearest

ASSIGNMENTS = ("one-to-one", "mutual", "best")
"""Ways to choose pairs, see `assign`."""

# How far a pair may lie below its rivals and still be chosen where that makes room for a better one.
_SLACK = 0.3


def assign(pairs: CandidatePairs, scores: Floats, sizes: tuple[int, int], method: str = "one-to-one") -> Ints:
    if method not in ASSIGNMENTS:
        raise ConfigError(f"unknown assignment '{method}'{nearest(method, ASSIGNMENTS)}")
    if not len(scores):
        return np.empty(0, np.int64)
    best = _two_best(pairs.sources, scores, sizes[0])[:, 0]
    if method == "best":
        return np.sort(best[best >= 0])
    if method == "mutual":
        return np.sort(np.intersect1d(best[best >= 0], _two_best(pairs.targets, scores, sizes[1])[:, 0]))
    return _one_to_one(pairs, scores, sizes)


def margins(pairs: CandidatePairs, scores: Floats, chosen: Ints, sizes: tuple[int, int]) -> Floats:
    """Margin of each chosen pair: its score less the mean of its two best rivals; near 0 without a true counterpart."""
    rivals = _rival_scores(pairs, scores, chosen, sizes)
    result: Floats = scores[chosen] - (rivals[0] + rivals[1]) / 2
    return result


def least_leads(pairs: CandidatePairs, scores: Floats, chosen: Ints, sizes: tuple[int, int]) -> Floats:
    """Lead of each chosen pair over its nearest rival: the smaller of both sides, where `margins` has their mean."""
    rivals = _rival_scores(pairs, scores, chosen, sizes)
    result: Floats = scores[chosen] - np.maximum(*rivals)
    return result


def _rival_scores(pairs: CandidatePairs, scores: Floats, chosen: Ints, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """The scores of each chosen pair's best other target of its source, and best other source of its target."""
    rivals = []
    for side, size in zip(pairs, sizes, strict=True):
        first, second = _two_best(side, scores, size).T
        rival = np.where(first[side[chosen]] == chosen, second[side[chosen]], first[side[chosen]])
        rivals.append(_scores_at(scores, rival))
    return rivals[0], rivals[1]


def _two_best(side: Ints, scores: Floats, size: int) -> Ints:
    """Indices of the best two pairs of each document, (size, 2); of equal ones the first; -1 where it has none."""
    best = np.full((size, 2), -1, np.int64)
    ranks = ranks_of(scores, side)
    chosen = np.flatnonzero(ranks < 2)
    best[side[chosen], ranks[chosen]] = chosen
    return best


def ranks_of(scores: Floats, groups: Ints) -> Ints:
    """The rank of each score in its group, 0 for the highest; of equal ones the first comes first."""
    order = np.lexsort((-scores, groups))
    ordered = groups[order]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return ranks


def _scores_at(scores: Floats, indices: Ints) -> Floats:
    """The scores at these indices, 0 at -1."""
    return np.where(indices < 0, 0.0, np.append(scores, 0.0)[indices])


def _usual_scores(side: Ints, scores: Floats, size: int) -> Floats:
    """The mean of each document's two best scores."""
    best = _two_best(side, scores, size)
    usual: Floats = _scores_at(scores, best).sum(axis=1) / np.maximum((best >= 0).sum(axis=1), 1)
    return usual


def _one_to_one(pairs: CandidatePairs, scores: Floats, sizes: tuple[int, int]) -> Ints:
    from scipy import sparse
    from scipy.sparse import csgraph

    sources, targets = sizes
    # A dummy target for each source, worth next to nothing: a source without a counterpart is assigned to it.
    rows = np.concatenate([pairs.sources, np.arange(sources)])
    columns = np.concatenate([pairs.targets, targets + np.arange(sources)])
    usual = [_usual_scores(side, scores, size)[side] for side, size in zip(pairs, sizes, strict=True)]
    excess = scores - (usual[0] + usual[1]) / 2
    worth = np.concatenate([np.maximum(excess + _SLACK, 0) + 1e-6, np.full(sources, 1e-9)])
    graph = sparse.csr_matrix((worth, (rows, columns)), (sources, targets + sources))
    left, right = csgraph.min_weight_full_bipartite_matching(graph, maximize=True)
    real = right < targets
    cells = pairs.sources * targets + pairs.targets
    order = np.argsort(cells)
    wanted = left[real].astype(np.int64) * targets + right[real]
    return np.sort(order[np.searchsorted(cells[order], wanted)])
