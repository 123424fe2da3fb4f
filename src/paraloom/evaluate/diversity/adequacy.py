"""Adequacy of variants: their translation cost, and chrF against a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Floats, Ints
from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.core.stats import Estimate, Moments, Sums
from paraloom.text.buffers import Texts, code_points
from paraloom.text.chrf import CHRF_BETA, CHRF_ORDER, chrf_from_points

UNITS = {"cost": "nats per token, lower is more likely", "chrf": "0 to 100, higher is nearer to the reference"}
"""Unit of each of `Adequacy.figures`."""


@dataclass(frozen=True)
class Adequacy(Sums):
    """How far variants mean the same (BBH22 §4.2): means over groups of the groups' means; two of them can be added."""

    uncosted: int = 0
    unreferenced: int = 0
    cost: Moments = field(default_factory=Moments)
    chrf: Moments = field(default_factory=Moments)

    @classmethod
    def of(
        cls,
        texts: Texts,
        groups: npt.ArrayLike,
        *,
        logprob: npt.ArrayLike | None = None,
        tokens: npt.ArrayLike | None = None,
        references: Sequence[str | None] | None = None,
    ) -> Adequacy:
        """Sum up a batch of whole groups."""
        bounds = np.asarray(groups, np.int64)
        costs = np.full(bounds[-1], np.nan)
        if logprob is not None and tokens is not None:
            scores, counts = np.asarray(logprob, np.float64), np.asarray(tokens, np.float64)
            if scores.shape != costs.shape or counts.shape != costs.shape:
                raise DataError(
                    f"expected a log-probability and a length for each of {len(costs)} variants, "
                    f"got {len(scores)} and {len(counts)}"
                )
            known = (counts > 0) & np.isfinite(scores)
            costs[known] = -scores[known] / counts[known]
        total = cls(uncosted=int(np.isnan(costs).sum()), cost=Moments.of(_group_means(costs, bounds)))
        return total if references is None else total + cls._chrf(texts, bounds, references)

    @classmethod
    def _chrf(cls, texts: Texts, bounds: Ints, references: Sequence[str | None]) -> Adequacy:
        if len(references) != len(bounds) - 1:
            raise DataError(f"expected a reference for each of {len(bounds) - 1} groups, got {len(references)}")
        known = np.array([bool(text and text.strip()) for text in references], np.bool_)
        group = np.repeat(np.arange(len(references)), np.diff(bounds))
        repeated = [references[number] or "" for number in group.tolist()]
        chrf = np.nan_to_num(chrf_from_points(code_points(texts), code_points(repeated)).astype(np.float64))
        chrf[~known[group]] = np.nan
        return cls(unreferenced=int((~known).sum()), chrf=Moments.of(_group_means(chrf, bounds)))

    def figures(self) -> dict[str, Estimate]:
        """cost and chrf with 95 % intervals; NaN where nothing is known."""
        return {"cost": self.cost.estimate(), "chrf": self.chrf.estimate()}


def signatures() -> dict[str, str]:
    chrf = {"nrefs": 1, "case": "mixed", "eff": True, "nc": CHRF_ORDER, "nw": 0, "beta": CHRF_BETA, "space": False}
    return {
        "cost": signature("translation_cost", per="token", mean="groups"),
        "chrf": signature("chrf", **chrf, mean="groups"),
    }


def _group_means(values: Floats, bounds: Ints) -> Floats:
    """The mean of each group without NaN, float64 (groups,); NaN for a group without numbers."""
    group = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: Floats = np.bincount(group[known], values[known], minlength=len(bounds) - 1) / np.bincount(
            group[known], minlength=len(bounds) - 1
        )
    return means
