"""Whether variants still say what their source says: what they cost their translator, and chrF to a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.core.stats import Estimate, Moments
from paraloom.text.buffers import Texts, code_points
from paraloom.text.chrf import CHRF_BETA, CHRF_ORDER, chrf_from_points

UNITS = {"cost": "nats a token, lower is likelier", "chrf": "0 to 100, higher is nearer to the reference"}
"""What each of Adequacy.figures counts."""


@dataclass(frozen=True)
class Adequacy:
    """Sums over groups of variants; two of them add up to those of both.

    Diversity helps until the two sides of a pair no longer mean the same (BBH22 §4.2): these say how near that is.
    uncosted: variants without a cost: of no tokens, such as empty ones, or without a log probability.
    unreferenced: groups whose reference is missing or has no visible character.
    cost: −logprob / tokens, nats a token.  chrf: of each variant against the reference of its group, 0 to 100, an empty
    variant 0.  Both are means of the groups' means: variants of one source are no independent sample of one another.
    """

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
        """Of a batch of whole groups.

        texts: n variants, group after group.  groups: integers (g + 1,), group j has the texts groups[j] to
        groups[j + 1].  logprob, tokens: (n,), as of core.protocols.Variant, NaN where unknown.  references: g texts in
        the variants' language, None where there is none; None: there are none at all.
        Raises DataError where their numbers do not fit.

        >>> found = Adequacy.of(["a cat", "the cat", ""], [0, 2, 3], logprob=[-2, -4, 0], tokens=[2, 2, 0],
        ...                     references=["the cat", None])
        >>> found.cost.mean, round(found.chrf.mean, 2), found.uncosted, found.unreferenced
        (1.5, 65.62, 1, 1)
        """
        bounds = np.asarray(groups, np.int64)
        costs = np.full(bounds[-1], np.nan)
        if logprob is not None and tokens is not None:
            scores, counts = np.asarray(logprob, np.float64), np.asarray(tokens, np.float64)
            if scores.shape != costs.shape or counts.shape != costs.shape:
                raise DataError(f"{len(costs)} variants have {len(scores)} log probabilities, {len(counts)} lengths")
            known = (counts > 0) & np.isfinite(scores)
            costs[known] = -scores[known] / counts[known]
        found = cls(uncosted=int(np.isnan(costs).sum()), cost=Moments.of(_group_means(costs, bounds)))
        if references is None:
            return found
        if len(references) != len(bounds) - 1:
            raise DataError(f"{len(bounds) - 1} groups have {len(references)} references")
        wanted = np.array([bool(text and text.strip()) for text in references], np.bool_)
        of_variant = np.repeat(np.arange(len(references)), np.diff(bounds))
        beside = [references[group] or "" for group in of_variant.tolist()]
        chrf = np.nan_to_num(chrf_from_points(code_points(texts), code_points(beside)).astype(np.float64))
        chrf[~wanted[of_variant]] = np.nan
        of_references = Moments.of(_group_means(chrf, bounds))
        return found + cls(unreferenced=int((~wanted).sum()), chrf=of_references)

    def __add__(self, other: Adequacy) -> Adequacy:
        return Adequacy(
            self.uncosted + other.uncosted,
            self.unreferenced + other.unreferenced,
            self.cost + other.cost,
            self.chrf + other.chrf,
        )

    def figures(self) -> dict[str, Estimate]:
        """cost and chrf, each with its interval; NaN where nothing was known."""
        return {"cost": self.cost.estimate(), "chrf": self.chrf.estimate()}


def signatures() -> dict[str, str]:
    """How the figures were made, by their names.

    >>> signatures()["chrf"].partition("|version")[0]
    'chrf|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|beta:2|space:no|mean:groups'
    """
    chrf = {"nrefs": 1, "case": "mixed", "eff": True, "nc": CHRF_ORDER, "nw": 0, "beta": CHRF_BETA, "space": False}
    return {
        "cost": signature("translation_cost", per="token", mean="groups"),
        "chrf": signature("chrf", **chrf, mean="groups"),
    }


def _group_means(values: npt.NDArray[np.float64], bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Means of the numbers of each group that are not NaN, float64 (groups,); NaN where there are none."""
    group = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: npt.NDArray[np.float64] = np.bincount(
            group[known], values[known], minlength=len(bounds) - 1
        ) / np.bincount(group[known], minlength=len(bounds) - 1)
    return means
