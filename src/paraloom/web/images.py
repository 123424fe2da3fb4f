"""Images of a page: small files are embedded, other images become a box with their alternative text."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markupsafe import Markup

from paraloom.extract.images import IMAGE_FILES
from paraloom.web.documents_data import Image
from paraloom.web.formatting import THIN, count
from paraloom.web.templates import draw

MAX_BYTES, MAX_TOTAL_BYTES = 100_000, 5_000_000
"""Largest size of one image and of all images of a page, before they are encoded as text."""

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
}


@dataclass
class Embedder:
    """Embeds images in one page and keeps track of their total size."""

    media: Sequence[Path]
    files: Mapping[str, Path] = field(default_factory=dict)
    max_bytes: int = MAX_BYTES
    max_total_bytes: int = MAX_TOTAL_BYTES
    total_bytes: int = 0

    def figure(self, image: Image) -> Markup:
        """The image with its alternative text, or a box with that text and the reason why the image is not shown."""
        title = image.src if len(image.src) <= 200 else image.src[:199] + "…"
        source, reason = self._embedded(image)
        return draw("image", title, image.alt, source, reason)

    def _embedded(self, image: Image) -> tuple[str, str]:
        """The address of the image's content, or '' and the reason why the image cannot be shown."""
        data = self._bytes(image)
        if isinstance(data, str):
            return "", data
        kind = media_type(data)
        if kind is None:
            return "", "not an image"
        if self.total_bytes + len(data) > self.max_total_bytes:
            return "", "omitted: size limit of the page reached"
        self.total_bytes += len(data)
        # Only as <img>: there an SVG cannot run scripts or load anything.
        return f"data:{kind};base64,{base64.b64encode(data).decode()}", ""

    def _bytes(self, image: Image) -> bytes | str:
        """The bytes of the file, or the reason why it cannot be used."""
        recorded = [self.files[image.sha256]] if image.sha256 is not None and image.sha256 in self.files else []
        if not self.media and not recorded:
            return "no image folder given"
        reason = "image file not found"
        for path in chain(recorded, candidate_paths(image.src, self.media)):
            try:
                size = path.stat().st_size if path.is_file() else None
                if size is None:
                    continue
                if size > self.max_bytes:
                    reason = f"{count(-(-size // 1000))}{THIN}kB, too large for the page"
                    continue
                data = path.read_bytes()
            except (OSError, ValueError):  # a name that is too long or contains NUL, or a file without read permission
                continue
            if image.sha256 is None or hashlib.sha256(data).hexdigest() == image.sha256:
                return data
            reason = "the file of this name is a different image"
        return reason


def recorded_files(folders: Sequence[Path]) -> dict[str, Path]:
    """The image files of corpora, by their SHA-256: where `extract` read them."""
    files: dict[str, Path] = {}
    for folder in folders:
        try:
            lines = (folder / IMAGE_FILES).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        for line in lines:
            try:
                entry = json.loads(line)
                files.setdefault(str(entry["sha256"]), folder / str(entry["file"]))
            except (ValueError, KeyError, TypeError):
                continue
    return files


def candidate_paths(src: str, media: Sequence[Path]) -> Iterator[Path]:
    """Where the file of an image address may be: by its path and by its name in each folder, never outside of them."""
    try:
        parts = urlsplit(src)
    except ValueError:
        return
    if parts.scheme not in ("", "http", "https", "file"):
        return
    relative = os.path.normpath(f"/{unquote(parts.path)}").lstrip("/")  # `..` cannot lead above the root
    if relative and "\0" not in relative:
        for folder in media:
            yield from dict.fromkeys((folder / relative, folder / Path(relative).name))


def media_type(data: bytes) -> str | None:
    """The media type of an image by its first bytes; None for what a browser cannot show."""
    for start, kind in _SIGNATURES.items():
        if data.startswith(start):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    return "image/svg+xml" if head.startswith(b"<") and b"<svg" in head.lower() else None
