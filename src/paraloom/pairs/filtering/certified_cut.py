"""A cut of a score whose precision is promised: exact binomial tests of labeled rows, from the top down."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError, DataError

CUTS = 25
"""Number of cuts that are tested, at most."""

_MOST_LABELS = 100_000


@dataclass(frozen=True)
class CertifiedCut:
    """A cut above which the promised precision holds, or what is missing for one.

    Args:
        threshold: Rows with this value or more have the promised precision; None if no cut could be certified.
        labels: Labeled rows at the cut or above; without a cut, at the first one that was tested.
        right: How many of them are right.
        more_labels: Without a cut: labels that are missing above the first cut if the next ones are as often right as
            those so far; None if more labels would not help, because too few are right.
    """

    threshold: float | None
    labels: int
    right: int
    more_labels: int | None = 0


def certified_cut(
    values: npt.ArrayLike, labels: npt.ArrayLike, precision: float, confidence: float = 0.95
) -> CertifiedCut:
    """Find the lowest cut whose precision is promised.

    The cuts are values of the labeled rows, chosen without their labels, and are tested from the top down; the first
    one that fails ends the search. So the promise is broken with a probability of at most 1 − `confidence`, however
    many cuts are tried. It holds for rows from which the labeled ones were drawn at random.

    Args:
        values: Score of each labeled row `(n,)`, higher is better.
        labels: 1 for right and 0 for wrong rows `(n,)`.
        precision: Promised share of right rows among those that are kept, between 0 and 1.
        confidence: Probability that the promise holds.

    Returns:
        The cut.

    Raises:
        ConfigError: A probability is not between 0 and 1.
        DataError: Values and labels differ in number, a label is neither 0 nor 1, or there are none.

    Reference:
        Angelopoulos, Bates, Candès, Jordan and Lei 2021, "Learn then test", §3 (fixed-sequence testing); Hoeffding
        1956, for rows that are right with different probabilities.

    Example:
        >>> certified_cut([0.9] * 40 + [0.2] * 40, [1] * 40 + [0] * 40, precision=0.9)
        CertifiedCut(threshold=0.9, labels=40, right=40, more_labels=0)
    """
    for name, value in (("precision", precision), ("confidence", confidence)):
        if not 0 < value < 1:
            raise ConfigError(f"'{name}' must be between 0 and 1, not {value:g}")
    scores, right = np.asarray(values, np.float64), np.asarray(labels)
    if scores.ndim != 1 or scores.shape != right.shape or not len(scores):
        raise DataError(f"expected as many labels as values, and one at least, got {len(right)} and {len(scores)}")
    if not np.isin(right, (0, 1)).all() or np.isnan(scores).any():
        raise DataError("a label is neither 0 nor 1, or a value is undefined", remedy="Leave such rows out.")
    order = np.argsort(-scores, kind="stable")
    scores, counts = scores[order], np.cumsum(right[order])
    best: CertifiedCut | None = None
    first: tuple[int, int] | None = None
    for rows in _cuts(scores, fewest_labels(precision, confidence)):
        kept = int(counts[rows - 1])
        first = first or (rows, kept)
        if tail(kept, rows, precision) > 1 - confidence:
            break
        best = CertifiedCut(float(scores[rows - 1]), rows, kept)
    if best is not None:
        return best
    rows, kept = first or (len(scores), int(counts[-1]))
    return CertifiedCut(None, rows, kept, _more_labels(rows, kept, precision, confidence))


def tail(right: int, rows: int, precision: float) -> float:
    """Probability of so many right rows or more, if each is right with the probability `precision`."""
    from scipy.stats import binom

    return float(binom.sf(right - 1, rows, precision))


def fewest_labels(precision: float, confidence: float) -> int:
    """Fewest labels that can certify a cut, all of them right."""
    return ceil(log(1 - confidence) / log(precision) - 1e-9)


def _cuts(scores: npt.NDArray[np.float64], minimum: int) -> list[int]:
    """Numbers of rows at or above each cut that is tested, ascending: by scores alone, equal scores together."""
    ends = np.flatnonzero(np.append(scores[:-1] > scores[1:], True)) + 1
    start = max(minimum, min(2 * minimum, len(scores) // 3))
    possible = ends[ends >= start]
    if len(possible) <= CUTS:
        return [int(rows) for rows in possible]
    wanted = np.linspace(possible[0], possible[-1], CUTS)
    return sorted({int(possible[np.searchsorted(possible, rows)]) for rows in wanted})


def _more_labels(rows: int, right: int, precision: float, confidence: float) -> int | None:
    """Labels that are missing if the share of right ones stays as it is."""
    share = right / rows
    if share <= precision:
        return None
    total = rows
    while total < _MOST_LABELS:
        total = total + max(1, total // 50)
        if tail(int(share * total), total, precision) <= 1 - confidence:
            return total - rows
    return None
