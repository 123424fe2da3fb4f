"""Long stretches of a target text without a counterpart, left out of the search: its band would be as wide as they."""

from __future__ import annotations

import numpy as np

from paraloom.alignment.local_parts import OrderedPart
from paraloom.alignment.search import Alignment, LogPriors
from paraloom.core.array_types import Floats, Ints

LONG_GAP = 500
"""Target sentences that a path passes over within a few source sentences, from which they are a long gap."""

# Target sentences for each source sentence, and source sentences in a row, where the path passes over a gap.
_STEEP, _MAX_ROWS = 10, 64


def long_gaps(path: Floats, margin: int, limit: int | None = None) -> Ints:
    steep = np.concatenate([[0], (np.diff(path) > _STEEP).astype(np.int8), [0]])
    rows = [np.empty(0, np.int64)]
    for start, end in np.flatnonzero(np.diff(steep)).reshape(-1, 2).tolist():
        if end - start <= _MAX_ROWS and path[end] - path[start] >= (LONG_GAP if limit is None else limit):
            rows.append(np.arange(int(path[start]) + margin, int(path[end]) - margin))
    return np.concatenate(rows)


def with_gaps(part: OrderedPart, gaps: Ints, priors: LogPriors) -> Alignment:
    """The alignment of a part of two texts, with target sentences that it leaves out as beads without a counterpart."""
    alignment, targets = part.alignment, part.rows[1]
    beads = part.beads()
    one_sided = beads[:, 3] == 0
    size = len(targets) + len(gaps)
    beads[one_sided, 2] = np.append(targets, size)[beads[one_sided, 2]]
    before = np.searchsorted(beads[:, 2], gaps, side="left")
    sources = np.append(beads[:, 0], len(part.rows[0]))[before]
    ones, none = np.ones(len(gaps), np.int64), np.zeros(len(gaps), np.int64)
    gains = np.full(len(gaps), priors.gap_extensions[1], np.float32)
    return Alignment(
        np.insert(beads, before, np.stack([sources, none, gaps, ones], axis=1), axis=0),
        np.insert(alignment.gains, before, gains),
    )
