"""Where two English texts differ: the words that changed, and changes that paraphrasers seldom get right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

REPEATED, MARKS, FORMS = "repeats a word", "number or mark changed", "form or question word changed"
"""What `english_fault` finds."""

_TOKEN = re.compile(r"\w+(?:['-]\w+)*|[^\w\s]")
_MARK = re.compile(r"""["()\[\]{}<>$€£%@#]|.*\d.*""")
_QUESTIONS = frozenset(["what", "which", "who", "whom", "whose", "when", "where", "why", "how"])
_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DIGITS = frozenset(map(str, range(len(_SMALL))))
_CONTRACTIONS = (
    *((r"\bcan(?:'t|not)\b", "can not"), (r"\bwon't\b", "will not"), (r"n't\b", " not"), (r"'re\b", " are")),
    *((r"'ve\b", " have"), (r"'ll\b", " will"), (r"\bi'm\b", "i am"), (r"\bwhats\b", "what is")),
    (r"\b(it|he|she|that|what|who|there|here|where|how|when)'s\b", r"\1 is"),
)
_LONGEST_REPEAT = 3


@lru_cache(maxsize=8192)
def english_words(text: str) -> tuple[str, ...]:
    """Words and marks in lower case, contractions written in full: "It's" is "it is", whatever it may stand for."""
    plain = text.lower().translate({ord("’"): "'", ord("“"): '"', ord("”"): '"'})
    for pattern, full in _CONTRACTIONS:
        plain = re.sub(pattern, full, plain)
    return tuple(_TOKEN.findall(plain))


class Edit(NamedTuple):
    """Words of one text that the other lacks, punctuation aside."""

    lost: str
    new: str
    reordered: bool

    @classmethod
    def between(cls, source: Sequence[str], candidate: Sequence[str]) -> Edit:
        """Compare the words of two texts."""
        first, second = _plain(source), _plain(candidate)
        lost, new = Counter(first) - Counter(second), Counter(second) - Counter(first)
        return cls(" ".join(lost.elements()), " ".join(new.elements()), first != second)


def english_fault(source: Sequence[str], candidate: Sequence[str]) -> str:
    """A change of the words of an English text that is seldom right; '' if there is none.

    These are a repetition that the source lacks; other numbers, quotation marks or brackets; a noun in the other number
    ("the alum crystal"); another question word; and a possessive that comes or goes ("Australia is biggest producer").
    """
    before, after = _plain(source), _plain(candidate)
    if any(_repeats(after, length) > _repeats(before, length) for length in range(1, _LONGEST_REPEAT + 1)):
        return REPEATED
    first, second = Counter(source), Counter(candidate)
    lost, new = first - second, second - first
    for some, others in ((lost, new), (new, lost)):
        marks = [word for word in some if _MARK.fullmatch(word)]
        if any(not (word in _DIGITS and _SMALL[int(word)] in others) for word in marks):
            return MARKS
        if any(f"{word}s" in others or f"{word}es" in others for word in some if word.isalpha()):
            return FORMS
        if any(word in _QUESTIONS or word.endswith("'s") for word in some):
            return FORMS
    return MARKS if source[:1] == ('"',) != candidate[:1] else ""


def _plain(words: Sequence[str]) -> list[str]:
    """The words without the marks."""
    return [word for word in words if word[0].isalnum()]


def _repeats(words: Sequence[str], length: int) -> int:
    """How often a stretch of so many words follows itself."""
    starts = range(len(words) - 2 * length + 1)
    return sum(words[at : at + length] == words[at + length : at + 2 * length] for at in starts)
