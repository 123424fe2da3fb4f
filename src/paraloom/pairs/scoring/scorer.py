"""What a score is: a column about pairs, with its direction, range, unit and signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import signature
from paraloom.pairs.scoring.statistics import PairStatistics, Side

Direction = Literal["lower", "higher", "none"]
Values: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Column:
    """How to read a column of scores.

    name: of the column.  what: one line for people.  better: which values speak for a pair; 'none' where neither end
    does (overlap: too little and too much are bad).  low, high: bounds of the values, None where there is none.
    """

    name: str
    what: str
    better: Direction = "none"
    low: float | None = 0
    high: float | None = None
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Scorer(Column):
    """A column and how it is made.

    function: from the statistics of a batch of n pairs to an array (n,), NaN where the score is undefined (it becomes
    null in the column).  input_columns: columns that the function needs; where one of them is missing the whole column is
    null.  made: parts of the signature.
    A scorer that needs a model is a Scorer too, made by a function that receives the model (see scores_by_model).
    """

    function: Callable[[PairStatistics], Values]
    input_columns: tuple[str, ...] = ("src", "tgt")
    made: tuple[tuple[str, object], ...] = ()

    @property
    def signature(self) -> str:
        """What the column's metadata says: sacreBLEU's way."""
        return signature(self.name, **dict(self.made))


def of_side(function: Callable[[PairStatistics, Side], Values], side: Side) -> Callable[[PairStatistics], Values]:
    """A scorer's function for one side of the pairs."""
    return lambda pairs: function(pairs, side)
