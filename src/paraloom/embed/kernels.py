"""The inner loops of averaging encoders, compiled by numba: look up, average, and the way back.

Import it inside functions only: numba takes a second to load.  The kernels release the lock, are cached on disk, and
each writes only to the range of rows it is given, so that threads share one array and the result never depends on
how many there are.  Lists of row ids are flat: `rows` int32 (tokens,), `offsets` int64 (n + 1,).
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums may be reordered to fill vector registers; the order is fixed when the code is compiled.
_VECTORS = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True)
def place(ids, keys, values, first):
    """Enter ids that are new into the hash table (keys uint64, values int32, −1 where free), numbered from `first`."""
    mask = np.uint64(len(keys) - 1)
    for k in range(len(ids)):
        slot = ids[k] & mask
        while values[slot] >= 0 and keys[slot] != ids[k]:
            slot = (slot + np.uint64(1)) & mask
        if values[slot] < 0:
            keys[slot] = ids[k]
            values[slot] = first
            first += 1
    return first


@njit(cache=True, nogil=True)
def intern(ids, keys, values, counts, first):
    """Number each id by the hash table, count it, and enter new ones; also where each new id stood first.

    The table needs room for all of them.  Returns numbers int32 (tokens,), positions int64 (new ids,).
    """
    mask = np.uint64(len(keys) - 1)
    numbers = np.empty(len(ids), np.int32)
    fresh = np.empty(len(ids), np.int64)
    found = 0
    for k in range(len(ids)):
        slot = ids[k] & mask
        while values[slot] >= 0 and keys[slot] != ids[k]:
            slot = (slot + np.uint64(1)) & mask
        if values[slot] < 0:
            keys[slot] = ids[k]
            values[slot] = first + found
            fresh[found] = k
            found += 1
        numbers[k] = values[slot]
        counts[values[slot]] += 1
    return numbers, fresh[:found].copy()


@njit(cache=True, nogil=True)
def look_up(ids, offsets, keys, values):
    """Row of each id that the hash table holds, unknown ones left out: rows int32, offsets int64 (n + 1,)."""
    mask = np.uint64(len(keys) - 1)
    rows = np.empty(len(ids), np.int32)
    bounds = np.zeros(len(offsets), np.int64)
    count = 0
    for i in range(len(offsets) - 1):
        for k in range(offsets[i], offsets[i + 1]):
            slot = ids[k] & mask
            while values[slot] >= 0 and keys[slot] != ids[k]:
                slot = (slot + np.uint64(1)) & mask
            if values[slot] >= 0:
                rows[count] = values[slot]
                count += 1
        bounds[i + 1] = count
    return rows[:count].copy(), bounds


@njit(cache=True, nogil=True)
def take(rows, offsets, which, renumber):
    """The lists `which` int64 (m,), each row r replaced by renumber[r], left out where that is negative."""
    total = 0
    for i in which:
        total += offsets[i + 1] - offsets[i]
    taken = np.empty(total, np.int32)
    bounds = np.zeros(len(which) + 1, np.int64)
    count = 0
    for n in range(len(which)):
        for k in range(offsets[which[n]], offsets[which[n] + 1]):
            row = renumber[rows[k]]
            if row >= 0:
                taken[count] = row
                count += 1
        bounds[n + 1] = count
    return taken[:count].copy(), bounds


@njit(cache=True, nogil=True, fastmath=_VECTORS, error_model="numpy")
def add_means(rows, offsets, table, scales, out, column, begin, end):
    """out[i, column:column+d] += mean of table[row] · scales[row] over list i, for the lists begin to end.

    table (V, d) float32 or int8, scales float32 (V,).  An empty list adds nothing.
    """
    width = table.shape[1]
    for i in range(begin, end):
        first, last = offsets[i], offsets[i + 1]
        if first == last:
            continue
        share = np.float32(1) / np.float32(last - first)
        k = first
        # Four rows at a time: the sum is then read and written a quarter as often.
        while k + 4 <= last:
            a, b, c, d = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
            wa, wb, wc, wd = share * scales[a], share * scales[b], share * scales[c], share * scales[d]
            for j in range(width):
                left = wa * np.float32(table[a, j]) + wb * np.float32(table[b, j])
                right = wc * np.float32(table[c, j]) + wd * np.float32(table[d, j])
                out[i, column + j] += left + right
            k += 4
        while k < last:
            weight = share * scales[rows[k]]
            for j in range(width):
                out[i, column + j] += weight * np.float32(table[rows[k], j])
            k += 1


@njit(cache=True, nogil=True)
def invert(rows, offsets, used, slots):
    """For each distinct row of the used lists, who holds it: unique int32 (u,), starts int64 (u + 1,), members int32.

    used: bool (n,).  slots: int32 (V,), all −1, and left so: what makes the cost independent of V.
    """
    unique = np.empty(len(rows), np.int32)
    counts = np.zeros(len(rows) + 1, np.int64)
    found = 0
    for i in range(len(offsets) - 1):
        if used[i]:
            for k in range(offsets[i], offsets[i + 1]):
                slot = slots[rows[k]]
                if slot < 0:
                    slot = found
                    slots[rows[k]] = slot
                    unique[slot] = rows[k]
                    found += 1
                counts[slot + 1] += 1
    starts = counts[: found + 1].copy()
    for slot in range(found):
        starts[slot + 1] += starts[slot]
    members = np.empty(starts[found], np.int32)
    ends = starts.copy()
    for i in range(len(offsets) - 1):
        if used[i]:
            for k in range(offsets[i], offsets[i + 1]):
                slot = slots[rows[k]]
                members[ends[slot]] = i
                ends[slot] += 1
    for slot in range(found):
        slots[unique[slot]] = -1
    return unique[:found].copy(), starts, members


@njit(cache=True, nogil=True, fastmath=_VECTORS, error_model="numpy")
def row_gradients(starts, members, offsets, gradient, column, out, begin, end):
    """out[u] = Σ gradient[i, column:column+d] / length of list i, over the lists i with row u; u from begin to end."""
    width = out.shape[1]
    for u in range(begin, end):
        i = members[starts[u]]
        share = np.float32(1) / np.float32(offsets[i + 1] - offsets[i])
        for j in range(width):
            out[u, j] = share * gradient[i, column + j]
        for k in range(starts[u] + 1, starts[u + 1]):
            i = members[k]
            share = np.float32(1) / np.float32(offsets[i + 1] - offsets[i])
            for j in range(width):
                out[u, j] += share * gradient[i, column + j]


@njit(cache=True, nogil=True, fastmath=_VECTORS, error_model="numpy")
def adam_rows(unique, gradient, table, first, second, rate, beta1, beta2, floor, begin, end):
    """One step of Adam on the rows unique[begin:end]; gradient (u, d), and table, first and second moment (V, d).

    rate and floor have the bias corrections in them already.
    """
    one = np.float32(1)
    for u in range(begin, end):
        row = unique[u]
        for j in range(gradient.shape[1]):
            g = gradient[u, j]
            m = beta1 * first[row, j] + (one - beta1) * g
            v = beta2 * second[row, j] + (one - beta2) * g * g
            first[row, j] = m
            second[row, j] = v
            table[row, j] -= rate * m / (np.sqrt(v) + floor)


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
    return a == c or a == d or b == c or b == d


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


@njit(cache=True, nogil=True)
def bag_keys(ids, offsets):
    """uint64 (n,): a key of each list's ids whatever their order, for finding sentences of the same words."""
    keys = np.zeros(len(offsets) - 1, np.uint64)
    for i in range(len(keys)):
        total = np.uint64(0)
        for k in range(offsets[i], offsets[i + 1]):
            total += (ids[k] ^ (ids[k] >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        keys[i] = total
    return keys
