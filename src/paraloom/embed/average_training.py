"""Training of averaging parts: forward and backward pass over the rows of a batch, lazy Adam on those rows."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from paraloom.core.array_types import Bools, Float32s, Int32s
from paraloom.embed import average_kernels
from paraloom.embed.average import Average, Part, Vectors
from paraloom.embed.threads import ThreadTeam
from paraloom.embed.vocabulary import RowLists, Vocabulary

BETA1, BETA2, _EPSILON = 0.9, 0.999, 1e-8


class BatchGradient(NamedTuple):
    """The gradient of a loss by the vectors of n lists, `(n, d)` from a column on; it is 0 for lists not `active`."""

    lists: RowLists
    gradient: Vectors
    active: Bools
    column: int


class TrainablePart(Protocol):
    """A part of an encoder during training."""

    @property
    def dimension(self) -> int:
        """d."""

    @property
    def state(self) -> dict[str, Float32s]:
        """Parameters and Adam's moments by name: the arrays themselves, which checkpoints write and read back into."""

    def forward(self, lists: RowLists, out: Vectors, column: int) -> None:
        """Add the vectors of n lists to `out[:, column : column + d]`."""

    def update(self, batch: BatchGradient, learning_rate: float, step: int) -> None:
        """Backward pass and one step of Adam."""

    def frozen(self) -> Part:
        """The part for inference. It may share the parameters, or be a copy of the whole table: not for every step."""


class TrainableAverage:
    """The mean of token vectors, with lazy Adam on its table.

    Moments of a row do not decay between the batches that have it; the bias corrections use the global step.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: Vectors,
        team: ThreadTeam,
        l2: float = 0.0,
        *,
        relative_learning_rate: float = 0.0,
    ) -> None:
        self.vocabulary = vocabulary
        self.table = table
        self.first, self.second = np.zeros_like(table), np.zeros_like(table)
        self._team = team
        self._penalty = EmbeddingPenalty(table, l2)
        self._ones = np.ones(len(table), np.float32)
        self._relative_rate = relative_learning_rate
        self._rates = root_mean_squares(table) if relative_learning_rate else self._ones.copy()
        self._slots = np.full(len(table), -1, np.int32)

    @property
    def dimension(self) -> int:
        return self.table.shape[1]

    @property
    def state(self) -> dict[str, Float32s]:
        return {"table": self.table, "first": self.first, "second": self.second, "rates": self._rates}

    def forward(self, lists: RowLists, out: Vectors, column: int) -> None:
        self._team.parallel_for(
            len(out),
            lambda begin, end: average_kernels.add_means(*lists, self.table, self._ones, out, column, begin, end),
        )

    def backward(self, batch: BatchGradient) -> tuple[Int32s, Vectors]:
        """Rows in the active lists, int32 `(u,)`, and the gradient by each vector, float32 `(u, d)`."""
        unique, starts, members = average_kernels.invert(*batch.lists, batch.active, self._slots)
        by_row = np.empty((len(unique), self.table.shape[1]), np.float32)
        self._team.parallel_for(
            len(unique),
            lambda begin, end: average_kernels.row_gradients(
                starts, members, batch.lists.offsets, batch.gradient, batch.column, by_row, begin, end
            ),
        )
        return unique, by_row

    def update(self, batch: BatchGradient, learning_rate: float, step: int) -> None:
        unique, by_row = self.backward(batch)
        self._penalty.add_gradient(unique, self.table, by_row)
        rate = self._relative_rate or learning_rate
        adam_rows(self._team, unique, by_row, self.table, self.first, self.second, rate, step, self._rates)

    def frozen(self) -> Average:
        return Average(self.vocabulary, self.table.copy())


def root_mean_squares(table: Vectors) -> Float32s:
    """The root mean square of each row of float32 `(V, d)`, float32 `(V,)`."""
    squares: Float32s = np.einsum("vd,vd->v", table, table)
    return np.sqrt(squares / np.float32(table.shape[1]))


class EmbeddingPenalty:
    """The gradient of λ ‖W − W₀‖², W₀ being the initial table (W17 §4.2)."""

    def __init__(self, table: Vectors, weight: float) -> None:
        self._weight = np.float32(2 * weight)
        self._initial = table.copy() if weight else None

    def add_gradient(self, rows: Int32s, table: Vectors, gradient: Vectors) -> None:
        """Add the gradient by some rows, int32 `(u,)`, to float32 `(u, d)`."""
        if self._initial is not None:
            gradient += self._weight * (table[rows] - self._initial[rows])


def bias_corrected(learning_rate: float, step: int) -> tuple[np.float32, np.float32]:
    """Learning rate and ε of Adam with the bias corrections of a step moved out of the loop."""
    root = (1 - BETA2**step) ** 0.5
    return np.float32(learning_rate * root / (1 - BETA1**step)), np.float32(_EPSILON * root)


def adam_rows(
    team: ThreadTeam,
    rows: Int32s,
    gradient: Vectors,
    table: Vectors,
    first: Vectors,
    second: Vectors,
    learning_rate: float,
    step: int,
    rates: Float32s,
) -> None:
    corrected_rate, epsilon = bias_corrected(learning_rate, step)
    betas = np.float32(BETA1), np.float32(BETA2)
    team.parallel_for(
        len(rows),
        lambda begin, end: average_kernels.adam_rows(
            rows, gradient, table, first, second, rates, corrected_rate, *betas, epsilon, begin, end
        ),
    )
