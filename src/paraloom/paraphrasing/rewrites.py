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

_WORDS = r"the|an?|my|your|his|her|its|our|their|this|that|these|those|some|all|it|he|she|we|they|you|it's|there"
_FINITE = (
    r"is|are|was|were|has|have|had|will|can|cannot|could|would|should|may|might|must|does|do|did"
    r"|\w+n't|\w+ed|it's|[a-z]+'ll|[a-z]+'d"
)
_JOINED = "and|but|or|so|that|which|who|what|how|because|if|when|while|since|though"
_SIMPLE = rf'(?:(?!\b(?:{_JOINED})\b| -)[^,;:.?!"()–—])'
_BEFORE = "after|although|as soon as|because|before|if|once|since|though|unless|until|when|whenever"
_BEHIND = "although|as soon as|because|if|unless|when|whenever|while"
_REPORT = (
    r"ask\w*|announced?|believ\w+|decid\w+|expect\w*|hop(?:e|es|ed)|intend\w*|kn[eo]w|knows|plan\w*|promis\w+|sa(?:id|y|ys)"
    r"|t(?:ell|old)|think|thinks|thought|want\w*"
)
_BOUND = (
    rf"{_REPORT}|as|care|check|doubt|especially|even|except|find|forget|happens|hate|just|like|love|mainly|matter|mind"
    r"|not|only|reason|remember|see|seen|shows?|showed|sure|than|time|day|moment|understand|wonder\w*|\w+n't"
)
_ORDERS = (
    "please|click|press|select|choose|use|type|open|enter|see|go|set|run|add|check|make|try|take|call|tell|give|wait|come"
    "|put|turn|keep|leave|let|lock|close|bring|wash|write|read|ask|drop|stop|stay|call|raise|stand|sit|look|show|clean"
    "|wake|phone|visit|create|install|configure|remove|delete|copy|restart|double-click|right-click|drag|change|switch"
)
_AIMS = (
    "access|add|adjust|allow|apply|avoid|browse|change|check|close|configure|confirm|connect|copy|create|delete|disable"
    "|display|download|edit|enable|export|find|get|hide|import|install|learn|make|move|open|prevent|print|remove|rename"
    "|reset|restore|save|search|see|select|set|show|start|stop|switch|turn|update|upload|view"
)
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_TIMES = (
    r"(?:yesterday|tomorrow)(?: morning| afternoon| evening| night)?|tonight|this (?:morning|afternoon|evening|week|month|year)"
    rf"|(?:last|next) (?:night|week|month|year|summer|winter|spring|fall|{_DAYS})|the other day"
    rf"|(?:\d+|two|three|four|five|six|ten|a few|several) (?:days|weeks|months|years|hours|minutes) ago"
    rf"|(?:in (?:{_MONTHS})|on (?:{_DAYS}))(?: (?:morning|afternoon|evening|night))?|in (?:1[5-9]|20)\d\d"
)
_SUBJECTS = rf"(?:{_WORDS}|i|i'm|i'll|i've|tom|mary|people|everyone|everybody|nobody|many|most)"
_PREPOSITIONS = "about|after|as|at|before|by|during|for|from|in|of|on|to|under|with"
_GROUPS = "researchers|scientists|experts|officials|analysts|farmers|growers|astronomers|biologists"
_TELLERS = (
    rf"he|she|they|{_GROUPS}|(?:the|an?) {_SIMPLE}{{3,40}}?"
    r"|(?!But|And|So|For|In|At|On|When|If|As|Yet|Tom|Mary)(?-i:[A-Z][\w.'’-]+ (?:[A-Z][\w.'’-]+ ){0,3}[A-Z][\w'’-]+)"
    r"|(?-i:[A-Z]{2,} (?:[\w.'’-]+ ){0,3}[A-Z][\w'’-]+)"
)
_LEADING = re.compile(
    rf"((?:(?:{_BEFORE})|(?:after|at|before|during|in|on) (?=[^,]*\d|(?-i:[A-Z])"
    r"|(?:our|my|his|her|their|the|most|some|many|humans|animals|winter|summer)\b"
    r"(?! (?:end|meantime|case|other|contrary|whole|first|last|one|event|long run|short|same|face|wake|light|absence)\b)"
    rf"(?! (?:[a-z]+ ){{3}})))\b{_SIMPLE}{{4,80}}), "
    rf"((?:then )?(?!.*\b(?:{_REPORT})\b)(?=.*\b(?:{_FINITE})\b|(?:{_ORDERS}|i|you|he|she|it|we|they|tom|mary) [a-z]){_SIMPLE}{{6,100}})([.!]?)",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    rf"((?!.*\b(?:{_BOUND})\b)(?:{_SUBJECTS}|{_ORDERS})\b{_SIMPLE}{{6,100}}?)"
    r"(?<! is)(?<! was)(?<! would)(?<! will)(?<! can)(?<! does)(?<! did),?"
    r"(?<!soon)(?<!long)(?<!just)(?<!right)(?<!shortly)(?<!years)(?<!days)(?<!hours)(?<!minutes)(?<!weeks)(?<!months)"
    r"(?<! for)(?<! in)(?<! of)(?<! to)(?<! about)(?<! on) "
    rf"((?:(?:{_BEHIND}) {_SUBJECTS}\b|(?:before|after) (?:i|you|he|she|it|we|they|tom|mary)\b|(?:before|after|while) (?!thing|morning|evening|noon|spring)[a-z]+ing )"
    rf"{_SIMPLE}{{4,100}})([.!])",
    re.IGNORECASE,
)
_LAST_TIME = re.compile(
    rf"((?!.*\b(?:{_REPORT}|heard|hear|glad|happy|sorry|guess|suppose|feel|felt|wish|remember\w*|forg[eo]t\w*|seems?|let|try|tried)\b)"
    rf"(?!.* (?:i|he|she|we|they)\b){_SUBJECTS}\b{_SIMPLE}{{8,70}}?)(?<! \b(?:is|of|by|or|as))(?<! (?:was|for|and|all|not|the))"
    r"(?<! (?:were|from|till|than|like|even|only|just))(?<! (?:since|until|about|after|early|later|first))(?<! before)"
    rf" ({_TIMES})([.!])",
    re.IGNORECASE,
)
_FIRST_TIME = re.compile(
    rf"({_TIMES}),? ((?!.*\b(?:{_REPORT})\b)(?!.* (?:i|he|she|we|they)\b){_SUBJECTS}\b(?! (?:{_DAYS}))(?=.*\b(?:{_FINITE})\b)"
    rf"{_SIMPLE}{{8,70}})([.!])",
    re.IGNORECASE,
)
_CLICKS = "click|press|select|choose|use|type|open|enter|go|look|see|drag|double-click|right-click|tap|install|run|turn|hold|swipe"
_FIRST_AIM = re.compile(
    r"((?:in order )?to (?!be\b|my\b|me\b)[a-z]+ [^,;:.?!\"()]{4,70}), "
    rf"((?:{_CLICKS}|you (?:can|need|must|have|should|may))\b(?!.*\b(?:and|it|them|this|these|to)\b)[^,;:?!\"()]{{4,80}}?)(\.)",
    re.IGNORECASE,
)
_LAST_AIM = re.compile(
    rf"((?:{_CLICKS})\b(?!.*\b(?:and|or|if|that|which|when|where|what|how|you)\b)[^,;:.?!\"()]{{4,60}}?)(?<! want)(?<! need)"
    rf"(?<! like)(?<! able)(?<! have)(?<! wish)(?<! order)(?<! going)(?<! used)(?<! is)(?<! are)"
    rf" (to (?:{_AIMS})\b[^,;:.?!\"()]{{4,70}})(\.)",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?:(?=(?:he|she|they) )|(?!.*?\b(?:says?|said) (?:that )?(?:he|she|they|his|her|their|its)\b))"
    rf"((?:{_TELLERS}) (?:says?|said)) (?:that )?((?!(?:that|this|so|it|was|more|no|not|yes|only|last|later|earlier|today|how|what|why|who|where|if|when|{_PREPOSITIONS}|{_DAYS}|{_MONTHS})\b)"
    rf"[\w'’$-]+(?=.* (?:{_FINITE})\b)"
    r"(?!.*\b(?:but|which|says?|said|and (?:is|are|was|were|has|have|had|will|would|wants?|plans?|[a-z]+ed))\b)"
    r"[^;:?!\"“”]{12,140}?)([.]?)",
    re.IGNORECASE,
)
_PLAIN = rf"(?!.*\b(?:sorry|excuse|not that|can hardly)\b)(?:{_SUBJECTS}|this|that)\b{_SIMPLE}{{5,80}}"
_SO = re.compile(rf"({_PLAIN})(?<! ), so ((?!that\b|far\b)(?!.*\b(?:can|could|may|might)\b){_PLAIN})([.!])", re.IGNORECASE)
_BUT = re.compile(rf"({_PLAIN})(?<! ), but ({_PLAIN})([.!])", re.IGNORECASE)
_BECAUSE = re.compile(rf"because ({_PLAIN}), ({_PLAIN})([.!])", re.IGNORECASE)
_ALTHOUGH = re.compile(rf"(?:although|though|even though) ({_PLAIN}), ({_PLAIN})([.!])", re.IGNORECASE)
"""What moves: a clause, or a place or time with a name or number, before a comma; a clause, time or aim at the end;
a time or aim at the beginning; who says what follows; and clauses that another conjunction joins."""


class _Move(NamedTuple):
    """Two parts of a sentence that change places, with a comma or without."""

    name: str
    pattern: re.Pattern[str]
    comma: str = ""
    clause: bool = False
    joined: str = ""
    """Instead of changing places: both parts in their order, with another conjunction."""


_MOVES = (
    _Move("clause to the end", _LEADING, "", True),
    _Move("clause to the front", _TRAILING, ",", True),
    _Move("time to the front", _LAST_TIME, ","),
    _Move("time to the end", _FIRST_TIME, ""),
    _Move("aim to the end", _FIRST_AIM, ""),
    _Move("aim to the front", _LAST_AIM, ","),
    _Move("speaker to the end", _TOLD, ","),
    _Move("because for so", _SO, joined="because {}, {}"),
    _Move("so for because", _BECAUSE, joined="{}, so {}"),
    _Move("although for but", _BUT, joined="although {}, {}"),
    _Move("but for although", _ALTHOUGH, joined="{}, but {}"),
)
_SMALL = re.compile(
    rf"(?:{_WORDS}|{_BEFORE}|{_ORDERS}|(?!on [a-z]+day|in [jfmasond]){_TIMES}|at|during|in|on|to|people|everyone|everybody"
    rf"|nobody|many|most|{_GROUPS})\b",
    re.IGNORECASE,
)
"""What has a capital only where it begins a sentence."""
_PRONOUN = re.compile(r"\b(?:he|she|it|they|him|her|them|his|its|their)\b", re.IGNORECASE)
_OF_NOBODY = re.compile(
    r"(?i:at|during|in|on)\b.*|(?i:(?:[a-z]+ ){1,3}?(?:i|i'm|i'll|you|you're|we|we're)\b|(?:before|after|while) [a-z]+ing\b)"
    r"(?!.*\b(?:the|an?|my|your|his|her|our|their|this|that|these|those|he|she|they|him|them|us|(?!I\b)[A-Z])).*"
)
"""A place or time, or a clause that has no name, and no noun that a pronoun outside might stand for."""
_NAME = re.compile(r"(?<=[a-z0-9,] )(?!I\b)[A-Z][\w'-]*")
_ARTICLE = re.compile(r"\b(?:a [aeio]|an [^aeio\W])\w+", re.IGNORECASE)


_LONGEST = 1000
"""Characters of a sentence, at most: some patterns take quadratic time."""


class Rewrite(NamedTuple):
    """A sentence that a rule wrote; its probability is unknown."""

    text: str
    rule: str
    logprob: float = math.nan
    tokens: int = 0


class Rule(NamedTuple):
    """What a pattern finds is replaced by a template of a regular expression."""

    pattern: re.Pattern[str]
    template: str


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
            rules.append(Rule(re.compile(rf"(?<![\w'#@-]){pattern}{end}", re.IGNORECASE), template))
        except (ValueError, re.error) as error:
            raise DataError(f"not a rule: {error}", file=path, row=number) from None
    return rules


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
    """Whether a word with a capital within a sentence is lost, or an article does not fit."""
    names, articles = ({*map(str.lower, _NAME.findall(text))}, {*_ARTICLE.findall(new)} - {*_ARTICLE.findall(text)})
    return bool(articles or names - {*re.findall(r"[\w'-]+", new.lower())})


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Whether a match is in capitals, or one word that begins the text and that a name follows."""
    words = match.group()
    begins = not match.start() and words[:1].isupper() and words.isalpha()
    return (len(words) > 2 and words.isupper()) or (
        begins and re.match(r" [A-Z][\w-]", text[match.end() :]) is not None
    )


def _rewritten(text: str, rules: Sequence[Rule]) -> Iterator[Rewrite]:
    for pattern, template in rules:
        if (match := pattern.search(text)) and not _is_name(text, match):
            new = _begun(match.expand(template), match.group())
            yield Rewrite(text[: match.start()] + new + text[match.end() :], pattern.pattern)
    for name, pattern, comma, clause, joined in _MOVES:
        if match := pattern.fullmatch(text):
            first, second, end = map(str.strip, match.groups())
            main, moved = (first, second) if comma else (second, first)
            if clause and not _OF_NOBODY.fullmatch(moved) and _pronouns(main) - _pronouns(moved):
                continue  # a pronoun would stand before the name that it is for, or behind another one
            first = first[:1].lower() + first[1:] if _SMALL.match(first) else first
            if joined:
                yield Rewrite(_begun(joined.format(first, second), text) + end, name)
                continue
            yield Rewrite(f"{_begun(second.removeprefix('then '), text)}{comma} {first}{end}", name)


def _pronouns(text: str) -> set[str]:
    """The pronouns of a text that stand for others."""
    return {*_PRONOUN.findall(text.lower())}


def _begun(words: str, like: str) -> str:
    """Words with a capital if others have one."""
    return words[:1].upper() + words[1:] if like[:1].isupper() else words
