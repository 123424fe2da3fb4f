"""A small transformer encoder in torch, with the architecture of BERT, so that its weights load as a BERT anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from paraloom.core.array_types import Float32s
from paraloom.embed.average import principal_directions

LAYER_NORM_EPS = 1e-12  # As in BERT

_INIT_STD = 0.02


@dataclass(frozen=True)
class TransformerShape:
    """Sizes of a `TransformerNetwork`."""

    vocab_size: int
    width: int = 256
    layers: int = 2
    heads: int = 4
    ffn_dim: int = 1024
    max_length: int = 128
    dimension: int = 384


class TransformerLayer(nn.Module):
    """Self-attention and a feed-forward layer, each followed by a layer norm of its output and its input together."""

    def __init__(self, shape: TransformerShape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query_key_value = nn.Linear(shape.width, 3 * shape.width)
        self.attention_output = nn.Linear(shape.width, shape.width)
        self.attention_norm = nn.LayerNorm(shape.width, LAYER_NORM_EPS)
        self.intermediate = nn.Linear(shape.width, shape.ffn_dim)
        self.output = nn.Linear(shape.ffn_dim, shape.width)
        self.output_norm = nn.LayerNorm(shape.width, LAYER_NORM_EPS)

    def forward(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """Compute the next states `(n, t, width)`; `bias`, `(n, 1, 1, t)`, is added to the attention's logits."""
        count, length, width = x.shape
        # Three of (n, heads, t, width / heads).
        heads = self.query_key_value(x).view(count, length, 3, self.heads, width // self.heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)
        # For sentences of a dozen tokens this is faster, backwards, than torch's fused attention.
        logits = (query * (width // self.heads) ** -0.5) @ key.transpose(-1, -2)
        weights = torch.softmax(logits if bias is None else logits + bias.to(logits.dtype), -1)
        attended = (weights.to(value.dtype) @ value).transpose(1, 2).reshape(count, length, width)
        x = self.attention_norm(x + self.attention_output(attended))
        return self.output_norm(x + self.output(functional.gelu(self.intermediate(x))))


class TransformerNetwork(nn.Module):
    """A post-norm BERT, the mean over all tokens, special ones included, and a linear layer on top."""

    def __init__(self, shape: TransformerShape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocab_size, shape.width)
        self.positions = nn.Embedding(shape.max_length, shape.width)
        self.embedding_norm = nn.LayerNorm(shape.width, LAYER_NORM_EPS)
        self.layers = nn.ModuleList(TransformerLayer(shape) for _ in range(shape.layers))
        self.dense = nn.Linear(shape.width, shape.dimension)

    def forward(self, ids: Tensor, lengths: Tensor, table: Tensor | None = None) -> Tensor:
        words = self.words(ids) if table is None else functional.embedding(ids, table)
        x = self.embedding_norm(words + self.positions.weight[: ids.shape[1]])
        mask = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        bias = None
        if not bool(mask.all()):
            bias = torch.zeros(mask.shape, device=ids.device).masked_fill_(~mask, -1e4)[:, None, None]
        for layer in self.layers:
            x = layer(x, bias)
        weights = mask.to(x.dtype) / lengths[:, None].to(x.dtype)
        vectors: Tensor = self.dense(torch.einsum("ntd,nt->nd", x, weights)).float()
        return vectors


def new_network(shape: TransformerShape, seed: int) -> TransformerNetwork:
    """A network with random weights that the seed determines: normal, of standard deviation 0.02; biases 0."""
    network = TransformerNetwork(shape)
    draws = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.dim() == 2:
                # The linear layer on top must not shrink the vectors, whose norms do not matter but for its rate.
                std = shape.width**-0.5 if name == "dense.weight" else _INIT_STD
                parameter.normal_(0, std, generator=draws)
            elif "norm" not in name or name.endswith("bias"):
                parameter.zero_()
    return network


def bert_config(shape: TransformerShape, pad_token_id: int = 0) -> dict[str, object]:
    """The `config.json` of a BERT of this shape."""
    return {
        "architectures": ["BertModel"],
        "attention_probs_dropout_prob": 0.0,
        "classifier_dropout": None,
        "dtype": "float32",
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "hidden_size": shape.width,
        "initializer_range": _INIT_STD,
        "intermediate_size": shape.ffn_dim,
        "layer_norm_eps": LAYER_NORM_EPS,
        "max_position_embeddings": shape.max_length,
        "model_type": "bert",
        "num_attention_heads": shape.heads,
        "num_hidden_layers": shape.layers,
        "pad_token_id": pad_token_id,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "use_cache": False,
        "vocab_size": shape.vocab_size,
    }


def shape_of_bert(config: Mapping[str, int], dimension: int) -> TransformerShape:
    """The shape that `bert_config` was made of."""
    return TransformerShape(
        vocab_size=config["vocab_size"],
        width=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        ffn_dim=config["intermediate_size"],
        max_length=config["max_position_embeddings"],
        dimension=dimension,
    )


def bert_tensors(network: TransformerNetwork) -> dict[str, Float32s]:
    """The weights without the linear layer on top, as those of a BertModel, whose token types and pooler are 0."""
    width = network.shape.width
    state = {name: value.detach().cpu().float().numpy() for name, value in network.state_dict().items()}
    tensors = {
        "embeddings.word_embeddings.weight": state["words.weight"],
        "embeddings.position_embeddings.weight": state["positions.weight"],
        "embeddings.token_type_embeddings.weight": np.zeros((2, width), np.float32),
        "embeddings.LayerNorm.weight": state["embedding_norm.weight"],
        "embeddings.LayerNorm.bias": state["embedding_norm.bias"],
        "pooler.dense.weight": np.zeros((width, width), np.float32),
        "pooler.dense.bias": np.zeros(width, np.float32),
    }
    for index in range(network.shape.layers):
        for kind in ("weight", "bias"):
            parts = np.split(state[f"layers.{index}.query_key_value.{kind}"], 3)
            for name, part in zip(("query", "key", "value"), parts, strict=True):
                tensors[f"encoder.layer.{index}.attention.self.{name}.{kind}"] = part
            for ours, theirs in _LAYER_NAMES.items():
                tensors[f"encoder.layer.{index}.{theirs}.{kind}"] = state[f"layers.{index}.{ours}.{kind}"]
    return {name: np.ascontiguousarray(value) for name, value in tensors.items()}


def network_of_bert(
    shape: TransformerShape, tensors: Mapping[str, Float32s], dense: Mapping[str, Float32s]
) -> TransformerNetwork:
    """The network of weights that `bert_tensors` named."""
    state = {"dense.weight": dense["weight"], "dense.bias": dense["bias"], **bert_state(tensors, range(shape.layers))}
    network = TransformerNetwork(shape)
    network.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in state.items()})
    return network


def bert_state(tensors: Mapping[str, Float32s], layers: Iterable[int]) -> dict[str, Float32s]:
    """Embeddings and these layers of a BERT under the names of a `TransformerNetwork`."""
    # What the first token type adds to every token is added to every position.
    positions = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    state = {
        "words.weight": tensors["embeddings.word_embeddings.weight"],
        "positions.weight": positions,
        "embedding_norm.weight": tensors["embeddings.LayerNorm.weight"],
        "embedding_norm.bias": tensors["embeddings.LayerNorm.bias"],
    }
    for index, layer in enumerate(layers):
        for kind in ("weight", "bias"):
            parts = [
                tensors[f"encoder.layer.{layer}.attention.self.{name}.{kind}"] for name in ("query", "key", "value")
            ]
            state[f"layers.{index}.query_key_value.{kind}"] = np.concatenate(parts)
            for ours, theirs in _LAYER_NAMES.items():
                state[f"layers.{index}.{ours}.{kind}"] = tensors[f"encoder.layer.{layer}.{theirs}.{kind}"]
    return state


_LAYER_NAMES = {
    "attention_output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "intermediate": "intermediate.dense",
    "output": "output.dense",
    "output_norm": "output.LayerNorm",
}


def principal_embeddings(embeddings: Float32s, width: int, seed: int = 0) -> Float32s:
    """Reduce a teacher's token embeddings to their strongest principal components."""
    centered = embeddings - embeddings.mean(axis=0, dtype=np.float64).astype(np.float32)
    products = centered.T.astype(np.float64) @ centered.astype(np.float64)
    reduced = (centered @ principal_directions(products, width)).astype(np.float32)
    if reduced.shape[1] < width:
        draws = np.random.default_rng(seed).standard_normal((len(reduced), width - reduced.shape[1]), np.float32)
        reduced = np.concatenate([reduced, draws * np.float32(reduced.std() / 10)], axis=1)
    return np.ascontiguousarray(reduced)
