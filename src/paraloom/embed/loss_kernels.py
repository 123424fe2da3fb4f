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
        vector = vectors[i]
        square = np.float32(0)
        for j in range(width):
            square += vector[j] * vector[j]
        if square > 0:
            inverse[i] = np.float32(1) / np.sqrt(square)
    loss, violations = 0.0, 0
    for k in range(len(anchors)):
        a, p, n = anchors[k], positives[k], negatives[k]
        if n < 0:
            continue
        x, y, z = vectors[a], vectors[p], vectors[n]
        near, far = np.float32(0), np.float32(0)
        for j in range(width):
            near += x[j] * y[j]
            far += x[j] * z[j]
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
        by_a, by_p, by_n = gradient[a], gradient[p], gradient[n]
        for j in range(width):
            by_a[j] += to_n * z[j] - to_p * y[j] + own_a * x[j]
            by_p[j] += own_p * y[j] - to_p * x[j]
            by_n[j] += to_n * x[j] - own_n * z[j]
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
        i, row = start + k, cosines[k]
        one, other = first[i], second[i]
        highest = np.float32(-2)
        for j in range(len(row)):
            if row[j] > highest and not _shares(first[j], second[j], one, other):
                highest = row[j]
        best, nearest = -1, np.float32(-2)
        if highest > -2:
            bound = highest - slack
            for j in range(len(row)):
                if row[j] >= bound and not _shares(first[j], second[j], one, other):
                    anchor, candidate = anchors[i], candidates[j]
                    product = np.float32(0)
                    for c in range(len(anchor)):
                        product += anchor[c] * candidate[c]
                    if product > nearest:
                        best, nearest = j, product
        negatives[i] = best
