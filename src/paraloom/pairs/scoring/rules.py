"""The scorers of rules: meaning that a pair keeps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from paraloom.core.lazy import late
from paraloom.pairs.scoring.scorer import PairBatch, Scorer, Side, Values, side_scorers

if TYPE_CHECKING:
    from paraloom.pairs.scoring.word_classes import ClassifiedWords

_MEANING_IN, _CLASSES_IN = (f"paraloom.pairs.scoring.{module}:" for module in ("meaning", "word_classes"))
quantity_mismatch = late(f"{_MEANING_IN}quantity_mismatch")
negation_mismatch = late(f"{_MEANING_IN}negation_mismatch")
order_inversions, content_missing = late(f"{_MEANING_IN}order_inversions"), late(f"{_MEANING_IN}content_missing")
classify, text_languages = late(f"{_CLASSES_IN}classify"), late(f"{_CLASSES_IN}text_languages")


def words_of(pairs: PairBatch, side: Side) -> ClassifiedWords:
    """The classified words of a side, computed once for all rules."""
    words: ClassifiedWords = pairs.once(
        f"words of {side}", lambda: classify(pairs.code_points(side), text_languages(pairs.batch, f"{side}_lang"))
    )
    return words


def _of_both(
    function: Callable[[ClassifiedWords, ClassifiedWords], npt.NDArray[np.float32]],
) -> Callable[[PairBatch], Values]:
    """A function of the words of both sides as `Scorer.compute`; NaN where a side is empty."""

    def compute(pairs: PairBatch) -> Values:
        both = (pairs.character_counts("src") > 0) & (pairs.character_counts("tgt") > 0)
        return np.where(both, function(words_of(pairs, "src"), words_of(pairs, "tgt")), np.float32(np.nan))

    return compute


def _content_missing(pairs: PairBatch, side: Side) -> Values:
    other: Side = "tgt" if side == "src" else "src"
    return content_missing(words_of(pairs, side), words_of(pairs, other))


_mismatch = partial(Scorer, direction="lower", maximum=1, parameters=(("lists", "en,de"),))
_STEMS = (("match", "stem"),)

MEANING: tuple[Scorer, ...] = (
    _mismatch(
        "quantity_mismatch",
        "share of the quantities (in digits or words) of both sides that the other side lacks",
        compute=_of_both(quantity_mismatch),
        unit="share",
    ),
    _mismatch(
        "negation_mismatch",
        "1 if one side is negated and the other is not, 0.5 if both are, by an odd difference, else 0",
        compute=_of_both(negation_mismatch),
        unit="0, 0.5 or 1",
    ),
    Scorer(
        "order_inversions",
        "share of the pairs of shared content words that are in another order",
        compute=_of_both(order_inversions),
        maximum=1,
        unit="share",
        reference="Kendall 1938",
        parameters=_STEMS,
    ),
    *side_scorers(
        "content_missing",
        "share of the content words of the {} without a counterpart on the other",
        _content_missing,
        input_columns=("src", "tgt"),
        maximum=1,
        unit="share",
        parameters=_STEMS,
    ),
)
"""In the order in which columns are added."""
