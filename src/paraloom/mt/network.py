"""The Marian transformer's equations for training, over the parameters of transformers' MarianMTModel.

Same numbers as the library's own forward pass (a test holds them together), fewer operations: query, key and value in
one product, a softmax over the words at hand, and a cheap dropout.  On two cores this is what training costs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

EMBEDDING = "model.shared.weight"


@dataclass(frozen=True)
class Shape:
    """What the equations need to know of a MarianConfig."""

    width: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    activation: str

    @classmethod
    def of(cls, config: Any) -> Shape:
        """Read from a MarianConfig."""
        return cls(
            config.d_model,
            config.encoder_attention_heads,
            config.encoder_layers,
            config.decoder_layers,
            config.activation_function,
        )


class Forward:
    """One forward pass: holds the parameters (Hugging Face names), the dropout rate and its random numbers.

    generator None, or dropout 0, means evaluation: nothing is dropped.
    """

    def __init__(
        self,
        shape: Shape,
        parameters: Mapping[str, Tensor],
        positions: Tensor,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        self.shape = shape
        self.parameters = parameters
        self.positions = positions
        self.threshold = round(dropout * 256) if generator is not None else 0
        self.generator = generator

    def __call__(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Last hidden states, float32 (b, t, width).

        source: int64 (b, s), padded.  source_mask: bool (b, s), True at words.  target: int64 (b, t), the decoder's
        input: the start token, then the words before each position.
        """
        bias = torch.zeros(source.shape, dtype=torch.float32).masked_fill_(~source_mask, -1e9)[:, None, None, :]
        memory = self._embed(source)
        for layer in range(self.shape.encoder_layers):
            name = f"model.encoder.layers.{layer}"
            memory = self._add_norm(
                memory, self._self_attention(f"{name}.self_attn", memory, bias), f"{name}.self_attn_layer_norm"
            )
            memory = self._add_norm(memory, self._feed_forward(name, memory), f"{name}.final_layer_norm")
        future = torch.full((target.shape[1], target.shape[1]), -1e9).triu_(1)
        state = self._embed(target)
        for layer in range(self.shape.decoder_layers):
            name = f"model.decoder.layers.{layer}"
            state = self._add_norm(
                state, self._self_attention(f"{name}.self_attn", state, future), f"{name}.self_attn_layer_norm"
            )
            state = self._add_norm(
                state,
                self._cross_attention(f"{name}.encoder_attn", state, memory, bias),
                f"{name}.encoder_attn_layer_norm",
            )
            state = self._add_norm(state, self._feed_forward(name, state), f"{name}.final_layer_norm")
        return state

    def _embed(self, words: Tensor) -> Tensor:
        vectors = functional.embedding(words, self.parameters[EMBEDDING]) * math.sqrt(self.shape.width)
        return self._drop(vectors + self.positions[: words.shape[1]])

    def _self_attention(self, name: str, states: Tensor, bias: Tensor) -> Tensor:
        query, key, value = self._project(name, states, "qkv")
        return self._attend(name, query, key, value, bias)

    def _cross_attention(self, name: str, states: Tensor, memory: Tensor, bias: Tensor) -> Tensor:
        (query,) = self._project(name, states, "q")
        key, value = self._project(name, memory, "kv")
        return self._attend(name, query, key, value, bias)

    def _project(self, name: str, states: Tensor, parts: str) -> tuple[Tensor, ...]:
        """One product for several projections, each (b, heads, length, width / heads)."""
        weight = torch.cat([self.parameters[f"{name}.{part}_proj.weight"] for part in parts])
        bias = torch.cat([self.parameters[f"{name}.{part}_proj.bias"] for part in parts])
        batch, length, width = states.shape
        joined = functional.linear(states, weight, bias)
        joined = joined.view(batch, length, len(parts), self.shape.heads, width // self.shape.heads)
        return joined.permute(2, 0, 3, 1, 4).unbind(0)

    def _attend(self, name: str, query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        batch, heads, length, depth = query.shape
        scores = torch.matmul(query * depth**-0.5, key.transpose(-1, -2)) + bias
        mixed = torch.matmul(scores.softmax(-1), value).transpose(1, 2).reshape(batch, length, heads * depth)
        return self._linear(f"{name}.out_proj", mixed)

    def _feed_forward(self, name: str, states: Tensor) -> Tensor:
        inner = self._linear(f"{name}.fc1", states)
        inner = functional.relu(inner) if self.shape.activation == "relu" else functional.silu(inner)
        return self._linear(f"{name}.fc2", inner)

    def _linear(self, name: str, states: Tensor) -> Tensor:
        return functional.linear(states, self.parameters[f"{name}.weight"], self.parameters[f"{name}.bias"])

    def _add_norm(self, states: Tensor, change: Tensor, name: str) -> Tensor:
        # Marian normalises after the addition (post-norm).
        weight, bias = self.parameters[f"{name}.weight"], self.parameters[f"{name}.bias"]
        return functional.layer_norm(states + self._drop(change), (self.shape.width,), weight, bias)

    def _drop(self, states: Tensor) -> Tensor:
        """Dropout by random bytes: eight decisions from each 64-bit draw, ten times as fast as bernoulli_."""
        if not self.threshold:
            return states
        draws = torch.empty((states.numel() + 7) // 8, dtype=torch.int64).random_(
            -(2**63), None, generator=self.generator
        )
        kept = draws.view(torch.uint8)[: states.numel()].view(states.shape) >= self.threshold
        return states * kept.to(states.dtype).mul_(256 / (256 - self.threshold))


class SmoothedCrossEntropy(torch.autograd.Function):
    """Label-smoothed cross-entropy from hidden states, its gradient computed on the way, a block of rows at a time.

    Sum over tokens of (1 − ε) (−log p(word)) + ε mean over the vocabulary of (−log p); the logits, the largest array
    of all, are never kept.
    """

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, embedding: Tensor, words: Tensor, smoothing: float, rows: int = 512
    ) -> Tensor:
        """states: (n, width).  embedding: (v, width).  words: int64 (n,) < v.  Returns the sum, a scalar."""
        size = embedding.shape[0]
        states_gradient = torch.empty_like(states)
        embedding_gradient = torch.zeros_like(embedding)
        total = states.new_zeros(())
        for start in range(0, states.shape[0], rows):
            part, wanted = states[start : start + rows], words[start : start + rows, None]
            logits = part @ embedding.t()
            mean = logits.mean(1)
            chosen = logits.gather(1, wanted)[:, 0]
            peak = logits.amax(1, keepdim=True)
            mass = logits.sub_(peak).exp_().sum(1, keepdim=True)
            normaliser = (peak + mass.log())[:, 0]
            total += (normaliser - (1 - smoothing) * chosen - smoothing * mean).sum()
            logits.div_(mass).sub_(smoothing / size)
            logits.scatter_add_(1, wanted, logits.new_full(wanted.shape, smoothing - 1))
            torch.mm(logits, embedding, out=states_gradient[start : start + rows])
            embedding_gradient.addmm_(logits.t(), part)
        ctx.save_for_backward(states_gradient, embedding_gradient)
        return total

    @staticmethod
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        states_gradient, embedding_gradient = ctx.saved_tensors
        return states_gradient * scale, embedding_gradient * scale, None, None, None


def smoothed_cross_entropy(states: Tensor, embedding: Tensor, words: Tensor, smoothing: float) -> Tensor:
    """The sum over n tokens, a scalar; see SmoothedCrossEntropy for shapes."""
    total: Tensor = SmoothedCrossEntropy.apply(states, embedding, words, smoothing)  # type: ignore[no-untyped-call]
    return total


@torch.no_grad()
def cross_entropy(states: Tensor, embedding: Tensor, words: Tensor, rows: int = 512) -> float:
    """The sum over n tokens of −log p(word), plain and over all words, whose mean's exponential is the perplexity.

    Shapes as SmoothedCrossEntropy has them; no gradient is kept.
    """
    total = 0.0
    for start in range(0, states.shape[0], rows):
        logits = states[start : start + rows] @ embedding.t()
        total += float(functional.cross_entropy(logits, words[start : start + rows], reduction="sum"))
    return total
