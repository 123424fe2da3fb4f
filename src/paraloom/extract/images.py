"""Finds the images of a page, their files, and hashes that identify them."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, unquote_to_bytes, urldefrag, urljoin, urlsplit

from paraloom.extract.html import Tree
from paraloom.extract.pages import Page

IMAGE_FILES = "image-files.jsonl"
"""File in a corpus folder with the place of each image file: its SHA-256, and its path relative to the folder."""


class ImageHashes(NamedTuple):
    sha256: str
    phash: str | None


class ImageReference(NamedTuple):
    src: str
    alt: str
    key: str
    file: str | None = None
    hashes: ImageHashes | None = None


# Images of menus, banners and sidebars do not belong to the article; a header inside of an article does.
_IMAGES = (
    "//img[not(ancestor::nav or ancestor::footer or ancestor::aside or ancestor::noscript"
    " or ancestor::header[not(ancestor::article or ancestor::main)])]"
)
# Attributes with the address of images that are loaded lazily.
_LAZY = ("data-src", "data-original", "data-lazy-src")
_DATA = re.compile(r"data:([^,;]*)((?:;[^,]*)?),(.*)", re.S | re.I)


def find_images(tree: Tree, page: Page, media: Sequence[Path] = ()) -> list[ImageReference]:
    """Find the images of a page: beside it, from its root, then in each folder of `media`; never outside of these."""
    base = next(iter(tree.xpath("//base/@href")), "")
    images: dict[str, ImageReference] = {}
    for image in tree.xpath(_IMAGES):
        src, alt = _source(image), " ".join((image.get("alt") or "").split())
        if src and (src not in images or not images[src].alt):
            images[src] = _reference(src, alt, page, base, media)
    return list(images.values())


def hash_image(data: bytes) -> ImageHashes:
    """Hash an image as imagehash does: which of the lowest 8 × 8 frequencies are above the median, on white."""
    return ImageHashes(hashlib.sha256(data).hexdigest(), _perceptual_hash(data))


def _perceptual_hash(data: bytes) -> str | None:
    import imagehash
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A file that would decompress to gigabytes counts as unreadable.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(data)) as image:
                if image.has_transparency_data:
                    rgba = image.convert("RGBA")
                    white = Image.new("RGBA", rgba.size, "white")
                    return str(imagehash.phash(Image.alpha_composite(white, rgba)))
                return str(imagehash.phash(image))
        # Pillow raises all kinds of exceptions for damaged files; none of them should stop the extraction.
        except Exception:
            return None


def _source(image: Tree) -> str:
    src = (image.get("src") or "").strip()
    if not src or src.startswith("data:"):
        lazy = next((value.strip() for name in _LAZY if (value := image.get(name))), "")
        src = lazy or src or (image.get("srcset") or "").split(",")[0].strip().split(" ")[0]
    return src


def _reference(src: str, alt: str, page: Page, base: str, media: Sequence[Path]) -> ImageReference:
    if (inline := _DATA.fullmatch(src)) is not None:
        hashes = hash_image(_inline_bytes(inline[2], inline[3]))
        # The address would repeat the bytes; the hash identifies them.
        return ImageReference(f"data:{inline[1]}", alt, hashes.sha256, hashes=hashes)
    try:
        url = urldefrag(urljoin(page.url, urljoin(base, src)))[0]
        parts = urlsplit(src if page.file is not None else url)
    except ValueError:
        return ImageReference(src, alt, src)
    file = next((path for path in _candidate_files(parts, page, media) if _is_file(path)), None)
    return ImageReference(src, alt, file or url, file)


def _inline_bytes(settings: str, data: str) -> bytes:
    raw = unquote_to_bytes(data)
    if "base64" not in settings.lower():
        return raw
    # An incomplete group at the end is dropped.
    clean = re.sub(rb"[^A-Za-z0-9+/]", b"", raw.translate(bytes.maketrans(b"-_", b"+/")))
    clean = clean[: len(clean) - (len(clean) % 4 == 1)]
    return base64.b64decode(clean + b"=" * (-len(clean) % 4))


def _candidate_files(parts: SplitResult, page: Page, media: Sequence[Path]) -> Iterator[str]:
    """Paths where the file may be, the most likely first."""
    if parts.scheme not in ("", "http", "https", "file"):
        return
    # Mirrors make the query a part of the file name.
    names = [unquote(parts.path)]
    if parts.query:
        names.insert(0, f"{names[0]}?{parts.query}")
    for name in names:
        relative = os.path.normpath(f"/{name}").lstrip("/")  # '..' cannot lead above the root
        if page.file is not None and page.root is not None:
            if not parts.netloc and not name.startswith("/"):
                yield from _within(page.root, os.path.join(page.file.parent, name))  # noqa: PTH118
            if parts.netloc:
                yield from _within(page.root, page.root / parts.netloc / relative)
            yield from _within(page.root, page.root / relative)
        for folder in media:
            yield from _within(folder, folder / relative)
            yield from _within(folder, folder / Path(relative).name)


def _within(folder: Path, path: Path | str) -> Iterator[str]:
    """The normalized path, if it is in the folder."""
    # Symbolic links in the folder are followed: they belong to its owner, not to the page.
    root, file = os.path.abspath(folder), os.path.abspath(path)  # noqa: PTH100
    if file.startswith(root.rstrip("/") + "/"):
        yield file


@lru_cache(1 << 16)
def _is_file(path: str) -> bool:
    try:
        path.encode()
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that is too long, has a NUL, or is not valid Unicode
        return False
