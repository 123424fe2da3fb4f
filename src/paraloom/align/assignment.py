"""Which candidate pairs are pairs: each one's best, the best of both, or the best one-to-one assignment of all."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.align.candidates import Candidates, sparse
from paraloom.core.errors import ConfigError, nearest
from paraloom.core.optional import OptionalModule

csgraph = OptionalModule("scipy.sparse.csgraph", "aligning documents", "align")

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ASSIGNMENTS = ("one-to-one", "mutual", "best")
"""Ways to choose pairs, see `assign`."""

# How far below its rivals a pair may lie and still be chosen where that makes room for a better one.
_SLACK = 0.3


def assign(pairs: Candidates, scores: Floats, sizes: tuple[int, int], how: str = "one-to-one") -> Ints:
    """The numbers of the pairs chosen, rising: int64; a document without candidates is in none.

    scores: (pairs,), higher is better.  sizes: documents on each side.  how: `best`, each source's best target (a
    target may be taken twice); `mutual`, where that source is the target's best too; `one-to-one`, the assignment in
    which no document is in two pairs and the pairs are furthest ahead of what their documents are like otherwise.  (The
    highest sum of scores would be no good: whoever has no counterpart would push others out of theirs.)  Of equals the
    first is chosen.  Raises ConfigError for another `how`.

    >>> pairs = Candidates(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    >>> scores = np.array([0.9, 0.8, 0.85, 0.1])
    >>> [assign(pairs, scores, (2, 2), how).tolist() for how in ASSIGNMENTS]
    [[1, 2], [0], [0, 2]]
    """
    if how not in ASSIGNMENTS:
        raise ConfigError(f"'how' is '{how}'{nearest(how, ASSIGNMENTS)}")
    if not len(scores):
        return np.empty(0, np.int64)
    best = _two_best(pairs.sources, scores, sizes[0])[:, 0]
    if how == "best":
        return np.sort(best[best >= 0])
    if how == "mutual":
        return np.sort(np.intersect1d(best[best >= 0], _two_best(pairs.targets, scores, sizes[1])[:, 0]))
    return _one_to_one(pairs, scores, sizes)


def margins(pairs: Candidates, scores: Floats, chosen: Ints, sizes: tuple[int, int]) -> Floats:
    """How far each chosen pair is ahead of the mean of its two best rivals, float64 (chosen,), higher is surer.

    Rivals are the best other target of its source and the best other source of its target, chosen or not; where there
    is none, 0.  scores: (pairs,), from 0 on.
    A pair whose true partners are missing is no nearer to each other than to others.

    >>> pairs = Candidates(np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> margins(pairs, np.array([0.9, 0.3, 0.5]), np.array([0, 2]), (2, 2)).round(2).tolist()
    [0.75, 0.35]
    """
    rivals = []
    for side, size in zip(pairs, sizes, strict=True):
        first, second = _two_best(side, scores, size).T
        other = np.where(first[side[chosen]] == chosen, second[side[chosen]], first[side[chosen]])
        rivals.append(_scores_at(scores, other))
    found: Floats = scores[chosen] - (rivals[0] + rivals[1]) / 2
    return found


def _two_best(side: Ints, scores: Floats, size: int) -> Ints:
    """The numbers of each document's best two pairs, (size, 2), the first of equals first; -1 where it has none."""
    found = np.full((size, 2), -1, np.int64)
    order = np.lexsort((-scores, side))
    owners = side[order]
    ranks = np.arange(len(order)) - np.searchsorted(owners, owners)
    found[owners[ranks < 2], ranks[ranks < 2]] = order[ranks < 2]
    return found


def _scores_at(scores: Floats, places: Ints) -> Floats:
    """The scores at these places, 0 at -1."""
    return np.where(places < 0, 0.0, np.append(scores, 0.0)[places])


def _usual(side: Ints, scores: Floats, size: int) -> Floats:
    """The mean of each document's two best scores."""
    best = _two_best(side, scores, size)
    found: Floats = _scores_at(scores, best).sum(axis=1) / np.maximum((best >= 0).sum(axis=1), 1)
    return found


def _one_to_one(pairs: Candidates, scores: Floats, sizes: tuple[int, int]) -> Ints:
    sources, targets = sizes
    # A place of its own for each source, worth next to nothing: whoever finds no target is put there.
    rows = np.concatenate([pairs.sources, np.arange(sources)])
    columns = np.concatenate([pairs.targets, targets + np.arange(sources)])
    usual = [_usual(side, scores, size)[side] for side, size in zip(pairs, sizes, strict=True)]
    excess = scores - (usual[0] + usual[1]) / 2
    worth = np.concatenate([np.maximum(excess + _SLACK, 0) + 1e-6, np.full(sources, 1e-9)])
    graph = sparse.csr_matrix((worth, (rows, columns)), (sources, targets + sources))
    left, right = csgraph.min_weight_full_bipartite_matching(graph, maximize=True)
    real = right < targets
    cells = pairs.sources * targets + pairs.targets
    order = np.argsort(cells)
    wanted = left[real].astype(np.int64) * targets + right[real]
    return np.sort(order[np.searchsorted(cells[order], wanted)])
