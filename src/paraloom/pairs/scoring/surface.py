"""The scorers that need no model: they read the words, characters and numbers of a pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from paraloom.core.array_types import Float32s
from paraloom.core.lazy import late
from paraloom.pairs.scoring.scorer import SIDES, PairBatch, Scorer, Side, Values, side_scorers

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


def _where_both(values: Float32s, pairs: PairBatch) -> Values:
    """The values, NaN where a side is empty."""
    both = (pairs.character_counts("src") > 0) & (pairs.character_counts("tgt") > 0)
    return np.where(both, values, np.float32(np.nan))


def _of_both(function: Callable[[ClassifiedWords, ClassifiedWords], Float32s]) -> Callable[[PairBatch], Values]:
    """A function of the words of both sides as `Scorer.compute`."""
    return lambda pairs: _where_both(function(words_of(pairs, "src"), words_of(pairs, "tgt")), pairs)


def _content_missing(pairs: PairBatch, side: Side) -> Values:
    other: Side = "tgt" if side == "src" else "src"
    return content_missing(words_of(pairs, side), words_of(pairs, other))


_by_lists = partial(Scorer, direction="lower", maximum=1, parameters=(("lists", "en,de"),))
_STEMS = (("match", "stem"),)

MEANING: tuple[Scorer, ...] = (
    _by_lists(
        "quantity_mismatch",
        "share of the quantities (in digits or words) of both sides that the other side lacks",
        compute=_of_both(quantity_mismatch),
        unit="share",
    ),
    _by_lists(
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


# What computes is imported for the scores that are asked for: here is what all of them are.
_SIMILARITY_IN, _REPETITION_IN, _MISMATCH_IN = (
    f"paraloom.pairs.scoring.{module}:" for module in ("similarity", "repetition", "mismatch")
)
length_ratio, whitespace_words = late(f"{_REPETITION_IN}length_ratio"), late(f"{_REPETITION_IN}whitespace_words")
edit_distance, overlap_from_counts = (
    late(f"{_SIMILARITY_IN}edit_distance"),
    late(f"{_SIMILARITY_IN}overlap_from_counts"),
)
bleu_plus_one_from_counts = late("paraloom.text.bleu:bleu_plus_one_from_counts")
chrf_from_points = late("paraloom.text.chrf:chrf_from_points")
find_personal = late("paraloom.text.personal:find_personal")
number_mismatch, name_mismatch = late(f"{_MISMATCH_IN}number_mismatch"), late(f"{_MISMATCH_IN}name_mismatch")
repeats, trigram_repetition = late(f"{_REPETITION_IN}repeats"), late(f"{_REPETITION_IN}trigram_repetition")
unigram_repetition = late(f"{_REPETITION_IN}unigram_repetition")

BLEU_ORDER, CHRF_ORDER, CHRF_BETA = 4, 6, 2
"""As in `paraloom.text.bleu` and `paraloom.text.chrf`."""

MIN_WORD_CHARACTERS = 3
"""Shorter words are left out of `unigram_repetition`, as in W17."""

REPEAT_LENGTHS = (3, 100)
"""Minimum and maximum number of characters of a stretch that `repeats` finds."""

MIN_REPEATS = 2
"""Fewer immediate repetitions count as none."""

_LOWER_CASE_WORDS = (("case", "lower"), ("tok", "words"))
_WHITESPACE_WORDS = (("tok", "none"),)
_W17 = "Wieting et al. 2017"


def _overlap(n: int) -> Callable[[PairBatch], Values]:
    return lambda pairs: overlap_from_counts(pairs.shared_ngrams(n), pairs.tgt.lengths, pairs.src.lengths, n)


def _bleu1(pairs: PairBatch) -> Values:
    shared = [pairs.shared_ngrams(n) for n in range(1, BLEU_ORDER + 1)]
    return bleu_plus_one_from_counts(shared, pairs.tgt.lengths, pairs.src.lengths)


def _word_ratio(pairs: PairBatch) -> Values:
    return length_ratio(whitespace_words(pairs.code_points("src")), whitespace_words(pairs.code_points("tgt")))


def _translation_cost(pairs: PairBatch) -> Values:
    tokens = pairs.numbers("tokens")
    return (-pairs.numbers("logprob") / np.where(tokens > 0, tokens, np.nan)).astype(np.float32)


_LENGTHS = (
    *side_scorers(
        "tokens",
        "words and punctuation marks of the {}",
        lambda pairs, side: pairs.tokens(side).lengths.astype(np.int32),
        unit="words",
        reference=f"{_W17}, §5.3",
        parameters=_LOWER_CASE_WORDS,
    ),
    *side_scorers(
        "words",
        "words of the {}, split at white space",
        lambda pairs, side: whitespace_words(pairs.code_points(side)),
        unit="words",
        reference="OpusFilter, LengthFilter",
        parameters=_WHITESPACE_WORDS,
    ),
    *side_scorers("characters", "characters of the {}", PairBatch.character_counts, unit="characters"),
)

_ratio = partial(Scorer, direction="lower", minimum=1, unit="ratio")

_RATIOS = (
    _ratio(
        "length_ratio",
        "words and punctuation marks of the longer side divided by those of the shorter",
        compute=lambda pairs: length_ratio(pairs.src.lengths, pairs.tgt.lengths),
        parameters=_LOWER_CASE_WORDS,
    ),
    _ratio(
        "word_ratio",
        "words, split at white space, of the longer side divided by those of the shorter",
        compute=_word_ratio,
        reference="OpusFilter, LengthRatioFilter",
        parameters=_WHITESPACE_WORDS,
    ),
    _ratio(
        "character_ratio",
        "characters of the longer side divided by those of the shorter",
        compute=lambda pairs: length_ratio(pairs.character_counts("src"), pairs.character_counts("tgt")),
    ),
)

_SIMILARITY = (
    *(
        Scorer(
            f"{name}_overlap",
            f"shared {name}s divided by the {name}s of the side with fewer"
            + (f"; undefined if that has fewer than {n} words" if n > 1 else ""),
            compute=_overlap(n),
            maximum=1,
            unit="share",
            reference=f"{_W17}, §5.7",
            parameters=(*_LOWER_CASE_WORDS, ("counts", "multiset")),
        )
        for n, name in enumerate(("unigram", "bigram", "trigram"), start=1)
    ),
    Scorer(
        "bleu1",
        "smoothed sentence BLEU (BLEU+1) of the second side against the first; because of the smoothing below 1 for "
        "equal short sentences, such as 0.61 for two words",
        compute=_bleu1,
        maximum=1,
        unit="BLEU",
        reference=f"Nakov et al. 2012; {_W17}, §5.7",
        parameters=(*_LOWER_CASE_WORDS, ("smooth", "add-1"), ("bp", "add-1")),
    ),
    Scorer(
        "chrf",
        "chrF2 of the second side against the first, as sacreBLEU computes it",
        compute=lambda pairs: chrf_from_points(pairs.code_points("tgt"), pairs.code_points("src")),
        maximum=100,
        unit="chrF",
        reference="Popović 2015",
        parameters=(
            *(("case", "mixed"), ("eff", "yes"), ("nc", CHRF_ORDER)),
            *(("nw", 0), ("beta", CHRF_BETA), ("space", "no")),
        ),
    ),
    Scorer(
        "edit_distance",
        "character insertions, deletions and substitutions divided by the characters of the longer side",
        compute=lambda pairs: edit_distance(pairs.batch.column("src"), pairs.batch.column("tgt")),
        maximum=1,
        unit="share",
        reference="Levenshtein 1966",
        parameters=(("case", "mixed"), ("by", "rapidfuzz")),
    ),
)

_repetition = partial(side_scorers, direction="lower", maximum=1, unit="share", reference=f"{_W17}, Table 9")

_REPETITION = (
    *_repetition(
        "unigram_repetition",
        f"share of the words of {MIN_WORD_CHARACTERS} or more characters in the {{}} that occurred in it before",
        lambda pairs, side: unigram_repetition(pairs.spans(side), pairs.tokens(side)),
        parameters=(*_LOWER_CASE_WORDS, ("letters", f"{MIN_WORD_CHARACTERS}+")),
    ),
    *_repetition(
        "trigram_repetition",
        "share of the word trigrams of the {} that occurred in it before",
        lambda pairs, side: trigram_repetition(pairs.tokens(side)),
        parameters=_LOWER_CASE_WORDS,
    ),
    *side_scorers(
        "repeats",
        f"immediate repetitions of a stretch of {REPEAT_LENGTHS[0]} to {REPEAT_LENGTHS[1]} characters in the {{}}, 0 "
        f"if fewer than {MIN_REPEATS}",
        lambda pairs, side: repeats(pairs.code_points(side)),
        direction="lower",
        unit="repetitions",
        reference="OpusFilter, RepetitionFilter",
        parameters=(("length", "-".join(map(str, REPEAT_LENGTHS))), ("threshold", MIN_REPEATS)),
    ),
)

_mismatch = partial(Scorer, direction="lower", maximum=1, unit="share")

_MISMATCH = (
    _mismatch(
        "number_mismatch",
        "share of the numbers of the side with more of them that the other side lacks",
        compute=lambda pairs: _where_both(number_mismatch(pairs.code_points("src"), pairs.code_points("tgt")), pairs),
        parameters=(("by", "digits"),),
    ),
    _mismatch(
        "name_mismatch",
        "share of the names (capitalized words within a sentence) on either side that the other side lacks",
        compute=lambda pairs: _where_both(name_mismatch(pairs.batch.column("src"), pairs.batch.column("tgt")), pairs),
        parameters=(("by", "capitals"),),
    ),
)

_COST = Scorer(
    "translation_cost",
    "negative log-probability per subword that the translator gave to the second side",
    compute=_translation_cost,
    input_columns=("logprob", "tokens"),
    direction="lower",
    unit="nats per subword",
    reference=f"{_W17}, §5.4",
)


def _personal_count(pairs: PairBatch, kind: str) -> Values:
    def count() -> Counter[tuple[str, int]]:
        items: Counter[tuple[str, int]] = Counter()
        for side, _ in SIDES:
            named = f"{side}_lang" in pairs.batch.schema.names
            languages = pairs.texts(f"{side}_lang") if named else repeat("")
            for row, (text, language) in enumerate(zip(pairs.texts(side), languages, strict=False)):
                items.update((item.kind, row) for item in find_personal(text, language))
        return items

    counts = pairs.once("personal data", count)
    return np.array([counts[kind, row] for row in range(pairs.batch.num_rows)], np.int32)


_PERSONAL = tuple(
    Scorer(name, f"{what}, on both sides", compute=partial(_personal_count, kind=name), direction="lower", unit="items")
    for name, what in (
        ("mail_addresses", "e-mail addresses"),
        ("phone_numbers", "telephone numbers that are valid in a country of the language"),
        ("account_numbers", "IBANs and card numbers with right check digits"),
        ("ip_addresses", "public IP addresses"),
    )
)

_WITHOUT_EXTRAS = (*_LENGTHS, *_RATIOS, _COST, *_SIMILARITY, *_REPETITION, *_MISMATCH, *MEANING)

SURFACE: tuple[Scorer, ...] = (*_WITHOUT_EXTRAS, *_PERSONAL)
"""In the order in which columns are added."""

SURFACE_GROUPS: dict[str, tuple[str, ...]] = {
    "length": tuple(scorer.name for scorer in _LENGTHS),
    "ratio": tuple(scorer.name for scorer in _RATIOS),
    "cost": (_COST.name,),
    "overlap": ("unigram_overlap", "bigram_overlap", "trigram_overlap"),
    "repetition": tuple(scorer.name for scorer in _REPETITION),
    "mismatch": tuple(scorer.name for scorer in _MISMATCH),
    "meaning": tuple(scorer.name for scorer in MEANING),
    "common": (
        *("src_tokens", "tgt_tokens", "length_ratio", "translation_cost"),
        *("unigram_overlap", "bigram_overlap", "trigram_overlap", "bleu1"),
    ),
    "personal": tuple(scorer.name for scorer in _PERSONAL),
    "all": tuple(scorer.name for scorer in _WITHOUT_EXTRAS),
}
"""Groups of scores by name; `all` are those that need no extra either."""
