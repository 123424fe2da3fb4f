"""The scorers of rules: meaning that a pair keeps, and degenerate output of translators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring.foreign_words import KNOWN_LANGUAGES, wrong_language
from paraloom.pairs.scoring.meaning import (
    MIN_SHARED,
    content_missing,
    negation_mismatch,
    order_inversions,
    quantity_mismatch,
    role_swap,
    unit_mismatch,
)
from paraloom.pairs.scoring.scorer import PairBatch, Scorer, Side, Values, for_side
from paraloom.pairs.scoring.word_classes import ClassifiedWords, classify, language_indices, text_languages

_SIDES: tuple[tuple[Side, str], ...] = (("src", "first side"), ("tgt", "second side"))
_LISTS = ("lists", "en,de")


def words_of(pairs: PairBatch, side: Side) -> ClassifiedWords:
    """The classified words of a side, computed once for all rules."""
    return pairs.once(
        f"words of {side}", lambda: classify(pairs.code_points(side), text_languages(pairs.batch, f"{side}_lang"))
    )


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


def _wrong_language(pairs: PairBatch) -> Values:
    indices = language_indices(pairs.batch.column("tgt_lang"), None, KNOWN_LANGUAGES)
    return wrong_language(words_of(pairs, "tgt"), indices)


def _mismatch(
    name: str,
    description: str,
    function: Callable[[ClassifiedWords, ClassifiedWords], npt.NDArray[np.float32]],
    *,
    unit: str = "share",
    parameters: tuple[tuple[str, object], ...] = (),
) -> Scorer:
    """A scorer of word lists about both sides, from 0 to 1, whose lower values are better."""
    return Scorer(
        name=name,
        description=description,
        compute=_of_both(function),
        direction="lower",
        maximum=1,
        unit=unit,
        parameters=(_LISTS, *parameters),
    )


MEANING: tuple[Scorer, ...] = (
    _mismatch(
        "quantity_mismatch",
        "share of the quantities (in digits or words) of both sides that the other side lacks",
        quantity_mismatch,
    ),
    _mismatch(
        "unit_mismatch",
        "share of the units of measurement and currencies of both sides that the other side lacks",
        unit_mismatch,
    ),
    _mismatch(
        "negation_mismatch",
        "1 if one side is negated and the other is not, 0.5 if both are, by an odd difference, else 0",
        negation_mismatch,
        unit="0, 0.5 or 1",
    ),
    _mismatch(
        "role_swap",
        "1 if two parts of nearly the same sentence changed places around a third (who did what), else 0",
        role_swap,
        unit="0 or 1",
        parameters=(("shared", MIN_SHARED),),
    ),
    Scorer(
        name="order_inversions",
        description="share of the pairs of shared content words that are in another order",
        compute=_of_both(order_inversions),
        maximum=1,
        unit="share",
        reference="Kendall 1938",
        parameters=(("match", "stem"),),
    ),
    *(
        Scorer(
            name=f"{side}_content_missing",
            description=f"share of the content words of the {which} without a counterpart on the other",
            compute=for_side(_content_missing, side),
            maximum=1,
            unit="share",
            parameters=(("match", "stem"),),
        )
        for side, which in _SIDES
    ),
)
"""In the order in which columns are added."""

DEGENERATE: tuple[Scorer, ...] = (
    Scorer(
        name="wrong_language",
        description="share of the words of the second side that are function words of other languages",
        compute=_wrong_language,
        input_columns=("tgt", "tgt_lang"),
        direction="lower",
        maximum=1,
        unit="share",
        parameters=(("languages", len(KNOWN_LANGUAGES)),),
    ),
)
"""In the order in which columns are added."""
