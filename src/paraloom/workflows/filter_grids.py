"""The papers' grids of filters (W17 §5.3–5.7, PNMT §5.4), as settings of the stage `filter`."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

from paraloom.core.errors import ConfigError, nearest


@dataclass(frozen=True)
class Candidate:
    """One selection to try: a name for people, and the fields of a `filter` stage."""

    label: str
    settings: dict[str, Any] = field(default_factory=dict)


def _bounds(column: str, low: float | None, high: float | None) -> Candidate:
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


def _overlaps(column: str) -> tuple[Candidate, ...]:
    bounds = product((0, 1, 2, 3), (6, 7, 8, 9, 10))
    return tuple(_bounds(column, low / 10, high / 10) for low, high in bounds)


GRIDS: dict[str, tuple[Candidate, ...]] = {
    "w17-length": tuple(_bounds("tgt_tokens", low, high) for low, high in _LENGTHS),
    "w17-length-parts": tuple(
        _bounds("tgt_tokens", low, high) for low, high in ((0, 10), (11, 20), (21, 30), (31, 100))
    ),
    "w17-cost": tuple(_bounds("translation_cost", None, tenth / 10) for tenth in range(2, 11)),
    "w17-lm": tuple(_bounds("tgt_perplexity", None, bound) for bound in (25, 50, 75, 100, 150, 200)),
    "w17-classifier": tuple(_bounds("reference_probability", tenth / 10, None) for tenth in range(1, 10)),
    **{name: _overlaps(column) for name, column in _OVERLAPS.items()},
    "w17-overlap": tuple(each for column in _OVERLAPS.values() for each in _overlaps(column)),
    "pnmt-tenths": tuple(
        Candidate(f"{column}, tenth {tenth}", {"by": column, "decile": tenth})
        for column in ("translation_cost", "trigram_overlap", "paraphrase_score")
        for tenth in range(1, 11)
    ),
}
"""By name.  The unbounded end of each range (no filter, W17's ∞) is the random selection that every grid is
compared with."""


def grid(names: list[str]) -> list[Candidate]:
    """The candidates of one or several grids, or of SQL conditions (whatever is no grid's name), in order.

    >>> [each.label for each in grid(["w17-cost", "bleu1 < 0.5"])][-2:]
    ['translation_cost <= 1', 'bleu1 < 0.5']
    """
    found: list[Candidate] = []
    for name in names:
        if name in GRIDS:
            found += GRIDS[name]
        elif any(sign in name for sign in "<>= "):
            found.append(Candidate(name, {"where": name}))
        else:
            raise ConfigError(
                f"there is no grid '{name}'{nearest(name, list(GRIDS))}",
                remedy=f"Grids: {', '.join(GRIDS)}; or give an SQL condition.",
            )
    return found
