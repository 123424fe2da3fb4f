"""Word lists of the rules about meaning: numbers, currencies, negations; English and German."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal, TypeAlias

Role: TypeAlias = Literal[
    "unit", "ten", "hundred", "scale", "plural_scale", "ordinal", "denominator", "dozen", "half", "loose", "short_scale"
]
"""Role of a number word in a number; 'loose' numbers can be matched, but are never missing ("both", "twice")."""

_EN_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_EN_SMALL += " seventeen eighteen nineteen"
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_EN_ORDINALS = "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
_EN_ORDINALS += " sixteenth seventeenth eighteenth nineteenth"
_EN_DENOMINATORS = "thirds fourths fifths sixths sevenths eighths ninths tenths"
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SHORT_SCALES = {"k": 1e3, "m": 1e6, "mn": 1e6, "mln": 1e6, "mio": 1e6, "bn": 1e9, "bln": 1e9, "mrd": 1e9, "tn": 1e12}


def _english_numbers() -> dict[str, tuple[Role, float]]:
    words: dict[str, tuple[Role, float]] = {word: ("unit", value) for value, word in enumerate(_EN_SMALL.split())}
    words |= {word: ("ten", 10 * value) for value, word in enumerate(_EN_TENS.split(), start=2)}
    words |= {word: ("ordinal", value) for value, word in enumerate(_EN_ORDINALS.split(), start=3)}
    words |= {f"{word[:-1]}ieth": ("ordinal", 10 * value) for value, word in enumerate(_EN_TENS.split(), start=2)}
    words |= {f"{word[:-1]}ies": ("loose", 10 * value) for value, word in enumerate(_EN_TENS.split(), start=2)}
    words |= {word: ("denominator", value) for value, word in enumerate(_EN_DENOMINATORS.split(), start=3)}
    words |= {word: ("scale", value) for word, value in _SCALES.items()}
    words |= {f"{word}s": ("plural_scale", value) for word, value in _SCALES.items()}
    words |= {word: ("short_scale", value) for word, value in _SHORT_SCALES.items()}
    words |= {"hundred": ("hundred", 100), "dozen": ("dozen", 12), "half": ("half", 0.5), "hundredth": ("ordinal", 100)}
    loose: dict[float, str] = {1: "a an first once single 1st i"}
    loose |= {2: "second both pair couple twice double two-fold duo twins ii either"}
    loose |= {3: "triple trio thrice iii", 4: "iv", 5: "v", 6: "vi", 7: "vii", 8: "viii", 9: "ix", 0.25: "quarter"}
    for value, names in loose.items():
        words |= {word: ("loose", value) for word in names.split()}
    words["quarters"] = ("denominator", 4)
    words["fortieth"] = ("ordinal", 40)
    return words


_DE_UNITS = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn"
_DE_UNITS += " siebzehn achtzehn neunzehn"
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
_DE_ORDINALS = {3: "dritt", 7: "siebt", 8: "acht"}
_DE_ENDINGS = ("e", "en", "er", "es", "em")


def german_number(value: int) -> str:
    """Write a whole number from 1 to 999,999 as one German word, as in 'zweihundertfünf'."""
    small, tens = _DE_UNITS.split(), _DE_TENS.split()
    if value >= 1000:
        thousands = german_number(value // 1000).removesuffix("s") if value // 1000 % 100 == 1 else ""
        thousands = thousands or german_number(value // 1000)
        return f"{thousands}tausend{german_number(value % 1000) if value % 1000 else ''}"
    if value >= 100:
        return f"{small[value // 100]}hundert{german_number(value % 100) if value % 100 else ''}"
    if value == 1:
        return "eins"
    if value < 20:
        return small[value]
    unit = f"{small[value % 10]}und" if value % 10 else ""
    return f"{unit}{tens[value // 10 - 2]}"


def _german_numbers() -> dict[str, tuple[Role, float]]:
    words: dict[str, tuple[Role, float]] = {german_number(value): ("unit", value) for value in range(2, 1000)}
    words |= {german_number(1000 * value): ("unit", 1000 * value) for value in range(2, 1000)}
    words |= {word.replace("einhundert", "hundert", 1): entry for word, entry in list(words.items())}
    for value in range(2, 32):
        stem = _DE_ORDINALS.get(value, german_number(value) + ("t" if value < 20 else "st"))
        words |= {stem + ending: ("loose" if value == 2 else "ordinal", value) for ending in _DE_ENDINGS}
    scales = {"million": 1e6, "millionen": 1e6, "milliarde": 1e9, "milliarden": 1e9, "billion": 1e12, "billionen": 1e12}
    words |= {word: ("scale", value) for word, value in {**scales, "tausend": 1e3}.items()}
    words |= {word: ("short_scale", value) for word, value in _SHORT_SCALES.items() if word != "m"}
    words |= {"hundert": ("hundred", 100), "dutzend": ("dozen", 12), "null": ("unit", 0), "eins": ("unit", 1)}
    words |= dict.fromkeys(("halb", "halbe", "halben", "halbes", "halber", "hälfte"), ("half", 0.5))
    loose: dict[float, str] = {1: "ein eine einen einem einer eines erste ersten erster erstes einmal"}
    loose |= {2: "beide beiden zweimal doppelt"}
    loose |= {1 / 3: "drittel", 0.25: "viertel", 3: "iii dreimal"}
    for number, names in loose.items():
        words |= {word: ("loose", number) for word in names.split()}
    return words


NUMBERS: dict[str, dict[str, tuple[Role, float]]] = {"en": _english_numbers(), "de": _german_numbers()}
"""Language → number word → its role and value."""

CURRENCIES = (
    "$ dollar dollars usd bucks us$ € eur euro euros £ gbp ¥ yen jpy yuan rmb cny renminbi ₽ rouble roubles ruble "
    "rubles rub ₹ rupee rupees inr rs chf franc francs franken kč czk koruna korunas crown crowns kronen"
)
"""Currencies: beside one of them, "m" is a million and not a meter."""

_LISTS = tomllib.loads(Path(__file__).with_name("word_lists.toml").read_text(encoding="utf-8"))

NEGATIONS: dict[str, str] = _LISTS["negations"]
NEAR_NEGATIONS: dict[str, str] = _LISTS["near_negations"]
UNNEGATED: dict[str, str] = _LISTS["unnegated"]
VAGUE: dict[str, str] = _LISTS["vague"]
MORE_FUNCTION_WORDS: dict[str, str] = _LISTS["more_function_words"]
DANGLING: dict[str, str] = _LISTS["dangling"]
"""Language → words; the file says what each list is for."""
