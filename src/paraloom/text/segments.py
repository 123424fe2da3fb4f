"""A text with structure as segments: sentences to work on, and what is left as it is, such as code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'»”’)\]]*\s+|(?<=[。！？；।۔])[\"'»”’）」』]*\s*")
"""What is between two sentences, closing quotation marks of the first included."""


def count_sentences(text: str) -> int:
    """Number of sentences; the end of a line ends one, too."""
    return sum(bool(part.strip()) for line in text.split("\n") for part in SENTENCE_END.split(line))


LAYOUT = ""  # Reason of white space and of the marks of lists, headings and quotations, which nobody counts

CODE, JSON, TABLE, WORDLESS, ENDLESS = "code", "JSON", "rows of a table", "without words", "too long for a sentence"
MARKUP = "markup"
"""Reasons why other segments are left as they are."""

_LONGEST = 10_000
_JSON_TRIES = 100
_DECODER = json.JSONDecoder()
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_INDENTED = re.compile(r" {4}|\t")
_MARKS = re.compile(r"[ \t]*(?:(?:[-*+•–]|\d{1,3}[.)]|#{1,6}|>)(?:[ \t]+|$))*")
_LETTER = re.compile(r"[^\W\d_]")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[^\W\d_]|[^\W\d_]\.[^\W\d_]|Mrs?|Ms|Dr|Prof|St|No|Nr|vs|cf|bzw|etc)\.$")
_KEPT = re.compile(
    r"`[^`\n]+`|\[\^[^\]\s]+\]|\]\([^\s()]+\)|\]\[[^\]\s]+\]|</?[A-Za-z][^<>]*>|https?://[^\s<>\"')\]]*[^\s<>\"')\].,;:!?]"
)
_BLOCK = re.compile(r"(?:[-*+>]|#{1,6}|\d{1,9}[.)])(?:\s|$)|\|")
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^\s()]+)\)")
_EMPHASIS = re.compile(r"(\*\*|\*|__)(?=[^\s*_]).+?(?<=[^\s*_])\1")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)")
_MARKUP = re.compile(
    r" {0,3}(?:\[[^\]^\n][^\]\n]*\]:[ \t]|(?:=+|-{2,}|(?:[*_][ \t]*){3,})[ \t]*\r?$"
    r"|<(?:[!?]|/?[A-Za-z][\w-]*(?:[ \t][^<>]*)?/?>))",
    re.MULTILINE,
)
_HARD_BREAK = re.compile(r"(?:  |\\)\r?\n$")


class Segment(NamedTuple):
    """A part of a text; without a reason it is a sentence to work on."""

    text: str
    reason: str | None = None


def split_segments(text: str, *, wrapped: bool = False) -> list[Segment]:
    """The segments of a text in order, together the text; in a `wrapped` document a line break ends no sentence."""
    start = int(text.startswith("\ufeff"))
    segments = [Segment(text[:start], LAYOUT)]
    after_gap, indented, tries = True, False, _JSON_TRIES
    if wrapped and (front := _FRONT_MATTER.match(text, start)):
        segments, start = [Segment(text[: front.end()], MARKUP)], front.end()
    while start < len(text):
        line = _line(text, start)
        marks = _MARKS.match(line)[0]  # type: ignore[index]
        end, length = start + len(line), 0
        text_or_code = after_gap and bool(_INDENTED.match(line) and line.strip())
        indented = text_or_code and (indented or not marks.strip())
        if line.lstrip()[:1] in ("{", "[") and tries:
            tries, length = tries - 1, _json_length(text, start)
        if length:
            end, reason = start + length, JSON
        elif opened := _FENCE.match(line):
            end, reason = _fence_end(text, end, opened[1]), CODE
        elif indented:
            reason = CODE
        else:
            end, reason = _block(text, start, end, marks, wrapped)
        body = text[start + len(marks) : end]
        segments += [Segment(text[start:end], reason)] if reason else [Segment(marks, LAYOUT), *sentences(body)]
        after_gap, start = indented or not line.strip(), end
    return merged(segments)


def keeps_marks(before: str, after: str) -> bool:
    """True if what replaces a sentence has its code in backticks, links, tags and emphasis, and begins no list."""
    before, after = " ".join(before.split()), " ".join(after.split())
    if _BLOCK.match(after) and not _BLOCK.match(before):
        return False  # It would begin a list, a heading or a quotation.
    same = all(sorted(rule.findall(before)) == sorted(rule.findall(after)) for rule in (_LINK, _EMPHASIS))
    return same and before.count("*") == after.count("*") and all(mark in after for mark in _KEPT.findall(before))


def _line(text: str, start: int) -> str:
    """The line that begins at a position, with its line break; empty at the end."""
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start : end + 1]


def _block(text: str, start: int, end: int, marks: str, wrapped: bool) -> tuple[int, str]:
    """The end of what a line begins with these marks, and a reason if it has no sentences."""
    line = text[start:end]
    if line.startswith("|", len(marks)):
        return end, TABLE
    if wrapped and _MARKUP.match(line):
        return _markup_end(text, start, end), MARKUP
    return (_paragraph_end(text, end, line) if wrapped and "#" not in marks else end), LAYOUT


def _paragraph_end(text: str, end: int, line: str) -> int:
    """The end of the paragraph that a line begins: the next lines belong to it unless they begin something else."""
    while line.strip() and not _HARD_BREAK.search(line):
        line = _line(text, end)
        begins = _MARKS.match(line)[0].strip() or _FENCE.match(line) or _MARKUP.match(line)  # type: ignore[index]
        if not line.strip() or begins or line.lstrip()[0] in "|{":
            break
        end += len(line)
    return end


def _markup_end(text: str, start: int, end: int) -> int:
    """The end of a block of HTML, at a blank line or the end of a comment; of other markup, that of its line."""
    if not text[start:end].lstrip().startswith("<"):
        return end
    if text[start:end].lstrip().startswith("<!--"):
        closed = text.find("-->", start)
        return len(text) if closed < 0 else closed + 3 + len(_line(text, closed + 3))
    while (line := _line(text, end)).strip():
        end += len(line)
    return end


def _fence_end(text: str, start: int, fence: str) -> int:
    """The end of a block of code whose first line is before this position."""
    while line := _line(text, start):
        start += len(line)
        closed = _FENCE.match(line)
        if closed and closed[1].startswith(fence) and not line.strip(" \t\r\n>").strip(fence[0]):
            break
    return start


def _json_length(text: str, start: int) -> int:
    """Characters of a JSON object or list that begins here and ends a line, its line break included; else 0."""
    try:
        _, end = _DECODER.raw_decode(text, start + len(text[start:]) - len(text[start:].lstrip()))
    except (ValueError, RecursionError):
        return 0
    rest = _line(text, end)
    return 0 if rest.strip() else end + len(rest) - start


def sentences(line: str) -> Iterator[Segment]:
    """The sentences of a line and the white space between them."""
    start = 0
    bounds = [(match.start(), match.end()) for match in SENTENCE_END.finditer(line)]
    for end, following in [*bounds, (len(line), len(line))]:
        continues = line[following : following + 1].islower() or _ABBREVIATION.search(line[max(start, end - 12) : end])
        in_code = line.count("`", start, end) % 2 == 1 and "`" in line[following:]
        if following < len(line) and (in_code or (continues and not _KEPT.match(line, following))):
            continue
        # Closing quotation marks are part of what SENTENCE_END matches, and of the sentence before.
        whole = line[start:following]
        sentence = whole.strip()
        if sentence:
            head = len(whole) - len(whole.lstrip())
            tail = head + len(sentence)
            yield Segment(whole[:head], LAYOUT)
            words = len(sentence) <= _LONGEST and _LETTER.search(_KEPT.sub("", sentence))
            yield Segment(sentence, None if words else ENDLESS if len(sentence) > _LONGEST else WORDLESS)
            yield Segment(whole[tail:], LAYOUT)
        else:
            yield Segment(whole, LAYOUT)
        start = following


def merged(segments: list[Segment]) -> list[Segment]:
    """The segments without empty ones; lines of the same code, and layout, together."""
    whole: list[Segment] = []
    for one in segments:
        if whole and one.reason in (LAYOUT, CODE, TABLE) and whole[-1].reason == one.reason:
            whole[-1] = Segment(whole[-1].text + one.text, one.reason)
        elif one.text:
            whole.append(one)
    return whole
