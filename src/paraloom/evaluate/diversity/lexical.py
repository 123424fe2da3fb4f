"""Lexical diversity: i-BLEU and i-chrF of the variants of each source (BBH22 §2.2), as sums that can be added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Floats, Ids, Ints
from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.core.stats import Estimate, Moments, Sums
from paraloom.evaluate.diversity.mteval_kernels import mteval_words
from paraloom.text.bleu import BLEU_ORDER, bleu_from_counts
from paraloom.text.buffers import Texts, code_points, text_buffers
from paraloom.text.characters import white_table
from paraloom.text.chrf import CHRF_BETA, CHRF_ORDER, chrf_from_counts
from paraloom.text.ngram_kernels import prefixes_of, shared_ngrams, visible
from paraloom.text.normalize import lowercase_in_context
from paraloom.text.token_kernels import hash_spans

# Pairs of variants at a time: about 30 MB of counts, however many variants a group has.
_PAIRS = 1 << 17


@dataclass(frozen=True, eq=False)
class GroupOverlaps:
    variants: Ints  # int64 (g,), number of variants
    empty: Ints  # int64 (g,), variants without a visible character
    # float64 (g,), 0 (all the same) to 100 (nothing in common), higher is more diverse; NaN for a group with
    # fewer than two variants.
    ibleu: Floats
    ichrf: Floats  # float64 (g,), likewise
    # float64 (g,), share of the variants that equal an earlier one of their group character by character, 0 to 1;
    # NaN for a group without variants.
    repeated: Floats


def group_overlaps(texts: Texts, groups: npt.ArrayLike) -> GroupOverlaps:
    """Compute i-BLEU and i-chrF of each group (BBH22 §2.2): 100 minus sacreBLEU's mean sentence score of two variants.

    As in sacreBLEU an empty text scores 0 against any other: a group whose variants are all empty has 100.
    """
    data, offsets = text_buffers(texts)
    bounds = _check_bounds(groups, len(offsets) - 1)
    words, word_bounds = mteval_words(*code_points(lowercase_in_context(texts)), white_table())
    characters, character_bounds = visible(*code_points(texts), white_table())
    of_words, of_characters = (prefixes_of(words), word_bounds), (prefixes_of(characters), character_bounds)
    sizes = np.diff(bounds)
    ibleu, ichrf = np.full(len(sizes), np.nan), np.full(len(sizes), np.nan)
    for rows, first, second in _pairs(bounds):
        for lists, order, figures in ((of_words, BLEU_ORDER, ibleu), (of_characters, CHRF_ORDER, ichrf)):
            scores = _mean_scores(lists, order, first, second)
            figures[rows] = 100 - scores.reshape(len(rows), -1).mean(1)
    group = np.repeat(np.arange(len(sizes)), sizes)
    empty = np.bincount(group[np.diff(character_bounds) == 0], minlength=len(sizes))
    repeated = _repeated(hash_spans(data, offsets[:-1], offsets[1:]), group, sizes)
    return GroupOverlaps(sizes, empty, ibleu, ichrf, repeated)


@dataclass(frozen=True)
class LexicalDiversity(Sums):
    """Sums over groups of variants; two of them can be added."""

    groups: int = 0
    alone: int = 0
    variants: int = 0
    empty: int = 0
    ibleu: Moments = field(default_factory=Moments)
    ichrf: Moments = field(default_factory=Moments)
    repeated: Moments = field(default_factory=Moments)

    @classmethod
    def of(cls, overlaps: GroupOverlaps) -> LexicalDiversity:
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

    def figures(self) -> dict[str, Estimate]:
        """ibleu and ichrf (0 to 100, higher is more diverse) and repeated (0 to 1), with 95 % intervals."""
        return {"ibleu": self.ibleu.estimate(), "ichrf": self.ichrf.estimate(), "repeated": self.repeated.estimate()}


def signatures() -> dict[str, str]:
    """The signature of each figure, in the form of sacreBLEU's."""
    return {
        "ibleu": signature("ibleu", case="lc", eff=True, tok="13a", smooth="exp", pairs="ordered"),
        "ichrf": signature(
            "ichrf", case="mixed", eff=True, nc=CHRF_ORDER, nw=0, beta=CHRF_BETA, space=False, pairs="ordered"
        ),
        "repeated": signature("repeated", case="mixed", unit="variants"),
    }


def _mean_scores(lists: tuple[Ids, Ints], order: int, a: Ints, b: Ints) -> Floats:
    """The mean of the scores of a against b and of b against a, float64 (pairs,)."""
    prefixes, offsets = lists
    shared = shared_ngrams(prefixes, offsets, a, b, order)
    lengths = np.diff(offsets)
    if order == BLEU_ORDER:
        scores = [bleu_from_counts(shared, lengths[x], lengths[y]) for x, y in ((a, b), (b, a))]
    else:
        scores = [np.nan_to_num(chrf_from_counts(shared, lengths[x], lengths[y])) for x, y in ((a, b), (b, a))]
    return (scores[0] + scores[1]) / 2


def _pairs(bounds: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Groups of one size, and of each group its pairs of texts, i before j; _PAIRS at a time, or one group."""
    sizes = np.diff(bounds)
    for size in np.unique(sizes[sizes > 1]):
        i, j = np.triu_indices(size, 1)
        rows = np.flatnonzero(sizes == size)
        for part in np.array_split(rows, min(len(rows), -(-len(rows) * len(i) // _PAIRS))):
            starts = bounds[part][:, None]
            yield part, (starts + i).ravel(), (starts + j).ravel()


def _repeated(ids: Ids, group: Ints, sizes: Ints) -> Floats:
    """Share of the texts of each group whose id occurs earlier in it."""
    order = np.lexsort((ids, group))
    equal = (np.diff(group[order]) == 0) & (ids[order][1:] == ids[order][:-1])
    with np.errstate(invalid="ignore"):
        share: Floats = np.bincount(group[order][1:][equal], minlength=len(sizes)) / sizes
    return share


def _check_bounds(groups: npt.ArrayLike, texts: int) -> Ints:
    bounds = np.asarray(groups)
    if bounds.ndim != 1 or not len(bounds) or not np.issubdtype(bounds.dtype, np.integer):
        raise DataError(f"bounds of groups must be a list of whole numbers, got {bounds.dtype} of shape {bounds.shape}")
    bounds = bounds.astype(np.int64)
    if bounds[0] != 0 or bounds[-1] != texts or (np.diff(bounds) < 0).any():
        raise DataError(
            f"bounds of groups must ascend from 0 to {texts}, the number of texts, got {bounds[0]} to {bounds[-1]}"
            + (", not ascending" if (np.diff(bounds) < 0).any() else ""),
            remedy="Give group j the texts from groups[j] to groups[j + 1].",
        )
    return bounds
