"""The choice of k of n texts that are good and unlike each other, greedy by quality times dissimilarity."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def choose_diverse(quality: Floats, alike: Floats, k: int, *, weight: float = 0.5) -> list[int]:
    """Choose k of n, one after the other, each by quality ** weight × dissimilarity ** (1 - weight).

    The dissimilarity of a candidate is 1 minus its highest similarity to those that are chosen; that of the first
    choice is 1.

    Reference:
        Carbonell and Goldstein 1998, with a product in place of the weighted sum, which needs no common scale.
    """
    unlike = np.ones(len(quality))
    left = np.ones(len(quality), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(k, len(quality)):
        values = np.where(left, quality**weight * unlike ** (1 - weight), -1.0)
        best = int(values.argmax())
        chosen.append(best)
        left[best] = False
        unlike = np.minimum(unlike, 1 - np.clip(alike[best], 0.0, 1.0))
    return chosen
