"""Configurations of a paraphraser: the mixture of its training examples, and the sizes of its recurrent networks."""

from __future__ import annotations

from dataclasses import dataclass

from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class ControlConfig(Config):
    """The mixture of training examples: free, by template and by exemplar, in one network.

    Args:
        free_share: Share of the pairs that show no template of the paraphrase, so that the model can also write freely;
            0 to 1. Pairs without a parse of the paraphrase are always free, others because of `same_template_share`.
        exemplar_share: Share of the pairs that show the whole tree of the paraphrase, without words, or more of it than
            a template has; 0 to 1, and with `free_share` not above 1.
        same_template_share: Share of the examples with a template, or an exemplar, whose paraphrase has its source's
            own, at most; 0 to 1. Back-translations mostly have: a model that sees little else learns to ignore
            templates. Further ones are free.
        source_parse_share: Share of the pairs whose source comes with its own template; 0 to 1. A model that saw both
            kinds works with and without a parser.
        min_height: Minimum height of a template, in levels below ROOT (`paraloom.paraphrasing.linearization.cut_tree`).
        max_height: Maximum height of a template; drawn for each row between both.
        max_labels: Templates with more labels are cut at a lower height.

    Reference:
        Sun et al. 2021 (AESOP), §3: one network that writes the target parse, then the paraphrase.

    Example:
        >>> ControlConfig(free_share=0.5).max_height
        4
    """

    free_share: float = 0.2
    exemplar_share: float = 0.2
    same_template_share: float = 0.5
    source_parse_share: float = 0.7
    min_height: int = 2
    max_height: int = 4
    max_labels: int = 40

    def validate(self) -> None:
        """Check ranges; raises ConfigError."""
        for name in ("free_share", "exemplar_share", "same_template_share", "source_parse_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"'{name}' must be from 0 to 1, got {getattr(self, name)}")
        if self.free_share + self.exemplar_share > 1:
            raise ConfigError(
                f"'free_share' and 'exemplar_share' must not add up to more than 1, got "
                f"{self.free_share} and {self.exemplar_share}"
            )
        if not 1 <= self.min_height <= self.max_height:
            raise ConfigError(
                f"'min_height' must be from 1 to 'max_height', got {self.min_height} and {self.max_height}"
            )
        if self.max_labels < 1:
            raise ConfigError(f"'max_labels' must be at least 1, got {self.max_labels}")


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


@dataclass(frozen=True, kw_only=True)
class ScpnConfig(Config):
    """What SCPN's networks see of trees.

    Args:
        level_dropout: Chance that the parse generator's template ends at a level of the tree, asked from level 2 down:
            1 always gives templates of height 2, as the released code does; below 1, some are deeper, which `--like`
            needs.
        tree_dropout: Share of the constituents of the paraphrase generator's parse that lose what is below them; 0 to
            1. The released code has both kinds of dropout, and drops nothing by default.
        max_parse_labels: Parses with more labels are cut at a lower height.

    Reference:
        Iyyer et al. 2018, and its released code (`parse_tree_level_dropout`, `tree_dropout`, parses of up to 250
        tokens).

    Example:
        >>> ScpnConfig(level_dropout=1.0).max_parse_labels
        125
    """

    level_dropout: float = 0.5
    tree_dropout: float = 0.0
    max_parse_labels: int = 125

    def validate(self) -> None:
        """Check ranges; raises ConfigError."""
        check_range(self, "level_dropout", "tree_dropout", low=0, high=1)
        check_range(self, "max_parse_labels", low=1)
