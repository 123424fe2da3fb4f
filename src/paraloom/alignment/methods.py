"""Sentence aligners by the name of their method: all evidence, lengths alone, or the formula of Park et al. (2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.park17 import PUBLISHED, Park17Aligner, Park17Weights
from paraloom.alignment.prepared_pairs import LexiconPair
from paraloom.alignment.sentences import fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, nearest

METHODS: dict[str, dict[str, Any]] = {
    "evidence": {},
    "length": {"word_weight": 0.0, "prefix_weight": 0.0, "learn_lexicon": False, "rounds": 0},
    "park17": {},
}
"""Settings of the aligner by method: all evidence, lengths alone, or the formula of Park et al. (2017)."""


class Aligner(Protocol):
    """Whatever aligns the sentences of two texts."""

    def align(self, pair: TextPair) -> list[Bead]:
        """The beads of a pair of texts, in order."""


def aligner_config(method: str, max_bead_size: int, order: str = "strict") -> AlignerConfig:
    """The settings of a method."""
    if method not in METHODS:
        raise ConfigError(f"unknown method '{method}'{nearest(method, list(METHODS))}")
    if order == "local" and method != "evidence":
        raise ConfigError(
            f"method '{method}' aligns texts in the same order only",
            remedy="Leave out the order 'local', or choose the method 'evidence'.",
        )
    config = AlignerConfig(max_bead_size=max_bead_size, order=order, **METHODS[method])
    config.check()
    return config


def fit_method(
    method: str,
    pairs: Sequence[TextPair],
    config: AlignerConfig,
    *,
    lexicons: Sequence[LexiconPair] = (),
    weights: Park17Weights = PUBLISHED,
) -> Aligner:
    """An aligner by its method, fitted to texts where the method learns."""
    if method == "park17":
        return Park17Aligner(weights, config.max_bead_size)
    return fit_aligner(pairs, config, lexicons)
