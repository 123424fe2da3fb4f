"""A cut of a score whose precision is promised: labels in a random order, bets against each cut, from the top down."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Bools, Floats, Ids, Ints
from paraloom.core.errors import DataError

FIRST_LABELS = 40
"""Labels from which the search starts: rows of the whole ranking, the upper ones more densely."""

NEXT_LABELS = 40
"""Labels that are drawn next, at most."""

_STEP = 4  # The first labels come from the best 1, 1/4, 1/16 … of the rows,
_FEWEST = 30  # down to this many,
_LEVELS = 6  # on so many levels.
_FINENESS = 1.05  # Ratio of the depths of neighboring cuts.
_CAUTION = 0.75  # Depth of the first cut that is tested, as a part of the depth with most evidence.
_BETS = np.array([0.8, 0.6, 0.4, 0.25, 0.1, 0.02])  # Errors that bets expect, as parts of the errors allowed.
_RESERVE = 0.7  # Additional evidence, in nats, that the next labels are planned for.
_PRIOR = 20  # Labels that the regression counts for, against those above a cut.
_MOST_LABELS = 100_000


@dataclass(frozen=True)
class CertifiedCut:
    """A cut above which the promised precision holds, or what is missing for one."""

    threshold: float | None
    rows: int
    labels: int
    right: int
    more_labels: int | None
    tested: float


class Ranking:
    """Rows by score, the best first, with an order that is random and labels as far as they are known.

    Labels count for a cut as far as they are the first ones, in the random order, of all rows above it. So a label file
    proves by itself that it is a random sample, whoever labeled how many of which rows, and when they stopped.

    Args:
        scores: Score of each row `(n,)`, higher is better.
        order: Distinct random numbers `(n,)`: the order of labeling.
        labels: 1 for right, 0 for wrong, −1 for unlabeled rows `(n,)`.
    """

    def __init__(self, scores: npt.ArrayLike, order: npt.ArrayLike, labels: npt.ArrayLike) -> None:
        values, random = np.asarray(scores, np.float64), np.asarray(order, np.uint64)
        known = np.asarray(labels, np.int8)
        if not len(values) or not values.shape == random.shape == known.shape:
            raise DataError(f"expected a label for each score, got {len(known)} and {len(values)}")
        if np.isnan(values).any() or not np.isin(known, (-1, 0, 1)).all():
            raise DataError("a label is none of 1, 0 and −1, or a score is undefined", remedy="Leave such rows out.")
        self.by_rank = np.lexsort((random, -values))
        self.scores, self.order, self.labels = values[self.by_rank], random[self.by_rank], known[self.by_rank]

    @cached_property
    def depths(self) -> Ints:
        """Numbers of rows above each cut: fixed by the scores alone, equal scores together."""
        ends = np.flatnonzero(np.append(self.scores[:-1] > self.scores[1:], True)) + 1
        rows = len(self.scores)
        steps = ceil(log(max(rows / _FEWEST, 1)) / log(_FINENESS)) + 1
        wanted = np.minimum(np.ceil(_FEWEST * _FINENESS ** np.arange(steps)), rows)
        return np.unique(ends[np.searchsorted(ends, wanted)])

    @cached_property
    def first(self) -> Bools:
        """The rows that are labeled first: they say where to look, and do not count as evidence."""
        levels = [len(self.scores)]
        while levels[-1] // _STEP >= _FEWEST and len(levels) < _LEVELS:
            levels.append(levels[-1] // _STEP)
        queues = [np.argsort(self.order[:depth], kind="stable")[:FIRST_LABELS] for depth in reversed(levels)]
        chosen = np.zeros(len(self.scores), bool)
        taken = 0
        for turn in range(FIRST_LABELS):
            for queue in queues:
                if taken < FIRST_LABELS and turn < len(queue) and not chosen[queue[turn]]:
                    chosen[queue[turn]] = True
                    taken += 1
        return chosen

    @cached_property
    def _labeled(self) -> Ints:
        """The labeled rows, in the order of labeling."""
        labeled = np.flatnonzero(self.labels >= 0)
        return labeled[np.argsort(self.order[labeled], kind="stable")]

    @cached_property
    def _first_unlabeled(self) -> Ids:
        """Least random number of an unlabeled row, of the rows up to each."""
        highest = np.iinfo(np.uint64).max
        return np.minimum.accumulate(np.where(self.labels < 0, self.order, highest))

    def sample(self, depth: int) -> Ints:
        """The labeled rows that are a random sample of the best `depth`, in the order of labeling."""
        labeled = self._labeled
        return labeled[(labeled < depth) & (self.order[labeled] < self._first_unlabeled[depth - 1])]

    def evidence(self, depth: int, precision: float) -> float:
        """Logarithm of the highest capital of bets that more than `precision` of the best `depth` rows are right."""
        rows = self.sample(depth)
        return log_capital(self.labels[rows], depth, precision, counted=~self.first[rows])

    def expected(self, chosen: Bools) -> Floats:
        """Expected precision above each cut, by a logistic regression on the rank of the chosen labeled rows."""
        return _precision_curve(np.flatnonzero(chosen), self.labels[chosen], len(self.scores), self.depths)

    def start(self, precision: float) -> int:
        """Index of the first cut that is tested: by the first labels, one for which there is most evidence."""
        depths = self.depths
        promising = depths * _divergence(self.expected(self.first), precision)
        if not promising.any():
            return 0
        return int(np.searchsorted(depths, depths[int(np.argmax(promising))] * _CAUTION))


def certified_cut(ranking: Ranking, precision: float, confidence: float = 0.95) -> CertifiedCut:
    """Find the lowest cut whose precision is promised.

    Each cut is tested by bets on the next label, which lose on average if the precision is lower than promised; the
    capital grows 20-fold in at most one of 20 such cases (Ville's inequality), however often one looks and whenever one
    stops labeling. The cuts are tested from the top down; the first one that fails ends the search, so that the
    confidence holds for all of them together. It is the precision of these very rows, not of others like them. See
    Waudby-Smith and Ramdas 2020, "Confidence sequences for sampling without replacement"; Angelopoulos, Bates, Candès,
    Jordan and Lei 2021, "Learn then test", §3 (fixed-sequence testing).
    """
    depths, best, need = ranking.depths, None, log(1 / (1 - confidence))
    first = ranking.labels[ranking.first]
    if missing := int((first < 0).sum()):
        labels, lowest = int((first >= 0).sum()), float(ranking.scores[-1])
        return CertifiedCut(None, len(ranking.scores), labels, int((first > 0).sum()), missing, lowest)
    start = ranking.start(precision)
    for depth in depths[start:].tolist():
        if ranking.evidence(depth, precision) < need:
            break
        best = depth
    depth = int(depths[start]) if best is None else best
    rows = ranking.sample(depth)
    right, threshold = int(ranking.labels[rows].sum()), float(ranking.scores[depth - 1])
    if best is not None:
        return CertifiedCut(threshold, depth, len(rows), right, 0, threshold)
    more = _more_labels(len(rows), right, depth, precision, need - ranking.evidence(depth, precision))
    return CertifiedCut(None, depth, len(rows), right, more, threshold)


def next_to_label(ranking: Ranking, precision: float, confidence: float = 0.95) -> Ints:
    """Choose the rows that are labeled next, by their positions in what the ranking was made of, in random order."""
    unlabeled = ranking.labels < 0
    waiting = ranking.first & unlabeled
    if not waiting.any():
        waiting = unlabeled.copy()
        waiting[_depth_to_label(ranking, precision, log(1 / (1 - confidence))) :] = False
    chosen = np.flatnonzero(waiting)
    chosen = chosen[np.argsort(ranking.order[chosen], kind="stable")][: max(FIRST_LABELS, NEXT_LABELS)]
    positions: Ints = ranking.by_rank[chosen]
    return positions


def fewest_labels(precision: float, confidence: float) -> int:
    """Fewest labels that certify a cut through many rows, all of them right."""
    capital, right = 0.0, 0
    while capital < log(1 / (1 - confidence)):
        right += 1
        capital = float(np.log(np.mean(((1 - (1 - precision) * _BETS) / precision) ** right)))
    return right


def _depth_to_label(ranking: Ranking, precision: float, need: float) -> int:
    """Rows above the lowest cut that the next labels will probably certify; above the first one until it is."""
    unlabeled, depths, start = ranking.labels < 0, ranking.depths, ranking.start(precision)
    if ranking.evidence(int(depths[start]), precision) >= need:
        curve = ranking.expected(~unlabeled)
        for index in range(len(depths) - 1, start, -1):
            depth = int(depths[index])
            rows = ranking.sample(depth)
            share = (ranking.labels[rows].sum() + _PRIOR * curve[index]) / (len(rows) + _PRIOR)
            if gain := float(_divergence(np.array([share]), precision)[0]):
                wanted = min(ceil((need + _RESERVE) / gain), depth)
                if wanted <= NEXT_LABELS + int((~unlabeled).sum()):
                    above = np.argsort(ranking.order[:depth], kind="stable")[:wanted]
                    if unlabeled[above].sum() <= NEXT_LABELS:
                        return depth
    return int(depths[start])


def log_capital(labels: npt.ArrayLike, rows: int, precision: float, counted: Bools | None = None) -> float:
    """Logarithm of the highest capital that bets reach on labels drawn without replacement, of 1 at the start.

    Each bet is the ratio of the probabilities of a label: by a higher precision, and if as few of all rows are right as
    the promise just excludes. The capital is spread over several higher precisions.
    """
    known = np.asarray(labels, np.int64)
    if known.sum() >= precision * rows - 1e-9:
        return float("inf")
    if not len(known):
        return 0.0
    before, drawn = np.cumsum(known) - known, np.arange(len(known))
    promised = (precision * rows - before) / (rows - drawn)
    possible = promised < 1 - 1e-12  # Then the promise is known to be broken, from there on.
    if not possible.all():
        end = int(np.argmin(possible))
        known, promised = known[:end], promised[:end]
    if not len(known):
        return 0.0
    hoped = np.clip((1 - (1 - precision) * _BETS)[:, None], promised, 1 - 1e-9)
    bets = np.where(known == 1, np.log(hoped / promised), np.log((1 - hoped) / (1 - promised)))
    if counted is not None:
        bets = bets * counted[: len(known)]
    wealth = np.cumsum(bets, axis=1)
    highest = wealth.max(axis=0)
    return max(0.0, float((highest + np.log(np.exp(wealth - highest).mean(axis=0))).max()))


def _divergence(share: Floats, precision: float) -> Floats:
    """Mean evidence of a label for cuts with this share of right rows, in nats; 0 where it is not above the promise."""
    inside = np.clip(share, 1e-9, 1 - 1e-9)
    nats = inside * np.log(inside / precision) + (1 - inside) * np.log((1 - inside) / (1 - precision))
    result: Floats = np.where(share > precision, nats, 0.0)
    return result


def _features(rank: npt.ArrayLike, rows: int) -> Floats:
    part = (np.asarray(rank, np.float64) + 0.5) / rows
    return np.stack([np.ones_like(part), np.log(part), part], axis=1)


def _precision_curve(rank: Ints, labels: npt.NDArray[np.int8], rows: int, depths: Ints) -> Floats:
    """Precision above each depth by a regularized logistic regression on the rank and its logarithm."""
    from scipy.special import expit

    features, prior, weight = _features(rank, rows), np.array([0.0, -0.5, -1.0]), np.diag([0.05, 1.0, 0.3])
    values = prior.copy()
    for _ in range(50):
        chance = expit(features @ values)
        curvature = features.T @ (features * (chance * (1 - chance))[:, None]) + weight
        step = np.linalg.solve(curvature, features.T @ (labels - chance) - weight @ (values - prior))
        step *= min(1.0, 2 / max(float(np.abs(step).max()), 1e-9))
        values = values + step
        if np.abs(step).max() < 1e-6:
            break
    ends = np.unique(np.geomspace(1, rows, 400).astype(np.int64))
    widths = np.diff(ends, prepend=0)
    right = np.cumsum(expit(_features(ends - widths / 2 - 0.5, rows) @ values) * widths)
    curve: Floats = np.interp(depths, ends, right) / depths
    return curve


def _more_labels(labels: int, right: int, rows: int, precision: float, missing: float) -> int | None:
    """Labels that are missing for so many nats if the share of right ones stays as it is."""
    from scipy.stats import binom

    too_few = right <= precision * labels
    if labels == rows or (too_few and (labels >= NEXT_LABELS or binom.cdf(right, labels, precision) <= 0.05)):
        return None
    gain = float(_divergence(np.array([(right + 0.5) / (labels + 0.5)]), precision)[0])
    more = ceil((missing + _RESERVE) / gain) if gain else NEXT_LABELS
    more = min(more, rows - labels)
    return more if more < _MOST_LABELS else None
