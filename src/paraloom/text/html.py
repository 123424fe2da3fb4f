"""Pages of HTML as segments: the sentences of their text to work on, everything else left as it is."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from paraloom.core.errors import DataError
from paraloom.text.segments import CODE, LAYOUT, MARKUP, Segment, merged, sentences

_BLOCKS_OF_CODE = frozenset(["object", "pre", "script", "style", "template", "textarea"])
_CODE = frozenset(["code", "kbd", "math", "samp", "svg", "tt", "var"])
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_COMMENT = "--"
_INLINE = re.compile(
    "--|code|kbd|math|samp|svg|tt|var|a|abbr|acronym|b|bdi|bdo|big|cite|data|del|dfn|em|font|i|img|ins|label|mark|q|rb|rp"
    "|rt|ruby|s|small|span|strike|strong|sub|sup|time|u|wbr"
)
"""Elements within a sentence; any other ends it."""

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_REFERENCE = re.compile(r"&#?\w+;")
_OPEN, _CLOSE = "\ue000", "”"  # In place of tags where sentences are found; what follows "." may close a quotation


class _Token(NamedTuple):
    """A part of a page: 'text', an 'open' or 'close' tag, or what is 'kept', such as code, comments and pictures."""

    kind: str
    name: str
    text: str


def html_segments(text: str) -> list[Segment]:
    """The segments of a page in order; together they are the page."""
    tokens = _tokens(text)
    if all(token.kind == "text" for token in tokens):
        raise DataError("no tags of HTML found", remedy="Give plain text another suffix, such as .txt.")
    segments: list[Segment] = []
    for inline, group in groupby(tokens, key=lambda token: token.kind == "text" or bool(_INLINE.fullmatch(token.name))):
        line = list(group)
        segments += _sentences(line) if inline else [Segment(one.text, _reason(one)) for one in line]
    return merged(segments)


def html_words(text: str) -> str:
    """A sentence of a page as one reads it, tags and code in it as they are."""
    return " ".join("".join(html.unescape(t.text) if t.kind == "text" else t.text for t in _tokens(text)).split())


def html_in_place(before: str, after: str) -> str | None:
    """What replaces a sentence of a page; None if it does not have the same tags, around words as before."""
    old, words, after = _tokens(before), html_words(before), " ".join(after.split())
    if after == words:
        return before
    tags: dict[str, list[_Token]] = {}
    for token in old:
        if token.kind != "text":
            tags.setdefault(" ".join(token.text.split()), []).append(token)
    known = re.compile("|".join(map(re.escape, sorted(tags, key=len, reverse=True))) or r"(?!)")
    expected, kept = (known.findall(text) for text in (words, after))
    if len(expected) != sum(map(len, tags.values())):
        return None  # A text has what looks like one of them.
    if Counter(expected) != Counter(kept) or Counter(_TAG.findall(words)) != Counter(_TAG.findall(after)):
        return None
    new: list[_Token] = []
    start = 0
    for match in known.finditer(after):
        new += [_text(after[start : match.start()]), tags[match[0]].pop(0)]
        start = match.end()
    new.append(_text(after[start:]))
    return "".join(token.text for token in new) if _nesting(new) == _nesting(old) else None


def _text(words: str) -> _Token:
    return _Token("text", "", html.escape(words, quote=False))


def _reason(token: _Token) -> str:
    return CODE if token.name in _BLOCKS_OF_CODE else MARKUP if token.kind == "kept" and "</" in token.text else LAYOUT


class _Parser(HTMLParser):
    """Where each part of a page begins."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self._lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self.found: list[tuple[int, str, str, bool]] = []
        end = text.rfind(">") + 1  # No tag is behind it; the parser would look for its end at each "<".
        self.feed(text[:end])
        self.close()
        self.found.append((end, "text", "", False))

    def _add(self, kind: str, name: str = "", keeps: bool = False) -> None:
        line, column = self.getpos()
        self.found.append((self._lines[line - 1] + column, kind, name, keeps))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("kept" if tag in _VOID else "open", tag, ("translate", "no") in attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("kept", tag)

    def handle_endtag(self, tag: str) -> None:
        self._add("close", tag)

    def handle_data(self, data: str) -> None:
        self._add("text")

    def handle_entityref(self, name: str) -> None:
        self._add("text")

    def handle_charref(self, name: str) -> None:
        self._add("text")

    def handle_comment(self, data: str) -> None:
        self._add("kept", _COMMENT)

    def handle_decl(self, decl: str) -> None:
        self._add("kept", "!")

    def handle_pi(self, data: str) -> None:
        self._add("kept", "?")

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """The end of `<![…`, of which the standard library refuses what browsers read as a comment."""
        return self.parse_bogus_comment(i)


def _tokens(text: str) -> list[_Token]:
    """The parts of a page in order, together the page; an element that is left as it is, is one."""
    begins = [(0, "text", "")]
    open_name, depth = "", 0
    for start, kind, name, keeps in _Parser(text).found:
        if depth:
            depth += (name == open_name) * ((kind == "open") - (kind == "close"))
        elif kind == "open" and (keeps or name in _CODE | _BLOCKS_OF_CODE):
            open_name, depth = name, 1
            begins.append((start, "kept", name))
        elif kind != "text" or begins[-1][1] != "text":
            begins.append((start, kind, name))
    return [
        _Token(kind, name, text[start:end])
        for (start, kind, name), (end, *_) in pairwise([*begins, (len(text), "", "")])
        if end > start
    ]


def _sentences(tokens: Sequence[_Token]) -> Iterator[Segment]:
    """The sentences of a line, whose tags are hidden from what finds them; those around a sentence are not in it."""
    line, start = "".join(token.text for token in tokens), 0
    for part in sentences("".join(map(_hidden, tokens))):
        text = line[start : start + len(part.text)]
        start += len(text)
        inside = _tokens(text)
        if part.reason is not None:
            blank = not any(t.name in _CODE if t.kind != "text" else t.text.strip() for t in inside)
            yield Segment(text, LAYOUT if blank else part.reason)
            continue
        first, last = _inner(inside)
        head, core = ("".join(t.text for t in some) for some in (inside[:first], inside[first:last]))
        sentence = core.strip()
        begin = len(head) + core.index(sentence)
        yield Segment(text[:begin], LAYOUT)
        yield Segment(sentence)
        yield Segment(text[begin + len(sentence) :], LAYOUT)


def _hidden(token: _Token) -> str:
    """A text as long as a token, in which sentences end where those of the page do."""
    if token.kind != "text":
        return (_CLOSE if token.kind == "close" else _OPEN) * len(token.text)
    text = _REFERENCE.sub(lambda match: html.unescape(match[0])[0] * len(match[0]), token.text)
    return text.replace("`", "'")


def _inner(tokens: Sequence[_Token]) -> tuple[int, int]:
    """The range of a sentence without the tags around it, and without marks such as those of anchors at its ends."""
    partners = _partners(tokens)

    def skipped(index: int) -> int:
        """How many tokens at an end of the range are not of the sentence."""
        kind, name, text = tokens[index]
        other = partners.get(index)
        if other is None:
            return int(not text.strip() if kind == "text" else kind != "kept" or name in _VOID | {_COMMENT})
        low, high = sorted((index, other))
        marks = "".join(t.text for t in tokens[low:high] if t.kind == "text" or t.name in _CODE)
        return 0 if re.search(r"\w", marks) else high - low + 1

    first, last = 0, len(tokens)
    while first < last:
        if partners.get(first) == last - 1:
            first, last = first + 1, last - 1
        elif count := skipped(first):
            first += count
        elif count := skipped(last - 1):
            last -= count
        else:
            break
    return first, last


def _partners(tokens: Sequence[_Token]) -> dict[int, int]:
    """Each tag that opens or closes an element, and the one at its other end."""
    partners: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "open":
            waiting.append(index)
        elif token.kind == "close" and waiting and tokens[waiting[-1]].name == token.name:
            opened = waiting.pop()
            partners |= {opened: index, index: opened}
    return partners


def _nesting(tokens: Sequence[_Token]) -> tuple[Counter[tuple[str, bool]], list[str]]:
    """The elements in a sentence and whether something is in them, and the tags of others that begin or end in it."""
    partners = _partners(tokens)

    def filled(start: int, end: int) -> bool:
        return any(t.kind == "kept" or (t.kind == "text" and t.text.strip()) for t in tokens[start:end])

    tags = [(index, t.text) for index, t in enumerate(tokens) if t.kind in ("open", "close")]
    whole = Counter((text, filled(i, partners[i])) for i, text in tags if partners.get(i, 0) > i)
    return whole, [text for i, text in tags if i not in partners]
