"""Lengths of texts in words between white space, and the ratio of two lengths."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring import character_kernels
from paraloom.text.characters import white_table
from paraloom.text.chrf import Points


def whitespace_words(points: Points) -> npt.NDArray[np.int32]:
    """Count words between white space, punctuation attached, as OpusFilter does.

    Args:
        points: Code points of n texts, from `paraloom.text.buffers.code_points`.

    Returns:
        int32 `(n,)`.

    Example:
        >>> from paraloom.text.buffers import code_points
        >>> whitespace_words(code_points(["Well, I never!", ""])).tolist()
        [3, 0]
    """
    return character_kernels.whitespace_words(*points, white_table())


def length_ratio(a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
    """Divide the longer of two lengths by the shorter.

    Args:
        a: Lengths `(n,)`.
        b: Lengths `(n,)`.

    Returns:
        float32 `(n,)`, 1 or more; NaN where a length is 0.

    Example:
        >>> length_ratio(np.array([2, 6, 0]), np.array([3, 3, 1]))
        array([1.5, 2. , nan], dtype=float32)
    """
    shorter, longer = np.minimum(a, b), np.maximum(a, b)
    ratio: npt.NDArray[np.float32] = (longer / np.where(shorter > 0, shorter, np.nan)).astype(np.float32)
    return ratio
