"""What scores of one batch have in common (tokens, lengths, shared n-grams), computed once and only when asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.text import TokenLists, tokens
from paraloom.pairs.overlap import shared_ngrams


class PairStatistics:
    """Sufficient statistics of a batch of n pairs; scores are plain arithmetic on them.

    A null text counts as an empty one.

    >>> pairs = PairStatistics(pa.RecordBatch.from_pydict({"src": ["to be or not to be"], "tgt": ["to be"]}))
    >>> pairs.src.lengths.tolist(), pairs.shared(2).tolist()
    ([6], [1])
    """

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch
        self._shared: dict[int, npt.NDArray[np.int32]] = {}

    @cached_property
    def src(self) -> TokenLists:
        """Lower-cased words of the first side."""
        return tokens(self.batch.column("src"))

    @cached_property
    def tgt(self) -> TokenLists:
        """Lower-cased words of the second side."""
        return tokens(self.batch.column("tgt"))

    def shared(self, n: int) -> npt.NDArray[np.int32]:
        """n-grams both sides have in common, as multisets: int32 (n pairs,)."""
        if n not in self._shared:
            self._shared[n] = shared_ngrams(self.tgt, self.src, n)
        return self._shared[n]

    def numbers(self, column: str) -> npt.NDArray[np.float64]:
        """A numeric column as float64 (n pairs,), NaN where it is null."""
        values = pc.cast(self.batch.column(column), pa.float64())
        return np.asarray(values.to_numpy(zero_copy_only=False), np.float64)
