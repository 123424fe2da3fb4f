"""Addresses of pages without the language codes in them, so that those of two languages can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from paraloom.text.tokens import TokenLists, tokenize

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://(?:www\.)?", re.I)
_PARTS = re.compile(r"[^\W_]+")
# Two letters of a country after those of a language: de-at, pt_BR.
_REGION = r"(?:[-_][a-z]{2})?"

WHOLE = "whole"
"""Prefix of the token that stands for an address as a whole."""


def stripped_parts(address: str, language: str) -> list[str]:
    """The words and numbers of an address without its scheme and without the code of its language."""
    path = unquote(_SCHEME.sub("", address)).lower()
    codes = re.escape(language.lower())
    path = re.sub(rf"(?<![^\W_])(?:(?:lang|language|locale|hl)=)?{codes}{_REGION}(?![^\W_])", " ", path)
    return _PARTS.findall(path)


def address_tokens(addresses: Sequence[str], languages: Sequence[str]) -> TokenLists:
    """The parts of each page's address, and one token for all of them together."""
    lists = (stripped_parts(address, lang) for address, lang in zip(addresses, languages, strict=True))
    return tokenize([" ".join([*parts, WHOLE + "x".join(parts)]) if parts else "" for parts in lists])


def link_tokens(links: Iterable[Sequence[str]], languages: Sequence[str]) -> TokenLists:
    return tokenize(
        [
            " ".join(dict.fromkeys(WHOLE + "x".join(stripped_parts(target, lang)) for target in targets))
            for targets, lang in zip(links, languages, strict=True)
        ]
    )
