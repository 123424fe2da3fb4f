"""Networks that read a sentence's vectors in order, in torch: LSTM and BLSTM (PNMT §4.1), GRAN (W17 §4.1), GRU.

Import it inside functions only: torch takes a second to load.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn


class Network(nn.Module):
    """From word vectors x (n, t, d) of n sentences and the mask (n, t) of their words to vectors (n, d)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Sentences have a word at least; what stands behind their last one changes nothing."""
        raise NotImplementedError


class Lstm(Network):
    """The mean of an LSTM's states."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.reader = nn.LSTM(width, width, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return _mean(self.reader(x)[0], mask)


class Blstm(Network):
    """The mean of the states of two LSTMs, one of which reads from the end: averaged, not joined."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.reader = nn.LSTM(width, width, batch_first=True)
        self.backward_reader = nn.LSTM(width, width, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(1, keepdim=True)
        places = torch.arange(x.shape[1], device=x.device).expand(mask.shape)
        # Each sentence turned round on its own, its padding left behind it; a mean does not mind the order.
        turned = torch.where(mask, lengths - 1 - places, places)
        reverse = x.gather(1, turned[:, :, None].expand(x.shape))
        return (_mean(self.reader(x)[0], mask) + _mean(self.backward_reader(reverse)[0], mask)) / 2


class Gran(Network):
    """The mean of gated word vectors, a_t = x_t ⊙ σ(W_x x_t + W_h h_t + b), h from an LSTM; AVG where the gate is 1."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.reader = nn.LSTM(width, width, batch_first=True)
        self.from_word = nn.Linear(width, width)
        self.from_state = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        gate = torch.sigmoid(self.from_word(x) + self.from_state(self.reader(x)[0]))
        return _mean(x * gate, mask)


class Gru(Network):
    """The last state of a GRU."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.reader = nn.GRU(width, width, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        last = (mask.sum(1) - 1)[:, None, None].expand(-1, 1, x.shape[2])
        return self.reader(x)[0].gather(1, last)[:, 0]


NETWORKS: dict[str, type[Network]] = {"lstm": Lstm, "blstm": Blstm, "gran": Gran, "gru": Gru}
"""By the name that a spec uses."""


def new_network(kind: str, width: int, seed: int) -> Network:
    """A network with random weights that the seed decides, drawn as torch draws them: uniform within ±1/√width."""
    network = NETWORKS[kind](width)
    draws = torch.Generator().manual_seed(seed)
    bound = width**-0.5
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.uniform_(-bound, bound, generator=draws)
    return network


def loaded_network(kind: str, width: int, weights: Mapping[str, npt.NDArray[np.float32]]) -> Network:
    """A network with these weights; RuntimeError where they are not its own in name and shape."""
    network = NETWORKS[kind](width)
    network.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    return network


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    weights = mask.to(states.dtype) / mask.sum(1, keepdim=True)
    return torch.einsum("ntd,nt->nd", states, weights)
