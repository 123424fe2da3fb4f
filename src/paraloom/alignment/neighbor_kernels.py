"""Numba kernels on sparse rows: greatest entries, nearest neighbors by an inverted index, products of pairs of rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Bools, Float32s, Floats, Ints
from paraloom.core.kernels import kernel

Weights = Float32s
Indices = npt.NDArray[np.integer]
"""Column indices or row bounds of a sparse matrix: int32 or int64."""


@kernel
def _greatest(values: Weights, k: int) -> np.float32:
    """Return the k-th greatest value, and leave the values in another order (Hoare's quickselect)."""
    # As np.partition does, which takes numba seconds to compile.
    position = len(values) - k
    first, last = 0, len(values) - 1
    while first < last:
        pivot = values[(first + last) // 2]
        low, high = first, last
        while low <= high:
            while values[low] < pivot:
                low += 1
            while values[high] > pivot:
                high -= 1
            if low <= high:
                values[low], values[high] = values[high], values[low]
                low += 1
                high -= 1
        if position <= high:
            last = high
        elif position >= low:
            first = low
        else:
            break
    return values[position]


@kernel
def greatest_entries(weights: Weights, bounds: Indices, k: int) -> Bools:
    """Mark the k greatest entries of each row; of equal ones those that come first."""
    kept = np.ones(len(weights), np.bool_)
    for row in range(len(bounds) - 1):
        start, end = bounds[row], bounds[row + 1]
        if end - start <= k:
            continue
        cutoff = _greatest(weights[start:end].copy(), k)
        left = k
        for entry in range(start, end):
            kept[entry] = weights[entry] > cutoff
            left -= kept[entry]
        for entry in range(start, end):
            if weights[entry] == cutoff and left > 0:
                kept[entry] = True
                left -= 1
    return kept


@kernel
def nearest_rows(
    weights: Weights,
    columns: Indices,
    bounds: Indices,
    posting_weights: Weights,
    posting_rows: Indices,
    posting_bounds: Indices,
    rows: int,
    k: int,
) -> tuple[Ints, Ints]:
    """Find for each query the k rows of an inverted index with the greatest products above 0."""
    queries = len(bounds) - 1
    found_queries, found_rows = np.empty(queries * min(k, rows), np.int64), np.empty(queries * min(k, rows), np.int64)
    products = np.zeros(rows, np.float32)
    touched = np.empty(rows, np.int64)
    count = 0
    for query in range(queries):
        size = 0
        for entry in range(bounds[query], bounds[query + 1]):
            weight, column = weights[entry], columns[entry]
            for posting in range(posting_bounds[column], posting_bounds[column + 1]):
                row = posting_rows[posting]
                if products[row] == 0:
                    touched[size] = row
                    size += 1
                products[row] += weight * posting_weights[posting]
        near = touched[:size]
        cutoff = np.float32(0)
        if size > k:
            cutoff = _greatest(products[near], k)
        left = min(k, size)
        ties = 0
        for row in near:
            if products[row] > cutoff:
                found_queries[count], found_rows[count] = query, row
                count += 1
                left -= 1
            elif products[row] == cutoff and cutoff > 0:
                ties += 1
        if ties and left > 0:
            for row in _rows_with(products, near, cutoff, ties)[:left]:
                found_queries[count], found_rows[count] = query, row
                count += 1
        for row in near:
            products[row] = 0
    return found_queries[:count], found_rows[:count]


@kernel
def _rows_with(products: Weights, rows: Ints, value: np.float32, count: int) -> Ints:
    """Those of the rows that have a product, of which there are `count`, in ascending order."""
    equal = np.empty(count, np.int64)
    count = 0
    for row in rows:
        if products[row] == value:
            equal[count] = row
            count += 1
    return np.sort(equal)


@kernel
def row_products(
    weights: Weights,
    columns: Indices,
    bounds: Indices,
    other_weights: Weights,
    other_columns: Indices,
    other_bounds: Indices,
    width: int,
    sources: Ints,
    targets: Ints,
) -> Floats:
    """The dot product of the rows of each pair; fast where pairs with the same source follow each other."""
    products = np.zeros(len(sources), np.float64)
    dense = np.zeros(width, np.float32)
    current = -1
    for pair in range(len(sources)):
        source = sources[pair]
        if source != current:
            if current >= 0:
                for entry in range(bounds[current], bounds[current + 1]):
                    dense[columns[entry]] = 0
            for entry in range(bounds[source], bounds[source + 1]):
                dense[columns[entry]] = weights[entry]
            current = source
        target = targets[pair]
        total = 0.0
        for entry in range(other_bounds[target], other_bounds[target + 1]):
            total += dense[other_columns[entry]] * other_weights[entry]
        products[pair] = total
    return products
