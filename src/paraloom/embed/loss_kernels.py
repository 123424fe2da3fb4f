"""Kernels of the margin loss with its gradient and of the search for hard negatives, compiled by numba."""

from __future__ import annotations

import numpy as np

from paraloom.core.kernels import kernel

# Sums may be reordered to fill vector registers; the order is fixed when the code is compiled.
_VECTORS = {"reassoc", "contract", "nsz"}


@kernel(fastmath=_VECTORS, error_model="numpy")
def margin(vectors, anchors, positives, negatives, delta, weight, gradient, active):
    """Loss, violations and gradient of Σ weight · max(0, δ − cos(anchor, positive) + cos(anchor, negative)).

    A triple without a negative (-1) is left out; a zero vector has cosine 0 with every vector, and no gradient.
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
        active[a] = active[p] = active[n] = True
        loss += np.float64(weight) * np.float64(excess)
        # d cos(x, y) / dx = y / |x||y| − cos · x / |x|²
        to_p, to_n = weight * inverse[a] * inverse[p], weight * inverse[a] * inverse[n]
        own_a = weight * (near - far) * inverse[a] * inverse[a]
        own_p, own_n = weight * near * inverse[p] * inverse[p], weight * far * inverse[n] * inverse[n]
        by_a, by_p, by_n = gradient[a], gradient[p], gradient[n]
        for j in range(width):
            by_a[j] += to_n * z[j] - to_p * y[j] + own_a * x[j]
            by_p[j] += own_p * y[j] - to_p * x[j]
            by_n[j] += to_n * x[j] - own_n * z[j]
    return loss, violations


@kernel(inline="always")
def _overlap(a, b, c, d):
    """True if the pairs (a, b) and (c, d) have a sentence in common."""
    return a in (c, d) or b in (c, d)


@kernel(fastmath=_VECTORS, error_model="numpy")
def _product(a, b):
    """The product of two vectors, in one fixed order of sums."""
    total = np.float32(0)
    for c in range(len(a)):
        total += a[c] * b[c]
    return total


# The two kernels below search the cosines (k, n - start) of the k vectors from row `start` with all vectors from that
# row. A cosine that is at least the nearest so far minus `tolerance` is computed again by _product, which decides; ties
# go to the lower row. Thus the result depends neither on how the cosines were computed nor on the order of the search.
# first, second: uint64 (n,), keys of the two sentences of each pair; a pair that shares a sentence with the anchor's
# pair is not a negative. Updated in place: negatives, int64 (n,), initially -1, and their products nearest, float32
# (n,), initially -2.


@kernel(fastmath=_VECTORS, error_model="numpy")
def search_rows(cosines, vectors, start, first, second, tolerance, negatives, nearest, begin, end):
    for k in range(begin, end):
        i, row = start + k, cosines[k]
        bound = nearest[i] - tolerance
        for c in range(len(row)):
            if row[c] >= bound:
                j = start + c
                if not _overlap(first[j], second[j], first[i], second[i]):
                    product = _product(vectors[i], vectors[j])
                    if product > nearest[i] or (product == nearest[i] and j < negatives[i]):
                        negatives[i], nearest[i] = j, product
                        bound = product - tolerance


@kernel(fastmath=_VECTORS, error_model="numpy")
def search_columns(cosines, vectors, start, first, second, tolerance, negatives, nearest, begin, end):
    bounds = nearest[start + begin : start + end] - tolerance
    for k in range(len(cosines)):
        i, row = start + k, cosines[k, begin:end]
        for c in range(len(row)):
            if row[c] >= bounds[c]:
                j = start + begin + c
                if not _overlap(first[j], second[j], first[i], second[i]):
                    product = _product(vectors[i], vectors[j])
                    if product > nearest[j] or (product == nearest[j] and i < negatives[j]):
                        negatives[j], nearest[j] = i, product
                        bounds[c] = product - tolerance
