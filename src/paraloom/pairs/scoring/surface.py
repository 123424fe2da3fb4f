"""The table of scorers that need no model: what can be read off the words, letters and figures of a pair itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from paraloom.pairs.scoring.characters import (
    REPEAT_LENGTHS,
    REPEAT_THRESHOLD,
    edit_distance,
    repeats,
    white_words,
)
from paraloom.pairs.scoring.mismatch import name_mismatch, number_mismatch
from paraloom.pairs.scoring.overlap import overlap_from_counts
from paraloom.pairs.scoring.repetition import SHORTEST_WORD, trigram_repetition, unigram_repetition
from paraloom.pairs.scoring.scorer import Scorer, Values, of_side
from paraloom.pairs.scoring.statistics import PairStatistics, Side
from paraloom.text.bleu import BLEU_ORDER, bleu_plus_one_from_counts
from paraloom.text.chrf import CHRF_BETA, CHRF_ORDER, chrf_from_points

_WORDS = (("case", "lower"), ("tok", "words"))
_WHITE = (("tok", "none"),)
_SIDES: tuple[tuple[Side, str], ...] = (
    ("src", "first side"),
    ("tgt", "second side, the translation"),
)


def _ratio(a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> Values:
    shorter, longer = np.minimum(a, b), np.maximum(a, b)
    return (longer / np.where(shorter > 0, shorter, np.nan)).astype(np.float32)


def _overlap(n: int) -> Callable[[PairStatistics], Values]:
    return lambda pairs: overlap_from_counts(pairs.shared(n), pairs.tgt.lengths, pairs.src.lengths, n)


def _bleu1(pairs: PairStatistics) -> Values:
    shared = [pairs.shared(n) for n in range(1, BLEU_ORDER + 1)]
    return bleu_plus_one_from_counts(shared, pairs.tgt.lengths, pairs.src.lengths)


def _translation_cost(pairs: PairStatistics) -> Values:
    tokens = pairs.numbers("tokens")
    return (-pairs.numbers("logprob") / np.where(tokens > 0, tokens, np.nan)).astype(np.float32)


def _where_both(values: npt.NDArray[np.float32], pairs: PairStatistics) -> Values:
    """The values, undefined where a side is empty."""
    both = (pairs.characters("src") > 0) & (pairs.characters("tgt") > 0)
    return np.where(both, values, np.float32(np.nan))


_LENGTHS = (
    *(
        Scorer(
            name=f"{side}_tokens",
            what=f"words of the {which} (W17 §5.3)",
            function=of_side(lambda pairs, side: pairs.lists(side).lengths.astype(np.int32), side),
            input_columns=(side,),
            unit="words",
            made=_WORDS,
        )
        for side, which in _SIDES
    ),
    *(
        Scorer(
            name=f"{side}_words",
            what=f"words of the {which}, cut at white space, as OpusFilter's LengthFilter counts",
            function=of_side(lambda pairs, side: white_words(pairs.points(side)), side),
            input_columns=(side,),
            unit="words",
            made=_WHITE,
        )
        for side, which in _SIDES
    ),
    *(
        Scorer(
            name=f"{side}_characters",
            what=f"characters of the {which}",
            function=of_side(lambda pairs, side: pairs.characters(side), side),
            input_columns=(side,),
            unit="characters",
        )
        for side, which in _SIDES
    ),
)

_RATIOS = (
    Scorer(
        name="length_ratio",
        what="words of the longer side for each word of the shorter",
        function=lambda pairs: _ratio(pairs.src.lengths, pairs.tgt.lengths),
        better="lower",
        low=1,
        unit="ratio",
        made=_WORDS,
    ),
    Scorer(
        name="word_ratio",
        what="the same with words cut at white space, as OpusFilter's LengthRatioFilter counts",
        function=lambda pairs: _ratio(white_words(pairs.points("src")), white_words(pairs.points("tgt"))),
        better="lower",
        low=1,
        unit="ratio",
        made=_WHITE,
    ),
    Scorer(
        name="character_ratio",
        what="characters of the longer side for each of the shorter",
        function=lambda pairs: _ratio(pairs.characters("src"), pairs.characters("tgt")),
        better="lower",
        low=1,
        unit="ratio",
    ),
)

_LIKENESS = (
    *(
        Scorer(
            name=f"{name}_overlap",
            what=f"shared {name}s over those of the side with fewer (W17 §5.7)",
            function=_overlap(n),
            high=1,
            unit="share",
            made=(*_WORDS, ("counts", "multiset")),
        )
        for n, name in enumerate(("unigram", "bigram", "trigram"), start=1)
    ),
    Scorer(
        name="bleu1",
        what="BLEU+1 of the second side against the first, every order and the brevity penalty smoothed "
        "(Nakov et al. 2012; W17 §5.7)",
        function=_bleu1,
        high=1,
        unit="BLEU, 0 to 1",
        made=(*_WORDS, ("smooth", "add-1"), ("bp", "add-1")),
    ),
    Scorer(
        name="chrf",
        what="chrF2 of the second side against the first, letter by letter (Popović 2015), as sacreBLEU has it",
        function=lambda pairs: chrf_from_points(pairs.points("tgt"), pairs.points("src")),
        high=100,
        unit="chrF, 0 to 100",
        made=(("case", "mixed"), ("eff", "yes"), ("nc", CHRF_ORDER), ("nw", 0), ("beta", CHRF_BETA), ("space", "no")),
    ),
    Scorer(
        name="edit_distance",
        what="characters to insert, delete or replace, over the characters of the longer side (Levenshtein)",
        function=lambda pairs: edit_distance(pairs.batch.column("src"), pairs.batch.column("tgt")),
        high=1,
        unit="share",
        made=(("case", "mixed"), ("by", "rapidfuzz")),
    ),
)

_REPETITION = (
    *(
        Scorer(
            name=f"{side}_unigram_repetition",
            what=f"share of the words of {SHORTEST_WORD} letters or more in the {which} that it said before "
            "(W17 Table 9)",
            function=of_side(lambda pairs, side: unigram_repetition(pairs.spans(side), pairs.lists(side)), side),
            input_columns=(side,),
            better="lower",
            high=1,
            unit="share",
            made=(*_WORDS, ("letters", f"{SHORTEST_WORD}+")),
        )
        for side, which in _SIDES
    ),
    *(
        Scorer(
            name=f"{side}_trigram_repetition",
            what=f"share of the trigrams of the {which} that it said before (W17 Table 9)",
            function=of_side(lambda pairs, side: trigram_repetition(pairs.lists(side)), side),
            input_columns=(side,),
            better="lower",
            high=1,
            unit="share",
            made=_WORDS,
        )
        for side, which in _SIDES
    ),
    *(
        Scorer(
            name=f"{side}_repeats",
            what=f"how often a stretch of the {which} comes again on the spot, twice or more, as OpusFilter's "
            "RepetitionFilter counts",
            function=of_side(lambda pairs, side: repeats(pairs.points(side)), side),
            input_columns=(side,),
            better="lower",
            unit="times",
            made=(("length", "-".join(map(str, REPEAT_LENGTHS))), ("threshold", REPEAT_THRESHOLD)),
        )
        for side, which in _SIDES
    ),
)

_MISMATCH = (
    Scorer(
        name="number_mismatch",
        what="share of the numbers of the side with more of them that the other side lacks",
        function=lambda pairs: _where_both(number_mismatch(pairs.points("src"), pairs.points("tgt")), pairs),
        better="lower",
        high=1,
        unit="share",
        made=(("by", "digits"),),
    ),
    Scorer(
        name="name_mismatch",
        what="share of the names (capitalised words within a sentence) on either side that the other side lacks",
        function=lambda pairs: _where_both(name_mismatch(pairs.batch.column("src"), pairs.batch.column("tgt")), pairs),
        better="lower",
        high=1,
        unit="share",
        made=(("by", "capitals"),),
    ),
)

_COST = Scorer(
    name="translation_cost",
    what="what the translator paid for the translation: -log p / sub-words (W17 §5.4)",
    function=_translation_cost,
    input_columns=("logprob", "tokens"),
    better="lower",
    unit="nats a sub-word",
)

SURFACE: tuple[Scorer, ...] = (*_LENGTHS, *_RATIOS, _COST, *_LIKENESS, *_REPETITION, *_MISMATCH)
"""In the order in which columns are added."""

SURFACE_GROUPS: dict[str, tuple[str, ...]] = {
    "length": tuple(scorer.name for scorer in _LENGTHS),
    "ratio": tuple(scorer.name for scorer in _RATIOS),
    "cost": (_COST.name,),
    "overlap": ("unigram_overlap", "bigram_overlap", "trigram_overlap"),
    "repetition": tuple(scorer.name for scorer in _REPETITION),
    "mismatch": tuple(scorer.name for scorer in _MISMATCH),
    "common": (
        *("src_tokens", "tgt_tokens", "length_ratio", "translation_cost"),
        *("unigram_overlap", "bigram_overlap", "trigram_overlap", "bleu1"),
    ),
    "all": tuple(scorer.name for scorer in SURFACE),
}
"""Short names for scorers that go together."""
