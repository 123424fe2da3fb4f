"""Kernels of averages: the mean, its gradient by row, and lazy Adam on those rows.

Each writes only to the range of rows that it is given, so that the result does not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from paraloom.core.kernels import kernel

# Sums may be reordered to fill vector registers; the order is fixed when the code is compiled.
_VECTORS = {"reassoc", "contract", "nsz"}


@kernel(error_model="numpy")
def add_means(rows, offsets, table, scales, out, column, begin, end):
    """out[i, column:column+d] += mean of table[row] · scales[row] over list i, in the order of sums of `add_mean`."""
    width = table.shape[1]
    for i in range(begin, end):
        first, last = offsets[i], offsets[i + 1]
        if first == last:
            continue
        # Views of single rows: indexing with possibly negative indices would prevent vectorization of the loops.
        total = out[i, column : column + width]
        share = np.float32(1) / np.float32(last - first)
        k = first
        # Four rows at a time: the sum is read and written a quarter as often.
        while k + 4 <= last:
            a, b, c, d = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
            wa, wb, wc, wd = share * scales[a], share * scales[b], share * scales[c], share * scales[d]
            ra, rb, rc, rd = table[a], table[b], table[c], table[d]
            for j in range(width):
                left = wa * np.float32(ra[j]) + wb * np.float32(rb[j])
                right = wc * np.float32(rc[j]) + wd * np.float32(rd[j])
                total[j] += left + right
            k += 4
        while k < last:
            weight, row = share * scales[rows[k]], table[rows[k]]
            for j in range(width):
                total[j] += weight * np.float32(row[j])
            k += 1


@kernel
def invert(rows, offsets, used, slots):
    """Inverted index of the used lists: unique rows, starts, members; `slots` (V,) is -1 before and after the call."""
    unique = np.empty(len(rows), np.int32)
    counts = np.zeros(len(rows) + 1, np.int64)
    distinct = 0
    for i in range(len(offsets) - 1):
        if used[i]:
            for k in range(offsets[i], offsets[i + 1]):
                slot = slots[rows[k]]
                if slot < 0:
                    slot = distinct
                    slots[rows[k]] = slot
                    unique[slot] = rows[k]
                    distinct += 1
                counts[slot + 1] += 1
    starts = counts[: distinct + 1].copy()
    for slot in range(distinct):
        starts[slot + 1] += starts[slot]
    members = np.empty(starts[distinct], np.int32)
    ends = starts.copy()
    for i in range(len(offsets) - 1):
        if used[i]:
            for k in range(offsets[i], offsets[i + 1]):
                slot = slots[rows[k]]
                members[ends[slot]] = i
                ends[slot] += 1
    for slot in range(distinct):
        slots[unique[slot]] = -1
    return unique[:distinct].copy(), starts, members


@kernel(fastmath=_VECTORS, error_model="numpy")
def row_gradients(starts, members, offsets, gradient, column, out, begin, end):
    """out[u] = Σ gradient[i, column:column+d] / length of list i, over the lists i with row u; u from begin to end."""
    width = out.shape[1]
    for u in range(begin, end):
        total = out[u]
        i = members[starts[u]]
        share = np.float32(1) / np.float32(offsets[i + 1] - offsets[i])
        source = gradient[i, column : column + width]
        for j in range(width):
            total[j] = share * source[j]
        for k in range(starts[u] + 1, starts[u + 1]):
            i = members[k]
            share = np.float32(1) / np.float32(offsets[i + 1] - offsets[i])
            source = gradient[i, column : column + width]
            for j in range(width):
                total[j] += share * source[j]


@kernel(fastmath=_VECTORS, error_model="numpy")
def adam_rows(unique, gradient, table, first, second, rates, learning_rate, beta1, beta2, epsilon, begin, end):
    """One step of Adam on the rows unique[begin:end]; learning_rate and epsilon include the bias corrections."""
    one = np.float32(1)
    for u in range(begin, end):
        k = unique[u]
        gradients, weights, means, squares = gradient[u], table[k], first[k], second[k]
        rate = learning_rate * rates[k]
        for j in range(len(gradients)):
            g = gradients[j]
            m = beta1 * means[j] + (one - beta1) * g
            v = beta2 * squares[j] + (one - beta2) * g * g
            means[j] = m
            squares[j] = v
            weights[j] -= rate * m / (np.sqrt(v) + epsilon)
