"""Changes of a sentence by rule: some change its meaning, some keep it, and some only damage its form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from paraloom.core.errors import ConfigError, suggestion
from paraloom.pairs import lookalikes

Neighbors = Mapping[str, Sequence[str]]
"""Lower-cased word → words of nearly the same topic that mean something else, or of the same meaning."""

_WORD = re.compile(r"[^\W\d_]+")
_END = r"(?=\s*[.!?]?[\"'”’]?$)"
_PREPOSITIONS = (
    "in|on|at|with|from|for|by|under|over|near|into|onto|after|before|during|without|about|across|against|along|among|"
    "around|behind|between|inside|outside|through|toward|towards|until|since|because|when|while|if|although|so that"
)
_TAIL = re.compile(rf",?\s+(?:{_PREPOSITIONS})\s+[^,.;:!?]+?{_END}", re.IGNORECASE)
_HEAD = re.compile(rf"^(?:{_PREPOSITIONS}|despite|as)\s+[^,.;:!?]+,\s+(?=\w)", re.IGNORECASE)
_INSERTED = re.compile(r",\s+[^,.;:!?]+,(?=\s+\w)")
_CONJUNCT = re.compile(rf",?\s+(?:and|but|then)\s+[^,.;:!?]+?{_END}", re.IGNORECASE)
_MODIFIER = re.compile(
    r"\b(the|an?|my|his|her|our|their|your|its|some|this|that|these|those|two|three|many)\s+([a-z]{3,})\s+"
    r"(?=([a-z]{3,}))",
    re.IGNORECASE,
)
_ADVERB = re.compile(
    r"(?<=\w)\s+(?:[a-z]{3,}ly|very|always|often|already|soon|again|together|alone|today|yesterday|tomorrow|here|there)"
    r"\b(?!-)",
    re.IGNORECASE,
)
_NO_MODIFIERS = (
    "of in on at to is are was were and or has had have will would can could that which who for from with by as than "
    "one same other more most first last next only not but"
)
_NOT_MODIFIERS = frozenset(_NO_MODIFIERS.split())
_FUNCTION = (
    "the a an of in on at to is are was were am be been and or but has had have will would can could should "
    "must may might do does did not that which who whom whose what when where why how if for from with by as "
    "than then so i you he she it we they me him her us them my your his its our their this these those there "
    "here no yes nor n't 's having being because about into over under between through after before during "
    "without against all any both each few more most other some such only own same too very just also while "
    "until since upon once again further up down out off above below one ones anything something nothing "
    "everything anyone someone everyone nobody everybody somebody ever never always get got gets getting go "
    "goes going gone went doing done make makes made let lets see come comes came take takes took want thing "
    "things"
)
_FUNCTION_WORDS = frozenset(_FUNCTION.split())


def _listed(kind: str) -> tuple[tuple[str, str], ...]:
    """Pairs of one kind of the list of edits."""
    lines = (Path(__file__).parent / "judge_edits.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return tuple((first, second) for name, first, second in rows if name == kind)


_CONTRACTIONS, _SPELLINGS, _PASTS = _listed("contraction"), _listed("spelling"), dict(_listed("past"))
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_DIGITS = _NUMBERS.split()
_FRONTED = re.compile(
    r"^(?P<main>[^,;:]{12,}?)\s+(?P<phrase>(?:yesterday|today|tomorrow|tonight|last \w+|next \w+|every \w+|"
    r"(?:in|on|at|during|after|before|since) (?:the |a )?[\w']+(?: [\w']+)?))(?P<end>[.!])$"
)
_LIST = re.compile(r"\b([a-z]{3,}) and ([a-z]{3,})\b(?=\s*[.,!?]|\s+(?:in|on|at|with|for|are|were)\b)")
_GENITIVE = re.compile(
    r"\b[Tt]he ([a-z]{3,}) of (the|his|her|my|their|our) ([a-z]{3,})(?=\s*[.,!?]|\s+(?:is|was|in|on|at)\b)"
)
_FORMS = (("is", "are"), ("was", "were"), ("has", "have"), ("a", "an"), ("do", "does"))
_WRONG_FORMS = {
    **{first: second for first, second in _FORMS},
    **{second: first for first, second in _FORMS},
    **{"he": "him", "she": "her", "they": "them"},
}
_MIN_WORDS = 3
_SHORTEST = 0.4


@dataclass(frozen=True)
class Words:
    """What the changes need to know of other text.

    Args:
        names: Names that can stand for another one.
        near: Words that can stand for another one and change the meaning.
        synonyms: Words that can stand for another one and keep it.
    """

    names: Sequence[str] = ()
    near: Neighbors = field(default_factory=dict)
    synonyms: Neighbors = field(default_factory=dict)


def change(text: str, kind: str, random: np.random.Generator, words: Words) -> str | None:
    """Change what a sentence says; None where the rule does not apply."""
    if kind in lookalikes.KINDS:
        return lookalikes.lookalike(text, kind, random, words.names)
    if kind == "replaced":
        return replaced_word(text, random, words.near)
    if kind == "dropped":
        return dropped_phrase(text, random)
    raise ConfigError(f"unknown kind of change '{kind}'{suggestion(kind, KINDS)}", remedy=f"Kinds: {', '.join(KINDS)}.")


KINDS: tuple[str, ...] = (*lookalikes.KINDS, "replaced", "dropped")
"""Kinds of change: those of look-alikes, a word replaced by a near one, and a dropped phrase."""


def dropped_phrase(text: str, random: np.random.Generator) -> str | None:
    """Leave out a phrase, a clause, a modifier or an adverb: what is left says less."""
    spans = [match.span() for rule in (_TAIL, _INSERTED, _CONJUNCT, _HEAD) for match in rule.finditer(text)]
    spans += [
        match.span(2) if match.group(2) else match.span()
        for match in _MODIFIER.finditer(text)
        if match.group(2).lower() not in _NOT_MODIFIERS and not is_function_word(match.group(3))
    ]
    spans += [match.span() for match in _ADVERB.finditer(text)]
    left = []
    for start, end in spans:
        rest = re.sub(r"\s{2,}", " ", text[:start] + text[end:]).strip()
        rest = rest[:1].upper() + rest[1:] if text[:1].isupper() else rest
        long_enough = len(rest.split()) >= max(_MIN_WORDS, _SHORTEST * len(text.split()))
        if long_enough and _content(rest) < _content(text):
            left.append(rest)
    return left[int(random.integers(len(left)))] if left else None


def replaced_word(text: str, random: np.random.Generator, near: Neighbors) -> str | None:
    """Put another word in the place of a content word."""
    spans = [(match.span(), near[match.group().lower()]) for match in _WORD.finditer(text)
             if match.group().lower() in near and not _is_name(text, match)]  # fmt: skip
    if not spans:
        return None
    (start, end), choices = spans[int(random.integers(len(spans)))]
    return text[:start] + _as_case(choices[int(random.integers(len(choices)))], text[start:end]) + text[end:]


def light_edit(text: str, random: np.random.Generator, words: Words) -> str | None:
    """Change the form of a sentence and keep its meaning: a contraction, a spelling, a synonym, an order."""
    for index in random.permutation(len(_EDITS)).tolist():
        edited = _EDITS[index](text, random, words)
        if edited is not None and edited != text:
            return edited
    return None


def damaged(text: str, random: np.random.Generator) -> str | None:
    """Damage the form of a sentence as bad output does: words missing, repeated, out of order, cut off."""
    words = text.split()
    if len(words) < _MIN_WORDS + 1:
        return None
    kind, at = int(random.integers(6)), int(random.integers(1, len(words) - 1))
    if kind == 0:
        chosen = [i for i, word in enumerate(words) if word.lower() in _FUNCTION_WORDS and i > 0]
        if not chosen:
            return None
        del words[chosen[int(random.integers(len(chosen)))]]
    elif kind == 1:
        words.insert(at, words[at])
    elif kind == 2:
        words[at], words[at + 1] = words[at + 1], words[at]
    elif kind == 3:
        words = words[: max(at, _MIN_WORDS)]
        words = words if words[-1].lower() in _FUNCTION_WORDS else [*words, "of" if at % 2 else "the"]
    elif kind == 4:
        length = int(random.integers(2, 5))
        words[at:at] = words[max(0, at - length) : at]
    else:
        matches = [i for i, word in enumerate(words) if word in _WRONG_FORMS]
        if not matches:
            return None
        position = matches[int(random.integers(len(matches)))]
        words[position] = _WRONG_FORMS[words[position]]
    result = " ".join(words)
    return result if result != text else None


def voices(text: str) -> tuple[str, str] | None:
    """Put a plain passive into the active: what it says, and the same with the roles exchanged; None for others."""
    match = _PASSIVE.match(text)
    if match is None:
        return None
    participle = match["verb"].lower()
    if match["being"]:
        if not participle.endswith("ed"):
            return None
        verb = f"{'are' if _plural(match['agent']) else 'is'} {participle[:-2]}ing"
        wrong = f"{match['be']} {participle[:-2]}ing"
    elif participle.endswith("ed") or participle in _PASTS:
        verb = wrong = participle if participle.endswith("ed") else _PASTS[participle]
    else:
        return None
    if match["being"] is None and match["be"] not in ("was", "were"):
        return None
    subject, agent, end = match["subject"], match["agent"], match["end"]
    lower = subject if subject.split()[0] not in _STARTERS else subject[:1].lower() + subject[1:]
    lower = _OBJECTS.get(lower.lower(), lower)
    doer = _SUBJECTS.get(agent.lower(), agent)
    doer = doer[:1].upper() + doer[1:] if subject[:1].isupper() else doer
    return f"{doer} {verb} {lower}{end}", f"{subject} {wrong} {agent}{end}"


_PASSIVE = re.compile(
    r"^(?P<subject>(?!.*\b(?:that|which|who|when|if|not|n't|and|but|to|it|there|what|where|how)\b.*\bby\b)[^,;:()?]{1,60}?)\s+"
    r"(?P<be>was|were|is|are)\s+(?P<being>being\s+)?(?P<verb>[a-z]{3,})\s+by\s+"
    r"(?P<agent>(?!the (?:end|time|side|way)\b|[a-z]+ing\b|himself|herself|themselves|itself|myself|car|train|bus|mail)"
    r"[^,;:()?\d]{2,50}?)\s*(?P<end>[.!]?)$"
)
_OBJECTS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_SUBJECTS = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}


def _plural(phrase: str) -> bool:
    words = phrase.lower().split()
    several = words[0] in ("two", "three", "several", "some", "many", "people", "they")
    return several or (words[-1].endswith("s") and words[0] not in ("a", "an"))


def _contraction(text: str, random: np.random.Generator, words: Words) -> str | None:
    matches = [(a, b) for a, b in _CONTRACTIONS if f" {a}".replace("  ", " ") in f" {text}" or a in text]
    matches += [(b, a) for a, b in _CONTRACTIONS if b in text and "'s" not in b]
    return _substituted(text, matches, random)


def _spelling(text: str, random: np.random.Generator, words: Words) -> str | None:
    matches = [pair for pair in _SPELLINGS if re.search(rf"(?<!\w){re.escape(pair[0].strip())}(?!\w)", text)]
    if not matches:
        return None
    old, new = matches[int(random.integers(len(matches)))]
    return re.sub(rf"(?<!\w){re.escape(old.strip())}(?!\w)", new.strip(), text, count=1)


def _synonym(text: str, random: np.random.Generator, words: Words) -> str | None:
    return replaced_word(text, random, words.synonyms)


def _number_form(text: str, random: np.random.Generator, words: Words) -> str | None:
    matches = [
        match
        for match in re.finditer(r"(?<![\w.,:$£€/-])(\d{1,2})(?![\w.,:%/-]|\s?%)", text)
        if int(match[1]) < len(_DIGITS)
    ]
    if matches:
        match = matches[int(random.integers(len(matches)))]
        return text[: match.start()] + _DIGITS[int(match[1])] + text[match.end() :]
    listed = [match for match in _WORD.finditer(text) if match.group() in _DIGITS[2:]]
    if not listed:
        return None
    match = listed[int(random.integers(len(listed)))]
    return text[: match.start()] + str(_DIGITS.index(match.group())) + text[match.end() :]


def _fronted(text: str, random: np.random.Generator, words: Words) -> str | None:
    match = _FRONTED.match(text)
    if match is None or text.endswith("?"):
        return None
    phrase, main = match["phrase"], match["main"]
    first = main.split()[0]
    keep = first == "I" or first.startswith("I'") or first not in _STARTERS
    return f"{phrase[:1].upper()}{phrase[1:]}, {main if keep else main[:1].lower() + main[1:]}{match['end']}"


_OPENERS = "The A An He She It We They You My His Her Our Their Your This That These Those There Some Many"
_STARTERS = frozenset(_OPENERS.split())


def _list_order(text: str, random: np.random.Generator, words: Words) -> str | None:
    match = _LIST.search(text)
    if match is None or {match[1], match[2]} & _FUNCTION_WORDS:
        return None
    return f"{text[: match.start()]}{match[2]} and {match[1]}{text[match.end() :]}"


def _genitive(text: str, random: np.random.Generator, words: Words) -> str | None:
    match = _GENITIVE.search(text)
    if match is None:
        return None
    owner = f"{match[2]} {match[3]}'s {match[1]}"
    owner = owner[:1].upper() + owner[1:] if match.group()[0].isupper() else owner
    return text[: match.start()] + owner + text[match.end() :]


def _surface(text: str, random: np.random.Generator, words: Words) -> str | None:
    kind = int(random.integers(3))
    if kind == 0:
        return text.lower()
    if kind == 1:
        return text[:-1] if text[-1:] == "." else f"{text}." if text[-1:].isalnum() else text.rstrip("!") + "."
    return re.sub(r"(?<=\w)([,.;:!?])(?=\s|$)", r" \1", text)


_EDITS: tuple[Callable[[str, np.random.Generator, Words], str | None], ...] = (
    *(_contraction, _spelling, _synonym, _synonym, _number_form, _fronted, _fronted, _list_order, _list_order),
    *(_genitive, _surface),
)


def _substituted(text: str, pairs: Sequence[tuple[str, str]], random: np.random.Generator) -> str | None:
    if not pairs:
        return None
    old, new = pairs[int(random.integers(len(pairs)))]
    return text.replace(old, new, 1)


def is_function_word(word: str) -> bool:
    """True for words that say little by themselves: they are neither replaced nor counted as content."""
    return word.lower() in _FUNCTION_WORDS


def _content(text: str) -> int:
    """Number of words that are not function words."""
    return sum(match.group().lower() not in _FUNCTION_WORDS for match in _WORD.finditer(text))


def _is_name(text: str, match: re.Match[str]) -> bool:
    return match.group()[:1].isupper() and match.start() > 0


def _as_case(word: str, like: str) -> str:
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
