"""Numba kernels of the search for the best alignment: chaining of anchors, dynamic programming, traceback."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Floats, Ints
from paraloom.core.kernels import kernel

Codes = npt.NDArray[np.uint16]

IMPOSSIBLE = -1e30
"""Score of an alignment, or log prior of a bead, that is ruled out."""

# Beads of up to 15 sentences a side fit in a byte: source count times CODE_BASE plus target count.
CODE_BASE = 16
# Added to the code of a bead that follows a sentence without a counterpart.
FROM_GAP = CODE_BASE * CODE_BASE


class Reached(NamedTuple):
    """The best way to each boundary by its state: scores of the rows at work, and of all rows the last bead."""

    best: Floats
    choices: Codes
    gains: Float32s


@kernel
def heaviest_chain(rows: Ints, columns: Ints, weights: Floats, targets: int) -> Ints:
    """Find the heaviest sequence of cells that rises in both coordinates, in O(n log n) by a Fenwick tree."""
    tree = np.full(targets + 2, -1, np.int64)
    best = np.zeros(len(rows), np.float64)
    before = np.full(len(rows), -1, np.int64)
    last = -1
    for k in range(len(rows)):
        node = columns[k]
        heaviest = -1
        while node > 0:
            end = tree[node]
            if end >= 0 and (heaviest < 0 or best[end] > best[heaviest]):
                heaviest = end
            node -= node & -node
        before[k] = heaviest
        best[k] = weights[k] + (best[heaviest] if heaviest >= 0 else 0.0)
        node = columns[k] + 1
        while node < len(tree):
            end = tree[node]
            if end < 0 or best[k] > best[end]:
                tree[node] = k
            node += node & -node
        if last < 0 or best[k] > best[last]:
            last = k
    count = 0
    at = last
    while at >= 0:
        count += 1
        at = before[at]
    chain = np.empty(count, np.int64)
    at = last
    while at >= 0:
        count -= 1
        chain[count] = at
        at = before[at]
    return chain


@kernel
def advance(
    first: int,
    scores: Float32s,
    priors: Floats,
    gap_extensions: tuple[float, float],
    breaks: tuple[Floats, Floats],
    lows: Ints,
    targets: int,
    reached: Reached,
) -> None:
    """Propagate best scores of rows to those their beads reach; state 1 is after an unaligned sentence, 0 otherwise."""
    best = reached.best
    max_size = scores.shape[1]
    width = scores.shape[3]
    sources = len(lows) - 1
    ring = max_size + 1
    for r in range(scores.shape[0]):
        row = first + r
        here = row % ring
        for w in range(width):
            state = 1 if best[1, here, w] > best[0, here, w] else 0
            value = best[state, here, w]
            j = lows[row] + w
            if value <= IMPOSSIBLE or j > targets:
                continue
            loss = abs(breaks[0][row] - breaks[1][j])
            if j < targets and w + 1 < width:
                gap = priors[0, 1] - loss, gap_extensions[1] - loss
                _reach_gap(gap, here, w, here, w + 1, row, 1, reached)
            if row == sources:
                continue
            down = j - lows[row + 1]
            if 0 <= down < width:
                gap = priors[1, 0] - loss, gap_extensions[0] - loss
                _reach_gap(gap, here, w, (row + 1) % ring, down, row + 1, CODE_BASE, reached)
            for a in range(max_size):
                if row + a + 1 > sources:
                    break
                low = lows[row + a + 1]
                for b in range(max_size):
                    column = j + b + 1 - low
                    if j + b + 1 > targets or column >= width:
                        break
                    if column < 0 or priors[a + 1, b + 1] <= IMPOSSIBLE:
                        continue
                    gain = scores[r, a, b, w] + priors[a + 1, b + 1] - loss
                    code = (a + 1) * CODE_BASE + b + 1 + state * FROM_GAP
                    _reach(value, gain, 0, (row + a + 1) % ring, column, row + a + 1, code, reached)
        if row < sources:
            best[:, here] = IMPOSSIBLE


@kernel(inline="always")
def _reach_gap(
    gap: tuple[float, float], here: int, w: int, line: int, column: int, row: int, code: int, reached: Reached
) -> None:
    """Leave one sentence unaligned, by the gain from either state."""
    best = reached.best
    if best[0, here, w] > IMPOSSIBLE:
        _reach(best[0, here, w], gap[0], 1, line, column, row, code, reached)
    if best[1, here, w] > IMPOSSIBLE:
        _reach(best[1, here, w], gap[1], 1, line, column, row, code + FROM_GAP, reached)


@kernel(inline="always")
def _reach(value: float, gain: float, state: int, line: int, w: int, row: int, code: int, reached: Reached) -> None:
    if value + gain > reached.best[state, line, w]:
        reached.best[state, line, w] = value + gain
        reached.choices[state, row, w] = code
        reached.gains[state, row, w] = gain


@kernel
def trace(reached: Reached, state: int, lows: Ints, targets: int) -> tuple[Ints, Float32s, int]:
    """Follow the choices back from the end of both texts."""
    choices, gains = reached.choices, reached.gains
    width = choices.shape[2]
    beads = np.empty((len(lows) + targets, 4), np.int64)
    added = np.empty(len(lows) + targets, np.float32)
    margin = targets + 1
    count = 0
    i, j = len(lows) - 1, targets
    while i > 0 or j > 0:
        w = j - lows[i]
        if lows[i] > 0:
            margin = min(margin, w)
        if lows[i] + width <= targets:
            margin = min(margin, width - 1 - w)
        code = np.int64(choices[state, i, w])
        gain = gains[state, i, w]
        state = int(code // FROM_GAP)
        code %= FROM_GAP
        a, b = code // CODE_BASE, code % CODE_BASE
        if a == 0 and b == 0:
            return beads[:0], added[:0], -1
        beads[count] = (i - a, a, j - b, b)
        added[count] = gain
        count += 1
        i, j = int(i - a), int(j - b)
    return beads[:count][::-1].copy(), added[:count][::-1].copy(), margin
