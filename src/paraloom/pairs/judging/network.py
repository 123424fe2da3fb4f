"""The network of a judge: a few layers of a transformer that reads both sides, and a head that compares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

OUTPUTS = ("same", "forward", "backward", "src_formed", "tgt_formed")
"""Outputs: both say the same; the first says all of the second, and the reverse; each side is well formed."""


@dataclass(frozen=True)
class JudgeShape:
    vocab_size: int
    layers: int = 3
    width: int = 384
    heads: int = 12
    hidden: int = 1536
    positions: int = 256


class _Layer(nn.Module):
    """A layer of BERT: attention and a feed-forward part, each added and normalized."""

    def __init__(self, shape: JudgeShape, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = shape.heads, dropout
        self.query, self.key, self.value, self.mixed = (nn.Linear(shape.width, shape.width) for _ in range(4))
        self.widened, self.narrowed = nn.Linear(shape.width, shape.hidden), nn.Linear(shape.hidden, shape.width)
        self.first, self.second = nn.LayerNorm(shape.width, eps=1e-12), nn.LayerNorm(shape.width, eps=1e-12)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        rows, length, width = states.shape

        def heads(linear: nn.Linear) -> Tensor:
            return linear(states).view(rows, length, self.heads, width // self.heads).transpose(1, 2)

        query = heads(self.query)
        attended = nn.functional.scaled_dot_product_attention(
            query,
            heads(self.key),
            heads(self.value),
            mask.to(query.dtype),
            dropout_p=self.dropout if self.training else 0.0,
        )
        mixed = self.mixed(attended.transpose(1, 2).reshape(rows, length, width))
        states = self.first(states + nn.functional.dropout(mixed, self.dropout, self.training))
        fed = self.narrowed(nn.functional.gelu(self.widened(states)))
        return self.second(states + nn.functional.dropout(fed, self.dropout, self.training))


class JudgeNetwork(nn.Module):
    """Logits of `OUTPUTS` for n pairs, from the first state and the difference and product of both sides' means."""

    def __init__(self, shape: JudgeShape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.words = nn.Embedding(shape.vocab_size, shape.width)
        self.places = nn.Embedding(shape.positions, shape.width)
        self.sides = nn.Embedding(2, shape.width)
        self.normal = nn.LayerNorm(shape.width, eps=1e-12)
        self.layers = nn.ModuleList(_Layer(shape, dropout) for _ in range(shape.layers))
        self.compared = nn.Linear(3 * shape.width, shape.width)
        self.judged = nn.Linear(shape.width, len(OUTPUTS))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        states = self.normal(self.words(input_ids) + self.places(places) + self.sides(token_type_ids))
        states = nn.functional.dropout(states, self.dropout, self.training)
        known = attention_mask.to(states.dtype)
        mask = ((1.0 - known) * -10000.0)[:, None, None, :]
        for layer in self.layers:
            states = layer(states, mask)
        second = known * token_type_ids.to(states.dtype)
        means = []
        for weights in (known - second, second):
            weights = weights / weights.sum(1, keepdim=True).clamp(min=1.0)
            means.append((weights[:, None, :] @ states)[:, 0])
        seen = torch.cat([states[:, 0], (means[0] - means[1]).abs(), means[0] * means[1]], dim=1)
        hidden = nn.functional.gelu(self.compared(seen))
        result: Tensor = self.judged(nn.functional.dropout(hidden, self.dropout, self.training))
        return result


_BERT = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "mixed",
    "attention.output.LayerNorm": "first",
    "intermediate.dense": "widened",
    "output.dense": "narrowed",
    "output.LayerNorm": "second",
}


def from_bert(network: JudgeNetwork, weights: Mapping[str, object]) -> None:
    """Start from the embeddings and the lowest layers of a BERT model; what it lacks stays random."""
    state = network.state_dict()
    names = {
        "words.weight": "embeddings.word_embeddings.weight",
        "places.weight": "embeddings.position_embeddings.weight",
        "sides.weight": "embeddings.token_type_embeddings.weight",
        "normal.weight": "embeddings.LayerNorm.weight",
        "normal.bias": "embeddings.LayerNorm.bias",
    }
    for layer in range(network.shape.layers):
        for theirs, ours in _BERT.items():
            for kind in ("weight", "bias"):
                names[f"layers.{layer}.{ours}.{kind}"] = f"encoder.layer.{layer}.{theirs}.{kind}"
    for ours, theirs in names.items():
        if theirs in weights:
            given = torch.as_tensor(weights[theirs])[: state[ours].shape[0]]
            state[ours].copy_(given)
    network.load_state_dict(state)
