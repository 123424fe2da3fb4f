"""Integers of four bits, stored two to a byte."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MAX_NIBBLE = 7
"""The largest absolute value of a packed integer."""


def pack_nibbles(values: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
    """Pack integers of −7 to 7 two to a byte; the first of each two has the low bits."""
    padded = np.pad(values, ((0, 0), (0, values.shape[1] % 2)))
    unsigned = (padded + MAX_NIBBLE + 1).astype(np.uint8)
    packed: npt.NDArray[np.uint8] = unsigned[:, 0::2] | (unsigned[:, 1::2] << np.uint8(4))
    return packed


def unpack_nibbles(packed: npt.NDArray[np.uint8], width: int) -> npt.NDArray[np.int8]:
    """Undo `pack_nibbles`."""
    unsigned = np.empty((len(packed), 2 * packed.shape[1]), np.uint8)
    unsigned[:, 0::2], unsigned[:, 1::2] = packed & 15, packed >> 4
    return unsigned[:, :width].astype(np.int8) - np.int8(MAX_NIBBLE + 1)
