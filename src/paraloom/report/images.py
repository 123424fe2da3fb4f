"""Pictures in a page: small ones found on the disk are embedded, for any other a box holds what was said of it."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from paraloom.report.aligned_facts import Image
from paraloom.report.figures import THIN, count
from paraloom.report.markup import Html, element, foreign

EACH, TOTAL = 100_000, 5_000_000
"""Bytes that one picture and that all pictures of a page may have, before they are written as text."""

_STARTS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
}


@dataclass
class Embedder:
    """Writes pictures into one page, and keeps count of what they take.

    media: folders where they are looked for.  A file counts as found when its bytes have the hash that the document
    recorded, or when none was recorded.
    """

    media: Sequence[Path]
    each: int = EACH
    total: int = TOTAL
    spent: int = 0

    def figure(self, image: Image) -> Html:
        """The picture with its alternative text, or a box with that text and why it is not seen."""
        shown = image.src if len(image.src) <= 200 else image.src[:199] + "…"
        picture = self._picture(image)
        if isinstance(picture, Html):
            caption = element("figcaption", foreign(image.alt), aria_hidden="true") if image.alt else None
            return element("figure", picture, caption, class_="thumb", title=shown)
        said = foreign(image.alt) if image.alt else element("span", "no alternative text", class_="quiet")
        return element(
            "figure",
            element("div", said, element("small", picture, lang="en", dir="ltr"), class_="box"),
            class_="thumb",
            title=shown,
        )

    def _picture(self, image: Image) -> Html | str:
        """The element, or why there is none."""
        data = self._bytes(image)
        if isinstance(data, str):
            return data
        kind = media_type(data)
        if kind is None:
            return "not a picture"
        if self.spent + len(data) > self.total:
            return "left out: the page is full"
        self.spent += len(data)
        # Only ever as <img>: there an SVG runs no script and fetches nothing.
        source = f"data:{kind};base64,{base64.b64encode(data).decode()}"
        return element("img", src=source, alt=image.alt)

    def _bytes(self, image: Image) -> bytes | str:
        if not self.media:
            return "picture not given"
        reason = "picture not found"
        for path in places(image.src, self.media):
            try:
                size = path.stat().st_size if path.is_file() else None
                if size is None:
                    continue
                if size > self.each:
                    reason = f"{count(-(-size // 1000))}{THIN}kB, too large for the page"
                    continue
                data = path.read_bytes()
            except (OSError, ValueError):  # a name that is too long or has a NUL, a file that may not be read
                continue
            if image.sha256 is None or hashlib.sha256(data).hexdigest() == image.sha256:
                return data
            reason = "another picture has its name"
        return reason


def places(src: str, media: Sequence[Path]) -> Iterator[Path]:
    """Where the file of an address may be: by its path in each folder, then by its bare name, never outside of them.

    >>> [place.as_posix() for place in places("../../etc/a%20b.png?x=1", [Path("/m")])]
    ['/m/etc/a b.png', '/m/a b.png']
    """
    try:
        parts = urlsplit(src)
    except ValueError:
        return
    if parts.scheme not in ("", "http", "https", "file"):
        return
    inner = os.path.normpath(f"/{unquote(parts.path)}").lstrip("/")  # what would lead above the root stays in it
    if inner and "\0" not in inner:
        for folder in media:
            yield from dict.fromkeys((folder / inner, folder / Path(inner).name))


def media_type(data: bytes) -> str | None:
    """What kind of picture these bytes are, by how they begin; None for what a page cannot show.

    >>> media_type(b"GIF89a..."), media_type(b"<?xml version='1.0'?><svg/>"), media_type(b"<html>")
    ('image/gif', 'image/svg+xml', None)
    """
    for start, kind in _STARTS.items():
        if data.startswith(start):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    return "image/svg+xml" if head.startswith(b"<") and b"<svg" in head.lower() else None
