"""Look-up of 64-bit hashes: among sorted ones, and in a set that finds the repetitions of a stream."""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Bools
from paraloom.text import token_kernels as kernels
from paraloom.text.buffers import Texts, text_buffers


class TextSet:
    """A set of texts in 16 to 32 bytes each, by their hashes, which collide in one of some 10⁷ sets of 10⁶ texts."""

    def __init__(self) -> None:
        self._table = np.zeros(1 << 10, np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, texts: Texts) -> Bools:
        data, offsets = text_buffers(texts)
        ids = kernels.hash_spans(data, offsets[:-1], offsets[1:])
        while 2 * (self._count + len(ids)) > len(self._table):
            existing = self._table[self._table != kernels.EMPTY_SLOT]
            self._table = np.zeros(2 * len(self._table), np.uint64)
            kernels.insert(existing, self._table)
        new: Bools = kernels.insert(ids, self._table)
        self._count += int(new.sum())
        return new
