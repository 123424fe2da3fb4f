"""Inner loops of phrase extraction, compiled by numba: symmetrized word alignments, consistent phrase pairs, hashes."""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Bools, Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import PRIME, START, mix

Words = Int32s
Grid = Bools

_ONE = np.uint64(1)


@kernel
def symmetrize(a_of_b: Words, b_of_a: Words, grid: Grid) -> None:
    """Fill grid[i, j] with the links of both directions, grown by adjacent ones (grow-diag, Koehn et al. 2005)."""
    n, m = len(b_of_a), len(a_of_b)
    a_linked, b_linked = np.zeros(n, np.bool_), np.zeros(m, np.bool_)
    grid[:n, :m] = False
    for j in range(m):
        i = a_of_b[j]
        if i >= 0 and b_of_a[i] == j:
            grid[i, j] = a_linked[i] = b_linked[j] = True
    grown = True
    # Each added link is adjacent to an existing one, and links a word that had no link before.
    while grown:
        grown = False
        for i in range(n):
            for j in range(m):
                if not grid[i, j]:
                    continue
                for x in range(max(0, i - 1), min(n, i + 2)):
                    for y in range(max(0, j - 1), min(m, j + 2)):
                        either = a_of_b[y] == x or b_of_a[x] == y
                        if either and not grid[x, y] and not (a_linked[x] and b_linked[y]):
                            grid[x, y] = a_linked[x] = b_linked[y] = grown = True


@kernel
def phrase_pairs(a_of_b: Words, a_offsets: Ints, b_of_a: Words, b_offsets: Ints, max_length: int, spans: Words) -> int:
    """Fill spans (k, 5) with the phrase pairs without outside links (Och and Ney 2004); returns their number."""
    count, size = 0, 1
    for row in range(len(a_offsets) - 1):
        size = max(size, a_offsets[row + 1] - a_offsets[row], b_offsets[row + 1] - b_offsets[row])
    grid = np.zeros((size, size), np.bool_)
    for row in range(len(a_offsets) - 1):
        a_start, b_start = a_offsets[row], b_offsets[row]
        n, m = a_offsets[row + 1] - a_start, b_offsets[row + 1] - b_start
        symmetrize(a_of_b[b_start : b_start + m], b_of_a[a_start : a_start + n], grid)
        for i in range(n):
            for i_end in range(i + 1, min(n, i + max_length) + 1):
                first, last = m, -1
                for x in range(i, i_end):
                    for y in range(m):
                        if grid[x, y]:
                            first, last = min(first, y), max(last, y)
                if last < 0 or last - first >= max_length or not _consistent(grid, n, i, i_end, first, last):
                    continue
                if not (_any_in_row(grid, i, m) and _any_in_row(grid, i_end - 1, m)):
                    continue
                if count < len(spans):
                    spans[count] = (row, i, i_end - i, first, last - first + 1)
                count += 1
    return count


@kernel
def _consistent(grid: Grid, n: int, i: int, i_end: int, first: int, last: int) -> bool:
    """True if no word from `first` to `last` is linked to a word outside of the phrase."""
    for y in range(first, last + 1):
        for x in range(n):
            if grid[x, y] and not i <= x < i_end:
                return False
    return True


@kernel
def _any_in_row(grid: Grid, i: int, m: int) -> bool:
    for y in range(m):  # noqa: SIM110
        if grid[i, y]:
            return True
    return False


@kernel
def hash_span(ids: Ids, start: int, length: int) -> np.uint64:
    """Hash the tokens ids[start:start + length]."""
    value = START
    for k in range(start, start + length):
        value = (value ^ (np.uint64(ids[k]) + _ONE)) * PRIME
    return mix(value)


@kernel
def hash_spans(ids: Ids, starts: Ints, lengths: Ints) -> Ids:
    keys = np.empty(len(starts), np.uint64)
    for k in range(len(starts)):
        keys[k] = hash_span(ids, starts[k], lengths[k])
    return keys
