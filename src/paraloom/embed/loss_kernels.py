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
def _product(a, b):
    """The product of two vectors, in one fixed order of sums."""
    total = np.float32(0)
    for c in range(len(a)):
        total += a[c] * b[c]
    return total


# The two kernels below look at cosines (k, n − start) of the k vectors from `start` on with all from there on.  A
# cosine that comes within `slack` of the nearest so far, or above it, is computed again by _product, and that decides;
# of equals the first wins: so the choice depends neither on how the cosines were computed nor on the order in which
# they are looked at.  first, second: uint64 (n,), keys of the two sentences of each pair; a pair that shares a
# sentence with the anchor's pair, itself among them, is no negative.  negatives int64 (n,), −1 at first, and their
# products, nearest float32 (n,), −2 at first, are raised.


@njit(cache=True, nogil=True, fastmath=_VECTORS, error_model="numpy")
def raise_rows(cosines, vectors, start, first, second, slack, negatives, nearest, begin, end):
    """For the anchors that the rows from begin to end belong to."""
    for k in range(begin, end):
        i, row = start + k, cosines[k]
        bound = nearest[i] - slack
        for c in range(len(row)):
            if row[c] >= bound:
                j = start + c
                if not _shares(first[j], second[j], first[i], second[i]):
                    product = _product(vectors[i], vectors[j])
                    if product > nearest[i] or (product == nearest[i] and j < negatives[i]):
                        negatives[i], nearest[i] = j, product
                        bound = product - slack


@njit(cache=True, nogil=True, fastmath=_VECTORS, error_model="numpy")
def raise_columns(cosines, vectors, start, first, second, slack, negatives, nearest, begin, end):
    """For the anchors that the columns from begin to end belong to."""
    bounds = nearest[start + begin : start + end] - slack
    for k in range(len(cosines)):
        i, row = start + k, cosines[k, begin:end]
        for c in range(len(row)):
            if row[c] >= bounds[c]:
                j = start + begin + c
                if not _shares(first[j], second[j], first[i], second[i]):
                    product = _product(vectors[i], vectors[j])
                    if product > nearest[j] or (product == nearest[j] and i < negatives[j]):
                        negatives[j], nearest[j] = i, product
                        bounds[c] = product - slack
