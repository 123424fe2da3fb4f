"""Where an alignment may run: a band along the path that rare common words, or lengths alone, make likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paraloom.align import search_kernels

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """Row i of m + 1 holds the boundaries lows[i] … lows[i] + width − 1 of the target; lows never fall.

    A boundary i, j stands for "the first i source and j target sentences are dealt with".
    """

    lows: Ints
    width: int
    sources: int
    targets: int

    @property
    def whole(self) -> bool:
        """Whether every boundary is inside."""
        return self.width > self.targets


def whole_band(sources: int, targets: int) -> Band:
    """The band that leaves nothing out."""
    return Band(np.zeros(sources + 1, np.int64), targets + 1, sources, targets)


def band_along(path: Floats, targets: int, radius: int, smooth: int) -> Band:
    """A band around a path; `path` float64 (m + 1,): the target boundary expected at each source boundary, rising.

    It reaches `radius` boundaries to both sides of whatever the path takes in the `smooth` rows before and after, so
    that one false anchor widens the band instead of moving it.

    >>> band_along(np.arange(5.0), 4, 1, 0).lows.tolist()
    [0, 0, 1, 2, 2]
    """
    sources = len(path) - 1
    places = np.arange(sources + 1)
    lows = np.floor(path[np.maximum(places - smooth, 0)]).astype(np.int64) - radius
    highs = np.ceil(path[np.minimum(places + smooth, sources)]).astype(np.int64) + radius
    width = min(int((highs - lows).max()) + 1, targets + 1)
    lows = np.clip(lows, 0, targets + 1 - width)
    lows[0] = 0
    lows[-1] = targets + 1 - width
    return Band(np.maximum.accumulate(lows), width, sources, targets)


def path_of_lengths(source: Floats, target: Floats) -> Floats:
    """The boundaries at which equal shares of both texts' characters are behind: float64 (m + 1,).

    >>> path_of_lengths(np.array([2.0, 2.0]), np.array([1.0, 1.0, 1.0, 1.0])).tolist()
    [0.0, 2.0, 4.0]
    """
    behind, of_target = _shares(source), _shares(target)
    return np.interp(behind, of_target, np.arange(len(of_target), dtype=np.float64))


def path_of_beads(beads: Ints, sources: int) -> Floats:
    """The boundaries that an alignment goes through: float64 (m + 1,); beads: int64 (n, 4) as the search finds them.

    >>> path_of_beads(np.array([[0, 2, 0, 1], [2, 1, 1, 3]]), 3).tolist()
    [0.0, 0.5, 1.0, 4.0]
    """
    x = np.concatenate([[0], beads[:, 0] + beads[:, 1]])
    y = np.concatenate([[0], beads[:, 2] + beads[:, 3]])
    return np.interp(np.arange(sources + 1), x, y)


def path_of_anchors(anchors: Sequence[tuple[Ints, Ints, Floats]], sources: int, targets: int) -> Floats | None:
    """The likeliest path through pairs of sentences (source, target, weight) that seem to belong together.

    It is the heaviest chain of them that rises on both sides; None where there are too few to go by.
    """
    rows, columns, weights = (np.concatenate([each[field] for each in anchors]) for field in range(3))
    cells, inverse = np.unique(rows * (targets + 1) + columns, return_inverse=True)
    total = np.bincount(inverse, weights, len(cells))
    rows, columns = cells // (targets + 1), cells % (targets + 1)
    order = np.lexsort((-columns, rows))
    chain = search_kernels.heaviest_chain(rows[order], columns[order], total[order].astype(np.float64), targets)
    if len(chain) < max(4, sources // 200):
        return None
    picked = order[chain]
    x = np.concatenate([[0], rows[picked] + 0.5, [sources]])
    y = np.concatenate([[0], columns[picked] + 0.5, [targets]])
    return np.interp(np.arange(sources + 1), x, y)


def _shares(lengths: Floats) -> Floats:
    behind = np.concatenate([[0.0], np.cumsum(lengths)])
    return behind / max(behind[-1], 1e-9)
