"""Noisy English text in its standard form: rules, then words that are not in a list; protected parts stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from paraloom.core.digests import digest, signature
from paraloom.paraphrasing.protection import Protector

ABBREVIATIONS: dict[str, tuple[str, ...]] = {
    **{"you": ("u", "ya"), "your": ("ur",), "you're": ("ur",), "are": ("r",), "why": ("y",), "and": ("n", "&")},
    **{"please": ("pls", "plz"), "thanks": ("thx", "tnx"), "thank you": ("ty",), "sorry": ("sry",)},
    **{"because": ("bc", "cuz", "coz"), "with": ("w/",), "without": ("w/o",), "though": ("tho",), "through": ("thru",)},
    **{"about": ("abt",), "really": ("rly",), "probably": ("prob", "probly"), "definitely": ("def",)},
    **{"especially": ("esp",), "seriously": ("srsly",), "okay": ("ok", "k"), "love": ("luv",), "night": ("nite",)},
    **{"people": ("ppl",), "tonight": ("tonite",), "tomorrow": ("tmrw", "tmr"), "birthday": ("bday",)},
    **{"weekend": ("wknd",), "message": ("msg",), "picture": ("pic",), "pictures": ("pics",), "favorite": ("fav",)},
    **{"minutes": ("mins",), "something": ("smth",), "going to": ("gonna",), "want to": ("wanna",)},
    **{"got to": ("gotta",), "kind of": ("kinda",), "sort of": ("sorta",), "out of": ("outta",), "let me": ("lemme",)},
    **{"give me": ("gimme",), "should have": ("shoulda",), "could have": ("coulda",), "would have": ("woulda",)},
    **{"don't know": ("dunno",), "i don't know": ("idk",), "oh my god": ("omg",), "by the way": ("btw",)},
    **{"to be honest": ("tbh",), "right now": ("rn",), "as soon as possible": ("asap",), "in my opinion": ("imo",)},
}
"""Words and phrases, in lower case, and how people abbreviate them."""

_CONTRACTIONS = (
    *("don't", "can't", "won't", "isn't", "aren't", "wasn't", "weren't", "hasn't", "haven't", "hadn't", "doesn't"),
    *("didn't", "wouldn't", "couldn't", "shouldn't", "i'm", "i've", "you're", "you've", "they're", "they've", "that's"),
    *("what's", "there's", "who's", "let's", "he's", "she's"),
)
"""Contractions that are not another word without their apostrophe."""


def expand_abbreviations(text: str) -> str:
    """Undo `ABBREVIATIONS`, each to the first that it may stand for, and contractions without an apostrophe."""
    return _SHORT.sub(lambda match: _in_case(_LONG[match[0].lower()], match[0]), text)


def _in_case(text: str, like: str) -> str:
    """A text with the case of another: a capital first, or all capitals."""
    if len(like) > 1 and like.isupper():
        return text.upper()
    return text[:1].upper() + text[1:] if like[:1].isupper() and like != "I" else text


def _long_forms() -> dict[str, str]:
    forms = {one.replace("'", ""): one for one in _CONTRACTIONS}
    for full, short in ABBREVIATIONS.items():
        forms |= {one: full for one in short if one not in forms}
    return {short: re.sub(r"^i\b", "I", full) for short, full in forms.items()}


_LONG = _long_forms()
_SHORT = re.compile(
    r"(?<![\w'’@#/-])(?:" + "|".join(map(re.escape, sorted(_LONG, key=len, reverse=True))) + r")(?![\w'’/-])",
    re.IGNORECASE,
)


FREQUENT = 20_000
"""A correction is one of so many most frequent words: rarer ones are seldom what a typing error hides."""

FREQUENT_FIRST = 2_000
"""The same of a text's first word with a capital, which may be a name."""

MISSPELLINGS = {
    wrong: right
    for right, wrongs in {
        **{"the": "teh hte", "because": "becuase becasue beacuse", "their": "thier", "weird": "wierd", "a lot": "alot"},
        **{"receive": "recieve", "received": "recieved", "receiving": "recieving", "believe": "beleive belive"},
        **{"achieve": "acheive", "friend": "freind", "friends": "freinds", "piece": "peice", "foreign": "foriegn"},
        **{"definitely": "definately definatly definitly", "separate": "seperate", "separately": "seperately"},
        **{
            "until": "untill",
            "occurred": "occured ocurred",
            "occurring": "occuring",
            "beginning": "begining beggining",
        },
        **{"coming": "comming", "writing": "writting", "across": "accross", "address": "adress", "really": "realy"},
        **{"aggressive": "agressive aggresive", "apparently": "apparantly", "argument": "arguement"},
        **{"basically": "basicly", "business": "buisness", "calendar": "calender", "category": "catagory"},
        **{"committed": "commited", "completely": "completly", "conscious": "concious", "disappear": "dissapear"},
        **{"disappointed": "dissapointed", "embarrassed": "embarassed", "environment": "enviroment"},
        **{"existence": "existance", "experience": "experiance", "familiar": "familar", "finally": "finaly"},
        **{"government": "goverment", "grammar": "grammer", "grateful": "greatful", "happened": "happend"},
        **{"immediately": "immediatly", "independent": "independant", "interesting": "intresting"},
        **{"knowledge": "knowlege", "necessary": "neccessary necesary", "noticeable": "noticable"},
        **{"occasion": "occassion", "opportunity": "oppurtunity", "preferred": "prefered", "probably": "probaly"},
        **{"publicly": "publically", "recommend": "recomend reccomend reccommend", "referred": "refered"},
        **{"relevant": "relevent", "religious": "religous", "remember": "rember remeber", "restaurant": "resturant"},
        **{"schedule": "shedule", "similar": "similiar", "sincerely": "sincerly", "speech": "speach"},
        **{"successful": "succesful", "surprise": "suprise", "surprised": "suprised", "truly": "truely"},
        **{"tomorrow": "tommorow tommorrow", "unfortunately": "unfortunatly", "useful": "usefull", "which": "wich"},
    }.items()
    for wrong in wrongs.split()
}
"""Misspellings that are so frequent that lists of words from the web have them → what they are for."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz'"
_SHORTEST = 3
_SHOUTED = 3
_UNKNOWN = 4
_WORD = re.compile(r"(?<![\w@#'’-])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w@'’-]|\.\w)")
_FIRST = re.compile(r"^[\s\"“‘'(\[]*([^\W\d_])")
_PRONOUN = re.compile(r"(?<![\w'’.@#/-])i(?=(?:['’](?:m|ve|ll|d))?(?![\w'’@/-]|\.\w))")
_ENDED = re.compile(r"[.!?…:;,][\"”’')\]]*$")
_BARE_END = re.compile(r"(?<![@#/.\d])\b[^\W\d_]+(?:['’][^\W\d_]+)*[%)\]\"”’]*$")
_STRETCHED = re.compile(r"(.)\1{2,}")
_BRITISH = ((re.compile(r"ys(?=e|ing)"), "yz"), (re.compile(r"is(?=e|ing|ation)"), "iz"), (re.compile(r"our"), "or"))


class Speller:
    """Writes English text in its standard form: rules, then unknown words one edit from a frequent one."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = list(words)
        self._ranks = {word: rank for rank, word in enumerate(self.words)}

    @property
    def signature(self) -> str:
        """A digest of the words."""
        return signature("speller", words=digest(self.words)[:8])

    def knows(self, word: str) -> bool:
        """True if a word is in the list, or its singular, or its American spelling."""
        lower = word.lower()
        if lower in MISSPELLINGS:
            return False
        forms = [lower, lower.removesuffix("s"), *(pattern.sub(other, lower) for pattern, other in _BRITISH)]
        return any(form in self._ranks for form in forms)

    def correction(self, word: str, frequent: int = FREQUENT) -> str | None:
        """The most frequent word that a typing error turns into another one."""
        lower = word.lower()
        if len(lower) < _SHORTEST or self.knows(word):
            return None
        stretched = [_STRETCHED.sub(repeated, lower) for repeated in (r"\1\1", r"\1")]
        if lower in MISSPELLINGS:
            return _in_case(MISSPELLINGS[lower], word)
        candidates = [*(stretched if stretched[0] != lower else ()), *_edited(lower)]
        ranked = [rank for one in candidates if (rank := self._ranks.get(one, frequent)) < frequent]
        if not ranked:
            return None
        return _in_case(self.words[min(ranked)], word)

    def standard_form(self, text: str) -> str:
        """The standard form of a text."""
        text = text.strip()
        # What would be in capitals but for its first letter or its pronouns is, too: so a standard form stays.
        if _with_capital(_PRONOUN.sub("I", text)).isupper() and len(_WORD.findall(text)) >= _SHOUTED:
            text = text.lower()
        text = _PRONOUN.sub("I", expand_abbreviations(text))
        if not self._is_foreign(text):
            text = _WORD.sub(lambda match: self._corrected(match, text), text)
        text = _with_capital(text)
        return f"{text}." if _BARE_END.search(text) and not _ENDED.search(text) else text

    def _is_foreign(self, text: str) -> bool:
        """True if at least four words, and a third of all, are unknown, but for those with a capital."""
        words = [
            word
            for word in _WORD.findall(text)
            if len(word) >= _SHORTEST and (not word[0].isupper() or _with_capital(text).isupper())
        ]
        unknown = sum(not self.knows(word) and word.lower() not in MISSPELLINGS for word in words)
        return unknown >= _UNKNOWN and 3 * unknown >= len(words)

    def _corrected(self, match: re.Match[str], text: str) -> str:
        word = match[0]
        if not word[0].isupper() or _with_capital(text).isupper():
            return self.correction(word) or word
        if word.isupper() or not _FIRST.fullmatch(text[: match.start() + 1]):
            return word
        return self.correction(word, FREQUENT_FIRST) or word


def _with_capital(text: str) -> str:
    return _FIRST.sub(lambda match: match[0][:-1] + match[1].upper(), text)


def _edited(word: str) -> Sequence[str]:
    """Words that differ by one letter too many, too few, another, or two swapped."""
    cuts = [(word[:cut], word[cut:]) for cut in range(len(word) + 1)]
    left_out = [first + rest[1:] for first, rest in cuts if rest]
    swapped = [first + rest[1] + rest[0] + rest[2:] for first, rest in cuts if len(rest) > 1]
    replaced = [first + letter + rest[1:] for first, rest in cuts if rest for letter in _LETTERS]
    inserted = [first + letter + rest for first, rest in cuts for letter in _LETTERS]
    return [*left_out, *swapped, *replaced, *inserted]


CHANGED, UNCHANGED, KEPT = ("changed", "unchanged", "kept")
"""What happened to a text: it has another form; it is its own standard form; it was not looked at."""

NO_WORDS = "without words to write"
"""Why a text was kept: nothing but placeholders is in it."""


class CanonicalText(NamedTuple):
    """The standard form of a text."""

    text: str
    source: str
    status: str
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return self._asdict()


class Canonicalizer:
    """Writes the standard form of texts by a speller; numbers, links, names and the like are placeholders."""

    def __init__(self, speller: Speller, protector: Protector | None = None) -> None:
        self.speller = speller
        self.protector = protector or Protector()

    @property
    def signature(self) -> str:
        """Kinds of what is held, and the digest of the speller's words."""
        return f"rules|{signature('canonical', hold=','.join(self.protector.kinds), speller=self.speller.signature)}"

    def canonicalize(self, texts: Sequence[str]) -> list[CanonicalText]:
        """Write the standard form of texts."""
        return [self._canonical(text) for text in texts]

    def _canonical(self, text: str) -> CanonicalText:
        protected = self.protector.protect(text)
        if not self.protector.words_left(protected):
            return CanonicalText(text, text, KEPT, NO_WORDS)
        form, problem = self.protector.restore(protected, self.speller.standard_form(protected.text))
        if problem or form == text:
            return CanonicalText(text, text, UNCHANGED)
        return CanonicalText(form, text, CHANGED)
