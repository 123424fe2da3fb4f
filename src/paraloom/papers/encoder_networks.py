"""Recurrent networks that turn word vectors into a sentence vector, in torch: LSTM, BLSTM, GRAN and two GRUs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn


class Network(nn.Module):
    """Base of all networks."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dimension = dimension

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Compute sentence vectors."""
        raise NotImplementedError


class Lstm(Network):
    """The mean of an LSTM's states (PNMT §4.1)."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.reader = nn.LSTM(dimension, dimension, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return _masked_mean(self.reader(x)[0], mask)


class Blstm(Network):
    """The mean of the states of a forward and a backward LSTM, averaged, not concatenated (PNMT §4.1)."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.reader = nn.LSTM(dimension, dimension, batch_first=True)
        self.backward_reader = nn.LSTM(dimension, dimension, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(1, keepdim=True)
        positions = torch.arange(x.shape[1], device=x.device).expand(mask.shape)
        # Each sentence is reversed and its padding stays at the end; the mean does not depend on the order of states.
        reversed_positions = torch.where(mask, lengths - 1 - positions, positions)
        reverse = x.gather(1, reversed_positions[:, :, None].expand(x.shape))
        return (_masked_mean(self.reader(x)[0], mask) + _masked_mean(self.backward_reader(reverse)[0], mask)) / 2


class Gran(Network):
    """The mean of gated word vectors, a_t = x_t ⊙ σ(W_x x_t + W_h h_t + b), h from an LSTM (W17 §4.1)."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.reader = nn.LSTM(dimension, dimension, batch_first=True)
        self.from_word = nn.Linear(dimension, dimension)
        self.from_state = nn.Linear(dimension, dimension, bias=False)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        gate = torch.sigmoid(self.from_word(x) + self.from_state(self.reader(x)[0]))
        return _masked_mean(x * gate, mask)


class Gru(Network):
    """The last state of a GRU."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.reader = nn.GRU(dimension, dimension, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        last = (mask.sum(1) - 1)[:, None, None].expand(-1, 1, x.shape[2])
        return self.reader(x)[0].gather(1, last)[:, 0]


class Pgru(Network):
    """The last state of a GRU as PGRU §2.2 writes it, whose state need not be as wide as the word vectors.

    z = σ(W_z x + U_z h), r = σ(W_r x + U_r h), h ← (1 − z) ⊙ h + z ⊙ tanh(W x + U (r ⊙ h)): the reset gate acts on the
    state before it is multiplied by U, in torch's GRU behind, and nothing has a bias.
    """

    def __init__(self, dimension: int, word_dimension: int | None = None) -> None:
        super().__init__(dimension)
        self.from_word = nn.Linear(word_dimension or dimension, 3 * dimension, bias=False)
        self.from_state = nn.Linear(dimension, 2 * dimension, bias=False)
        self.candidate = nn.Linear(dimension, dimension, bias=False)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        state = x.new_zeros(len(x), self.dimension)
        for words, present in zip(x.unbind(1), mask.unbind(1), strict=True):
            rows = present.nonzero()[:, 0]  # most phrases end before the longest
            before = state[rows]
            update, reset, word = self.from_word(words[rows]).chunk(3, dim=1)
            update_by_state, reset_by_state = self.from_state(before).chunk(2, dim=1)
            z, r = torch.sigmoid(update + update_by_state), torch.sigmoid(reset + reset_by_state)
            candidate = torch.tanh(word + self.candidate(r * before))
            state = state.index_copy(0, rows, (1 - z) * before + z * candidate)
        return state


NETWORKS: dict[str, type[Network]] = {
    "lstm": Lstm,
    "blstm": Blstm,
    "gran": Gran,
    "gru": Gru,
    "pgru": Pgru,
}
"""Networks by their name in a spec."""


def new_network(kind: str, dimension: int, seed: int, word_dimension: int | None = None) -> Network:
    """A network with random weights that the seed determines, uniform within ±1/√d as torch initializes them."""
    network = _untrained(kind, dimension, word_dimension)
    draws = torch.Generator().manual_seed(seed)
    bound = dimension**-0.5
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.uniform_(-bound, bound, generator=draws)
    return network


def network_with_weights(
    kind: str, dimension: int, weights: Mapping[str, npt.NDArray[np.float32]], word_dimension: int | None = None
) -> Network:
    """A network with given weights."""
    network = _untrained(kind, dimension, word_dimension)
    network.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    return network


def _untrained(kind: str, dimension: int, word_dimension: int | None) -> Network:
    if word_dimension in (None, dimension):
        return NETWORKS[kind](dimension)
    return Pgru(dimension, word_dimension)


def _masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    weights = mask.to(states.dtype) / mask.sum(1, keepdim=True)
    return torch.einsum("ntd,nt->nd", states, weights)
