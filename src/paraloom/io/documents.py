"""Documents with structure, Markdown, HTML and subtitles: one record, whose `text` is the file, in segments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from paraloom.core.errors import DataError
from paraloom.io.compression import decode, open_read, open_write, without_compression
from paraloom.text.html import html_in_place, html_segments, html_words
from paraloom.text.segments import Segment, keeps_marks, split_segments
from paraloom.text.subtitles import subtitle_segments, wrapped_like

TEXT = "text"
"""Name of the only column of a document."""

SUBTITLES = (".srt", ".vtt")
PAGES = (".html", ".htm", ".xhtml")
DOCUMENTS: dict[str, Callable[[str], list[Segment]]] = {
    **dict.fromkeys((".md", ".markdown"), partial(split_segments, wrapped=True)),
    **dict.fromkeys(SUBTITLES, subtitle_segments),
    **dict.fromkeys(PAGES, html_segments),
}
"""Suffix → the segments of a document."""


def is_document(path: str | Path, output: str | Path | None = None) -> bool:
    """True if a file is a document, by its suffix, and an output is one of the same kind."""
    kinds = {without_compression(one).suffix for one in (path, output) if one is not None}
    return len(kinds) == 1 and kinds <= set(DOCUMENTS)


def read_document(path: str | Path) -> str:
    """The whole text, its line breaks and byte order mark included."""
    with open_read(path) as stream:
        return "\n".join(decode(line, path, row) for row, line in enumerate(stream.read().split(b"\n"), 1))


def document_segments(path: str | Path, text: str) -> list[Segment]:
    """The segments of a document in order; together they are its text."""
    try:
        return DOCUMENTS[without_compression(path).suffix](text)
    except DataError as error:
        raise error.at(file=path) from None


def words_of(path: str | Path, sentence: str) -> str:
    """A sentence of a document or of a record as it is read, on one line."""
    return html_words(sentence) if without_compression(path).suffix in PAGES else " ".join(sentence.split())


def in_its_place(path: str | Path, before: str, after: str) -> str | None:
    """What replaces a sentence: in a document a line, of subtitles as many as before; None if marks would be lost."""
    suffix = without_compression(path).suffix
    if suffix in PAGES:
        return html_in_place(before, after)
    if suffix in DOCUMENTS:
        after = wrapped_like(after, before) if suffix in SUBTITLES else " ".join(after.split())
    return after if keeps_marks(before, after) else None


def write_document(text: str, path: str | Path) -> None:
    with open_write(path) as stream:
        stream.write(text.encode())
