"""chrF2 of pairs of texts, and from shared character n-grams and lengths."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Floats, Int32s, Ints
from paraloom.text.characters import white_table
from paraloom.text.ngram_kernels import prefixes_of, shared_ngrams, visible

CHRF_ORDER = 6  # Maximum order of the n-grams, in characters
CHRF_BETA = 2  # Weight of recall against precision

Points: TypeAlias = tuple[Int32s, Ints]
"""Code points of n texts and their offsets, as `paraloom.text.buffers.code_points` returns them."""


def chrf_from_points(translations: Points, references: Points) -> Float32s:
    """Compute chrF2 (Popović 2015) of each text against its reference."""
    (ours, our_offsets), (theirs, their_offsets) = (
        visible(*side, white_table()) for side in (translations, references)
    )
    n = len(our_offsets) - 1
    rows = np.arange(n)
    ids, offsets = np.concatenate([ours, theirs]), np.concatenate([our_offsets, their_offsets[1:] + len(ours)])
    shared = shared_ngrams(prefixes_of(ids), offsets, rows, rows + n, CHRF_ORDER)
    return chrf_from_counts(shared, np.diff(our_offsets), np.diff(their_offsets)).astype(np.float32)


def chrf_from_counts(
    shared: npt.NDArray[np.integer],
    translation_lengths: npt.NDArray[np.integer],
    reference_lengths: npt.NDArray[np.integer],
) -> Floats:
    """Compute chrF2 from its statistics; orders that a side is too short for do not count, as in sacreBLEU."""
    orders = np.arange(CHRF_ORDER)
    ours, theirs = (
        np.maximum(side[:, None] - orders, 0).astype(np.float64) for side in (translation_lengths, reference_lengths)
    )
    counted = (ours > 0) & (theirs > 0)
    effective = counted.sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(counted, shared / ours, 0).sum(1) / effective
        recall = np.where(counted, shared / theirs, 0).sum(1) / effective
        weight = CHRF_BETA**2
        score: Floats = 100 * (1 + weight) * precision * recall / (weight * precision + recall)
    score[(effective > 0) & (precision + recall == 0)] = 0
    return score
