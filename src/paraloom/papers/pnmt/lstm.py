"""The paraphraser of PNMT: a bidirectional LSTM reads, an LSTM of two layers with bilinear attention writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from paraloom.mt.data import pad
from paraloom.papers.scpn.layers import NO_DROPOUT, Dropout, SequenceEncoder, bilinear_attention
from paraloom.papers.scpn.network import Ids, RecurrentNetwork, Tensors, embedding, shifted

LAYERS = 2


class LstmNetwork(RecurrentNetwork):
    """Encoder, attention and decoder of PNMT's paraphraser.

    h_t = LSTM(w_{t−1}, h_{t−1}); a_t = softmax(h_t W H) H; p_t = softmax(U tanh(V [h_t; a_t])). The decoder's layers
    start from the encoder's last states of both directions, projected. See Wieting and Gimpel 2018, "ParaNMT-50M", §6.
    """

    kind: ClassVar[str] = "lstm"

    def __init__(self, vocab_size: int, word_dim: int, hidden_dim: int) -> None:
        super().__init__(vocab_size=vocab_size, word_dim=word_dim, hidden_dim=hidden_dim)
        self.padding = vocab_size
        self.words = embedding(vocab_size, word_dim)
        self.encoder = SequenceEncoder(word_dim, hidden_dim, both=True)
        self.layers = nn.ModuleList(
            nn.LSTM(width, hidden_dim, batch_first=True) for width in [word_dim, *[hidden_dim] * (LAYERS - 1)]
        )
        self.attention = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden_dim, hidden_dim)))
        self.combine = nn.Linear(2 * hidden_dim, hidden_dim)
        self.output = nn.Linear(hidden_dim, vocab_size)

    def inputs(self, sources: Sequence[Ids]) -> Tensors:
        """Sources, int64 (b, s)."""
        return (pad(sources, self.padding).to(self.device),)

    def encode(self, inputs: Tensors, drop: Dropout = NO_DROPOUT) -> Tensors:
        """The encoder's states (b, s, d), their mask (b, s), and the last states (b, d)."""
        (source,) = inputs
        mask = source != self.padding
        states, last = self.encoder(drop(self.words(source)), mask)
        return states, mask, last

    def start(self, memory: Tensors) -> Tensors:
        """Hidden states and cells, each (b, layers, d)."""
        hidden = memory[2][:, None].expand(-1, LAYERS, -1)
        return hidden, torch.zeros_like(hidden)

    def step(self, previous: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """See `RecurrentNetwork`."""
        logits, state = self._run(previous[:, None], state, memory, NO_DROPOUT)
        return logits[:, 0].log_softmax(-1), state

    def loss(self, memory: Tensors, targets: Tensor, drop: Dropout = NO_DROPOUT) -> Tensor:
        """See `RecurrentNetwork`; all tokens at once."""
        logits, _ = self._run(shifted(targets, self.padding), self.start(memory), memory, drop)
        return functional.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=self.padding, reduction="sum"
        )

    def _run(self, previous: Tensor, state: Tensors, memory: Tensors, drop: Dropout) -> tuple[Tensor, Tensors]:
        """Logits (b, t, vocab_size) after each of the tokens (b, t), and the state after the last."""
        values = self.words(previous)
        hidden, cells = [], []
        for number, layer in enumerate(self.layers):
            own = (state[0][:, number][None].contiguous(), state[1][:, number][None].contiguous())
            values, (last, cell) = layer(drop(values), own)
            hidden.append(last[0])
            cells.append(cell[0])
        states, mask, _ = memory
        context = bilinear_attention(values, self.attention, states, mask) @ states
        combined = torch.tanh(self.combine(torch.cat([values, context], -1)))
        return self.output(drop(combined)), (torch.stack(hidden, 1), torch.stack(cells, 1))
