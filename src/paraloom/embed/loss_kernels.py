"""Inner loops of the loss, compiled by numba: the margin with its gradient, and the search for hard negatives.

Import it inside functions only: numba takes a second to load.  The kernels release the lock and are cached on disk.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums may be reordered to fill vector registers; the order is fixed when the code is compiled.
_VECTORS = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_VECTORS, error_model="numpy")
def margin(vectors, anchors, positives, negatives, delta, share, gradient, moved):
    """Loss, violations and gradient of Σ share · max(0, δ − cos(anchor, positive) + cos(anchor, negative)).

    anchors, positives, negatives: int64 (t,), rows of vectors (n, d); a negative below 0 leaves its triple out.
    gradient (n, d) is added to; moved bool (n,) becomes true where it was.
    A zero vector has cosine 0 with all, and no gradient.
    """
    width = vectors.shape[1]
    inverse = np.zeros(len(vectors), np.float32)
    for i in range(len(vectors)):
        square = np.float32(0)
        for j in range(width):
            square += vectors[i, j] * vectors[i, j]
        if square > 0:
            inverse[i] = np.float32(1) / np.sqrt(square)
    loss, violations = 0.0, 0
    for k in range(len(anchors)):
        a, p, n = anchors[k], positives[k], negatives[k]
        if n < 0:
            continue
        near, far = np.float32(0), np.float32(0)
        for j in range(width):
            near += vectors[a, j] * vectors[p, j]
            far += vectors[a, j] * vectors[n, j]
        near *= inverse[a] * inverse[p]
        far *= inverse[a] * inverse[n]
        excess = delta - near + far
        if excess <= 0:
            continue
        violations += 1
        moved[a] = moved[p] = moved[n] = True
        loss += np.float64(share) * np.float64(excess)
        # d cos(x, y) / dx = y / |x||y| − cos · x / |x|²
        to_p, to_n = share * inverse[a] * inverse[p], share * inverse[a] * inverse[n]
        own_a = share * (near - far) * inverse[a] * inverse[a]
        own_p, own_n = share * near * inverse[p] * inverse[p], share * far * inverse[n] * inverse[n]
        for j in range(width):
            x, y, z = vectors[a, j], vectors[p, j], vectors[n, j]
            gradient[a, j] += to_n * z - to_p * y + own_a * x
            gradient[p, j] += own_p * y - to_p * x
            gradient[n, j] += to_n * x - own_n * z
    return loss, violations


@njit(cache=True, nogil=True, inline="always")
def _shares(a, b, c, d):
    """Whether the pairs (a, b) and (c, d) have a sentence in common."""
    return a in (c, d) or b in (c, d)


@njit(cache=True, nogil=True, fastmath=_VECTORS, error_model="numpy")
def hardest(cosines, anchors, candidates, start, first, second, slack, negatives):
    """For the anchors from `start` on, a row of `cosines` (k, n) each, the most similar candidate that is a negative.

    anchors, candidates: unit vectors (n, d), whose products `cosines` are, but for rounding below slack / 2: what is
    within `slack` of the highest is compared again here, in one fixed order, so that the choice does not depend on
    how the products were computed; of equals the first wins.  first, second: uint64 (n,), keys of the two sentences
    of each pair; a pair that shares a sentence with the anchor's pair, itself among them, is no negative.
    Fills negatives[start + row]; −1 where all pairs are shut out.
    """
    for k in range(cosines.shape[0]):
        i = start + k
        one, other = first[i], second[i]
        highest = np.float32(-2)
        for j in range(cosines.shape[1]):
            if cosines[k, j] > highest and not _shares(first[j], second[j], one, other):
                highest = cosines[k, j]
        best, nearest = -1, np.float32(-2)
        if highest > -2:
            for j in range(cosines.shape[1]):
                if cosines[k, j] >= highest - slack and not _shares(first[j], second[j], one, other):
                    product = np.float32(0)
                    for c in range(anchors.shape[1]):
                        product += anchors[i, c] * candidates[j, c]
                    if product > nearest:
                        best, nearest = j, product
        negatives[i] = best
