"""Sentence aligners by the name of their method: all evidence, lengths alone, or the formula of Park et al. (2017)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.prepared_pairs import LexiconPair
from paraloom.alignment.sentences import fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, nearest
from paraloom.core.lazy import load_object

METHODS: dict[str, dict[str, Any]] = {
    "evidence": {},
    "length": {"word_weight": 0.0, "prefix_weight": 0.0, "learn_lexicon": False, "rounds": 0},
    "park17": {},
}
"""Settings of the aligner by method: all evidence, lengths alone, or the formula of Park et al. (2017)."""

PUBLISHED: dict[str, str] = {"park17": "paraloom.papers.park17.aligner:open_aligner"}
"""Methods that learn nothing from the texts → what opens their aligner, given `max_bead_size` and weights."""

Weights = Path | tuple[float, float, float] | None
"""Weights of a published method: the folder of a stage that tuned them, themselves, or None for the published ones."""


class Aligner(Protocol):
    def align(self, pair: TextPair) -> list[Bead]:
        """The beads of a pair of texts, in order."""


def aligner_config(method: str, max_bead_size: int, order: str = "strict") -> AlignerConfig:
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
    weights: Weights = None,
) -> Aligner:
    """An aligner by its method, fitted to texts where the method learns."""
    if method in PUBLISHED:
        aligner: Aligner = load_object(PUBLISHED[method])(config.max_bead_size, weights)
        return aligner
    return fit_aligner(pairs, config, lexicons)
