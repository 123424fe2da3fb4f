"""Inner loops of MinHash, compiled by numba: minimum hashes of a set, and bands of a sketch as one number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.kernels import kernel
from paraloom.text.token_kernels import PRIME, START, Ids, Ints, mix

Sketches = npt.NDArray[np.uint32]

_EMPTY_TEXT = np.uint32(0xFFFFFFFF)


@kernel
def minhash(ids: Ids, offsets: Ints, size: int) -> Sketches:
    """For each list the minimum of `size` (even) different hashes of its ids: uint32 (n, size); all ones if empty."""
    sketches = np.full((len(offsets) - 1, size), _EMPTY_TEXT, np.uint32)
    for row in range(len(sketches)):
        for i in range(offsets[row], offsets[row + 1]):
            for k in range(0, size, 2):
                # One call of mix gives two hashes: its upper and its lower half.
                value = mix(ids[i] + np.uint64(k + 1) * PRIME)
                sketches[row, k] = min(sketches[row, k], np.uint32(value >> np.uint64(32)))
                sketches[row, k + 1] = min(sketches[row, k + 1], np.uint32(value & np.uint64(0xFFFFFFFF)))
    return sketches


@kernel
def hash_bands(sketches: Sketches, width: int) -> Ids:
    """One hash for each `width` consecutive values of a sketch: uint64 (n, size // width)."""
    count = sketches.shape[1] // width
    hashes = np.empty((len(sketches), count), np.uint64)
    for row in range(len(sketches)):
        for band in range(count):
            value = START
            for k in range(band * width, (band + 1) * width):
                value = mix((value ^ np.uint64(sketches[row, k])) * PRIME)
            hashes[row, band] = value
    return hashes


@kernel
def mark_similar(sketches, left, right, rows, known, similarity, marked):
    """Whether a known sketch agrees with each of n in a share of `similarity` or more: bool (n,).

    left, right: int64 (n, bands): the `rows` from left to right are those of the known sketches that share a band.
    marked: bool (known,), set True for the sketches that agree.
    """
    size = sketches.shape[1]
    enough = similarity * size
    similar = np.zeros(len(sketches), np.bool_)
    for i in range(len(sketches)):
        for band in range(left.shape[1]):
            for position in range(left[i, band], right[i, band]):
                row = rows[position]
                agree = 0
                for k in range(size):
                    agree += sketches[i, k] == known[row, k]
                if agree >= enough:
                    similar[i] = marked[row] = True
    return similar
