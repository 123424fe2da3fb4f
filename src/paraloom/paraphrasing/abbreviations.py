"""Abbreviations and contractions of informal English, written in full."""

from __future__ import annotations

import re

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
    return _SHORT.sub(lambda match: _cased(_LONG[match[0].lower()], match[0]), text)


def _cased(text: str, like: str) -> str:
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
