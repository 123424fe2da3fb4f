"""Finds the pages that a page links to: evidence that two pages in different languages belong together."""

from __future__ import annotations

from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from paraloom.extract.pages import Page

MAX_LINKS = 500
"""Links of a page that are kept, the first ones."""


def find_links(tree: Any, page: Page) -> list[str]:
    """Find the addresses that a page links to."""
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
