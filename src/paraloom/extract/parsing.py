"""A page parsed: one row of a table, with its paragraphs and pictures, before the site's repetitions are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.extract import html as main_text
from paraloom.extract.boilerplate import text_hash
from paraloom.extract.charset import Decoded, decode_page
from paraloom.extract.images import Reference, references_of
from paraloom.extract.pages import Page

PARSED = pa.schema(
    [
        ("doc_id", pa.string()),
        ("url", pa.string()),
        ("site", pa.string()),
        ("counted", pa.bool_()),
        ("lang", pa.string()),
        ("title", pa.string()),
        ("paragraphs", pa.list_(pa.string())),
        ("hashes", pa.list_(pa.uint64())),
        (
            "images",
            pa.list_(
                pa.struct(
                    [(name, pa.string()) for name in ("src", "alt", "key", "file", "sha256", "phash")]
                    + [("hash", pa.uint64())]
                )
            ),
        ),
        ("replaced", pa.int64()),
        ("reason", pa.string()),
        ("detail", pa.string()),
    ]
)
"""lang: as said, null where nothing is.  hashes: of the paragraphs, where they are to be compared over the site.
replaced: places that did not decode.  reason, detail: why the page cannot become a document, null where it can."""


@dataclass(frozen=True)
class Job:
    """A page and how it is to be read.

    method: one of main_text.METHODS.  counted: whether it counts when the site's repetitions are looked for.
    lang: the language it is in, whatever it says itself; None to believe the page, and then the server.
    media: folders where pictures may be.
    """

    doc_id: str
    page: Page
    method: str
    counted: bool
    lang: str | None = None
    media: Sequence[Path] = ()


def parse(job: Job) -> dict[str, Any]:
    """The row of PARSED for a page; whatever is wrong with the page is in the row."""
    page = job.page
    row: dict[str, Any] = {"doc_id": job.doc_id, "url": page.url, "site": page.site, "counted": False}
    row |= {"lang": job.lang or main_text.primary_language(page.lang), "title": "", "replaced": 0}
    row |= {"paragraphs": [], "hashes": [], "images": [], "reason": None, "detail": None}
    if not 200 <= page.status < 300:
        said = f"the server said {page.status}" if page.status else "no answer of a server's can be read"
        return row | {"reason": "status", "detail": said}
    try:
        body = page.read()
    except OSError as error:
        return row | {"reason": "unreadable", "detail": error.strerror or str(error)}
    if not body.strip():
        return row | {"reason": "empty", "detail": "no bytes"}
    decoded = decode_page(body, page.charset, html=page.kind == "html")
    if decoded is None:
        return row | {"reason": "charset", "detail": "the bytes are no text in any charset"}
    row |= {"replaced": decoded.replaced, "counted": job.counted}
    row |= _text(decoded) if page.kind == "text" else _html(decoded, job, row["lang"])
    if not row["paragraphs"]:
        row |= {"reason": "empty", "detail": "no main text"}
    elif job.method == "site":
        row["hashes"] = [text_hash(paragraph) for paragraph in row["paragraphs"]]
    return row


def _text(decoded: Decoded) -> dict[str, Any]:
    paragraphs = main_text.paragraphs_of_text(decoded.text)
    return {"paragraphs": paragraphs, "title": paragraphs[0] if paragraphs else ""}


def _html(decoded: Decoded, job: Job, said: str | None) -> dict[str, Any]:
    tree = main_text.parse_html(decoded.text)
    if tree is None:
        return {}
    lang = job.lang or main_text.language_of(tree) or said
    return {
        "lang": lang,
        "title": main_text.title_of(tree),
        "images": [_image(each) for each in references_of(tree, job.page, job.media)],
        "paragraphs": main_text.paragraphs_of(tree, job.method, lang),
    }


def _image(found: Reference) -> dict[str, Any]:
    hashes = found.fingerprint._asdict() if found.fingerprint else {}
    return {
        "src": found.src,
        "alt": found.alt,
        "key": found.key,
        "file": found.file,
        "hash": text_hash(found.key),
    } | hashes
