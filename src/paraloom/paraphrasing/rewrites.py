"""Rewrites of English sentences by rules: other wordings that say the same, and clauses and adverbials in other places."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from paraloom.bundled import REWRITES
from paraloom.core.errors import DataError

_SUBJECT = (
    r"(?:the|an?|my|your|his|her|its|our|their|this|that|these|those|some|all|it|he|she|we|they|you|it's|i|i'm|i'll|there)\b"
)
_FINITE = r"is|are|was|were|has|have|had|will|can|cannot|could|would|should|may|might|must|does|do|did|\w+n't|\w+ed|it's|[a-z]+'ll"
_SIMPLE = r"(?:(?!\b(?:and|but|or|so|that|which|who|what|how|because|if|when|while|since|though)\b)[^,;:.?!\"()])"
_CONJUNCTIONS = "if|when|whenever|while|because|since|although|though|as soon as|before|after|unless|until|once"
_LEADING = re.compile(
    rf"((?:(?:{_CONJUNCTIONS})|(?:in|on|at|during|before|after) (?=[^,]*\d|(?-i:[A-Z])))\b{_SIMPLE}{{4,80}}), "
    rf"((?:then )?(?=.*\b(?:{_FINITE})\b){_SIMPLE}{{6,100}})([.!]?)",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    rf"((?!.*\b(?:wonder|know|think|ask|tell|see|seen|said|says|reason)\b){_SUBJECT}{_SIMPLE}{{10,100}}?)"
    r"(?<! is)(?<! was)(?<! would)(?<! will)(?<! can)(?<!not)(?<! does)(?<! did),? "
    rf"((?:if|when|whenever|while|because|although|as soon as|unless) {_SUBJECT}{_SIMPLE}{{4,100}})([.!])",
    re.IGNORECASE,
)
"""What may move: an adverbial or clause before a comma, and a clause at the end."""
_FIRST = re.compile(
    rf"{_CONJUNCTIONS}|as|in|on|at|during|for|by|with|without|the|an?|my|your|his|her|its|our|their|this|that|these|those"
    r"|some|all|it|he|she|we|they|you|it's|there",
    re.IGNORECASE,
)
"""What has a small letter where it begins no sentence."""


class Rewrite(NamedTuple):
    """A sentence that a rule wrote."""

    text: str
    rule: str
    logprob: float = math.nan
    tokens: int = 0


class Rule(NamedTuple):
    """Words that a pattern finds, and what is written in their place."""

    pattern: re.Pattern[str]
    replacement: str


def read_rules(path: Path) -> list[Rule]:
    """The rules of a table of patterns and replacements; those in braces are classes of words."""
    classes, rules = dict[str, str](), list[Rule]()
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        try:
            pattern, replacement = line.split("\t")
            if re.fullmatch(r"\{[A-Z]+\}", pattern):
                classes[pattern] = replacement
                continue
            for name, words in classes.items():
                pattern = pattern.replace(name, f"(?:{words})") if f"({name})" not in pattern else pattern.replace(
                    name, words
                )
            rules.append(Rule(re.compile(rf"(?<![\w'-]){pattern}" + r"(?![\w'-])" * pattern[-1].isalnum(), re.I), replacement))
        except (ValueError, re.error) as error:
            raise DataError(f"not a rule: {error}", file=path, row=number) from None
    return rules


@lru_cache(maxsize=1)
def bundled_rules() -> list[Rule]:
    """The rules that come with the package."""
    return read_rules(REWRITES)


def rewrites(text: str, rules: Sequence[Rule] | None = None) -> list[Rewrite]:
    """What the rules make of a sentence, each once."""
    found = {one.text: one for one in _rewritten(text, bundled_rules() if rules is None else rules)}
    found.pop(text, None)
    return list(found.values())


def _rewritten(text: str, rules: Sequence[Rule]) -> Iterator[Rewrite]:
    for rule in rules:
        if match := rule.pattern.search(text):
            new = match.expand(rule.replacement)
            if match.group()[:1].isupper():
                new = new[:1].upper() + new[1:]
            yield Rewrite(text[: match.start()] + new + text[match.end() :], rule.pattern.pattern)
    if match := _LEADING.fullmatch(text):
        first, second, end = match.groups()
        yield Rewrite(f"{_raised(second.removeprefix('then '), text)} {_lowered(first)}{end}", "leading")
    if match := _TRAILING.fullmatch(text):
        first, second, end = match.groups()
        yield Rewrite(f"{_raised(second, text)}, {_lowered(first)}{end}", "trailing")


def _raised(words: str, text: str) -> str:
    return words[:1].upper() + words[1:] if text[:1].isupper() else words


def _lowered(words: str) -> str:
    return words[:1].lower() + words[1:] if _FIRST.fullmatch(words.split()[0]) else words
