"""Lengths of texts in words between white space, and the ratio of two lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring import character_kernels
from paraloom.text.characters import white_table

if TYPE_CHECKING:
    from paraloom.text.chrf import Points


def whitespace_words(points: Points) -> npt.NDArray[np.int32]:
    """Count words between white space, punctuation attached, as OpusFilter does."""
    return character_kernels.whitespace_words(*points, white_table())


def length_ratio(a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
    """Divide the longer of two lengths by the shorter."""
    shorter, longer = np.minimum(a, b), np.maximum(a, b)
    ratio: npt.NDArray[np.float32] = (longer / np.where(shorter > 0, shorter, np.nan)).astype(np.float32)
    return ratio
