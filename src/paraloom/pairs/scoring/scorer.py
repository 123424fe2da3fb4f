"""Scores: columns about pairs with description, unit, range and direction, and how they are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Float32s, Floats, Int32s
from paraloom.core.digests import signature
from paraloom.core.lazy import late

if TYPE_CHECKING:
    from paraloom.text.chrf import Points
    from paraloom.text.tokens import TokenLists, TokenSpans

_code_points = late("paraloom.text.buffers:code_points")
_shared_ngrams = late("paraloom.pairs.scoring.similarity:shared_ngrams")
_token_spans = late("paraloom.text.tokens:token_spans")

Direction: TypeAlias = Literal["lower", "higher", "none"]
Side: TypeAlias = Literal["src", "tgt"]
T = TypeVar("T")
Values: TypeAlias = Int32s | Float32s


class PairBatch:
    """Statistics that the scores of n pairs share (tokens, lengths, shared n-grams), computed once, on demand."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch
        self._once: dict[str, Any] = {}

    def once(self, key: str, compute: Callable[[], T]) -> T:
        """The result of a function that several scores need, computed for the first of them."""
        if key not in self._once:
            self._once[key] = compute()
        result: T = self._once[key]
        return result

    @property
    def src(self) -> TokenLists:
        """Ids of the lower-cased words of the first side."""
        return self.tokens("src")

    @property
    def tgt(self) -> TokenLists:
        """Ids of the lower-cased words of the second side."""
        return self.tokens("tgt")

    def tokens(self, side: Side) -> TokenLists:
        """Ids of the lower-cased words of a side."""
        return self.once(f"tokens of {side}", self.spans(side).to_lists)

    def spans(self, side: Side) -> TokenSpans:
        """Positions of the lower-cased words of a side in its bytes."""
        return self.once(f"spans of {side}", lambda: _token_spans(self.batch.column(side)))

    def code_points(self, side: Side) -> Points:
        """Characters of a side, in their original case, and the offsets of its texts."""
        return self.once(f"code points of {side}", lambda: _code_points(self.batch.column(side)))

    def character_counts(self, side: Side) -> Int32s:
        """Number of characters of each text of a side: int32 (n,)."""
        return np.diff(self.code_points(side)[1]).astype(np.int32)

    def shared_ngrams(self, n: int) -> Int32s:
        """Number of n-grams that both sides have, as multisets: int32 (n pairs,)."""
        return self.once(f"shared {n}-grams", lambda: _shared_ngrams(self.tgt, self.src, n))

    def texts(self, column: str) -> list[str]:
        return [value or "" for value in self.batch.column(column).to_pylist()]

    def numbers(self, column: str) -> Floats:
        """A numeric column as float64 (n pairs,), NaN where it is null."""
        values = pc.cast(self.batch.column(column), pa.float64())
        return np.asarray(values.to_numpy(zero_copy_only=False), np.float64)


@dataclass(frozen=True)
class Column:
    name: str
    description: str
    _: KW_ONLY
    unit: str = ""
    direction: Direction = "none"
    minimum: float | None = 0
    maximum: float | None = None
    reference: str = ""
    option: str = ""

    @property
    def range(self) -> str:
        """Possible values in words, such as '0 to 1' or '0 or more'."""
        if self.minimum is None:
            return "any" if self.maximum is None else f"up to {self.maximum:g}"
        return f"{self.minimum:g} or more" if self.maximum is None else f"{self.minimum:g} to {self.maximum:g}"

    @property
    def command(self) -> str:
        """The command that adds the column to pairs."""
        return f"paraloom score PAIRS {self.option or f'--with {self.name}'} -o SCORED"

    def computed(
        self, compute: Callable[[PairBatch], Values], *models: str, input_columns: tuple[str, ...] = ("src", "tgt")
    ) -> Scorer:
        """The scorer of this column, by models with these signatures."""
        facts = {field.name: getattr(self, field.name) for field in fields(Column)}
        # Signatures have separators of their own; here each is one part.
        parameters = (("model", " + ".join(model.replace("|", "/") for model in models)),)
        return Scorer(**facts, compute=compute, input_columns=input_columns, parameters=parameters)


@dataclass(frozen=True, kw_only=True)
class Scorer(Column):
    """A column of scores and how to compute it.

    To add a score that needs no model, append a Scorer to `SURFACE` in paraloom/pairs/scoring/surface.py: `paraloom
    score`, `paraloom scores`, filters and reports know it by its name. A score that needs a model gets a Column in
    paraloom/pairs/scoring/models.py, and a function that takes the model and returns the Scorer.

    Example:
        >>> from paraloom.pairs.scoring.table import score
        >>> exclamations = Scorer(
        ...     name="tgt_exclamations",
        ...     description="exclamation marks of the second side",
        ...     compute=lambda pairs: np.array([text.count("!") for text in pairs.texts("tgt")], np.int32),
        ...     input_columns=("tgt",),
        ...     unit="characters",
        ... )
        >>> batch = pa.RecordBatch.from_pydict({"src": ["Good morning."], "tgt": ["Morning!!"]})
        >>> score(batch, [exclamations]).column("tgt_exclamations").to_pylist()
        [2]
    """

    # Function from the statistics of n pairs to values, int32 or float32 `(n,)`; NaN where the score is undefined,
    # which becomes null in the column.
    compute: Callable[[PairBatch], Values]
    # Columns that `compute` reads; without one of them, all values are null.
    input_columns: tuple[str, ...] = ("src", "tgt")
    # Names and values that determine the figures, for the signature of the column.
    parameters: tuple[tuple[str, object], ...] = ()

    @property
    def signature(self) -> str:
        """Name, parameters and version in the style of sacreBLEU, for the metadata of the column."""
        return signature(self.name, **dict(self.parameters))


SIDES: tuple[tuple[Side, str], ...] = (("src", "first side"), ("tgt", "second side"))


def side_columns(name: str, description: str, **facts: Any) -> dict[Side, Column]:
    """A column for each side: {0} in the description stands for the side, {1} for its name."""
    return {side: Column(f"{side}_{name}", description.format(which, side), **facts) for side, which in SIDES}


def side_scorers(name: str, description: str, compute: Callable[..., Values], **facts: Any) -> tuple[Scorer, ...]:
    """A scorer for each side, by a function of the pairs and `side`."""
    return tuple(
        Scorer(
            f"{side}_{name}",
            description.format(which),
            compute=partial(compute, side=side),
            **{"input_columns": (side,), **facts},
        )
        for side, which in SIDES
    )
