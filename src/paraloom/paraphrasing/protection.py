"""Holds what a paraphrase must not change: numbers, links, names, markup and terms become placeholders, and return."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paraloom.core.errors import ConfigError, nearest
from paraloom.text.characters import MAIL_ADDRESS, WITHOUT_SPACES

MARKUP, FIELDS, LINKS, MAIL, MENTIONS, TERMS, NUMBERS, NAMES = KINDS = (
    *("markup", "fields", "links", "mail", "mentions", "terms", "numbers", "names"),
)
"""What can be held, the first ones before the later ones where both fit.

markup: tags such as <b>. fields: {name}, {{name}}, ${name}, %(name)s, %s. links: URLs. mail: e-mail addresses.
mentions: @name and #tag. terms: those that are given. numbers: digits, with their currency or percent sign. names:
words with a capital inside a sentence, unless half of all words have one; leave names out in German, where nouns have.
"""

LOST, DISORDER, ADDED = ("placeholder lost", "markup in another order", "number, link or field added")
"""Why a candidate is dropped."""

_LETTERS = "AXQZWK"
_PATTERNS = {
    MARKUP: r"</?[A-Za-z][^<>]*>|<!--.*?-->",
    FIELDS: r"\$?\{\{?[^{}\n]{1,60}\}\}?|%\([A-Za-z_]\w*\)[sdif]|(?<![\w%])%[sd](?!\w)",
    LINKS: r"(?:https?://|www\.)[^\s<>\"']*[^\s<>\"'.,;:!?)\]}]",
    MAIL: MAIL_ADDRESS,
    MENTIONS: r"(?<![\w@#&])[@#]\w+",
    NUMBERS: r"(?<![\w.,])[$€£¥]? ?\d+(?:[.,:/-]\d+)*(?: ?%)?(?!\w)",
}
_WORD = re.compile(r"[^\W\d_](?:['’&-]?\w)*")
_PRONOUNS = ("I", "I'm", "I'd", "I'll", "I've", "I’m", "I’d", "I’ll", "I’ve")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\"“”‘'`(\[\n-])\W*$")
_EXACT = (MARKUP, FIELDS, LINKS, MAIL, MENTIONS, NUMBERS)


def kinds_for(language: str | None) -> tuple[str, ...]:
    """The kinds that are held in texts of a language by default."""
    return tuple(kind for kind in KINDS if (kind, language) != (NAMES, "de"))


class HeldText(NamedTuple):
    """A part of a text that is held."""

    text: str
    kind: str
    before: bool = False
    after: bool = False


class ProtectedText(NamedTuple):
    """A text with placeholders."""

    text: str
    letter: str
    held: tuple[HeldText, ...]


class Protector:
    """Replaces parts of texts by placeholders before they are paraphrased, and puts them back."""

    def __init__(self, kinds: Iterable[str] = KINDS, terms: Sequence[str] = ()) -> None:
        self.kinds = tuple(kinds)
        for kind in self.kinds:
            if kind not in KINDS:
                raise ConfigError(f"unknown kind '{kind}' of held text{nearest(kind, KINDS)}")
        if any(not term.strip() for term in terms):
            raise ConfigError("a term is empty", remedy="Give one term a line, without blank ones.")
        self.terms = tuple(dict.fromkeys(term.strip() for term in terms))
        self._pattern = self._compile()

    def protect(self, text: str) -> ProtectedText:
        """Replace the parts of a text that are held."""
        spans = self._spans(text)
        letter = next((one for one in _LETTERS if not re.search(rf"{one}\d", text, re.IGNORECASE)), _LETTERS[0])
        pieces: list[str] = []
        held: list[HeldText] = []
        end = 0
        for number, (start, stop, kind) in enumerate(spans, start=1):
            pieces.append(text[end:start])
            adjacent = number > 1 and start == end
            follows = number < len(spans) and spans[number][0] == stop
            before = adjacent or (start > 0 and text[start - 1].isalnum())
            after = not follows and stop < len(text) and text[stop].isalnum()
            pieces.append(f"{' ' * before}{letter}{number}{' ' * after}")
            held.append(HeldText(text[start:stop], kind, before, after))
            end = stop
        return ProtectedText("".join(pieces) + text[end:], letter, tuple(held))

    def restore(self, protected: ProtectedText, candidate: str) -> tuple[str, str]:
        """Put the held parts into a paraphrase of the text with placeholders."""
        mark = re.compile(rf"(?<![^\W_]){protected.letter}(\d+)(?!\w)", re.IGNORECASE)
        order = [int(match[1]) for match in mark.finditer(candidate)]
        if sorted(order) != list(range(1, len(protected.held) + 1)):
            return "", LOST
        if (tags := [number for number in order if protected.held[number - 1].kind == MARKUP]) != sorted(tags):
            return "", DISORDER

        # Marks without letters: next to a word, a placeholder would be part of it.
        restored = mark.sub("\0\\1\0", candidate)
        for number, part in enumerate(protected.held, start=1):
            before, after = " ?" * part.before, " ?" * part.after
            restored = re.sub(f"{before}\0{number}\0{after}", part.text.replace("\\", r"\\"), restored)
        own = Counter(part.text for part in protected.held if part.kind in _EXACT)
        exact = [restored[start:stop] for start, stop, kind in self._spans(restored) if kind in _EXACT]
        return ("", ADDED) if Counter(exact) - own else (restored, "")

    def words_left(self, protected: ProtectedText) -> int:
        """Number of words that are not held; of scripts without spaces, of characters."""
        placeholders = rf"(?<![^\W_]){protected.letter}\d+(?!\w)"
        words = _WORD.findall(re.sub(placeholders, " ", protected.text, flags=re.IGNORECASE))
        return sum(len(word) if WITHOUT_SPACES.search(word) else 1 for word in words)

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """Start, end and kind of each part that is held, in order, without overlaps."""
        spans = []
        if self._pattern is not None:
            for match in self._pattern.finditer(text):
                start = match.start() + (len(match[0]) - len(match[0].lstrip()))
                kind = match.lastgroup or TERMS
                spans.append((start, match.end(), kind))
        if NAMES in self.kinds:
            taken = [(start, stop) for start, stop, _ in spans]
            names = (span for span in _names(text) if not any(a < span[1] and span[0] < b for a, b in taken))
            spans += [(start, stop, NAMES) for start, stop in names]
        return sorted(spans)

    def _compile(self) -> re.Pattern[str] | None:
        parts = []
        for kind in KINDS:
            if kind not in self.kinds:
                continue
            if kind == TERMS and self.terms:
                by_length = sorted(self.terms, key=len, reverse=True)
                alternatives = "|".join(map(_term_pattern, by_length))
                parts.append(rf"(?P<{TERMS}>(?<!\w)(?:{alternatives})(?!\w))")
            elif kind in _PATTERNS:
                parts.append(f"(?P<{kind}>{_PATTERNS[kind]})")
        return re.compile("|".join(parts), re.DOTALL) if parts else None


def _term_pattern(term: str) -> str:
    escaped = r"\s+".join(map(re.escape, term.split()))
    return escaped if term != term.lower() else f"(?i:{escaped})"


def _names(text: str) -> list[tuple[int, int]]:
    """Runs of capitalized words that do not begin a sentence; none where half of the words have a capital."""
    words = list(_WORD.finditer(text))
    capitals = [match for match in words[1:] if match[0][0].isupper() and match[0] not in _PRONOUNS]
    if 2 * len(capitals) > len(words):
        return []
    spans: list[tuple[int, int]] = []
    for match in capitals:
        if _SENTENCE_START.search(text[: match.start()]):
            continue
        if spans and text[spans[-1][1] : match.start()] == " ":
            spans[-1] = (spans[-1][0], match.end())
        else:
            spans.append((match.start(), match.end()))
    return spans
