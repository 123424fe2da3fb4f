"""How the examples of SCPN are made from trees."""

from __future__ import annotations

from dataclasses import dataclass

from paraloom.core.config import Config, check_range


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

    Raises:
        ConfigError: A value is out of range.

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
