"""The transformer that is trained: a MarianMTModel's weights, a faster forward pass for them, and its losses.

The forward pass computes the same numbers as transformers does (tests/mt/test_network.py) with fewer operations: query,
key and value in one product, a softmax over the words of the batch, and cheap dropout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from paraloom.core.errors import ModelError
from paraloom.core.hub import quiet
from paraloom.mt.config import TranslatorConfig

if TYPE_CHECKING:
    from transformers import MarianConfig

EMBEDDING = "model.shared.weight"  # Name of the embedding matrix, which encoder, decoder and softmax share


def new_model(config: TranslatorConfig, vocab_size: int, seed: int) -> Any:
    """Create a MarianMTModel with random weights."""
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(seed)
    model = MarianMTModel(
        MarianConfig(
            vocab_size=vocab_size,
            decoder_vocab_size=vocab_size,
            d_model=config.d_model,
            encoder_layers=config.encoder_layers,
            decoder_layers=config.decoder_layers,
            encoder_ffn_dim=config.ffn_dim,
            decoder_ffn_dim=config.ffn_dim,
            encoder_attention_heads=config.heads,
            decoder_attention_heads=config.heads,
            dropout=config.dropout,
            activation_function=config.activation,
            max_position_embeddings=512,
            pad_token_id=vocab_size - 1,
            decoder_start_token_id=vocab_size - 1,
            eos_token_id=0,
            bos_token_id=0,
            forced_eos_token_id=None,
            scale_embedding=True,
            share_encoder_decoder_embeddings=True,
            tie_word_embeddings=True,
        )
    )
    # `<pad>` starts a translation and never occurs in one: training leaves it out of the softmax, decoding forbids it.
    model.generation_config.bad_words_ids = [[vocab_size - 1]]
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name == EMBEDDING:
                value.normal_(std=config.d_model**-0.5)
                value[-1] = 0
            elif value.dim() == 2 and "embed_positions" not in name:
                torch.nn.init.xavier_uniform_(value)
    return model


def sizes_of(config: MarianConfig) -> dict[str, Any]:
    """The sizes in a MarianConfig by their names in a TranslatorConfig."""
    return {
        "vocab_size": config.vocab_size - 1,
        "d_model": config.d_model,
        "heads": config.encoder_attention_heads,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "ffn_dim": config.encoder_ffn_dim,
        "activation": config.activation_function,
    }


def load_model(checkpoint: Path) -> Any:
    from transformers import MarianMTModel

    if not (checkpoint / "model.safetensors").is_file():
        raise ModelError(
            "model.safetensors not found",
            file=checkpoint,
            remedy="Start from a translator that Paraloom trained; its folder has a subfolder huggingface/.",
        )
    with quiet():
        return MarianMTModel.from_pretrained(checkpoint)


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "swish": functional.silu,
    "silu": functional.silu,
    "gelu": functional.gelu,
}
"""Names of transformers for activations of the feed-forward layers."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a network that its forward pass depends on."""

    d_model: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    activation: str
    scale_embedding: bool = True

    @classmethod
    def from_config(cls, config: MarianConfig) -> Shape:
        return cls(
            config.d_model,
            config.encoder_attention_heads,
            config.encoder_layers,
            config.decoder_layers,
            config.activation_function,
            config.scale_embedding,
        )


class Forward:
    """The network as a function of its parameters."""

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
        memory, bias = self.encode(source, source_mask)
        future = torch.full((target.shape[1], target.shape[1]), -1e9, device=target.device).triu_(1)
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

    def encode(self, source: Tensor, source_mask: Tensor) -> tuple[Tensor, Tensor]:
        bias = torch.zeros(source.shape, device=source.device).masked_fill_(~source_mask, -1e9)[:, None, None, :]
        memory = self._embed(source)
        for layer in range(self.shape.encoder_layers):
            name = f"model.encoder.layers.{layer}"
            memory = self._add_norm(
                memory, self._self_attention(f"{name}.self_attn", memory, bias), f"{name}.self_attn_layer_norm"
            )
            memory = self._add_norm(memory, self._feed_forward(name, memory), f"{name}.final_layer_norm")
        return memory, bias

    def _embed(self, words: Tensor) -> Tensor:
        vectors = functional.embedding(words, self.parameters[EMBEDDING])
        if self.shape.scale_embedding:
            vectors = vectors * math.sqrt(self.shape.d_model)
        return self._drop(vectors + self.positions[: words.shape[1]])

    def _self_attention(self, name: str, states: Tensor, bias: Tensor) -> Tensor:
        query, key, value = self._project(name, states, "qkv")
        return self._attend(name, query, key, value, bias)

    def _cross_attention(self, name: str, states: Tensor, memory: Tensor, bias: Tensor) -> Tensor:
        (query,) = self._project(name, states, "q")
        key, value = self._project(name, memory, "kv")
        return self._attend(name, query, key, value, bias)

    def _project(self, name: str, states: Tensor, parts: str) -> tuple[Tensor, ...]:
        """Several projections in one product, each (b, heads, length, d_model / heads)."""
        weight = torch.cat([self.parameters[f"{name}.{part}_proj.weight"] for part in parts])
        bias = torch.cat([self.parameters[f"{name}.{part}_proj.bias"] for part in parts])
        batch, length, width = states.shape
        projected = functional.linear(states, weight, bias)
        projected = projected.view(batch, length, len(parts), self.shape.heads, width // self.shape.heads)
        return projected.permute(2, 0, 3, 1, 4).unbind(0)

    def _attend(self, name: str, query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        batch, heads, length, depth = query.shape
        scores = torch.matmul(query * depth**-0.5, key.transpose(-1, -2)) + bias
        mixed = torch.matmul(scores.softmax(-1), value).transpose(1, 2).reshape(batch, length, heads * depth)
        return self._linear(f"{name}.out_proj", mixed)

    def _feed_forward(self, name: str, states: Tensor) -> Tensor:
        hidden = self._linear(f"{name}.fc1", states)
        hidden = _ACTIVATIONS[self.shape.activation](hidden)
        return self._linear(f"{name}.fc2", hidden)

    def _linear(self, name: str, states: Tensor) -> Tensor:
        return functional.linear(states, self.parameters[f"{name}.weight"], self.parameters[f"{name}.bias"])

    def _add_norm(self, states: Tensor, change: Tensor, name: str) -> Tensor:
        # Marian normalizes after the addition (post-norm).
        weight, bias = self.parameters[f"{name}.weight"], self.parameters[f"{name}.bias"]
        return functional.layer_norm(states + self._drop(change), (self.shape.d_model,), weight, bias)

    def _drop(self, states: Tensor) -> Tensor:
        """Dropout with random bytes: eight decisions from each 64-bit draw, ten times as fast as bernoulli_."""
        if not self.threshold:
            return states
        draws = torch.empty((states.numel() + 7) // 8, dtype=torch.int64, device=states.device)
        draws.random_(-(2**63), None, generator=self.generator)
        kept = draws.view(torch.uint8)[: states.numel()].view(states.shape) >= self.threshold
        return states * kept.to(states.dtype).mul_(256 / (256 - self.threshold))


class SmoothedCrossEntropy(torch.autograd.Function):
    """Label-smoothed cross-entropy and its gradient in one pass over blocks of rows, so that logits are never kept."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, embedding: Tensor, words: Tensor, smoothing: float, rows: int | None = None
    ) -> Tensor:
        rows = rows or _block_rows(states)
        size = embedding.shape[0]
        states_gradient = torch.empty_like(states)
        embedding_gradient = torch.zeros_like(embedding)
        total = states.new_zeros(())
        for start in range(0, states.shape[0], rows):
            part, targets = states[start : start + rows], words[start : start + rows, None]
            logits = part @ embedding.t()
            mean = logits.mean(1)
            chosen = logits.gather(1, targets)[:, 0]
            peak = logits.amax(1, keepdim=True)
            mass = logits.sub_(peak).exp_().sum(1, keepdim=True)
            log_partition = (peak + mass.log())[:, 0]
            total += (log_partition - (1 - smoothing) * chosen - smoothing * mean).sum()
            logits.div_(mass).sub_(smoothing / size)
            logits.scatter_add_(1, targets, logits.new_full(targets.shape, smoothing - 1))
            torch.mm(logits, embedding, out=states_gradient[start : start + rows])
            embedding_gradient.addmm_(logits.t(), part)
        ctx.save_for_backward(states_gradient, embedding_gradient)
        return total

    @staticmethod
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        """Scale the gradients that the forward pass computed."""
        states_gradient, embedding_gradient = ctx.saved_tensors
        return states_gradient * scale, embedding_gradient * scale, None, None, None


def smoothed_cross_entropy(states: Tensor, embedding: Tensor, words: Tensor, smoothing: float) -> Tensor:
    """The label-smoothed cross-entropy summed over tokens, a scalar; shapes as in `SmoothedCrossEntropy.forward`."""
    total: Tensor = SmoothedCrossEntropy.apply(states, embedding, words, smoothing)  # type: ignore[no-untyped-call]
    return total


@torch.no_grad()
def cross_entropy(states: Tensor, embedding: Tensor, words: Tensor, rows: int | None = None) -> float:
    """The sum over tokens of −log p(word), without smoothing and gradient; shapes of `SmoothedCrossEntropy.forward`."""
    total = 0.0
    rows = rows or _block_rows(states)
    for start in range(0, states.shape[0], rows):
        logits = states[start : start + rows] @ embedding.t()
        total += float(functional.cross_entropy(logits, words[start : start + rows], reduction="sum"))
    return total


def _block_rows(states: Tensor) -> int:
    """Tokens whose logits are computed at a time: for a GPU, few large blocks, as each of its calls costs the same."""
    return 512 if states.device.type == "cpu" else 4096
