"""The methods of `Pairs` as functions of pairs in any form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from paraloom.api.pair_inputs import PairsLike, as_pairs
from paraloom.api.pairs import Pairs
from paraloom.core.protocols import TranslatorLike

if TYPE_CHECKING:
    from paraloom.api.keywords import FilterSettings
    from paraloom.api.pairs_table import PairFunction, RowFunction
    from paraloom.mt.callable_translator import TranslatingFunction
    from paraloom.mt.translator import Translator
    from paraloom.pairs.scoring.scorer import Scorer


def backtranslate(
    pairs: PairsLike,
    translator: Translator | TranslatorLike | TranslatingFunction | str | Path,
    *,
    decode: str | None = None,
    side: str = "src",
    check_languages: bool = True,
) -> Pairs:
    """Paraphrases from bitext: each target sentence paired with translations of its source.

    Args:
        pairs: Bitext, in any form that `as_pairs` takes.
        translator: A translator, its name or folder, or a function from texts to translations.
        decode: How to decode, such as ``"beam:12,nbest=3"``; default: the translator's own, or ``"beam:5"``.
        side: The side that is translated, 'src' or 'tgt'.
        check_languages: Fail if the languages of a sample do not fit the translator.

    Returns:
        Lazy pairs: `src` is the human reference, `tgt` the translation, with `rank`, `logprob`, `tokens`, `method`.

    Reference:
        Wieting et al. (2017), §3; Wieting and Gimpel (2018), ParaNMT-50M.

    Example:
        >>> backtranslate([("Guten Morgen", "Good morning")], "de-en").to_list()[0]["src"]
        'Good morning'
    """
    return as_pairs(pairs).backtranslate(translator, decode=decode, side=side, check_languages=check_languages)


def score(
    pairs: PairsLike,
    scores: Sequence[str | Scorer | PairFunction] | str | Scorer | PairFunction = "common",
    **models: Any,
) -> Pairs:
    """Add columns of scores to pairs; see `Pairs.score`.

    Args:
        pairs: Pairs in any form that `as_pairs` takes.
        scores: Names of scores or groups of them, scorers of your own, and functions of both texts.
        **models: Models that some scores need, such as ``encoder="english"``.

    Returns:
        Lazy pairs with the new columns.

    Example:
        >>> rows = score([("a b c", "a b d")], ["bleu1"]).to_list()
        >>> 0 < rows[0]["bleu1"] < 1
        True
    """
    return as_pairs(pairs).score(scores, **models)


def filter_pairs(pairs: PairsLike, where: str | RowFunction = "", **criteria: Unpack[FilterSettings]) -> Pairs:
    """Keep the pairs that meet all criteria; see `Pairs.filter`.

    Args:
        pairs: Pairs in any form that `as_pairs` takes.
        where: Condition in SQL over the columns, or a function of a row.
        **criteria: Further criteria of `paraloom.stages.Filter`.

    Returns:
        The kept pairs, lazily.

    Example:
        >>> len(filter_pairs([("a", "b"), ("c", "d e")], "tgt = 'b'"))
        1
    """
    return as_pairs(pairs).filter(where, **criteria)
