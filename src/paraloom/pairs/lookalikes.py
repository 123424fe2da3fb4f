"""Look-alikes: sentences that differ from a given one in a single fact, made by rules, to test scores and encoders."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from paraloom.core.errors import ConfigError, suggestion
from paraloom.core.seeds import derive_seed, generator

_Rule = Callable[[str, np.random.Generator, Sequence[str]], str | None]

_NUMBER_WORDS = tuple(
    tuple(words.split())
    for words in (
        "two three four five six seven eight nine ten eleven twelve",
        "twenty thirty forty fifty sixty seventy eighty ninety",
        "hundred thousand million billion",
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "once twice",
    )
)
_OPPOSITES = (
    *(("all of", "none of"), ("all the", "none of the"), ("many", "few"), ("most of", "none of"), ("more", "less")),
    *(("often", "rarely"), ("before", "after"), ("both", "neither"), ("always", "never"), ("everyone", "nobody")),
    *(("everything", "nothing"), ("everybody", "nobody"), ("at least", "at most"), ("with", "without")),
)
_OPPOSITE = (
    {first: second for first, second in _OPPOSITES}
    | {second: first for first, second in reversed(_OPPOSITES)}
    | {"every": "no", "most": "few", "first": "last"}
)
# Verbs that take "not" after them in every use; "have" and "do" do so only as auxiliaries.
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|am|can|could|will|would|should|must|may|might)\b(?! not| no | never|n't| n't)(?=\s+\w)",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(is|are|was|were|can|could|would|should|must|might|do|does|did|have|has|had|wo|ca)(?:n't| n't|n’t)\b"
    r"|\b(can)not\b|\b(is|are|was|were|am|can|could|will|would|should|must|may|might|do|does|did|have|has|had) not\b",
    re.IGNORECASE,
)
_FULL = {"wo": "will", "ca": "can"}
_OBJECT = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_SUBJECT = {value: key for key, value in _OBJECT.items()}
_ROLES = re.compile(
    r"\b(I|he|she|we|they)\b(?!['’])(.{2,40}?)\b(me|him|her|us|them)\b(?=\s*[.!?,;]|\s+(?:to|with|at|in|on|for))",
    re.IGNORECASE,
)
# A noun is followed by the end or a function word: not by another noun, whose modifier it would be.
_NOUN_PHRASES = re.compile(
    r"\b(the|a|an|my|his|her|our|their|your)\s+([a-z]{3,})(?<!est)(?=\s*[.!?,;]|\s+(?:[a-z]+(?:ed|s)|to|with|at|in|on|for|"
    r"and|or|of|from|by|was|had|bit|saw|met|hit|gave|took|made|will|can|that|who|which|into|under|over|near)\b|$)"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
_IN_LIST = re.compile(r"[\s,]*(?:and|or|nor|und|oder|&)\s+(?:the\s+|an?\s+)?", re.IGNORECASE)
_MIN_LETTERS = 4
_TATOEBA_NAMES = "Tom Mary John Bob Jim Ken Anna Peter Paul Maria Sami Layla David Jack Lucy Jane Bill"
_COMMON_NAMES = frozenset(_TATOEBA_NAMES.split())


def lookalike(text: str, kind: str, random: np.random.Generator, names: Sequence[str] = ()) -> str | None:
    if kind not in _RULES:
        raise ConfigError(
            f"unknown kind of look-alike '{kind}'{suggestion(kind, KINDS)}", remedy=f"Kinds: {', '.join(KINDS)}."
        )
    changed = _RULES[kind](text, random, names)
    return changed if changed is not None and changed.lower() != text.lower() else None


def names_in(texts: Sequence[str]) -> list[str]:
    """Capitalized words that do not begin a sentence, each once, sorted."""
    return sorted({text[start:end] for text in texts for start, end in _name_spans(text)})


def make_lookalikes(
    batch: pa.RecordBatch, kinds: Sequence[str], *, changed: str = "tgt", seed: int = 1
) -> pa.RecordBatch:
    """Make look-alikes of pairs: one row for each pair and each rule that applies to it."""
    ids = batch.column("pair_id").to_pylist()
    texts = [text or "" for text in batch.column(changed).to_pylist()]
    names = names_in(texts) if "name" in kinds else []
    sources, values, made_by = [], [], []
    for row, (pair_id, text) in enumerate(zip(ids, texts, strict=True)):
        for kind in kinds:
            value = lookalike(text, kind, generator(derive_seed(seed, str(pair_id), kind)), names)
            if value is not None:
                sources.append(row)
                values.append(value)
                made_by.append(kind)
    rows = batch.take(pa.array(sources, pa.int64()))
    rows = rows.set_column(
        rows.schema.get_field_index("tgt"), pa.field("tgt", pa.string()), pa.array(values, pa.string())
    )
    rows = rows.append_column(pa.field("kind", pa.string()), pa.array(made_by, pa.string()))
    return rows.append_column(pa.field("_source", pa.int32()), pa.array(sources, pa.int32()))


def _other_number(text: str, random: np.random.Generator, names: Sequence[str]) -> str | None:
    """Another digit in a number, or another number word of the same size."""
    spans: list[tuple[int, int, str]] = []
    for match in re.finditer(r"(?<![\w.,])\d[\d.,]*(?<=\d)(?!\w)", text):
        digits = [position for position in range(*match.span()) if text[position].isdigit()]
        position = digits[int(random.integers(len(digits)))]
        lowest = 1 if position == digits[0] and len(digits) > 1 else 0
        choices = [str(digit) for digit in range(lowest, 10) if str(digit) != text[position]]
        spans.append((position, position + 1, choices[int(random.integers(len(choices)))]))
    for match in _WORD.finditer(text):
        for group in _NUMBER_WORDS:
            if match.group().lower() in group:
                others = [word for word in group if word != match.group().lower()]
                spans.append((*match.span(), _as_case(others[int(random.integers(len(others)))], match.group())))
    return _replaced(text, spans, random)


def _other_name(text: str, random: np.random.Generator, names: Sequence[str]) -> str | None:
    spans = []
    for start, end in _name_spans(text):
        others = [name for name in names if name not in text]
        if others:
            spans.append((start, end, others[int(random.integers(len(others)))]))
    return _replaced(text, spans, random)


def _negated(text: str, random: np.random.Generator, names: Sequence[str]) -> str | None:
    """Without its "not", or with one; not questions: "Isn't it late?" asks what "Is it late?" asks."""
    if text.rstrip(" \"'”’)").endswith("?"):
        return None
    negation = _NEGATED.search(text)
    if negation:
        verb = next(group for group in negation.groups() if group)
        after = text[negation.end() :].lstrip() if verb.lower() == "do" else text[negation.end() :]
        if verb.lower() == "do" and after:  # "I do know" is right, too, but nobody says so
            return text[: negation.start()] + _as_case(after, verb)
        return text[: negation.start()] + _as_case(_FULL.get(verb.lower(), verb), verb) + after
    auxiliary = _AUXILIARY.search(text)
    if auxiliary is None:
        return None
    verb = auxiliary.group()
    return text[: auxiliary.start()] + ("cannot" if verb == "can" else f"{verb} not") + text[auxiliary.end() :]


def _opposite_quantifier(text: str, random: np.random.Generator, names: Sequence[str]) -> str | None:
    """All for some, always for never, before for after."""
    matches = re.finditer(rf"\b({'|'.join(map(re.escape, _OPPOSITE))})\b", text, re.IGNORECASE)
    return _replaced(
        text, [(*match.span(), _as_case(_OPPOSITE[match.group().lower()], match.group())) for match in matches], random
    )


def _swapped_roles(text: str, random: np.random.Generator, names: Sequence[str]) -> str | None:
    """Two names, a subject and an object pronoun, or two noun phrases in each other's place."""
    spans = _name_spans(text, first_word=True)
    for (start, end), (other_start, other_end) in itertools.pairwise(spans):
        between = text[end:other_start]
        if len(between.split()) >= 1 and not re.fullmatch(r"\s*(,|and|or|&|of|the|-)*\s*", between):
            return _exchanged(text, (start, end), (other_start, other_end))
    pronouns = _ROLES.search(text)
    if pronouns:
        subject, middle, other = pronouns.groups()
        if _OBJECT[subject.lower()] != other.lower():
            new_subject, new_object = _SUBJECT[other.lower()], _OBJECT[subject.lower()]
            new_subject = "I" if new_subject == "i" else _as_case(new_subject, subject if subject != "I" else text[:1])
            if subject == "I" and pronouns.start() > 0:
                new_subject = new_subject.lower() if new_subject != "I" else "I"
            return text[: pronouns.start()] + new_subject + middle + new_object + text[pronouns.end() :]
    phrases = list(_NOUN_PHRASES.finditer(text[:1].lower() + text[1:]))
    for first, second in itertools.pairwise(phrases):
        words = text[first.end() : second.start()].split()
        if words and words[0] not in ("and", "or", "of", ",") and first.group(2) != second.group(2):
            return _exchanged(text, first.span(2), second.span(2))
    return None


def _swapped_words(text: str, random: np.random.Generator, names: Sequence[str]) -> str | None:
    """Two long words in each other's place: not neighbors, nor parts of a list ("cats and dogs")."""
    words = [(number, match) for number, match in enumerate(_WORD.finditer(text))]
    long_words = [(number, match) for number, match in words if len(match.group()) >= _MIN_LETTERS]
    choices = [
        (first.span(), second.span())
        for index, (number, first) in enumerate(long_words)
        for other, second in long_words[index + 1 :]
        if other - number >= 2
        and first.group().lower() != second.group().lower()
        and not _IN_LIST.fullmatch(text[first.end() : second.start()])
    ]
    return _exchanged(text, *choices[int(random.integers(len(choices)))]) if choices else None


_RULES: dict[str, _Rule] = {
    "number": _other_number,
    "name": _other_name,
    "negation": _negated,
    "quantifier": _opposite_quantifier,
    "role": _swapped_roles,
    "words": _swapped_words,
}

KINDS: tuple[str, ...] = tuple(_RULES)
"""Kinds of change: another number, another name, negation, the opposite quantifier, swapped roles, swapped words."""


def _name_spans(text: str, first_word: bool = False) -> list[tuple[int, int]]:
    """Positions of capitalized words of three letters or more, on request also at the beginning of a sentence."""
    spans = []
    for match in _LETTERS.finditer(text):
        word = match.group()
        begins = not re.search(r"[\w,;)]\s+$", text[: match.start()])
        if len(word) >= 3 and word[0].isupper() and not word.isupper() and not begins:
            spans.append(match.span())
    if first_word and spans:
        # At the beginning, a capital says nothing: only common first names count.
        opening = _WORD.match(text)
        if opening and opening.group() in _COMMON_NAMES:
            spans.insert(0, opening.span())
    return spans


def _as_case(word: str, like: str) -> str:
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def _replaced(text: str, spans: Sequence[tuple[int, int, str]], random: np.random.Generator) -> str | None:
    if not spans:
        return None
    start, end, value = spans[int(random.integers(len(spans)))]
    return text[:start] + value + text[end:]


def _exchanged(text: str, first: tuple[int, int], second: tuple[int, int]) -> str:
    """The text with two stretches in each other's place; the capital of a first word stays in its place."""
    a, b = text[slice(*first)], text[slice(*second)]
    if first[0] == 0 and a not in _COMMON_NAMES:
        a, b = a[:1].lower() + a[1:], b[:1].upper() + b[1:]
    return text[: first[0]] + b + text[first[1] : second[0]] + a + text[second[1] :]
