"""The n-th smallest of more keys than fit in memory: counted by leading digits until few enough are left to sort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Keys: TypeAlias = tuple[npt.NDArray[np.float64], npt.NDArray[np.uint64]]

_DIGIT_BITS = 16
_DIGITS = 64 // _DIGIT_BITS


def nth_key(read: Callable[[], Iterable[Keys]], n: int, *, enough: int = 1_000_000) -> tuple[float, int]:
    """The n-th smallest (value, lot), counted from 1, of all that `read()` gives; ties in value go by lot.

    read: gives (value float64 (m,) without NaN, lot uint64 (m,)) in pieces, the same each time it is called.
    enough: how many keys may be held and sorted at once.  It reads once for every 16 bits that must be known before
    no more than that are left, then once more: memory is bounded, and the answer exact.

    >>> pieces = [(np.array([0.5, 0.1]), np.array([1, 2], np.uint64)), (np.array([0.5]), np.array([0], np.uint64))]
    >>> [nth_key(lambda: pieces, n) for n in (1, 2, 3)]
    [(0.1, 2), (0.5, 0), (0.5, 1)]
    """
    known: list[int] = []
    left = sum(len(lot) for _, lot in read())
    # The n-th of all the keys that begin with the digits in `known` is the one we are after.
    while left > enough and len(known) < 2 * _DIGITS:
        counts = np.zeros(1 << _DIGIT_BITS, np.int64)
        for value, lot in read():
            words = _words(value, lot)
            counts += np.bincount(_digit(words, len(known))[_begins_with(words, known)], minlength=len(counts))
        upto = np.cumsum(counts)
        digit = int(np.searchsorted(upto, n))
        n -= int(upto[digit] - counts[digit])
        left = int(counts[digit])
        known.append(digit)
    values, lots = [], []
    for value, lot in read():
        chosen = _begins_with(_words(value, lot), known)
        values.append(value[chosen])
        lots.append(lot[chosen])
        if len(known) == 2 * _DIGITS and values[-1].size:
            # All that are left are equal: any one will do.
            return float(values[-1][0]), int(lots[-1][0])
    value, lot = np.concatenate(values), np.concatenate(lots)
    place = np.lexsort((lot, value))[n - 1]
    return float(value[place]), int(lot[place])


def _words(value: npt.NDArray[np.float64], lot: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], ...]:
    """Both halves of the key as unsigned integers in the same order; adding 0.0 makes of -0.0 a plain zero."""
    bits = (value + 0.0).view(np.uint64)
    negative = (bits >> np.uint64(63)).astype(bool)
    return np.where(negative, ~bits, bits | np.uint64(1 << 63)), lot


def _digit(words: Sequence[npt.NDArray[np.uint64]], place: int) -> npt.NDArray[np.int64]:
    shift = np.uint64(64 - _DIGIT_BITS * (place % _DIGITS + 1))
    return ((words[place // _DIGITS] >> shift) & np.uint64((1 << _DIGIT_BITS) - 1)).astype(np.int64)


def _begins_with(words: Sequence[npt.NDArray[np.uint64]], known: Sequence[int]) -> npt.NDArray[np.bool_]:
    begins = np.ones(len(words[0]), bool)
    for place, digit in enumerate(known):
        begins &= _digit(words, place) == digit
    return begins
