"""Inner loops of MinHash, compiled by numba: the least of many hashes of a set, and bands of a sketch as one number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from paraloom.text.token_kernels import PRIME, START, Ids, Ints, mix

Sketches = npt.NDArray[np.uint32]

_EMPTY_TEXT = np.uint32(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def minima(ids: Ids, offsets: Ints, places: int) -> Sketches:
    """For each list and each place k, the least of the k-th hash of its ids: uint32 (n, places); all ones if empty."""
    found = np.full((len(offsets) - 1, places), _EMPTY_TEXT, np.uint32)
    for row in range(len(found)):
        for i in range(offsets[row], offsets[row + 1]):
            for k in range(0, places, 2):
                # One mix gives two hashes: its upper and its lower half.
                value = mix(ids[i] + np.uint64(k + 1) * PRIME)
                found[row, k] = min(found[row, k], np.uint32(value >> np.uint64(32)))
                found[row, k + 1] = min(found[row, k + 1], np.uint32(value & np.uint64(0xFFFFFFFF)))
    return found


@njit(cache=True, nogil=True)
def bands(sketches: Sketches, width: int) -> Ids:
    """One number for each `width` neighbouring places of a sketch: uint64 (n, places // width)."""
    count = sketches.shape[1] // width
    found = np.empty((len(sketches), count), np.uint64)
    for row in range(len(sketches)):
        for band in range(count):
            value = START
            for k in range(band * width, (band + 1) * width):
                value = mix((value ^ np.uint64(sketches[row, k])) * PRIME)
            found[row, band] = value
    return found
