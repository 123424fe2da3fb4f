"""Subtitles (SubRip, WebVTT) as segments: the sentences of cues to work on, numbers and times left as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from paraloom.core.errors import DataError
from paraloom.text.segments import LAYOUT, Segment, merged, sentences

OUTSIDE = "outside of a cue"
"""Reason of lines with words that belong to no cue, such as comments and styles."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_TIMES = re.compile(r"[ \t]*(?:\d+:)?\d{1,2}:\d\d[.,]\d{1,3}[ \t]*-->")
_TAG = r"</?[A-Za-z\d][^<>]*>|\{\\[^{}]*\}"
_BEFORE = re.compile(rf"(?:\s|{_TAG}|[♪♫\ufeff]|[-–—•](?=[\s\w<]))*")
_PARTS = re.compile(rf"(?P<around>\s+|{_TAG}|[♪♫]+)|[^\s<{{♪♫]+|[<{{]")
_SPEAKER = re.compile(rf"^(?=(?:[ \t]|{_TAG})*[-–—][ \t\w])", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{2}")


def subtitle_segments(text: str) -> list[Segment]:
    """The segments of subtitles in order; together they are the text. A cue of two speakers is read as two parts."""
    segments: list[Segment] = []
    cue: list[str] | None = None
    cues = 0
    for line in _LINE.findall(text):
        if _TIMES.match(line):
            segments += [*_cue_segments("".join(cue or ())), Segment(line, LAYOUT)]
            cue, cues = [], cues + 1
        elif cue is not None and line.strip():
            cue.append(line)
        else:
            segments += _cue_segments("".join(cue or ()))
            cue = None
            segments.append(Segment(line, OUTSIDE if _WORD.search(line) and "WEBVTT" not in line else LAYOUT))
    if not cues:
        raise DataError("no subtitles found", remedy="Expected lines of times such as 00:00:01,000 --> 00:00:02,500.")
    return merged([*segments, *_cue_segments("".join(cue or ()))])


def wrapped_like(text: str, before: str) -> str:
    """A text on as many lines as another one, about equally long."""
    words, count = text.split(), len(before.splitlines())
    lines: list[str] = []
    for left in range(min(count, len(words)), 1, -1):
        target = len(" ".join(words)) / left
        lengths = [len(" ".join(words[:number])) for number in range(1, len(words) - left + 2)]
        number = min(range(len(lengths)), key=lambda index: abs(lengths[index] - target)) + 1
        lines.append(" ".join(words[:number]))
        words = words[number:]
    return ("\r\n" if "\r\n" in before else "\n").join([*lines, " ".join(words)])


def _cue_segments(text: str) -> Iterator[Segment]:
    """The sentences of a cue, without the tags, dashes and notes around them."""
    starts = [0, *(match.start() for match in _SPEAKER.finditer(text) if match.start()), len(text)]
    for start, end in pairwise(starts):
        part = text[start:end]
        before = _BEFORE.match(part).end()  # type: ignore[union-attr]
        words = (match.end() for match in _PARTS.finditer(part, before) if match["around"] is None)
        after = max(words, default=before)
        yield Segment(part[:before], LAYOUT)
        yield from sentences(part[before:after])
        yield Segment(part[after:], LAYOUT)
