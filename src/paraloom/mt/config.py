"""Sizes and training settings of a translator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from paraloom.core.config import Config, check_range
from paraloom.core.devices import parse_device
from paraloom.core.errors import ConfigError, nearest

ACTIVATIONS = ("relu", "swish")
TRAINING_PRECISIONS = ("auto", "float32", "bfloat16")


_FORMER_KEYS = {
    **{"vocabulary": "vocab_size", "width": "d_model", "inner": "ffn_dim", "longest": "max_length"},
    **{"matrix_rate": "muon_learning_rate", "vector_rate": "adam_learning_rate", "warmup": "warmup_steps"},
    **{"cooldown": "cooldown_share", "smoothing": "label_smoothing", "sampling": "subword_sampling"},
    **{"plain_subwords": "plain_subword_share", "average": "ema_decay", "candidates": "sampled_softmax_size"},
    **{"whole_softmax": "full_softmax_share", "last_weights": "keep_last", "symbols": "special_tokens"},
}
"""Name in training.json of version 0.1 → field."""


@dataclass(frozen=True, kw_only=True)
class TranslatorConfig(Config):
    """Architecture and training of a translator.

    The defaults worked best for 30,000 pairs of a narrow domain in 20 minutes on two cores (docs/explanations/results/
    has the figures). A corpus ten times as large needs more steps and no subword sampling.

    Args:
        vocab_size: Subwords of the joint vocabulary. A small corpus may yield fewer.
        d_model: Width of the embeddings and hidden states; a multiple of `heads`.
        heads: Attention heads of each layer.
        encoder_layers: Layers of the encoder.
        decoder_layers: Layers of the decoder.
        ffn_dim: Width of the feed-forward layers.
        dropout: Dropout rate in training, 0 to 1.
        activation: Function of the feed-forward layers: 'relu' or 'swish'.
        max_length: Subwords of a training sentence; pairs with a longer side are left out.
        steps: Updates in all.
        batch_tokens: Padded tokens of an update, counted on its longer side.
        muon_learning_rate: Peak learning rate of Muon, which updates the weight matrices.
        adam_learning_rate: Peak learning rate of Adam, which updates embeddings, biases and layer norms.
        warmup_steps: Steps over which the learning rates rise to their peak.
        cooldown_share: Share of the steps, at the end, over which the learning rates fall to zero; 0 to 1.
        label_smoothing: Probability mass spread over the whole vocabulary, 0 to 1.
        subword_sampling: 0 segments every sentence the same way. Above 0, each epoch samples another segmentation,
            with probabilities to this power (Kudo 2018, "Subword regularization", uses 0.1 to 0.5), so that a small
            corpus is not memorized.
        plain_subword_share: With subword sampling, epochs that begin in this last share of the steps use the most
            likely segmentation, which is the one that decoding sees: a model that spreads its probability over many
            segmentations prefers short translations.
        ema_decay: Decay of the exponential moving average of the weights, which is the model that is kept.
        sampled_softmax_size: Random words of the softmax, in addition to those of the batch; 0 always uses the whole
            vocabulary.
        full_softmax_share: Last share of the steps in which the softmax covers the whole vocabulary in any case.
        evaluate_every: Steps between two evaluations on the development pairs.
        patience: Evaluations without a lower development loss after which training stops; 0 never stops early.
        threads: Slices of a batch that are computed in parallel, one per core. Another number gives other weights. A
            GPU has one slice.
        device: 'cpu', 'cuda', 'cuda:0,1' (several GPUs) or 'auto' (all GPUs, if there are any). A GPU repeats its
            results up to their last digits only.
        training_precision: What the network computes in: 'float32', 'bfloat16', or 'auto': bfloat16 on GPUs and on
            processors with instructions for it. The weights and their updates stay float32.
        accumulate: Batches of `batch_tokens` whose gradients are added up for one update: as one batch that is so many
            times as large, in the memory of one.
        precision: Number format of the converted weights; see `paraloom.mt.checkpoint.PRECISIONS`.
        keep_last: Keep the averaged weights of the last evaluation instead of those with the lowest development loss.
        special_tokens: Tokens that are never split, such as the <BT> of tagged back-translation.

    Raises:
        ConfigError: A value is out of range.

    Example:
        >>> TranslatorConfig(steps=20_000, subword_sampling=0.0).d_model
        256
    """

    vocab_size: int = 8000
    d_model: int = 256
    heads: int = 4
    encoder_layers: int = 3
    decoder_layers: int = 2
    ffn_dim: int = 512
    dropout: float = 0.1
    activation: str = "relu"
    max_length: int = 128
    steps: int = 1600
    batch_tokens: int = 3000
    muon_learning_rate: float = 0.012
    adam_learning_rate: float = 0.003
    warmup_steps: int = 100
    cooldown_share: float = 0.6
    label_smoothing: float = 0.1
    subword_sampling: float = 0.4
    plain_subword_share: float = 0.25
    ema_decay: float = 0.995
    sampled_softmax_size: int = 700
    full_softmax_share: float = 0.25
    evaluate_every: int = 200
    patience: int = 5
    threads: int = 2
    device: str = "cpu"
    training_precision: str = "auto"
    accumulate: int = 1
    precision: str = "int8"
    keep_last: bool = False
    special_tokens: tuple[str, ...] = ()

    def validate(self) -> None:
        """Check ranges; raises ConfigError."""
        if self.heads < 1 or self.d_model % self.heads:
            raise ConfigError(f"'d_model' must be a multiple of 'heads', got {self.d_model} and {self.heads}")
        if self.activation not in ACTIVATIONS:
            raise ConfigError(f"'activation' must be one of {', '.join(ACTIVATIONS)}, got '{self.activation}'")
        if self.training_precision not in TRAINING_PRECISIONS:
            raise ConfigError(
                f"unknown training_precision '{self.training_precision}'"
                f"{nearest(self.training_precision, TRAINING_PRECISIONS)}",
                remedy=f"Choose one of {', '.join(TRAINING_PRECISIONS)}.",
            )
        parse_device(self.device, gpus=1 << 10)  # which of them this machine has is checked where it runs
        check_range(self, "steps", "threads", "evaluate_every", "accumulate", low=1)
        if any(not token or token.split() != [token] for token in self.special_tokens):
            raise ConfigError(
                f"'special_tokens' must be tokens without white space, such as <BT>, got {list(self.special_tokens)}"
            )

    @classmethod
    def from_saved(cls, saved: Mapping[str, Any]) -> TranslatorConfig:
        """Read the `config` of a training.json, also of one that version 0.1 wrote.

        Keys that this version does not know are ignored.

        Args:
            saved: Names of fields, and their values.

        Returns:
            The configuration.

        Example:
            >>> TranslatorConfig.from_saved({"vocab_size": 10000, "d_model": 128}).vocab_size
            10000
        """
        known = {field.name for field in fields(cls)}
        renamed = {_FORMER_KEYS.get(name, name): value for name, value in saved.items()}
        return cls(**{name: value for name, value in renamed.items() if name in known})
