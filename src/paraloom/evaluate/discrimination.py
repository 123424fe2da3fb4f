"""Discrimination of right and wrong pairs by scores: the area under the ROC curve, by set of labeled pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Bools, Floats
from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.core.results import ResultRecord, text_table
from paraloom.core.stats import Z_95, Estimate, wilson_interval
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.resampling import ranks

ALL = "all"  # Name of the row with the pairs of all sets together


def auc(right: npt.ArrayLike, wrong: npt.ArrayLike) -> Estimate:
    """Area under the ROC curve, ties counting half, with DeLong's interval by ranks (Sun and Xu 2014), or Wilson's."""
    positive, negative = np.asarray(right, np.float64), np.asarray(wrong, np.float64)
    m, n = len(positive), len(negative)
    if not m or not n:
        return Estimate(float("nan"), float("nan"), float("nan"))
    together = ranks(np.concatenate([positive, negative]))
    # Share of the wrong pairs below each right one, and of the right pairs above each wrong one.
    of_right = (together[:m] - ranks(positive)) / n
    of_wrong = 1 - (together[m:] - ranks(negative)) / m
    area = float(of_right.mean())
    if m < 2 or n < 2:
        return Estimate(area, float("nan"), float("nan"))
    half = Z_95 * float(np.sqrt(of_right.var(ddof=1) / m + of_wrong.var(ddof=1) / n))
    if not half:  # DeLong's has no width where no pair is out of order, however few there are
        return Estimate(area, *wilson_interval(area * min(m, n), min(m, n)))
    return Estimate(area, max(0.0, area - half), min(1.0, area + half))


@dataclass(frozen=True)
class DiscriminationRow(ResultRecord):
    """One score on one set."""

    set: str  # The set of labeled pairs
    score: str
    right: int  # Right pairs for which the score is defined
    wrong: int  # Wrong pairs for which it is
    undefined: int  # Pairs of the set for which it is not
    auc: Estimate  # Probability that a right pair has the better value


@dataclass(frozen=True)
class DiscriminationResult(EvaluationResult):
    """Result of `evaluate_discrimination`."""

    # One for each set and score; the sets in the order given, scores as in the mapping.
    rows: tuple[DiscriminationRow, ...]
    signature: str  # What was measured and how

    def format(self) -> str:
        """A table: a row for each score, a column for each set, the best scores first."""
        sets = list(dict.fromkeys(row.set for row in self.rows))
        cells = {(row.score, row.set): row.auc for row in self.rows}
        scores = list(dict.fromkeys(row.score for row in self.rows))
        means = {}
        for score in scores:
            known = [value for name in sets if not np.isnan(value := cells[score, name].value)]
            means[score] = float(np.mean(known)) if known else -1.0
        best_first = sorted(scores, key=lambda name: -means[name])
        table = [(score, *(_format(cells[score, name]) for name in sets)) for score in best_first]
        lines = text_table(["score", *sets], table)
        counts = {row.set: (row.right + row.wrong + row.undefined) for row in self.rows}
        lines.append("\nPairs: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))
        lines.append("Probability that a right pair has the better value; .500: no better than chance.")
        return "\n".join(lines)


def evaluate_discrimination(
    scores: Mapping[str, npt.ArrayLike],
    labels: npt.ArrayLike,
    sets: Sequence[str] | npt.NDArray[np.object_],
    *,
    kinds: Sequence[str] | npt.NDArray[np.object_] | None = None,
    lower_is_better: Sequence[str] = (),
) -> DiscriminationResult:
    """Compute the area under the ROC curve of each score on each set, and on all of them together."""
    truth, names = np.asarray(labels), np.asarray(sets, object)
    if not np.isin(truth, (0, 1)).all():
        bad = int(np.flatnonzero(~np.isin(truth, (0, 1)))[0])
        raise DataError(f"label {truth[bad]} is neither 1 (right) nor 0 (wrong)", row=bad + 1)
    distinct = list(dict.fromkeys(names.tolist()))
    for name in distinct:
        classes = set(truth[names == name].tolist())
        if len(classes) < 2:
            only = "right" if 1 in classes else "wrong"
            raise DataError(
                f"set '{name}' has only pairs labeled as {only}: a score cannot be tested on one class",
                remedy="Add pairs of the other class, such as minimal pairs (`paraloom evaluate lookalikes -o FILE`).",
            )
    wrong_kinds = np.asarray(kinds, object) if kinds is not None else np.full(len(truth), "", object)
    parts: dict[str, Bools] = {}
    for name in distinct:
        inside = names == name
        parts[name] = inside
        of_set = sorted({kind for kind in wrong_kinds[inside & (truth == 0)].tolist() if kind})
        if len(of_set) > 1:
            parts |= {f"{name}: {kind}": inside & ((truth == 1) | (wrong_kinds == kind)) for kind in of_set}
    if len(distinct) > 1:
        parts[ALL] = np.ones(len(truth), bool)
    rows = []
    for name, inside in parts.items():
        for score, values in scores.items():
            column = np.asarray(values, np.float64)[inside] * (-1 if score in lower_is_better else 1)
            known, right = ~np.isnan(column), truth[inside] == 1
            estimate = auc(column[known & right], column[known & ~right])
            counts = (int((known & right).sum()), int((known & ~right).sum()), int((~known).sum()))
            rows.append(DiscriminationRow(name, score, *counts, estimate))
    return DiscriminationResult(tuple(rows), signature("auc", interval="delong", ties="half"))


@dataclass(frozen=True)
class LookalikeRow(ResultRecord):
    """Share of minimal pairs of one kind in which a score prefers the changed side."""

    kind: str  # What was changed, such as 'negation'
    score: str
    pairs: int  # Minimal pairs for which the score is defined on both sides
    preferred: Estimate  # Share of them whose changed side has a better value than the true paraphrase; ties count half


@dataclass(frozen=True)
class LookalikeResult(EvaluationResult):
    """Result of `evaluate_lookalikes`."""

    rows: tuple[LookalikeRow, ...]  # One for each kind and score
    changed: str  # The side that was changed
    signature: str  # What was measured and how

    def format(self) -> str:
        """A table: a row for each score, a column for each kind of minimal pair."""
        kinds = list(dict.fromkeys(row.kind for row in self.rows))
        scores = list(dict.fromkeys(row.score for row in self.rows))
        cells = {(row.score, row.kind): row for row in self.rows}
        heads = [f"{kind} ({cells[scores[0], kind].pairs:,})" if scores else kind for kind in kinds]
        table = [(score, *(cells[score, kind].preferred.format(".1f", 100) for kind in kinds)) for score in scores]
        lines = text_table(["score", *heads], table)
        lines.append("\nPercent of the look-alikes preferred to the true paraphrase: 0 is best, 50 is chance.")
        return "\n".join(lines)


def evaluate_lookalikes(
    true: Mapping[str, npt.ArrayLike],
    lookalikes: Mapping[str, npt.ArrayLike],
    kinds: Sequence[str],
    *,
    changed: str = "tgt",
    lower_is_better: Sequence[str] = (),
) -> LookalikeResult:
    """Count how often scores prefer the changed side of a minimal pair, other in one fact, to the true paraphrase."""
    names = np.asarray(kinds, object)
    rows = []
    for kind in dict.fromkeys(names.tolist()):
        for score, values in true.items():
            sign = -1 if score in lower_is_better else 1
            difference = sign * (np.asarray(lookalikes[score], np.float64) - np.asarray(values, np.float64))
            difference = difference[(names == kind) & ~np.isnan(difference)]
            wins = (difference > 0) + 0.5 * (difference == 0)
            rows.append(LookalikeRow(kind, score, len(wins), _share(wins)))
    return LookalikeResult(tuple(rows), changed, signature("lookalikes", changed=changed, ties="half"))


def _share(wins: Floats) -> Estimate:
    if not len(wins):
        return Estimate(float("nan"), float("nan"), float("nan"))
    share = float(wins.mean())
    low, high = wilson_interval(share * len(wins), len(wins))
    return Estimate(share, low, high)


def _format(estimate: Estimate) -> str:
    if np.isnan(estimate.value):
        return "–"
    return " ".join(
        (f"{estimate.value:.3f}".lstrip("0"), f"[{estimate.low:.3f}, {estimate.high:.3f}]".replace("0.", "."))
    )
