"""How little the variants of a source overlap: i-BLEU and i-chrF of each group, on sacreBLEU's scores (BBH22 §2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import DataError
from paraloom.diversity.mteval_kernels import mteval_words
from paraloom.text.bleu import BLEU_ORDER, bleu_from_counts
from paraloom.text.buffers import Texts, code_points, text_buffers
from paraloom.text.characters import white_table
from paraloom.text.chrf import CHRF_ORDER, chrf_from_counts
from paraloom.text.ngram_kernels import prefixes_of, shared_ngrams, visible
from paraloom.text.normalize import lowercase_in_context
from paraloom.text.token_kernels import hash_spans

# Pairs of variants at a time: some 30 MB of counts, however many variants a group has.
_PAIRS = 1 << 17

Ints = npt.NDArray[np.int64]
Figures = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Figures of g groups of variants.

    variants: int64 (g,), how many.  empty: int64 (g,), how many of them have no visible character.
    ibleu, ichrf: float64 (g,), 0 (all the same) to 100 (nothing in common), higher is more diverse; NaN for a group of
    fewer than two.  repeated: float64 (g,), share of the variants that equal an earlier one of their group, character
    by character, 0 to 1; NaN for a group without any.
    """

    variants: Ints
    empty: Ints
    ibleu: Figures
    ichrf: Figures
    repeated: Figures


def overlap_of_groups(texts: Texts, groups: npt.ArrayLike, *, effective_order: bool = True) -> Overlaps:
    """i-BLEU and i-chrF of each group of variants: 100 less the mean score of a variant against another.

    texts: the variants, group after group.  groups: integers (g + 1,), group j has the texts groups[j] to
    groups[j + 1]; see diversity.groups for those of VARIANTS.

    The mean is over all ordered pairs.  BLEU is that of sacrebleu.sentence_bleu(a, [b], lowercase=True): 13a words,
    exponential smoothing; with `effective_order=False` it is that of sacrebleu.corpus_bleu([a], [[b]],
    lowercase=True), by which BBH22 scored, and under which a text of fewer than four words scores 0, even against
    itself.  chrF is sacrebleu.sentence_chrf(a, [b]).  As in sacreBLEU, an empty text scores 0 against any other,
    empty ones too: a group whose variants are all empty has 100, and only `empty` tells that nothing was said.

    Raises DataError where `groups` does not divide the texts.

    >>> found = overlap_of_groups(["A dog runs.", "a dog runs.", "The cat sat.", "alone"], [0, 2, 3, 4])
    >>> found.ibleu, found.ichrf.round(2)
    (array([ 0., nan, nan]), array([16.59,   nan,   nan]))
    """
    data, offsets = text_buffers(texts)
    bounds = _checked(groups, len(offsets) - 1)
    words, word_bounds = mteval_words(*code_points(lowercase_in_context(texts)), white_table())
    characters, character_bounds = visible(*code_points(texts), white_table())
    of_words, of_characters = (prefixes_of(words), word_bounds), (prefixes_of(characters), character_bounds)
    sizes = np.diff(bounds)
    ibleu, ichrf = np.full(len(sizes), np.nan), np.full(len(sizes), np.nan)
    for rows, first, second in _pairs(bounds):
        for lists, order, figures in ((of_words, BLEU_ORDER, ibleu), (of_characters, CHRF_ORDER, ichrf)):
            figures[rows] = 100 - _means(lists, order, first, second, effective_order).reshape(len(rows), -1).mean(1)
    group = np.repeat(np.arange(len(sizes)), sizes)
    empty = np.bincount(group[np.diff(character_bounds) == 0], minlength=len(sizes))
    return Overlaps(sizes, empty, ibleu, ichrf, _repeated(hash_spans(data, offsets[:-1], offsets[1:]), group, sizes))


def _means(lists: tuple[npt.NDArray[np.uint64], Ints], order: int, a: Ints, b: Ints, effective_order: bool) -> Figures:
    """The mean of the scores of a against b and of b against a: float64 (pairs,)."""
    prefixes, offsets = lists
    shared = shared_ngrams(prefixes, offsets, a, b, order)
    lengths = np.diff(offsets)
    if order == BLEU_ORDER:
        each = [
            bleu_from_counts(shared, lengths[x], lengths[y], effective_order=effective_order)
            for x, y in ((a, b), (b, a))
        ]
    else:
        each = [np.nan_to_num(chrf_from_counts(shared, lengths[x], lengths[y])) for x, y in ((a, b), (b, a))]
    return (each[0] + each[1]) / 2


def _pairs(bounds: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Groups of one size, and of each group in turn its pairs of texts, i before j; _PAIRS at a time or one group."""
    sizes = np.diff(bounds)
    for size in np.unique(sizes[sizes > 1]):
        i, j = np.triu_indices(size, 1)
        rows = np.flatnonzero(sizes == size)
        for part in np.array_split(rows, min(len(rows), -(-len(rows) * len(i) // _PAIRS))):
            begins = bounds[part][:, None]
            yield part, (begins + i).ravel(), (begins + j).ravel()


def _repeated(ids: npt.NDArray[np.uint64], group: Ints, sizes: Ints) -> Figures:
    """Share of the texts of each group whose id stands in it before."""
    order = np.lexsort((ids, group))
    again = (np.diff(group[order]) == 0) & (ids[order][1:] == ids[order][:-1])
    with np.errstate(invalid="ignore"):
        share: Figures = np.bincount(group[order][1:][again], minlength=len(sizes)) / sizes
    return share


def _checked(groups: npt.ArrayLike, texts: int) -> Ints:
    bounds = np.asarray(groups)
    if bounds.ndim != 1 or not len(bounds) or not np.issubdtype(bounds.dtype, np.integer):
        raise DataError(f"bounds of groups are whole numbers in a row, not {bounds.dtype} of shape {bounds.shape}")
    bounds = bounds.astype(np.int64)
    if bounds[0] != 0 or bounds[-1] != texts or (np.diff(bounds) < 0).any():
        raise DataError(
            f"bounds of groups go up from 0 to the {texts} texts, not from {bounds[0]} to {bounds[-1]}"
            + (" and back in between" if (np.diff(bounds) < 0).any() else ""),
            remedy="Give group j the texts from groups[j] to groups[j + 1].",
        )
    return bounds
