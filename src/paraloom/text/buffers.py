"""Texts as the flat NumPy arrays that numba kernels read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.array_types import Int32s, Ints
from paraloom.text import token_kernels as kernels

Texts: TypeAlias = Sequence[str] | pa.Array | pa.ChunkedArray
"""n texts: a sequence of strings or an Arrow array of them, in which null counts as an empty text."""


_MANY = 250_000  # Texts for which importing pandas takes longer than copying them here


def string_array(texts: Texts) -> pa.Array:
    """Convert texts to one Arrow array of large strings without nulls."""
    array = texts if isinstance(texts, pa.Array | pa.ChunkedArray) else _array_of(texts)
    # With 64-bit offsets more than 2 GB of text fit, and kernels are compiled for one type only.
    array = array.cast(pa.large_string())
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], pa.large_string())
    return array.fill_null("") if array.null_count else array


def _array_of(texts: Sequence[str]) -> pa.Array:
    """As `pa.array`, which imports pandas if it is installed: for few texts that takes longer than their work."""
    if "pandas" in sys.modules or len(texts) > _MANY:
        return pa.array(texts, pa.large_string())
    try:
        encoded = [text.encode() for text in texts]
    except (AttributeError, UnicodeEncodeError):
        return pa.array(texts, pa.large_string())
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return pa.LargeStringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


def text_buffers(texts: Texts) -> tuple[npt.NDArray[np.uint8], Ints]:
    """View texts as UTF-8 bytes and offsets; an array of large strings is not copied."""
    array = string_array(texts)
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(array) + 1, array.offset * 8) if len(array) else np.zeros(1, np.int64)
    content = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    for values in (bounds, content):
        values.setflags(write=False)
    return content, bounds


def code_points(texts: Texts) -> tuple[Int32s, Ints]:
    points, offsets = kernels.code_points(*text_buffers(texts))
    for values in (points, offsets):
        values.setflags(write=False)
    return points, offsets
