"""Configuration of a small transformer and of its distillation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(Config):
    """Architecture of a small transformer and its distillation from a teacher's vectors.

    The loss is the sum of three, each with a weight: `squared_weight` times the mean squared difference of the cosines
    within a batch, `softmax_weight` times the divergence of the softmax of each row of these cosines (divided by
    `temperature`, the sentence itself left out), and `vector_weight` times the mean of 1 − the cosine with the
    teacher's vector. 0 switches one off.

    With the `width`, `heads` and `ffn_dim` of a teacher that is a BERT, the layers start from the teacher's, else from
    random weights.

    Args:
        layers: Layers.
        width: Width of embeddings and hidden states; a multiple of `heads`.
        heads: Attention heads of each layer.
        ffn_dim: Width of the feed-forward layers.
        max_length: Tokens of a sentence at most, special ones included. Longer ones are left out of the training, and
            cut off afterwards.
        vocab_size: Tokens of the vocabulary, the most frequent ones of the teacher's in the training text, special
            tokens and single characters included; 0 for all of the teacher's.
        squared_weight: Weight of the squared differences of cosines.
        softmax_weight: Weight of the in-batch softmax, as SWE4Semantics and tokenlearn use it.
        temperature: τ of the softmax.
        vector_weight: Weight of the cosine with the teacher's vector itself.
        steps: Number of batches.
        batch_size: Sentences whose cosines with each other are learned at a time; they are of like length.
        neighborhood_size: Sentences of a batch that are neighbors of each other under the teacher; among randomly
            drawn sentences hardly any two are similar.
        num_hyperplanes: Random hyperplanes of the hash that finds neighbors.
        learning_rate: Peak of AdamW.
        warmup_steps: Steps in which the learning rate rises; at most a tenth of all.
        final_learning_rate: Last rate, as a share of the peak, to which it falls linearly; 0 to 1.
        weight_decay: Decay of AdamW for weight matrices; embeddings, biases and norms have none.
        clip_norm: The gradient's norm is limited to this.
        precision: Number format in training: `float32`, `bfloat16`, or `auto` for bfloat16 where the processor
            multiplies it in hardware, which is three times as fast. Weights are float32 in any case.
        threads: Slices of a batch that are computed in parallel, one per core. Another number gives other weights.
        device: Where it is trained: `cpu`, `cuda`, `cuda:0,1`, or `auto` for GPUs if there are any.

    Raises:
        ConfigError: Names the field whose value is out of range.
    """

    layers: int = 2
    width: int = 256
    heads: int = 4
    ffn_dim: int = 1024
    max_length: int = 96
    vocab_size: int = 0
    squared_weight: float = 20.0
    softmax_weight: float = 0.0
    temperature: float = 0.05
    vector_weight: float = 1.0
    steps: int = 6000
    batch_size: int = 512
    neighborhood_size: int = 32
    num_hyperplanes: int = 12
    learning_rate: float = 1.5e-3
    warmup_steps: int = 200
    final_learning_rate: float = 0.05
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    threads: int = 2
    device: str = "cpu"

    def validate(self) -> None:
        super().validate()
        check_range(self, "layers", "width", "heads", "ffn_dim", "steps", "num_hyperplanes", "threads", low=1)
        check_range(self, "max_length", "batch_size", "neighborhood_size", low=2)
        check_range(self, "temperature", "learning_rate", "clip_norm", above=0)
        if self.width % self.heads:
            raise ConfigError(f"'width' must be a multiple of 'heads', got {self.width} and {self.heads}")
        check_range(self, "squared_weight", "softmax_weight", "vector_weight", low=0)
        check_range(self, "weight_decay", "warmup_steps", "vocab_size", low=0)
        check_range(self, "final_learning_rate", low=0, high=1)
        if not (self.squared_weight or self.softmax_weight or self.vector_weight):
            raise ConfigError(
                "the weights of all losses are 0",
                remedy="Set 'squared_weight', 'softmax_weight' or 'vector_weight' above 0.",
            )
