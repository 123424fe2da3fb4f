"""The floor below which a page stays alone: estimated from the pairs that pages form whose counterparts are hidden."""

from __future__ import annotations

import numpy as np

from paraloom.alignment.assignment import assign, least_leads, margins
from paraloom.alignment.candidates import CandidatePairs
from paraloom.core.array_types import Bools, Floats, Ints

# In how many parts the pairs are cut, of which one loses its targets and another one its sources; and how many such
# choices are made.
_PARTS, _FOLDS = 5, 2

# How much the lead over the nearest rival counts beside the score itself.
_LEAD = 3.0

# Floors whose expected F1 is lower than the highest by this at most may as well be the best.
_TOLERANCE = 0.005

# With fewer wrong pairs nothing can be estimated.
_MIN_WRONG = 20


def certainties(pairs: CandidatePairs, scores: Floats, chosen: Ints, sizes: tuple[int, int]) -> Floats:
    """Values to compare with the floor: score of each chosen pair plus three times its lead over its nearest rival."""
    result: Floats = scores[chosen] + _LEAD * least_leads(pairs, scores, chosen, sizes)
    return result


def decoy_certainties(
    pairs: CandidatePairs, scores: Floats, chosen: Ints, sizes: tuple[int, int], method: str
) -> Floats:
    """The certainty of pairs that are surely wrong: of documents paired again after their counterpart was hidden."""
    ahead = chosen[margins(pairs, scores, chosen, sizes) > 0]
    parts = np.arange(len(ahead)) % _PARTS
    decoys = [np.empty(0)]
    for fold in range(_FOLDS):
        hidden_targets = _mark(pairs.targets[ahead[parts == 2 * fold]], sizes[1])
        hidden_sources = _mark(pairs.sources[ahead[parts == 2 * fold + 1]], sizes[0])
        left = ~(hidden_sources[pairs.sources] | hidden_targets[pairs.targets])
        rest = CandidatePairs(pairs.sources[left], pairs.targets[left])
        again = assign(rest, scores[left], sizes, method)
        alone = (
            _mark(pairs.sources[ahead[parts == 2 * fold]], sizes[0])[rest.sources[again]]
            | _mark(pairs.targets[ahead[parts == 2 * fold + 1]], sizes[1])[rest.targets[again]]
        )
        wrong = again[alone]
        decoys.append(certainties(rest, scores[left], wrong, sizes))
    return np.concatenate(decoys)


def find_floor(observed: Floats, decoys: Floats) -> float | None:
    """The lowest floor whose expected F1 is within 0.005 of the highest.

    The chosen pairs are a mixture of right and wrong ones. Wrong ones are distributed as the decoys are; there are as
    many as it takes to explain the chosen pairs below the median of the decoys, where right ones are rare. With n(t)
    pairs of a certainty of t or more, W wrong ones in all and a share d(t) of the decoys there, n(t) − W d(t) of the
    pairs are expected to be right.  Above high floors there are few decoys, and what is expected there is uncertain;
    that a floor loses right pairs is not. See Storey 2002, A Direct Approach to False Discovery Rates (the number of
    wrong ones); Elias and Gygi 2007, Target-Decoy Search Strategy (decoys).
    """
    if len(decoys) < _MIN_WRONG or not len(observed):
        return None
    descending = np.sort(observed)[::-1]
    median = float(np.median(decoys))
    below = float((decoys < median).mean()) or float((decoys <= median).mean())
    low = observed < median if (decoys < median).any() else observed <= median
    wrong = min(len(observed), float(low.sum()) / below)
    counts = np.arange(1, len(descending) + 1)
    shares = 1 - np.searchsorted(np.sort(decoys), descending, "left") / len(decoys)
    right = np.maximum(counts - wrong * shares, 0)
    expected_f1 = 2 * right / (counts + len(observed) - wrong)
    # Equal certainties are kept or dropped together.
    last = np.append(descending[:-1] > descending[1:], True)
    expected_f1 = np.where(last, expected_f1, -1)
    lowest = np.flatnonzero(expected_f1 >= expected_f1.max() - _TOLERANCE)[-1]
    return float(descending[lowest])


def _mark(rows: Ints, size: int) -> Bools:
    marked = np.zeros(size, np.bool_)
    marked[rows] = True
    return marked
