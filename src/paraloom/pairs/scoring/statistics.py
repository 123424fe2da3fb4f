"""What scores of one batch have in common (tokens, lengths, shared n-grams), computed once and only when asked for."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.pairs.scoring.overlap import shared_ngrams
from paraloom.text.tokens import TokenLists, TokenSpans, code_points, token_spans

Side = Literal["src", "tgt"]


class PairStatistics:
    """Sufficient statistics of a batch of n pairs; scores are plain arithmetic on them.

    A null text counts as an empty one.

    >>> pairs = PairStatistics(pa.RecordBatch.from_pydict({"src": ["to be or not to be"], "tgt": ["to be"]}))
    >>> pairs.src.lengths.tolist(), pairs.shared(2).tolist()
    ([6], [1])
    """

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch
        self._spans: dict[Side, TokenSpans] = {}
        self._lists: dict[Side, TokenLists] = {}
        self._points: dict[Side, tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]] = {}
        self._shared: dict[int, npt.NDArray[np.int32]] = {}

    @property
    def src(self) -> TokenLists:
        """Lower-cased words of the first side."""
        return self.lists("src")

    @property
    def tgt(self) -> TokenLists:
        """Lower-cased words of the second side."""
        return self.lists("tgt")

    def lists(self, side: Side) -> TokenLists:
        """Lower-cased words of a side, as ids."""
        if side not in self._lists:
            self._lists[side] = self.spans(side).lists()
        return self._lists[side]

    def spans(self, side: Side) -> TokenSpans:
        """Lower-cased words of a side, as places in its bytes."""
        if side not in self._spans:
            self._spans[side] = token_spans(self.batch.column(side))
        return self._spans[side]

    def points(self, side: Side) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Characters of a side as code points, in their own case, and the offsets of its texts."""
        if side not in self._points:
            self._points[side] = code_points(self.batch.column(side))
        return self._points[side]

    def characters(self, side: Side) -> npt.NDArray[np.int32]:
        """Characters of each text of a side: int32 (n,)."""
        return np.diff(self.points(side)[1]).astype(np.int32)

    def shared(self, n: int) -> npt.NDArray[np.int32]:
        """n-grams both sides have in common, as multisets: int32 (n pairs,)."""
        if n not in self._shared:
            self._shared[n] = shared_ngrams(self.tgt, self.src, n)
        return self._shared[n]

    def numbers(self, column: str) -> npt.NDArray[np.float64]:
        """A numeric column as float64 (n pairs,), NaN where it is null."""
        values = pc.cast(self.batch.column(column), pa.float64())
        return np.asarray(values.to_numpy(zero_copy_only=False), np.float64)
