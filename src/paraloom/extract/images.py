"""The pictures of a page: which they are, where their bytes are, and the two hashes that tell them again."""

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
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, unquote_to_bytes, urldefrag, urljoin, urlsplit

from paraloom.extract.pages import Page


class Fingerprint(NamedTuple):
    """sha256: of the bytes, hex.  phash: 64 bits of what is seen, hex; None for what Pillow cannot read (SVG)."""

    sha256: str
    phash: str | None


class Reference(NamedTuple):
    """A picture that a page refers to.

    src, alt: as the page has them.  key: what it is by, within its site.  file: where its bytes are on the disk.
    fingerprint: of one whose bytes stand in the page.
    """

    src: str
    alt: str
    key: str
    file: str | None = None
    fingerprint: Fingerprint | None = None


# Pictures of menus, banners and margins are none of the article's; a header within an article is the article's.
_PICTURES = (
    "//img[not(ancestor::nav or ancestor::footer or ancestor::aside or ancestor::noscript"
    " or ancestor::header[not(ancestor::article or ancestor::main)])]"
)
# Where pages that load their pictures late keep the address.
_LATE = ("data-src", "data-original", "data-lazy-src")
_DATA = re.compile(r"data:([^,;]*)((?:;[^,]*)?),(.*)", re.S | re.I)


def references_of(tree: Any, page: Page, media: Sequence[Path] = ()) -> list[Reference]:
    """The pictures of a page in their order, each address once.

    A file is looked for where the address leads from the page, then from its root (and there under the host's name
    too, as mirrors have it), then in each folder of `media`, by its path there and by its bare name; never outside of
    the root and of these folders, wherever the address leads.
    """
    base = next(iter(tree.xpath("//base/@href")), "")
    found: dict[str, Reference] = {}
    for image in tree.xpath(_PICTURES):
        src, alt = _source(image), " ".join((image.get("alt") or "").split())
        if src and (src not in found or not found[src].alt):
            found[src] = _reference(src, alt, page, base, media)
    return list(found.values())


def fingerprint(data: bytes) -> Fingerprint:
    """The hashes of a picture's bytes.

    phash is imagehash's: the signs of the lowest 8 × 8 frequencies around their median; two pictures that look alike
    differ in few of its 64 bits.  What is transparent is taken for white.

    >>> fingerprint(b"<svg/>").phash is None
    True
    """
    return Fingerprint(hashlib.sha256(data).hexdigest(), _perceptual(data))


def _perceptual(data: bytes) -> str | None:
    import imagehash
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A file that would unpack to gigabytes is a picture that cannot be read.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(data)) as image:
                if image.has_transparency_data:
                    seen = image.convert("RGBA")
                    white = Image.new("RGBA", seen.size, "white")
                    return str(imagehash.phash(Image.alpha_composite(white, seen)))
                return str(imagehash.phash(image))
        # Pillow's readers raise whatever a broken file makes them stumble over; none of it is worth stopping for.
        except Exception:
            return None


def _source(image: Any) -> str:
    src = (image.get("src") or "").strip()
    if not src or src.startswith("data:"):
        late = next((value.strip() for name in _LATE if (value := image.get(name))), "")
        src = late or src or (image.get("srcset") or "").split(",")[0].strip().split(" ")[0]
    return src


def _reference(src: str, alt: str, page: Page, base: str, media: Sequence[Path]) -> Reference:
    if (inline := _DATA.fullmatch(src)) is not None:
        made = fingerprint(_inline_bytes(inline[2], inline[3]))
        # The bytes themselves are no address: what they are stands in the hash.
        return Reference(f"data:{inline[1]}", alt, made.sha256, fingerprint=made)
    try:
        url = urldefrag(urljoin(page.url, urljoin(base, src)))[0]
        parts = urlsplit(src if page.file is not None else url)
    except ValueError:
        return Reference(src, alt, src)
    file = next((path for path in _places(parts, page, media) if _is_file(path)), None)
    return Reference(src, alt, file or url, file)


def _inline_bytes(settings: str, data: str) -> bytes:
    raw = unquote_to_bytes(data)
    if "base64" not in settings.lower():
        return raw
    # What is left over at a cut end is dropped.
    clean = re.sub(rb"[^A-Za-z0-9+/]", b"", raw.translate(bytes.maketrans(b"-_", b"+/")))
    clean = clean[: len(clean) - (len(clean) % 4 == 1)]
    return base64.b64decode(clean + b"=" * (-len(clean) % 4))


def _places(parts: SplitResult, page: Page, media: Sequence[Path]) -> Iterator[str]:
    """Where the file may be, the likeliest place first."""
    if parts.scheme not in ("", "http", "https", "file"):
        return
    # Mirrors write the query into the name.
    names = [unquote(parts.path)]
    if parts.query:
        names.insert(0, f"{names[0]}?{parts.query}")
    for name in names:
        inner = os.path.normpath(f"/{name}").lstrip("/")  # what would lead above the root stays in it
        if page.file is not None and page.root is not None:
            if not parts.netloc and not name.startswith("/"):
                yield from _within(page.root, os.path.join(page.file.parent, name))  # noqa: PTH118
            if parts.netloc:
                yield from _within(page.root, page.root / parts.netloc / inner)
            yield from _within(page.root, page.root / inner)
        for folder in media:
            yield from _within(folder, folder / inner)
            yield from _within(folder, folder / Path(inner).name)


def _within(folder: Path, path: Path | str) -> Iterator[str]:
    """The path, its dots resolved, if it is in the folder."""
    # By name alone: where a link of the folder's own leads is its owner's business, not the page's.
    root, place = os.path.abspath(folder), os.path.abspath(path)  # noqa: PTH100
    if place.startswith(root.rstrip("/") + "/"):
        yield place


@lru_cache(1 << 16)
def _is_file(path: str) -> bool:
    try:
        path.encode()
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that is too long, has a NUL, or is no Unicode
        return False
