"""Sizes and optimizer of recurrent networks."""

from __future__ import annotations

from dataclasses import dataclass

from paraloom.core.config import Config, check_range


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig(Config):
    """Sizes and optimizer of a recurrent network; everything else is as in `TranslatorConfig`.

    The sizes are those of SCPN's released code. It trains 15 epochs of ParaNMT-50M with a learning rate of 0.00005 that
    is halved after each; the default here is for the steps that fewer pairs take.

    Args:
        word_dim: Width of the embeddings of subwords.
        hidden_dim: Width of the LSTMs of encoder and decoder.
        label_dim: Width of the embeddings of parse tokens in SCPN's paraphrase generator.
        parse_dim: Width of the LSTM that reads the target parse in SCPN's paraphrase generator, and of the embeddings
            of parse tokens in its parse generator.
        recurrent_learning_rate: Peak learning rate of Adam.
        gradient_norm: Gradients of a larger norm are scaled down to it.

    Raises:
        ConfigError: A value is out of range.

    Reference:
        Iyyer et al. 2018, "Adversarial example generation with syntactically controlled paraphrase networks", and its
        code.

    Example:
        >>> RecurrentConfig(hidden_dim=128).word_dim
        300
    """

    word_dim: int = 300
    hidden_dim: int = 512
    label_dim: int = 56
    parse_dim: int = 128
    recurrent_learning_rate: float = 0.001
    gradient_norm: float = 5.0

    def validate(self) -> None:
        """Check ranges; raises ConfigError."""
        check_range(self, "word_dim", "hidden_dim", "label_dim", "parse_dim", low=1)
        check_range(self, "recurrent_learning_rate", low=0)
        check_range(self, "gradient_norm", above=0)
