"""Which texts were met before in a stream: a set of 64-bit hashes, 16 to 32 bytes a distinct text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.text import token_kernels as kernels
from paraloom.text.buffers import Texts, text_buffers


class Seen:
    """Remembers texts; two that share a hash count as one, which happens once in some 10⁸ runs over 10⁶ texts.

    >>> seen = Seen()
    >>> seen.first(["a", "b", "a"]).tolist(), seen.first(["b", "c"]).tolist()
    ([True, True, False], [False, True])
    """

    def __init__(self) -> None:
        self._table = np.zeros(1 << 10, np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def first(self, texts: Texts) -> npt.NDArray[np.bool_]:
        """Whether each text is met for the first time, bool (n,)."""
        data, offsets = text_buffers(texts)
        ids = kernels.hash_spans(data, offsets[:-1], offsets[1:])
        while 2 * (self._count + len(ids)) > len(self._table):
            held = self._table[self._table != kernels.EMPTY_SLOT]
            self._table = np.zeros(2 * len(self._table), np.uint64)
            kernels.enter(held, self._table)
        fresh: npt.NDArray[np.bool_] = kernels.enter(ids, self._table)
        self._count += int(fresh.sum())
        return fresh
