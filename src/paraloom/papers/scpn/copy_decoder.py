"""The decoder of both networks of SCPN: LSTMs that attend to a parse and to the source, and copy from the source."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional

from paraloom.papers.scpn.layers import NO_DROPOUT, Dropout, bilinear_attention, copied_mass, copy_distribution, mix_log
from paraloom.papers.scpn.network import RecurrentNetwork, Tensors, shifted


class CopyDecoder(nn.Module):
    """A decoder with two attentions and a copy mechanism.

    With the parse's states Z and the source's states H: z_t = softmax(h_{t−1} W_z Z) Z; h_t = LSTM([w_{t−1}; z_t],
    h_{t−1}); a_t = softmax(h_t W H) H; g_t = σ(v · [w_{t−1}; z_t; a_t; h_t]); p_t = g_t · copy_t + (1 − g_t) ·
    softmax(U V [h_t; a_t]), where copy_t is the attention to the source, added up for equal tokens. See Iyyer et al.
    2018, §3, and its released code; See et al. 2017, "Get to the point".
    """

    def __init__(self, size: int, word_dim: int, hidden_dim: int, layers: int) -> None:
        super().__init__()
        self.size = size
        widths = [word_dim + hidden_dim, *[hidden_dim] * (layers - 1)]
        self.cells = nn.ModuleList(nn.LSTMCell(width, hidden_dim) for width in widths)
        self.attention = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden_dim, hidden_dim)))
        self.parse_attention = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden_dim, hidden_dim)))
        self.gate = nn.Linear(word_dim + 3 * hidden_dim, 1, bias=False)
        self.combine = nn.Linear(2 * hidden_dim, hidden_dim)
        self.output = nn.Linear(hidden_dim, size)

    def start(self, memory: Tensors) -> Tensors:
        """Hidden states, the encoder's last ones, and cells, zero, each (b, layers, d)."""
        hidden = memory[3][:, None].expand(-1, len(self.cells), -1)
        return hidden, torch.zeros_like(hidden)

    def step(self, words: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """Log-probabilities of the next token, (b, size), and the next state."""
        state, features, attention = self._advance(words, state, memory, NO_DROPOUT)
        context, hidden, gate = features[:, : self.width], features[:, self.width : 2 * self.width], features[:, -1:]
        generated = self._logits(hidden, context).log_softmax(-1)
        copied = copy_distribution(attention, memory[0], self.size + 1)[:, : self.size]
        return mix_log(generated, copied, gate), state

    def loss(self, words: Tensor, targets: Tensor, memory: Tensors, drop: Dropout) -> Tensor:
        """The sum of −log p of targets."""
        state = self.start(memory)
        words = drop(words)
        features, attentions = [], []
        for position in range(targets.shape[1]):
            state, feature, attention = self._advance(words[:, position], state, memory, drop)
            features.append(feature)
            attentions.append(attention)
        mask = targets != self.size
        rows, wanted = torch.stack(features, 1)[mask], targets[mask]
        context, hidden, gate = rows[:, : self.width], rows[:, self.width : 2 * self.width], rows[:, -1]
        generated = -functional.cross_entropy(self._logits(drop(hidden), drop(context)), wanted, reduction="none")
        copied = copied_mass(torch.stack(attentions, 1), memory[0], targets)[mask]
        return -mix_log(generated, copied, gate).sum()

    @property
    def width(self) -> int:
        """Width of the states."""
        return self.output.in_features

    def _advance(self, words: Tensor, state: Tensors, memory: Tensors, drop: Dropout) -> tuple[Tensors, Tensor, Tensor]:
        """The next state; context, hidden state and the gate's logit in one (b, 2d + 1); attention (b, s)."""
        _, source_mask, states, _, parse, parse_mask = memory
        before = state[0][:, -1]
        parse_weights = bilinear_attention(before, self.parse_attention, parse, parse_mask)
        entered = torch.cat([words, (parse_weights[:, None] @ parse)[:, 0]], -1)
        values, hidden, cells = entered, [], []
        for number, lstm in enumerate(self.cells):
            own, cell = lstm(values if not number else drop(values), (state[0][:, number], state[1][:, number]))
            hidden.append(own)
            cells.append(cell)
            values = own
        attention = bilinear_attention(values, self.attention, states, source_mask)
        context = (attention[:, None] @ states)[:, 0]
        gate = self.gate(torch.cat([entered, context, values], -1))
        return (torch.stack(hidden, 1), torch.stack(cells, 1)), torch.cat([context, values, gate], -1), attention

    def _logits(self, hidden: Tensor, context: Tensor) -> Tensor:
        logits: Tensor = self.output(self.combine(torch.cat([hidden, context], -1)))
        return logits


class CopyNetwork(RecurrentNetwork):
    """A network whose output a `CopyDecoder` writes."""

    decoder: CopyDecoder

    @property
    @abstractmethod
    def written(self) -> nn.Embedding:
        """Embeddings of the tokens that are written."""

    def start(self, memory: Tensors) -> Tensors:
        """See `RecurrentNetwork`."""
        return self.decoder.start(memory)

    def step(self, previous: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """See `RecurrentNetwork`."""
        return self.decoder.step(self.written(previous), state, memory)

    def loss(self, memory: Tensors, targets: Tensor, drop: Dropout = NO_DROPOUT) -> Tensor:
        """See `RecurrentNetwork`."""
        return self.decoder.loss(self.written(shifted(targets, self.padding)), targets, memory, drop)
