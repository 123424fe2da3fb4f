"""Rewrites of English sentences by rules: other words that say the same, contractions, clauses in another place."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from paraloom.bundled import REWRITES
from paraloom.core.errors import DataError
from paraloom.paraphrasing.edits import lost_label
from paraloom.paraphrasing.moves import MOVES, OBJECTS, OF_NOBODY, PASSIVE, PAST, PRONOUN, SMALL

_NAME = re.compile(r"(?<=[a-z0-9,] )(?!I\b)[A-Z][\w'-]*")
_ARTICLE = re.compile(r"\b(?:a [aeio]|an [^aeio\W])\w+", re.IGNORECASE)
_LOOKAROUNDS = re.compile(r"^\^?(?:\(\?<?[!=][^()]*\))*")
_ALTERNATIVES = re.compile(r"\((?:\?:)?((?:[a-z' ]+\|)+[a-z' ]+)\)(?![?*{])")
_LETTERS = re.compile(r"[a-z' ]+(?![?*{a-z' ])|[a-z' ]*(?=[a-z' ][?*{])")
_LONGEST = 1000
"""Characters of a sentence, at most: some patterns take quadratic time."""


class Rewrite(NamedTuple):
    """A sentence that a rule wrote; its probability is unknown."""

    text: str
    rule: str
    logprob: float = math.nan
    tokens: int = 0


class Rule(NamedTuple):
    """What a pattern finds, which has one of the beginnings, is replaced by a template of a regular expression."""

    pattern: re.Pattern[str]
    template: str
    beginnings: tuple[str, ...] = ("",)


def read_rules(path: Path) -> list[Rule]:
    """The rules of a table of patterns and templates; a pattern that is a name in braces defines a class of words."""
    classes, rules = dict[str, str](), list[Rule]()
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        try:
            pattern, template = line.split("\t")
            if re.fullmatch(r"\{[A-Z]+\}", pattern):
                classes[pattern] = f"(?:{_filled(template, classes)})"
                continue
            pattern = _filled(pattern, classes)
            end = "" if re.search(r" (?:\(\?[=!].*)?$", pattern) else r"(?![\w'-])"
            compiled = re.compile(rf"(?<![\w'#@-]){pattern}{end}", re.IGNORECASE)
            rules.append(Rule(compiled, template, _beginnings(pattern)))
        except (ValueError, re.error) as error:
            raise DataError(f"not a rule: {error}", file=path, row=number) from None
    return rules


def _beginnings(pattern: str) -> tuple[str, ...]:
    """The letters that each match of a pattern has first: of one word, or of words in brackets; else none."""
    pattern = _LOOKAROUNDS.sub("", pattern)
    if group := _ALTERNATIVES.match(pattern):
        return tuple(group[1].split("|"))
    letters = _LETTERS.match(pattern)
    return (letters[0] if letters else "",)


def _filled(pattern: str, classes: dict[str, str]) -> str:
    """A pattern with the words of the classes that it names."""
    for name, words in classes.items():
        pattern = pattern.replace(name, words)
    return pattern


@lru_cache(maxsize=1)
def bundled_rules() -> list[Rule]:
    """The rules that come with the package."""
    return read_rules(REWRITES)


def rewrites(text: str, rules: Sequence[Rule] | None = None) -> list[Rewrite]:
    """What each rule makes of a sentence where it applies first, equal ones once; names stay, and "a" and "an" fit."""
    if len(text) > _LONGEST:
        return []
    written = {one.text: one for one in _rewritten(text, bundled_rules() if rules is None else rules)}
    return [one for one in written.values() if one.text != text and not _is_odd(text, one.text)]


def _is_odd(text: str, new: str) -> bool:
    """Whether a word with a capital within a sentence or a quoted name is lost, or an article does not fit."""
    names, articles = ({*map(str.lower, _NAME.findall(text))}, {*_ARTICLE.findall(new)} - {*_ARTICLE.findall(text)})
    return bool(articles or names - {*re.findall(r"[\w'-]+", new.lower())} or lost_label(text, new))


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Whether a match is in capitals, or one word that begins the text and that a name follows."""
    words = match.group()
    begins = not match.start() and words[:1].isupper() and words.isalpha()
    return (len(words) > 2 and words.isupper()) or (
        begins and re.match(r" [A-Z][\w-]", text[match.end() :]) is not None
    )


def _rewritten(text: str, rules: Sequence[Rule]) -> Iterator[Rewrite]:
    lowered = text.lower()  # most rules are excluded by their first words, faster than by their patterns
    for pattern, template, beginnings in rules:
        if not any(map(lowered.__contains__, beginnings)):
            continue
        if (match := pattern.search(text)) and not _is_name(text, match):
            new = _begun(match.expand(template), match.group())
            new = text[: match.start()] + new + text[match.end() :]
            yield Rewrite(new if match.start() else _begun(new, text), pattern.pattern)
    for name, pattern, comma, clause, conjunction in MOVES:
        if match := pattern.fullmatch(text):
            first, second, end = map(str.strip, match.groups())
            main, moved = (first, second) if comma else (second, first)
            if clause and not OF_NOBODY.fullmatch(moved) and _pronouns(main) - _pronouns(moved):
                continue  # a pronoun would stand before the name that it is for, or behind another one
            first = first[:1].lower() + first[1:] if SMALL.match(first) else first
            if conjunction:
                yield Rewrite(_begun(conjunction.format(first, second), text) + end, name)
                continue
            yield Rewrite(f"{_begun(second.removeprefix('then '), text)}{comma} {first}{end}", name)
    yield from _active(text)


def _active(text: str) -> Iterator[Rewrite]:
    """The active voice of a passive."""
    if (match := PASSIVE.fullmatch(text)) and not text[:2].isupper():
        whom, done, doer = match.groups()
        whom = OBJECTS.get(whom.lower(), whom[:1].lower() + whom[1:])
        yield Rewrite(f"{_begun(doer, text)} {PAST.get(done, done)} {whom}.", "active voice")


def _pronouns(text: str) -> set[str]:
    """The pronouns of a text that stand for others."""
    return {*PRONOUN.findall(text.lower())}


def _begun(words: str, like: str) -> str:
    """Words with a capital if others have one."""
    return words[:1].upper() + words[1:] if like[:1].isupper() else words
