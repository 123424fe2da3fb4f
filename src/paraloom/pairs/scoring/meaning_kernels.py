"""Inner loops of the rules about meaning, compiled by numba: quantities, negations, order of shared words.

Tokens are those of `paraloom.pairs.scoring.word_classes.ClassifiedWords`; `rows` gives the row of each token in
`features`, whose columns that file names.
"""

from __future__ import annotations

import numpy as np

from paraloom.core.array_types import Bools, Float32s, Floats, Ids, Int32s, Ints
from paraloom.core.kernels import kernel
from paraloom.pairs.scoring.word_class_kernels import MARK as SIGN
from paraloom.pairs.scoring.word_class_kernels import NUMBER, WORD, Kinds, Rows
from paraloom.pairs.scoring.word_classes import (
    CURRENCY,
    ENDS_NOTHING,
    FUNCTION,
    MARK,
    NEARLY_NEGATES,
    NEGATES,
    NEGATION,
    ROLE,
    ROLES,
    UNNEGATES,
    VAGUE,
    WORD_MARK,
)
from paraloom.text.token_kernels import PRIME, START, Int, Points, mix

Shares = Float32s
Features = Int32s

_UNIT, _TEN, _HUNDRED, _SCALE = (ROLES.index(name) for name in ("unit", "ten", "hundred", "scale"))
_PLURAL_SCALE, _ORDINAL, _DENOMINATOR = (ROLES.index(name) for name in ("plural_scale", "ordinal", "denominator"))
_DOZEN, _HALF, _LOOSE, _SHORT_SCALE = (ROLES.index(name) for name in ("dozen", "half", "loose", "short_scale"))
_DIGITS = len(ROLES)
_AND, _ARTICLE, _NO, _NOT, _NEITHER, _NOR = (MARK[name] for name in ("and", "article", "no", "not", "neither", "nor"))
_HYPHENS = (45, 8208, 8209, 8211)
_COMMA, _FULL_STOP, _EXCLAMATION, _QUESTION = 44, 46, 33, 63
_SMALL_M, _SMALL_S = 109, 115
_D, _E, _G, _I, _N, _S, _T, _U, _Y = (ord(letter) for letter in "deginstuy")
_TOLERANCE = 1e-9
_MAX_WORD, _PREFIX = 64, 5


@kernel
def quantities(
    points: Points,
    starts: Ints,
    ends: Ints,
    kinds: Kinds,
    values: Floats,
    offsets: Ints,
    rows: Rows,
    features: Features,
    numbers: Floats,
) -> tuple[Floats, Bools, Ints]:
    """The quantities of each text in digits and words, whether each is loose, and the offsets."""
    amounts = np.empty(2 * len(starts) + 1, np.float64)
    loose = np.zeros(2 * len(starts) + 1, np.bool_)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        k, end = offsets[text], offsets[text + 1]
        total, group, last = 0.0, 0.0, 0  # last: role of the previous part of the open number, 0 if none is open
        only_one = False
        while k < end:
            role, value = _part(kinds[k], values[k], features[rows[k], ROLE], numbers[rows[k]])
            if last:
                step = _continues(k, end, role, value, last, group, points, starts, ends, kinds, rows, features)
                if step == 2:  # "two and a half"
                    group += 0.5
                    k += 3
                    continue
                if step == 3:  # "and", a hyphen
                    k += 1
                    continue
                if step == 1:
                    only_one = False
                    total, group, last = _extended(total, group, last, role, value)
                    if not last:  # a rank or a part ends the number
                        amounts[count], loose[count] = total + group, role == _DENOMINATOR
                        count += 1
                        total, group = 0.0, 0.0
                    k += 1
                    continue
                amounts[count], loose[count] = total + group, only_one
                count += 1
                total, group, last, only_one = 0.0, 0.0, 0, False
            if role == _DIGITS:
                group, last = _without_century(points, starts, ends, kinds, k, end, value), role
            elif role in (_UNIT, _TEN):
                group, last, only_one = value, role, value == 1
            elif role in (_HUNDRED, _SCALE, _DOZEN):
                group, last = value * _half_before(k, offsets[text], rows, features), role
                only_one = _is_vague(k, offsets[text], rows, features)
            elif role in (_HALF, _LOOSE, _ORDINAL):
                # "a third" is a part or a rank: either can be matched.
                is_part = _is_part(k, role, offsets[text], rows, features, numbers)
                amounts[count], loose[count] = value, is_part or role != _ORDINAL
                count += 1
                if is_part:
                    amounts[count], loose[count] = 1 / value, True
                    count += 1
            k += 1
        if last:
            amounts[count], loose[count] = total + group, only_one
            count += 1
        lists[text + 1] = count
    return amounts[:count].copy(), loose[:count].copy(), lists


@kernel(inline="always")
def _part(kind: int, value: float, word_role: int, word_value: float) -> tuple[int, float]:
    """Role and value of a token as a part of a number."""
    if kind == NUMBER:
        return 0 if np.isnan(value) else _DIGITS, value
    return 0 if kind == SIGN else word_role, word_value


@kernel
def _extended(total: float, group: float, last: int, role: int, value: float) -> tuple[float, float, int]:
    """The open number with a part that continues it, and the role of the part, 0 where it is the last one."""
    if role in (_SCALE, _PLURAL_SCALE, _SHORT_SCALE):
        return total + group * value, 0.0, _SCALE
    if role in (_HUNDRED, _DOZEN):
        return total, group * value, role
    if role == _DENOMINATOR:
        return 0.0, group / value, 0
    group = group * 100 + value if last == _UNIT and role == _TEN else group + value
    return total, group, 0 if role == _ORDINAL else role


@kernel
def _continues(
    k: Int,
    end: Int,
    role: int,
    value: float,
    last: int,
    group: float,
    points: Points,
    starts: Ints,
    ends: Ints,
    kinds: Kinds,
    rows: Rows,
    features: Features,
) -> int:
    """True if token k continues the open number: 0 no, 1 yes, 2 with "and a half", 3 by a word without a value."""
    if role in (_SCALE, _PLURAL_SCALE, _HUNDRED, _DOZEN):
        return 1 if _multiplies(role, last, group) else 0
    if role == _SHORT_SCALE:
        return 1 if last == _DIGITS and _is_short_scale(k, end, points, starts, ends, rows, features) else 0
    if role == _DENOMINATOR:
        return 1 if last == _UNIT and group > 0 else 0
    if role in (_UNIT, _TEN, _ORDINAL):
        return 1 if _adds(value, role, last, group) else 0
    if k + 1 >= end:
        return 0
    if features[rows[k], WORD_MARK] == _AND:
        return _and_continues(k, end, last, rows, features)
    hyphen = kinds[k] == SIGN and points[starts[k]] in _HYPHENS
    return _hyphen_continues(last, features[rows[k + 1], ROLE]) if hyphen else 0


@kernel
def _multiplies(role: int, last: int, group: float) -> bool:
    """True if a scale word multiplies the open number: "two hundred", "two hundred thousand", not "hundred dozen"."""
    return group > 0 and (last != _HUNDRED or role in (_SCALE, _PLURAL_SCALE))


@kernel
def _is_short_scale(k: Int, end: Int, points: Points, starts: Ints, ends: Ints, rows: Rows, features: Features) -> bool:
    """True if a short word after digits multiplies them: "5k", "3m euros", "3 bn", but not "3 m"."""
    if ends[k] - starts[k] > 1:
        return True
    if points[starts[k]] | 32 == _SMALL_M:  # a million of a currency, else a meter
        return (k + 1 < end and _is_currency(k + 1, rows, features)) or _is_currency(k - 2, rows, features)
    return bool(starts[k] == ends[k - 1])


@kernel
def _adds(value: float, role: int, last: int, group: float) -> bool:
    """True if a number word adds to one of the role `last`: "twenty one", "nineteen eighty", but not "twenty ten"."""
    if last == _UNIT and role == _TEN:  # a year
        return value > 0 and 13 <= group <= 20
    limit = 10 if last == _TEN else 100 if last == _HUNDRED else 1000 if last == _SCALE else 0
    return 0 < value < limit


@kernel
def _and_continues(k: Int, end: Int, last: int, rows: Rows, features: Features) -> int:
    """As `_continues`, for the "and" of "two and a half", "two hundred and five"."""
    if k + 2 < end and features[rows[k + 1], WORD_MARK] == _ARTICLE and features[rows[k + 2], ROLE] == _HALF:
        return 2
    return 3 if last in (_HUNDRED, _SCALE) and features[rows[k + 1], ROLE] in (_UNIT, _TEN) else 0


@kernel
def _hyphen_continues(last: int, following: int) -> int:
    """As `_continues`, for the hyphen of "twenty-one", "two-thirds", "two-hundred"."""
    if last == _TEN and following in (_UNIT, _ORDINAL):
        return 3
    return 3 if following in (_SCALE, _HUNDRED) or (last == _UNIT and following == _DENOMINATOR) else 0


@kernel(inline="always")
def _is_currency(k: Int, rows: Rows, features: Features) -> bool:
    return bool(k >= 0 and features[rows[k], CURRENCY])


@kernel
def _without_century(points: Points, starts: Ints, ends: Ints, kinds: Kinds, k: Int, end: Int, value: float) -> float:
    """Value of number k, where "1990s" is "90s"."""
    if k + 1 >= end or kinds[k + 1] != WORD or starts[k + 1] != ends[k] or ends[k + 1] - starts[k + 1] != 1:
        return value
    is_decade = points[starts[k + 1]] == _SMALL_S and value >= 10 and value % 10 == 0
    return value % 100 if is_decade else value


@kernel
def _is_vague(k: Int, start: Int, rows: Rows, features: Features) -> bool:
    """True for "several thousand"."""
    return bool(k > start and features[rows[k - 1], VAGUE] != 0)


@kernel
def _is_part(k: Int, role: int, start: Int, rows: Rows, features: Features, numbers: Floats) -> bool:
    """True for an ordinal after "a" or "one"."""
    if role != _ORDINAL or k == start:
        return False
    return bool(features[rows[k - 1], WORD_MARK] == _ARTICLE or numbers[rows[k - 1]] == 1)


@kernel
def _half_before(k: Int, start: Int, rows: Rows, features: Features) -> float:
    """0.5 for the scale word of "half a million", else 1."""
    j = k - 1
    if j >= start and features[rows[j], WORD_MARK] == _ARTICLE:
        j -= 1
    return 0.5 if j >= start and features[rows[j], ROLE] == _HALF else 1.0


@kernel
def missing_quantities(
    a_values: Floats, a_loose: Bools, a_offsets: Ints, b_values: Floats, b_loose: Bools, b_offsets: Ints
) -> Rows:
    """Quantities of both sides that are not loose, and how many of them the other side lacks: int32 (n, 2)."""
    counts = np.zeros((len(a_offsets) - 1, 2), np.int32)
    for row in range(len(counts)):
        for k in range(a_offsets[row], a_offsets[row + 1]):
            if not a_loose[k]:
                counts[row, 0] += 1
                counts[row, 1] += not _has(a_values[k], b_values, b_offsets[row], b_offsets[row + 1])
        for k in range(b_offsets[row], b_offsets[row + 1]):
            if not b_loose[k]:
                counts[row, 0] += 1
                counts[row, 1] += not _has(b_values[k], a_values, a_offsets[row], a_offsets[row + 1])
    return counts


@kernel
def _has(value: float, values: Floats, start: Int, end: Int) -> bool:
    for k in range(start, end):  # noqa: SIM110
        if abs(values[k] - value) <= _TOLERANCE * abs(value):
            return True
    return False


@kernel
def negations(
    points: Points, starts: Ints, ends: Ints, kinds: Kinds, offsets: Ints, rows: Rows, features: Features
) -> tuple[Rows, Bools]:
    """Number of negations of each text, int32 (n,), and whether it has a word with a negative meaning, bool (n,)."""
    counts = np.zeros(len(offsets) - 1, np.int32)
    near = np.zeros(len(offsets) - 1, np.bool_)
    for text in range(len(counts)):
        start, end = offsets[text], offsets[text + 1]
        neither = False
        for k in range(start, end):
            word = features[rows[k]]
            if word[NEGATION] == NEARLY_NEGATES or _is_antonym(k, points, starts, ends, kinds, rows, features):
                near[text] = True
            if word[NEGATION] != NEGATES:
                continue
            mark = word[WORD_MARK]
            if mark == _NOR:
                if not neither:
                    counts[text] += 1
                continue
            if k + 1 < end and _denies_nothing(k, mark, points, starts, kinds, rows, features):
                near[text] = True
                continue
            if _is_question_tag(k, end, points, starts, kinds, rows, features):
                continue
            neither = neither or mark == _NEITHER
            counts[text] += 1
    return counts, near


@kernel
def _denies_nothing(
    k: Int, mark: int, points: Points, starts: Ints, kinds: Kinds, rows: Rows, features: Features
) -> bool:
    """True for the "not" of "not only", the "no" of "no doubt", and "No" as an answer."""
    if mark in (_NOT, _NO) and features[rows[k + 1], UNNEGATES]:
        return True
    return mark == _NO and _is_interjection(k, points, starts, kinds)


@kernel
def _is_antonym(k: Int, points: Points, starts: Ints, ends: Ints, kinds: Kinds, rows: Rows, features: Features) -> bool:
    """True if the word at k begins with un- and may negate: "unharmed", not "under", "until", "union"."""
    start = starts[k]
    if kinds[k] != WORD or ends[k] - start < 6 or features[rows[k], FUNCTION]:
        return False
    third = points[start + 2]
    return points[start] | 32 == _U and points[start + 1] == _N and third != _D and third != _I and third != _T


@kernel
def _is_interjection(k: Int, points: Points, starts: Ints, kinds: Kinds) -> bool:
    """True if "no" at k is an answer ("No, thanks") or stands for "number" ("No. 5", "no 5")."""
    if kinds[k + 1] == NUMBER:
        return True
    point = points[starts[k + 1]]
    return kinds[k + 1] == SIGN and (point in (_COMMA, _FULL_STOP, _EXCLAMATION))


@kernel
def _is_question_tag(
    k: Int, end: Int, points: Points, starts: Ints, kinds: Kinds, rows: Rows, features: Features
) -> bool:
    """True if the word at k begins a question tag: a comma, "isn't", a function word, a question mark."""
    if k + 2 >= end or kinds[k + 2] != SIGN or points[starts[k + 2]] != _QUESTION:
        return False
    return bool(k > 0 and points[starts[k - 1]] == _COMMA and features[rows[k + 1], FUNCTION] == 1)


@kernel
def content_keys(
    points: Points,
    starts: Ints,
    ends: Ints,
    kinds: Kinds,
    offsets: Ints,
    rows: Rows,
    languages: Rows,
    features: Features,
    lower: Points,
    english: Int,
) -> tuple[Ids, Ints]:
    """Keys of content words and numbers, and offsets: hashes of five characters without an English inflection."""
    keys = np.empty(len(starts), np.uint64)
    lists = np.zeros(len(offsets), np.int64)
    stem = np.empty(_MAX_WORD, np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        for k in range(offsets[text], offsets[text + 1]):
            if kinds[k] == SIGN or features[rows[k], FUNCTION] or features[rows[k], ENDS_NOTHING]:
                continue
            size = min(ends[k] - starts[k], _MAX_WORD)
            if kinds[k] == WORD and size < 2 and points[starts[k]] < 0x2E80:
                continue
            for i in range(size):
                stem[i] = lower[points[starts[k] + i]]
            if kinds[k] == WORD and languages[text] == english:
                size = _stem(stem, size)
            value = START
            for i in range(min(size, _PREFIX) if kinds[k] == WORD else size):
                value = (value ^ np.uint64(stem[i])) * PRIME
            keys[count] = mix(value)
            count += 1
        lists[text + 1] = count
    return keys[:count].copy(), lists


@kernel
def _stem(word: Ints, size: int) -> int:
    """Length of an English word without -s, -es, -ed, -ing, -e and a doubled consonant; a final y becomes i."""
    if size >= 4 and word[size - 1] == _S and word[size - 2] != _S:
        size -= 1
    if size >= 6 and _ends_with(word, size, _N, _G) and word[size - 3] == _I:
        size -= 3
    elif size >= 5 and _ends_with(word, size, _E, _D):
        size -= 2
    if size >= 4 and word[size - 1] == _E:
        size -= 1
    if size >= 3 and word[size - 1] == _Y:
        word[size - 1] = _I
    if size >= 3 and word[size - 1] == word[size - 2]:
        size -= 1
    return size


@kernel(inline="always")
def _ends_with(word: Ints, size: int, first: int, second: int) -> bool:
    return word[size - 2] == first and word[size - 1] == second


@kernel
def missing_keys(keys: Ids, offsets: Ints, other_keys: Ids, other_offsets: Ints) -> Shares:
    """Share of the keys of each list that the other list of the row lacks: float32 (n,), NaN for an empty list."""
    shares = np.full(len(offsets) - 1, np.nan, np.float32)
    for row in range(len(shares)):
        size = offsets[row + 1] - offsets[row]
        missing = 0
        for k in range(offsets[row], offsets[row + 1]):
            missing += _position(keys[k], other_keys, other_offsets[row], other_offsets[row + 1]) < 0
        if size:
            shares[row] = missing / size
    return shares


@kernel
def _position(key: np.uint64, keys: Ids, start: Int, end: Int) -> int:
    for k in range(start, end):
        if keys[k] == key:
            return k
    return -1


@kernel
def _only_position(key: np.uint64, keys: Ids, start: Int, end: Int) -> int:
    """Position of a key that occurs once in the list, else -1."""
    position = -1
    for k in range(start, end):
        if keys[k] == key:
            if position >= 0:
                return -1
            position = k
    return position


@kernel
def _shared_order(a_keys: Ids, a_start: Int, a_end: Int, b_keys: Ids, b_start: Int, b_end: Int, order: Ints) -> int:
    """Write the positions in b of the keys that occur once on each side, in the order of a; returns their number."""
    count = 0
    for k in range(a_start, a_end):
        if _only_position(a_keys[k], a_keys, a_start, a_end) < 0:
            continue
        position = _only_position(a_keys[k], b_keys, b_start, b_end)
        if position >= 0:
            order[count] = position
            count += 1
    return count


@kernel
def order_inversions(a_keys: Ids, a_offsets: Ints, b_keys: Ids, b_offsets: Ints) -> Shares:
    """Share of the pairs of shared keys that are in another order in b than in a: float32 (n,), NaN without a pair."""
    shares = np.full(len(a_offsets) - 1, np.nan, np.float32)
    order = np.empty(len(a_keys) + 1, np.int64)
    for row in range(len(shares)):
        a_start, a_end, b_start, b_end = a_offsets[row], a_offsets[row + 1], b_offsets[row], b_offsets[row + 1]
        count = _shared_order(a_keys, a_start, a_end, b_keys, b_start, b_end, order)
        inverted = 0
        for i in range(count):
            for j in range(i + 1, count):
                inverted += order[i] > order[j]
        if count > 1:
            shares[row] = inverted / (count * (count - 1) / 2)
    return shares
