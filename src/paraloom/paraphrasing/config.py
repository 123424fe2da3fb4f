"""Mixture of a paraphraser's training examples: what they show of the syntax of both sentences."""

from __future__ import annotations

from dataclasses import dataclass

from paraloom.core.config import Config
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

    Raises:
        ConfigError: A value is out of range.

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
