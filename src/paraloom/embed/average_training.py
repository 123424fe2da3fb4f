"""An averaging part while it learns: forward, backward over the rows a batch holds, Adam on just those."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from paraloom.embed import average_kernels
from paraloom.embed.average import Average, Part, Vectors
from paraloom.embed.threads import Team
from paraloom.embed.vocabulary import Rows, Vocabulary

BETA1, BETA2, _EPSILON = 0.9, 0.999, 1e-8


class LearningPart(Protocol):
    """What training asks of a part.  One that is no average of units brings its own, with the same four."""

    @property
    def state(self) -> dict[str, npt.NDArray[np.float32]]:
        """Parameters and moments by name, the arrays themselves: a checkpoint is these, and copies back into them."""

    def forward(self, lists: Rows, out: Vectors, column: int) -> None:
        """Add its vector of each list to out[:, column : column + d]."""

    def learn(
        self, lists: Rows, gradient: Vectors, moved: npt.NDArray[np.bool_], column: int, rate: float, step: int
    ) -> None:
        """One update from the loss's gradient by the vectors that `forward` gave; `moved`: where it is not 0.

        rate: Adam's.  step: counted from 1.
        """

    def at_rest(self) -> Part:
        """The part for use, sharing its parameters."""


class LearningAverage:
    """The mean of unit vectors, and lazy Adam (Kingma & Ba 2014) on its table.

    A step costs what the batch holds, whatever the vocabulary: a row and its moments change only when a sentence with
    a gradient holds it, so moments do not decay in between; the bias corrections go by the global step.
    pull: W17's λ_w, towards the vectors at the start; it too acts on the rows that a batch holds.
    """

    def __init__(self, vocabulary: Vocabulary, table: Vectors, team: Team, pull: float = 0.0) -> None:
        self.vocabulary = vocabulary
        self.table = table
        self.first, self.second = np.zeros_like(table), np.zeros_like(table)
        self._team = team
        self._pull = Pull(table, pull)
        self._scales = np.ones(len(table), np.float32)
        self._slots = np.full(len(table), -1, np.int32)

    @property
    def state(self) -> dict[str, npt.NDArray[np.float32]]:
        return {"table": self.table, "first": self.first, "second": self.second}

    def forward(self, lists: Rows, out: Vectors, column: int) -> None:
        self._team.share(
            len(out),
            lambda begin, end: average_kernels.add_means(*lists, self.table, self._scales, out, column, begin, end),
        )

    def backward(
        self, lists: Rows, gradient: Vectors, moved: npt.NDArray[np.bool_], column: int
    ) -> tuple[npt.NDArray[np.int32], Vectors]:
        """The rows that the moved lists hold, int32 (u,), and the loss's gradient by each, float32 (u, d)."""
        unique, starts, members = average_kernels.invert(*lists, moved, self._slots)
        by_row = np.empty((len(unique), self.table.shape[1]), np.float32)
        self._team.share(
            len(unique),
            lambda begin, end: average_kernels.row_gradients(
                starts, members, lists.offsets, gradient, column, by_row, begin, end
            ),
        )
        return unique, by_row

    def learn(
        self, lists: Rows, gradient: Vectors, moved: npt.NDArray[np.bool_], column: int, rate: float, step: int
    ) -> None:
        unique, by_row = self.backward(lists, gradient, moved, column)
        self._pull.add(unique, self.table, by_row)
        adam_rows(self._team, unique, by_row, self.table, self.first, self.second, rate, step)

    def at_rest(self) -> Average:
        return Average(self.vocabulary, self.table)


class Pull:
    """The gradient of λ ‖W − W at the start‖² (W17 §4.2); nothing, and no copy of W, where λ is 0."""

    def __init__(self, table: Vectors, weight: float) -> None:
        self._weight = np.float32(2 * weight)
        self._start = table.copy() if weight else None

    def add(self, rows: npt.NDArray[np.int32], table: Vectors, gradient: Vectors) -> None:
        """Add that of some rows to their gradient (u, d)."""
        if self._start is not None:
            gradient += self._weight * (table[rows] - self._start[rows])


def adam_rate(rate: float, step: int) -> tuple[np.float32, np.float32]:
    """The rate and the floor under the root with Adam's bias corrections drawn out of the loop.

    m̂ / (√v̂ + ε) = √(1 − β2ᵗ) / (1 − β1ᵗ) · m / (√v + ε √(1 − β2ᵗ)).
    """
    root = (1 - BETA2**step) ** 0.5
    return np.float32(rate * root / (1 - BETA1**step)), np.float32(_EPSILON * root)


def adam_rows(
    team: Team,
    rows: npt.NDArray[np.int32],
    gradient: Vectors,
    table: Vectors,
    first: Vectors,
    second: Vectors,
    rate: float,
    step: int,
) -> None:
    """One step of Adam on some rows of a table; gradient (u, d); first, second: its moments, of the table's shape."""
    corrected, floor = adam_rate(rate, step)
    betas = np.float32(BETA1), np.float32(BETA2)
    team.share(
        len(rows),
        lambda begin, end: average_kernels.adam_rows(
            rows, gradient, table, first, second, corrected, *betas, floor, begin, end
        ),
    )
