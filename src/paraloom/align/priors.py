"""How likely a bead of so many sentences on each side is, as far as that is known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# How likely beads are before anything is known; kinds that are not named are rare.  Gale and Church's own table (1993,
# Table 5) has fewer sentences without a counterpart, as the debates of a parliament have.
_KINDS = {(1, 1): 0.8, (1, 0): 0.04, (0, 1): 0.04, (2, 1): 0.04, (1, 2): 0.04, (2, 2): 0.01}
_RARE = 0.003
# The table above counts as much as so many beads, and as such a share of those found in a round: what a round finds
# leans to what is frequent already.
_TRUST, _SHARE = 10.0, 0.2


def priors_of(kinds: Counter[tuple[int, int]], most: int) -> Floats:
    """log p(kind of bead), float64 (most + 1, most + 1): what was counted, and the table as so many more."""
    before = np.array([[_KINDS.get((a, b), _RARE) for b in range(most + 1)] for a in range(most + 1)])
    before[0, 0] = 0.0
    before[0, 2:] = before[2:, 0] = 0.0
    counts = np.array([[kinds[a, b] for b in range(most + 1)] for a in range(most + 1)], np.float64)
    likely = counts + (_TRUST + _SHARE * counts.sum()) * before / before.sum()
    with np.errstate(divide="ignore"):
        found = np.log(likely / likely.sum())
    return np.where(np.isfinite(found), found, -1e30)
