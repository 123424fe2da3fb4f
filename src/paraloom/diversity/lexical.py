"""Lexical diversity of a generated set: i-BLEU and i-chrF over its groups (BBH22 §2.2), as sums that merge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from paraloom.core.digests import signature
from paraloom.core.stats import Estimate, Moments
from paraloom.diversity.groups import group_bounds, whole_groups
from paraloom.diversity.overlap_metrics import Overlaps, overlap_of_groups
from paraloom.text.chrf import CHRF_BETA, CHRF_ORDER


@dataclass(frozen=True)
class LexicalDiversity:
    """Sums over groups of variants; two of them add up to those of both.

    groups: of two variants or more, the only ones in the means, each counted once whatever its size.  alone: groups of
    fewer.  variants: of all groups.  empty: variants without a visible character; they count as diverse (see
    overlap_of_groups), so look at this first.  ibleu, ichrf, repeated: of the groups; see Overlaps.
    """

    groups: int = 0
    alone: int = 0
    variants: int = 0
    empty: int = 0
    ibleu: Moments = field(default_factory=Moments)
    ichrf: Moments = field(default_factory=Moments)
    repeated: Moments = field(default_factory=Moments)

    @classmethod
    def of(cls, overlaps: Overlaps) -> LexicalDiversity:
        """Of a batch of groups.

        >>> both = LexicalDiversity.of(overlap_of_groups(["a dog", "a dog", "one"], [0, 2, 3]))
        >>> both.groups, both.alone, both.ibleu.mean, both.repeated.mean
        (1, 1, 0.0, 0.5)
        """
        several = overlaps.variants > 1
        return cls(
            groups=int(several.sum()),
            alone=int((~several).sum()),
            variants=int(overlaps.variants.sum()),
            empty=int(overlaps.empty.sum()),
            ibleu=Moments.of(overlaps.ibleu),
            ichrf=Moments.of(overlaps.ichrf),
            repeated=Moments.of(overlaps.repeated[several]),
        )

    def __add__(self, other: LexicalDiversity) -> LexicalDiversity:
        return LexicalDiversity(
            self.groups + other.groups,
            self.alone + other.alone,
            self.variants + other.variants,
            self.empty + other.empty,
            self.ibleu + other.ibleu,
            self.ichrf + other.ichrf,
            self.repeated + other.repeated,
        )

    def figures(self) -> dict[str, Estimate]:
        """ibleu and ichrf (0 to 100, higher is more diverse) and repeated (0 to 1), each with its interval."""
        return {
            "ibleu": self.ibleu.estimate(),
            "ichrf": self.ichrf.estimate(),
            "repeated": self.repeated.estimate(),
        }


def lexical_diversity(batches: Iterable[pa.RecordBatch], *, effective_order: bool = True) -> LexicalDiversity:
    """Of a corpus of VARIANTS, the variants of one source one after another; memory is that of a batch and a group,
    and some 16 bytes a source, by which a group in two places is found.

    effective_order: see overlap_of_groups.  Raises DataError where a group comes in two places.

    >>> rows = [{"pair_id": "1", "text": "a dog"}, {"pair_id": "1", "text": "a cat"}]
    >>> lexical_diversity([pa.RecordBatch.from_pylist(rows)]).ibleu.mean
    50.0
    """
    total = LexicalDiversity()
    for batch in whole_groups(batches):
        bounds = group_bounds(batch.column("pair_id"))
        overlaps = overlap_of_groups(batch.column("text"), bounds, effective_order=effective_order)
        total += LexicalDiversity.of(overlaps)
    return total


def signatures(*, effective_order: bool = True) -> dict[str, str]:
    """How the figures were made, by their names, sacreBLEU's way.

    >>> signatures()["ichrf"].partition("|version")[0]
    'ichrf|case:mixed|eff:yes|nc:6|nw:0|beta:2|space:no|pairs:ordered'
    """
    return {
        "ibleu": signature("ibleu", case="lc", eff=effective_order, tok="13a", smooth="exp", pairs="ordered"),
        "ichrf": signature(
            "ichrf", case="mixed", eff=True, nc=CHRF_ORDER, nw=0, beta=CHRF_BETA, space=False, pairs="ordered"
        ),
        "repeated": signature("repeated", case="mixed", unit="variants"),
    }
