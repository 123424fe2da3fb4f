"""Parses one page to a row with its paragraphs and images, before repeated content is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import pyarrow as pa

from paraloom.extract import html
from paraloom.extract.boilerplate import text_hash
from paraloom.extract.charset import DecodedPage, decode_page
from paraloom.extract.images import ImageReference, find_images
from paraloom.extract.pages import MAX_PAGE_BYTES, Page

PARSED_PAGES = pa.schema(
    [
        ("doc_id", pa.string()),
        ("url", pa.string()),
        ("site", pa.string()),
        ("counted", pa.bool_()),
        ("lang", pa.string()),
        ("title", pa.string()),
        ("paragraphs", pa.list_(pa.string())),
        ("code", pa.list_(pa.bool_())),
        ("hashes", pa.list_(pa.uint64())),
        ("links", pa.list_(pa.string())),
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
"""Columns of parsed pages. lang: as declared, or null. code: which paragraphs are program code; empty where none is.
hashes: of the paragraphs, where they are compared over the site. replaced: invalid bytes. reason, detail: why the page
cannot become a document, or null."""


@dataclass(frozen=True)
class ParseJob:
    doc_id: str
    page: Page
    method: str
    counted: bool
    lang: str | None = None
    media: Sequence[Path] = ()


def parse_page(job: ParseJob) -> dict[str, Any]:
    page = job.page
    row: dict[str, Any] = {"doc_id": job.doc_id, "url": page.url, "site": page.site, "counted": False}
    row |= {"lang": job.lang or html.primary_language(page.lang), "title": "", "replaced": 0}
    row |= {"paragraphs": [], "code": [], "hashes": [], "links": [], "images": [], "reason": None, "detail": None}
    if not 200 <= page.status < 300:
        detail = f"HTTP status {page.status}" if page.status else "the server's response cannot be read"
        return row | {"reason": "status", "detail": detail}
    try:
        body = page.read()
    except OSError as error:
        return row | {"reason": "unreadable", "detail": error.strerror or str(error)}
    if not body.strip():
        return row | {"reason": "empty", "detail": "no bytes"}
    if len(body) > MAX_PAGE_BYTES:
        return row | {"reason": "size", "detail": f"more than {MAX_PAGE_BYTES >> 20} MB"}
    decoded = decode_page(body, page.charset, html=page.kind == "html")
    if decoded is None:
        return row | {"reason": "charset", "detail": "the bytes are not text in any known charset"}
    row |= {"replaced": decoded.replaced, "counted": job.counted}
    try:
        row |= _parse_text(decoded) if page.kind == "text" else _parse_html(decoded, job, row["lang"])
    except html.PageLimitError as error:
        return row | {"counted": False, "reason": "size", "detail": str(error)}
    if not row["paragraphs"]:
        row |= {"reason": "empty", "detail": "no main text"}
    elif job.method == "site":
        row["hashes"] = [text_hash(paragraph) for paragraph in row["paragraphs"]]
    return row


def _parse_text(decoded: DecodedPage) -> dict[str, Any]:
    paragraphs = html.split_paragraphs(decoded.text)
    return {"paragraphs": paragraphs, "title": paragraphs[0] if paragraphs else ""}


def _parse_html(decoded: DecodedPage, job: ParseJob, declared: str | None) -> dict[str, Any]:
    html.check_tags(decoded.text)
    tree = html.parse_html(decoded.text)
    if tree is None:
        return {}
    html.check_tree(tree)
    lang = job.lang or html.declared_language(tree) or declared
    paragraphs = html.extract_paragraphs(tree, job.method, lang)
    codes = html.code_texts(tree)
    return {
        "lang": lang,
        "title": html.extract_title(tree),
        "images": [_image_row(image) for image in find_images(tree, job.page, job.media)],
        "links": find_links(tree, job.page),
        "paragraphs": paragraphs,
        "code": [paragraph in codes for paragraph in paragraphs] if codes else [],
    }


def _image_row(image: ImageReference) -> dict[str, Any]:
    hashes = image.hashes._asdict() if image.hashes else {}
    return {
        "src": image.src,
        "alt": image.alt,
        "key": image.key,
        "file": image.file,
        "hash": text_hash(image.key),
    } | hashes


MAX_LINKS = 500  # Links of a page that are kept, the first ones


def find_links(tree: html.Tree, page: Page) -> list[str]:
    base = next(iter(tree.xpath("//base/@href")), "")
    links: dict[str, None] = {}
    for target in tree.xpath("//a/@href"):
        address = _absolute(page.url, base, target.strip())
        if address and address != page.url:
            links[address.encode("utf-8", "replace").decode("utf-8")] = None
        if len(links) == MAX_LINKS:
            break
    return list(links)


def _absolute(url: str, base: str, target: str) -> str:
    """The address of a link; '' for one that is not a page, or not valid."""
    try:
        address = urldefrag(urljoin(urljoin(url, base), target))[0]
        return address if urlsplit(address).scheme in ("", "http", "https") else ""
    except ValueError:  # an unbalanced bracket
        return ""
