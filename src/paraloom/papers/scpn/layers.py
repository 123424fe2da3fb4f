"""Parts of recurrent networks: bilinear attention, encoders of sequences, dropout, and the copy mechanism."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

SMALLEST = 1e-20
"""Stands for an attention of zero in logarithms."""


def bilinear_attention(query: Tensor, weight: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
    """Attention weights softmax(q W K), "general" in Luong et al. 2015, eq. 8."""
    single = query.dim() == 2
    projected = (query[:, None] if single else query) @ weight
    scores = projected @ keys.transpose(1, 2)
    weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
    return weights[:, 0] if single else weights


class Dropout:
    """Dropout with a generator of its own, so that a resumed training draws what an uninterrupted one does."""

    def __init__(self, rate: float = 0.0, generator: torch.Generator | None = None) -> None:
        self.rate = rate if generator is not None else 0.0
        self.generator = generator

    def __call__(self, values: Tensor) -> Tensor:
        """Values of the same shape, some 0 and the others larger."""
        if not self.rate:
            return values
        kept = torch.empty_like(values).bernoulli_(1 - self.rate, generator=self.generator)
        return values * kept / (1 - self.rate)


NO_DROPOUT = Dropout()


class SequenceEncoder(nn.Module):
    """An LSTM of one layer that reads sequences; of both directions, projected to the width of one."""

    def __init__(self, input_dim: int, hidden_dim: int, *, both: bool = False) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_dim, hidden_dim, batch_first=True, bidirectional=both)
        self.projection = nn.Linear(2 * hidden_dim, hidden_dim) if both else None

    def forward(self, vectors: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Read sequences."""
        packed = pack_padded_sequence(vectors, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        read, (last, _) = self.lstm(packed)
        states, _ = pad_packed_sequence(read, batch_first=True, total_length=vectors.shape[1])
        if self.projection is None:
            return states, last[0]
        return self.projection(states), self.projection(torch.cat([last[0], last[1]], -1))


def copied_mass(attention: Tensor, source: Tensor, targets: Tensor) -> Tensor:
    """The attention to the source positions that have a target's token."""
    same = source[:, None, :] == targets[:, :, None]
    return (attention * same).sum(-1)


def copy_distribution(attention: Tensor, source: Tensor, size: int) -> Tensor:
    """The distribution over tokens that copying gives."""
    return attention.new_zeros(attention.shape[0], size).scatter_add_(1, source, attention)


def mix_log(generated: Tensor, copied: Tensor, gate: Tensor) -> Tensor:
    """Logarithm of g · copied + (1 − g) · generated, where g is the probability of copying.

    See et al. 2017, "Get to the point: Summarization with pointer-generator networks", eq. 9. SCPN's released code
    mixes logarithms instead, which does not give probabilities.
    """
    copy = functional.logsigmoid(gate) + copied.clamp_min(SMALLEST).log()
    return torch.logaddexp(copy, functional.logsigmoid(-gate) + generated)
