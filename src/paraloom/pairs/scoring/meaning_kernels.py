"""Inner loops of the rules about meaning, compiled by numba: quantities, classes of words, order of shared words.

Tokens are those of `paraloom.pairs.scoring.word_classes.ClassifiedWords`; `rows` gives the row of each token in
`features`, whose columns that file names.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.kernels import kernel
from paraloom.pairs.scoring.word_class_kernels import MARK as SIGN
from paraloom.pairs.scoring.word_class_kernels import NUMBER, WORD, Floats, Kinds, Rows
from paraloom.pairs.scoring.word_classes import (
    BETWEEN_UNITS,
    ENDS_NOTHING,
    FUNCTION,
    MARK,
    NEARLY_NEGATES,
    NEGATES,
    NEGATION,
    PERSON,
    ROLE,
    ROLES,
    SHORT,
    UNCOUNTED,
    UNIT,
    UNNEGATES,
    VAGUE,
    WORD_MARK,
)
from paraloom.pairs.scoring.word_lists import CURRENCIES
from paraloom.text.token_kernels import PRIME, START, Ids, Int, Ints, Points, mix

Flags = npt.NDArray[np.bool_]
Shares = npt.NDArray[np.float32]
Features = npt.NDArray[np.int32]

_UNIT, _TEN, _HUNDRED, _SCALE = (ROLES.index(name) for name in ("unit", "ten", "hundred", "scale"))
_PLURAL_SCALE, _ORDINAL, _DENOMINATOR = (ROLES.index(name) for name in ("plural_scale", "ordinal", "denominator"))
_DOZEN, _HALF, _LOOSE, _SHORT_SCALE = (ROLES.index(name) for name in ("dozen", "half", "loose", "short_scale"))
_DIGITS = len(ROLES)
_AND, _BY, _BE, _ARTICLE = MARK["and"], MARK["by"], MARK["be"], MARK["article"]
_PER, _CENT, _NO, _NOT, _NEITHER, _NOR = (MARK[name] for name in ("per", "cent", "no", "not", "neither", "nor"))
_OR, _OLD = MARK["or"], MARK["old"]
_CURRENCIES = len(CURRENCIES.split("|"))
_PERCENT, _CELSIUS, _FAHRENHEIT = _CURRENCIES + 1, _CURRENCIES + 17, _CURRENCIES + 18
_HYPHENS = (45, 8208, 8209, 8211)
_COMMA, _FULL_STOP, _EXCLAMATION, _QUESTION, _DEGREE = 44, 46, 33, 63, 176
_SMALL_C, _SMALL_F, _SMALL_M, _SMALL_S = 99, 102, 109, 115
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
) -> tuple[Floats, Flags, Ints]:
    """The quantities of each text in digits and words, whether each is loose, and the offsets.

    `total` is what a scale word has multiplied already, `group` what the next one would multiply.
    """
    amounts = np.empty(2 * len(starts) + 1, np.float64)
    loose = np.zeros(2 * len(starts) + 1, np.bool_)
    lists = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        k, end = offsets[text], offsets[text + 1]
        total, group, last = 0.0, 0.0, 0  # last: role of the previous part of the open number, 0 if none is open
        only_one = False
        while k < end:
            role = features[rows[k], ROLE]
            value = numbers[rows[k]]
            if kinds[k] == NUMBER:
                role, value = _DIGITS, values[k]
            elif kinds[k] == SIGN:
                role = 0
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
                    if role in (_SCALE, _PLURAL_SCALE, _SHORT_SCALE):
                        total += group * value
                        group = 0.0
                        last = _SCALE
                    elif role in (_HUNDRED, _DOZEN):
                        group *= value
                        last = role
                    elif role == _DENOMINATOR:
                        amounts[count], loose[count] = group / value, True
                        count += 1
                        total, group, last = 0.0, 0.0, 0
                    elif role in (_UNIT, _TEN, _ORDINAL):
                        group = group * 100 + value if last == _UNIT and role == _TEN else group + value
                        last = role
                        if role == _ORDINAL:
                            amounts[count], loose[count] = total + group, False
                            count += 1
                            total, group, last = 0.0, 0.0, 0
                    k += 1
                    continue
                amounts[count], loose[count] = total + group, only_one
                count += 1
                total, group, last, only_one = 0.0, 0.0, 0, False
            if role == _DIGITS:
                if not np.isnan(value):
                    if _is_decade(points, starts, ends, kinds, k, end, value):
                        value %= 100
                    group, last = value, _DIGITS
            elif role in (_UNIT, _TEN):
                group, last, only_one = value, role, value == 1
            elif role in (_HUNDRED, _SCALE, _DOZEN):
                group, last = value * _half_before(k, offsets[text], rows, features), role
                only_one = k > offsets[text] and features[rows[k - 1], VAGUE] != 0  # "several thousand"
            elif role in (_HALF, _LOOSE):
                amounts[count], loose[count] = value, True
                count += 1
            elif role == _ORDINAL:
                # "a third" is a part or a rank: either can be matched.
                part = k > offsets[text] and (features[rows[k - 1], WORD_MARK] == _ARTICLE or numbers[rows[k - 1]] == 1)
                amounts[count], loose[count] = value, part
                count += 1
                if part:
                    amounts[count], loose[count] = 1 / value, True
                    count += 1
            k += 1
        if last:
            amounts[count], loose[count] = total + group, only_one
            count += 1
        lists[text + 1] = count
    return amounts[:count].copy(), loose[:count].copy(), lists


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
        return 1 if group > 0 and (last != _HUNDRED or role in (_SCALE, _PLURAL_SCALE)) else 0
    if role == _SHORT_SCALE:
        if last != _DIGITS:
            return 0
        one_letter = ends[k] - starts[k] == 1
        if one_letter and points[starts[k]] | 32 == _SMALL_M:  # a million of a currency, else a meter
            follows = k + 1 < end and _is_currency(k + 1, rows, features)
            return 1 if follows or _is_currency(k - 2, rows, features) else 0
        return 1 if not one_letter or starts[k] == ends[k - 1] else 0
    if role == _DENOMINATOR:
        return 1 if last == _UNIT and group > 0 else 0
    if role in (_UNIT, _TEN, _ORDINAL):
        if value <= 0:
            return 0
        if last == _TEN:
            return 1 if value < 10 else 0
        if last == _HUNDRED:
            return 1 if value < 100 else 0
        if last == _SCALE:
            return 1 if value < 1000 else 0
        if last == _UNIT and role == _TEN:  # a year: nineteen eighty
            return 1 if 13 <= group <= 20 else 0
        return 0
    mark = features[rows[k], WORD_MARK]
    if mark == _AND and k + 1 < end:
        following = features[rows[k + 1], ROLE]
        if k + 2 < end and features[rows[k + 1], WORD_MARK] == _ARTICLE and features[rows[k + 2], ROLE] == _HALF:
            return 2
        if (last in (_HUNDRED, _SCALE)) and (following in (_UNIT, _TEN)):
            return 3
        return 0
    if kinds[k] == SIGN and k + 1 < end and points[starts[k]] in _HYPHENS:
        following = features[rows[k + 1], ROLE]
        if last == _TEN and (following in (_UNIT, _ORDINAL)):
            return 3
        if last == _UNIT and following == _DENOMINATOR:
            return 3
        if following in (_SCALE, _HUNDRED):
            return 3
    return 0


@kernel(inline="always")
def _is_currency(k: Int, rows: Rows, features: Features) -> bool:
    return bool(k >= 0 and 0 < features[rows[k], UNIT] <= _CURRENCIES)


@kernel
def _is_decade(points: Points, starts: Ints, ends: Ints, kinds: Kinds, k: Int, end: Int, value: float) -> bool:
    """True if number k is a decade: "1990s", "90s"."""
    if k + 1 >= end or kinds[k + 1] != WORD or starts[k + 1] != ends[k] or ends[k + 1] - starts[k + 1] != 1:
        return False
    return points[starts[k + 1]] == _SMALL_S and value >= 10 and value % 10 == 0


@kernel
def _half_before(k: Int, start: Int, rows: Rows, features: Features) -> float:
    """0.5 for the scale word of "half a million", else 1."""
    j = k - 1
    if j >= start and features[rows[j], WORD_MARK] == _ARTICLE:
        j -= 1
    return 0.5 if j >= start and features[rows[j], ROLE] == _HALF else 1.0


@kernel
def missing_quantities(
    a_values: Floats, a_loose: Flags, a_offsets: Ints, b_values: Floats, b_loose: Flags, b_offsets: Ints
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
def unit_classes(
    points: Points,
    starts: Ints,
    ends: Ints,
    kinds: Kinds,
    values: Floats,
    offsets: Ints,
    rows: Rows,
    features: Features,
) -> tuple[Ints, Ints]:
    """Classes of the units of each text as bits: those with a number, and all that occur; two int64 (n,)."""
    counted = np.zeros(len(offsets) - 1, np.int64)
    present = np.zeros(len(offsets) - 1, np.int64)
    for text in range(len(counted)):
        start, end = offsets[text], offsets[text + 1]
        for k in range(start, end):
            word = features[rows[k]]
            unit, j = word[UNIT], k - 1
            if word[WORD_MARK] == _CENT and k > start and features[rows[k - 1], WORD_MARK] == _PER:
                unit, j = _PERCENT, k - 2
            elif j >= start and kinds[j] == SIGN and points[starts[j]] == _DEGREE and ends[k] - starts[k] == 1:
                letter = points[starts[k]] | 32
                if letter in (_SMALL_C, _SMALL_F):
                    unit = _CELSIUS if letter == _SMALL_C else _FAHRENHEIT
                    present[text] |= np.int64(1) << unit
                    counted[text] |= np.int64(1) << unit
                continue
            if unit == 0:
                continue
            if word[SHORT]:
                if j < start or kinds[j] != NUMBER:
                    continue
                if j > start and _is_currency(j - 1, rows, features):
                    continue
                if (k + 1 < end and _is_currency(k + 1, rows, features)) or starts[k] > ends[j] + 1:
                    continue
            if word[SHORT] and j >= start and _is_decade(points, starts, ends, kinds, j, end, values[j]):
                continue
            bit = np.int64(1) << unit
            present[text] |= bit
            if word[UNCOUNTED] or _is_age(k, end, points, starts, kinds, rows, features):
                continue
            if unit <= _CURRENCIES and k + 1 < end and kinds[k + 1] == NUMBER and starts[k + 1] <= ends[k] + 1:
                counted[text] |= bit
                continue
            while j >= start and (
                features[rows[j], BETWEEN_UNITS]
                or features[rows[j], UNCOUNTED]
                or (kinds[j] == SIGN and (points[starts[j]] in _HYPHENS or points[starts[j]] == _FULL_STOP))
            ):
                j -= 1
            if j >= start:
                role = features[rows[j], ROLE]
                if kinds[j] == NUMBER or _UNIT <= role <= _PLURAL_SCALE or role in (_DOZEN, _SHORT_SCALE):
                    counted[text] |= bit
    return counted, present


@kernel
def _is_age(k: Int, end: Int, points: Points, starts: Ints, kinds: Kinds, rows: Rows, features: Features) -> bool:
    """True if the unit at k is followed by "old": "15 years old" is "aged 15"."""
    j = k + 1
    while j < end and kinds[j] == SIGN and points[starts[j]] in _HYPHENS:
        j += 1
    return bool(j < end and features[rows[j], WORD_MARK] == _OLD)


@kernel
def negations(
    points: Points, starts: Ints, ends: Ints, kinds: Kinds, offsets: Ints, rows: Rows, features: Features
) -> tuple[Rows, Flags]:
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
            if (mark in (_NOT, _NO)) and k + 1 < end and features[rows[k + 1], UNNEGATES]:
                near[text] = True
                continue
            if mark == _NO and k + 1 < end and _is_interjection(k, points, starts, kinds):
                near[text] = True
                continue
            if _is_question_tag(k, end, points, starts, kinds, rows, features):
                continue
            neither = neither or mark == _NEITHER
            counts[text] += 1
    return counts, near


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
    with_persons: bool,
) -> tuple[Ids, Ints, Ints]:
    """Keys of the content words and numbers of each text, their tokens, and the offsets.

    The key of a word is a hash of its first five characters without an English inflection; with_persons adds subject
    and object pronouns by person.
    """
    keys = np.empty(len(starts), np.uint64)
    tokens = np.empty(len(starts), np.int64)
    lists = np.zeros(len(offsets), np.int64)
    stem = np.empty(_MAX_WORD, np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        for k in range(offsets[text], offsets[text + 1]):
            if kinds[k] == SIGN:
                continue
            if features[rows[k], FUNCTION] or features[rows[k], ENDS_NOTHING]:
                if not (with_persons and features[rows[k], PERSON]):
                    continue
                keys[count] = mix(np.uint64(features[rows[k], PERSON]) * PRIME)
            else:
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
            tokens[count] = k
            count += 1
        lists[text + 1] = count
    return keys[:count].copy(), tokens[:count].copy(), lists


@kernel
def _stem(word: Ints, size: int) -> int:
    """Length of an English word without -s, -es, -ed, -ing, -e and a doubled consonant; a final y becomes i."""
    if size >= 4 and word[size - 1] == _S and word[size - 2] != _S:
        size -= 1
    if size >= 6 and word[size - 1] == _G and word[size - 2] == _N and word[size - 3] == _I:
        size -= 3
    elif size >= 5 and word[size - 1] == _D and word[size - 2] == _E:
        size -= 2
    if size >= 4 and word[size - 1] == _E:
        size -= 1
    if size >= 3 and word[size - 1] == _Y:
        word[size - 1] = _I
    if size >= 3 and word[size - 1] == word[size - 2]:
        size -= 1
    return size


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
def _shared_order(
    a_keys: Ids, a_start: Int, a_end: Int, b_keys: Ids, b_start: Int, b_end: Int, order: Ints, of_a: Ints
) -> int:
    """Write the positions in b of the keys that occur once on each side, in the order of a; returns their number."""
    count = 0
    for k in range(a_start, a_end):
        if _only_position(a_keys[k], a_keys, a_start, a_end) < 0:
            continue
        position = _only_position(a_keys[k], b_keys, b_start, b_end)
        if position >= 0:
            order[count], of_a[count] = position, k
            count += 1
    return count


@kernel
def order_inversions(a_keys: Ids, a_offsets: Ints, b_keys: Ids, b_offsets: Ints) -> Shares:
    """Share of the pairs of shared keys that are in another order in b than in a: float32 (n,), NaN without a pair."""
    shares = np.full(len(a_offsets) - 1, np.nan, np.float32)
    order, of_a = np.empty(len(a_keys) + 1, np.int64), np.empty(len(a_keys) + 1, np.int64)
    for row in range(len(shares)):
        a_start, a_end, b_start, b_end = a_offsets[row], a_offsets[row + 1], b_offsets[row], b_offsets[row + 1]
        count = _shared_order(a_keys, a_start, a_end, b_keys, b_start, b_end, order, of_a)
        inverted = 0
        for i in range(count):
            for j in range(i + 1, count):
                inverted += order[i] > order[j]
        if count > 1:
            shares[row] = inverted / (count * (count - 1) / 2)
    return shares


@kernel
def role_swaps(
    a_keys: Ids,
    a_tokens: Ints,
    a_offsets: Ints,
    a_marks: Ids,
    b_keys: Ids,
    b_tokens: Ints,
    b_offsets: Ints,
    b_marks: Ids,
    min_shared: float,
) -> Shares:
    """1 where two stretches of nearly the same words changed places around a third one, else 0: float32 (n,).

    a_marks, b_marks: for each token, bits: 1 "by", 2 a form of "be", 4 a comma, "and" or "or".
    """
    swaps = np.full(len(a_offsets) - 1, np.nan, np.float32)
    size = max(len(a_keys), len(b_keys)) + 1
    order, of_a, ranks = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    for row in range(len(swaps)):
        a_start, a_end, b_start, b_end = a_offsets[row], a_offsets[row + 1], b_offsets[row], b_offsets[row + 1]
        if a_start == a_end or b_start == b_end:
            continue
        swaps[row] = 0
        count = _shared_order(a_keys, a_start, a_end, b_keys, b_start, b_end, order, of_a)
        if count < 3 or count < min_shared * max(a_end - a_start, b_end - b_start):
            continue
        for i in range(count):
            ranks[i] = 0
            for j in range(count):
                ranks[i] += order[j] < order[i]
        first, last = 0, count - 1
        while first < count and ranks[first] == first:
            first += 1
        while last > first and ranks[last] == last:
            last -= 1
        if first >= count:  # the same order: only a passive on one side changes who does what
            exact = count == a_end - a_start and count == b_end - b_start
            a_by = _passive(a_marks, a_tokens[a_start], a_tokens[a_end - 1])
            b_by = _passive(b_marks, b_tokens[b_start], b_tokens[b_end - 1])
            swaps[row] = 1.0 if exact and a_by != b_by else 0.0
            continue
        runs = 1
        second = third = first
        for i in range(first + 1, last + 1):
            if ranks[i] != ranks[i - 1] + 1:
                runs += 1
                if runs == 2:
                    second = i
                elif runs == 3:
                    third = i
        # Of the runs X Q Y, the other side has Y Q X.
        if runs != 3 or ranks[third] != first or ranks[second] != first + (last - third + 1):
            continue
        a_left, a_right = a_tokens[of_a[second - 1]], a_tokens[of_a[third]]
        b_left, b_right = b_tokens[order[last]], b_tokens[order[first]]
        if _has_mark(a_marks, a_left, a_right, 4) or _has_mark(b_marks, b_left, b_right, 4):
            continue
        if _has_mark(a_marks, a_left, a_right, 1) == _has_mark(b_marks, b_left, b_right, 1):
            swaps[row] = 1
    return swaps


@kernel
def _has_mark(marks: Ids, start: Int, end: Int, bit: int) -> bool:
    for k in range(start, end + 1):  # noqa: SIM110
        if marks[k] & np.uint64(bit):
            return True
    return False


@kernel
def _passive(marks: Ids, start: Int, end: Int) -> bool:
    """True if a form of "be" is followed by "by"."""
    be = False
    for k in range(start, end + 1):
        be = be or (marks[k] & np.uint64(2)) != 0
        if be and marks[k] & np.uint64(1):
            return True
    return False


@kernel
def role_marks(points: Points, starts: Ints, kinds: Kinds, rows: Rows, features: Features) -> Ids:
    """Bits of each token that `role_swaps` asks for: 1 "by", 2 a form of "be", 4 a comma, "and" or "or"."""
    marks = np.zeros(len(starts), np.uint64)
    for k in range(len(starts)):
        mark = features[rows[k], WORD_MARK]
        if mark == _BY:
            marks[k] = 1
        elif mark == _BE:
            marks[k] = 2
        elif mark in (_AND, _OR) or (kinds[k] == SIGN and points[starts[k]] == _COMMA):
            marks[k] = 4
    return marks
