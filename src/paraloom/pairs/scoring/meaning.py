"""What a paraphrase must keep: quantities, units, negation, quantifiers, persons, word order, content words; by rules.

The word lists are English. Rows whose sides are labeled as another language have no value; rows without a label count
as English.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from paraloom.core.schema import LANGUAGE_OF
from paraloom.pairs.scoring.scorer import PairBatch, Side, Values
from paraloom.text.function_words import FUNCTION_WORDS

Words = list[str]

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|[%€$£°]")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_ONES = _split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = _split("twenty thirty forty fifty sixty seventy eighty ninety")
_SMALL = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
# "second" is left out: it is a unit of time as well.
_ORDINALS = {
    **{"third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10},
    **{"eleventh": 11, "twelfth": 12, "twentieth": 20, "hundredth": 100},
}
_OTHER_QUANTITIES = {"half": 0.5, "dozen": 12, "twice": 2, "pair": 2, "couple": 2}

_BEGINS_QUANTITY = frozenset([*_SMALL, *_LARGE, *_ORDINALS, *_OTHER_QUANTITIES])

_UNITS = {
    "km": "km kilometer kilometers kilometre kilometres",
    "m": "m meter meters metre metres",
    "cm": "cm centimeter centimeters centimetre centimetres",
    "mile": "mi mile miles",
    "foot": "ft foot feet",
    "inch": "inch inches",
    "kg": "kg kilo kilos kilogram kilograms",
    "g": "g gram grams",
    "pound": "lb lbs pound pounds £",
    "ton": "ton tons tonne tonnes",
    "liter": "l liter liters litre litres",
    "second": "second seconds sec secs",
    "minute": "minute minutes min mins",
    "hour": "h hour hours hr hrs",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years",
    "percent": "% percent",
    "euro": "€ euro euros eur",
    "dollar": "$ dollar dollars usd bucks",
    "degree": "° degree degrees",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}

_NEGATIONS = frozenset(
    _split("not no never nobody nothing none neither nowhere without cannot hardly scarcely barely nope")
)
# "not only", "no longer than" and the like keep their negation; "no doubt" is none.
_NO_NEGATION = {("not", "only"), ("no", "doubt"), ("no", "matter"), ("not", "just"), ("nothing", "but")}

_QUANTIFIERS = {
    "all": "all every everyone everybody everything each whole entire always everywhere",
    "some": "some someone somebody something sometimes several somewhere",
    "many": "many much most mostly often lots plenty usually frequently",
    "few": "few little rarely seldom",
    "only": "only just merely solely",
    "more": "more over above",
    "less": "less fewer under below",
    "before": "before earlier",
    "after": "after later",
    "first": "first",
    "last": "last",
}
_QUANTIFIER_OF = {word: name for name, words in _QUANTIFIERS.items() for word in words.split()}

_PERSONS = {
    "I": "i me my mine myself i'm i've i'll i'd",
    "you": "you your yours yourself yourselves you're you've you'll you'd",
    "he": "he him his himself he's he'll he'd",
    "she": "she her hers herself she's she'll she'd",
    "we": "we us our ours ourselves we're we've we'll we'd",
    "they": "they them their theirs themselves they're they've they'll they'd",
}
_PERSON_OF = {word: person for person, words in _PERSONS.items() for word in words.split()}

_FUNCTION = frozenset(FUNCTION_WORDS["en"].split()) | frozenset(_PERSON_OF) | _NEGATIONS | frozenset(_QUANTIFIER_OF)
_STEM = 5


def english_words(text: str) -> Words:
    """Lower-cased words, numbers and signs of units, in order; apostrophes are straight.

    Args:
        text: A sentence.

    Example:
        >>> english_words("It’s 1,000 km.")
        ["it's", '1000', 'km']
    """
    tokens: Sequence[str] = _TOKEN.findall(text.lower().replace("’", "'"))
    return [token.replace(",", "") if _GROUPED.fullmatch(token) else token for token in tokens]


def quantities(words: Words) -> Counter[float]:
    """Numbers in a sentence, in digits or words. A bare "one" is a pronoun as often as a number, and is left out.

    Args:
        words: Words of the sentence.

    Example:
        >>> sorted(quantities(english_words("Twenty-one men, two million euros, the third of 1,000.5 and half.")))
        [0.5, 3, 21.0, 1000.5, 2000000.0]
    """
    counts: Counter[float] = Counter()
    if not any(word in _BEGINS_QUANTITY or word[0].isdigit() for word in words):
        return counts
    position = 0
    while position < len(words):
        value, end = _number_at(words, position)
        if end == position:
            word = words[position]
            if word in _ORDINALS or word in _OTHER_QUANTITIES:
                counts[_ORDINALS.get(word, _OTHER_QUANTITIES.get(word, 0.0))] += 1
        elif (value, end) != (1, position + 1) or words[position] != "one":
            counts[value] += 1
        position = max(end, position + 1)
    return counts


def unit_set(words: Words) -> set[str]:
    """Units of measure that stand beside a number.

    Args:
        words: Words of a sentence.

    Example:
        >>> sorted(unit_set(english_words("It costs $5 for 3 hours, 10%.")))
        ['dollar', 'hour', 'percent']
    """
    units = set()
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        unit = _UNIT_OF.get(word)
        if unit and (_is_number(before) or (word in "$€£" and _is_number(after))):
            units.add(unit)
    return units


def negations(words: Words) -> int:
    """Number of negations, without those of fixed phrases such as "not only".

    Args:
        words: Words of a sentence.

    Example:
        >>> negations(english_words("I don't know nobody here, not only him.")), negations(["no", "doubt"])
        (2, 0)
    """
    count = 0
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if (word in _NEGATIONS and (word, after) not in _NO_NEGATION) or word.endswith("n't"):
            count += 1
    return count


def inversions(a: Words, b: Words) -> tuple[float, int]:
    """Share of the pairs of shared content words that stand in the other order, as Kendall's tau counts.

    Args:
        a: Words of a sentence.
        b: Words of another one.

    Returns:
        The share, 0 to 1, and the number of shared words; words that occur twice on a side are left out.

    Example:
        >>> inversions("the dog bit the man".split(), "the man bit the dog".split())
        (1.0, 3)
    """
    counts, others = Counter(a), Counter(b)
    shared = [word for word in content_words(a) if counts[word] == 1 == others[word]]
    positions = {word: position for position, word in enumerate(b)}
    pairs = list(combinations([positions[word] for word in shared], 2))
    return (sum(first > second for first, second in pairs) / len(pairs) if pairs else 0.0), len(shared)


def swapped_roles(a: Words, b: Words) -> bool:
    """Whether two sentences have the same content words but some of them in each other's place.

    A passive, which swaps subject and object and keeps the meaning, is recognized by its "by".

    Args:
        a: Words of a sentence.
        b: Words of another one.

    Example:
        >>> swapped_roles("the dog bit the man".split(), "the man bit the dog".split())
        True
        >>> swapped_roles("the dog bit the man".split(), "the man was bitten by the dog".split())
        False
    """
    first, second = content_words(a), content_words(b)
    if ("by" in a) != ("by" in b) or not first or not second:
        return False
    share, shared = inversions(a, b)
    return share > 0 and shared >= 2 and shared >= 0.75 * max(len(first), len(second))


def content_words(words: Words) -> Words:
    """Words that are neither function words nor numbers.

    Args:
        words: Words of a sentence.

    Example:
        >>> content_words("the 2 dogs are not here".split())
        ['dogs', 'here']
    """
    return [word for word in words if len(word) > 1 and word not in _FUNCTION and not _is_number(word)]


def missing_share(words: Words, others: Words) -> float:
    """Share of the content words that have no counterpart: the same word, or one with the same first five letters.

    Args:
        words: Words of a sentence.
        others: Words of another one.

    Returns:
        0 to 1; NaN without content words.

    Example:
        >>> missing_share(["translated", "books"], ["translation", "papers"])
        0.5
    """
    content = content_words(words)
    if not content:
        return float("nan")
    stems = {word[:_STEM] for word in others}
    return sum(word[:_STEM] not in stems for word in content) / len(content)


def quantity_mismatch(a: Words, b: Words) -> float:
    """Share of the quantities of the side with more of them that the other side lacks; 0 if there are none."""
    return _multiset_mismatch(quantities(a), quantities(b))


def unit_mismatch(a: Words, b: Words) -> float:
    """Share of the units of either side that the other lacks; 0 if there are none."""
    return _set_mismatch(unit_set(a), unit_set(b))


def negation_mismatch(a: Words, b: Words) -> float:
    """1 if one side has an odd number of negations and the other an even one, else 0."""
    return float((negations(a) - negations(b)) % 2)


def quantifier_mismatch(a: Words, b: Words) -> float:
    """Share of the kinds of quantifiers ("all", "some", "few", "only", "before" …) of either side that one lacks."""
    return _set_mismatch(*({_QUANTIFIER_OF[word] for word in side if word in _QUANTIFIER_OF} for side in (a, b)))


def person_mismatch(a: Words, b: Words) -> float:
    """Share of the grammatical persons (I, you, he, she, we, they) of either side that the other lacks."""
    return _set_mismatch(*({_PERSON_OF[word] for word in side if word in _PERSON_OF} for side in (a, b)))


def rule(function: Callable[[Words, Words], float]) -> Callable[[PairBatch], Values]:
    """Turn a function of the words of both sides into one of a batch of pairs, for `Scorer.compute`.

    Args:
        function: Function of the words of the first and the second side.

    Returns:
        Function of n pairs: float32 `(n,)`, NaN where a side is empty or labeled as a language other than English.
    """

    def compute(pairs: PairBatch) -> Values:
        first, second, known = words_of(pairs, "src"), words_of(pairs, "tgt"), is_english(pairs)
        values = (
            function(a, b) if a and b and english else np.nan
            for a, b, english in zip(first, second, known, strict=True)
        )
        return np.fromiter(values, np.float32, len(first))

    return compute


def words_of(pairs: PairBatch, side: Side) -> list[Words]:
    """Words of each text of a side, computed once for all rules.

    Args:
        pairs: n pairs.
        side: The side.
    """
    return pairs.once(f"english words of {side}", lambda: [english_words(text) for text in pairs.texts(side)])


def is_english(pairs: PairBatch) -> npt.NDArray[np.bool_]:
    """Which pairs are labeled as English on both sides, or not labeled.

    Args:
        pairs: n pairs.
    """

    def compute() -> npt.NDArray[np.bool_]:
        known = np.ones(pairs.batch.num_rows, np.bool_)
        for side in ("src", "tgt"):
            if LANGUAGE_OF[side] in pairs.batch.schema.names:
                labels = pairs.batch.column(LANGUAGE_OF[side]).to_pylist()
                known &= np.array([(label or "und").partition("-")[0] in ("en", "und") for label in labels], np.bool_)
        return known

    return pairs.once("english", compute)


def _number_at(words: Words, start: int) -> tuple[float, int]:
    """The number that begins at a word, and the position after it; `start` itself where none begins."""
    total, current, position = 0.0, None, start
    while position < len(words):
        word = words[position]
        digits = _number(word) if word[:1].isdigit() else None
        if digits is not None:
            if position > start:
                break
            current = digits
        elif word in _SMALL:
            if (
                current is not None
                and not (_SMALL[word] < 10 and current % 100 >= 20 and current % 10 == 0)
                and (current % 100 or words[position - 1] in _SMALL)
            ):
                break
            current = (current or 0) + _SMALL[word]
        elif word == "hundred":
            current = (1 if current is None else current) * 100
        elif word in _LARGE:
            total, current = total + (1 if current is None and not total else current or 0) * _LARGE[word], None
        elif not (word == "and" and position > start and words[position - 1] in _LARGE and _follows(words, position)):
            break
        position += 1
    return total + (current or 0), position


def _follows(words: Words, position: int) -> bool:
    return position + 1 < len(words) and words[position + 1] in _SMALL


def _number(word: str) -> float | None:
    text = word.replace(":", ".") if word.count(":") == 1 and "." not in word else word
    try:
        return float(text.replace(",", ".") if text.count(",") == 1 and "." not in text else text)
    except ValueError:
        return None


def _is_number(word: str) -> bool:
    return word[:1].isdigit() or word in _SMALL or word in _LARGE


def _multiset_mismatch(a: Counter[float], b: Counter[float]) -> float:
    total = max(a.total(), b.total())
    return 1 - (a & b).total() / total if total else 0.0


def _set_mismatch(a: set[str], b: set[str]) -> float:
    return 1 - len(a & b) / len(a | b) if a | b else 0.0
