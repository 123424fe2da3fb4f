"""Integers of four bits, stored two to a byte."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MAX_NIBBLE = 7
"""The largest absolute value of a packed integer."""


def pack_nibbles(values: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
    """Pack integers of −7 to 7 two to a byte; the first of each two has the low bits.

    Args:
        values: int8 `(n, d)`, −7 to 7.

    Returns:
        uint8 `(n, ⌈d / 2⌉)`.

    Example:
        >>> pack_nibbles(np.int8([[-7, 7, 0]])).tolist()
        [[241, 136]]
    """
    padded = np.pad(values, ((0, 0), (0, values.shape[1] % 2)))
    unsigned = (padded + MAX_NIBBLE + 1).astype(np.uint8)
    packed: npt.NDArray[np.uint8] = unsigned[:, 0::2] | (unsigned[:, 1::2] << np.uint8(4))
    return packed


def unpack_nibbles(packed: npt.NDArray[np.uint8], width: int) -> npt.NDArray[np.int8]:
    """Undo `pack_nibbles`.

    Args:
        packed: uint8 `(n, ⌈width / 2⌉)`.
        width: Number of integers of a row.

    Returns:
        int8 `(n, width)`, −8 to 7.

    Example:
        >>> unpack_nibbles(np.uint8([[241, 136]]), 3).tolist()
        [[-7, 7, 0]]
    """
    unsigned = np.empty((len(packed), 2 * packed.shape[1]), np.uint8)
    unsigned[:, 0::2], unsigned[:, 1::2] = packed & 15, packed >> 4
    return unsigned[:, :width].astype(np.int8) - np.int8(MAX_NIBBLE + 1)
