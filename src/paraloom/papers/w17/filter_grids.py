"""The filters that the papers tune over (W17 §5.3 to §5.7, PNMT §5.4), by name of the grid."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """A selection of pairs to try.

    Args:
        label: Its name in tables; the names of its stages, and thereby their seeds, derive from it.
        settings: Fields of the stage `Filter`; empty: a random selection.
    """

    label: str
    settings: dict[str, Any] = field(default_factory=dict)


def _range(column: str, low: float | None, high: float | None) -> Candidate:
    parts = [f"{column} >= {low:g}"] if low is not None else []
    parts += [f"{column} <= {high:g}"] if high is not None else []
    return Candidate(" and ".join(parts), {"where": " and ".join(parts)})


_LENGTHS = (
    *((0, high) for high in (10, 15, 20, 30, 100)),
    *((10, high) for high in (20, 30, 100)),
    *((15, high) for high in (25, 30, 100)),
    *((20, high) for high in (30, 100)),
    (30, 100),
)
_OVERLAPS = {
    "w17-overlap-1": "unigram_overlap",
    "w17-overlap-2": "bigram_overlap",
    "w17-overlap-3": "trigram_overlap",
    "w17-bleu": "bleu1",
}


def _overlap_ranges(column: str) -> tuple[Candidate, ...]:
    bounds = product((0, 1, 2, 3), (6, 7, 8, 9, 10))
    return tuple(_range(column, low / 10, high / 10) for low, high in bounds)


GRIDS: dict[str, tuple[Candidate, ...]] = {
    "w17-length": tuple(_range("tgt_tokens", low, high) for low, high in _LENGTHS),
    "w17-length-parts": tuple(
        _range("tgt_tokens", low, high) for low, high in ((0, 10), (11, 20), (21, 30), (31, 100))
    ),
    "w17-cost": tuple(_range("translation_cost", None, bound / 10) for bound in range(2, 11)),
    "w17-lm": tuple(_range("tgt_perplexity", None, bound) for bound in (25, 50, 75, 100, 150, 200)),
    "w17-classifier": tuple(_range("reference_probability", bound / 10, None) for bound in range(1, 10)),
    **{name: _overlap_ranges(column) for name, column in _OVERLAPS.items()},
    "pnmt-tenths": tuple(
        Candidate(f"{column}, tenth {decile}", {"by": column, "decile": decile})
        for column in ("translation_cost", "trigram_overlap", "paraphrase_score")
        for decile in range(1, 11)
    ),
}
"""Name → candidates. No filter at all (W17's ∞) is the random selection that every grid is compared with."""
