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
    """The words and numbers of an address without its scheme and without the code of its language.

    Args:
        address: Address of a page, or path of a file.
        language: Code of the language of the page that has it, such as de; 'und' where it is not known.

    Example:
        >>> stripped_parts("https://www.example.org/de-AT/hilfe_12.html?lang=de", "de")
        ['example', 'org', 'hilfe', '12', 'html']
        >>> stripped_parts("http://en.example.org/index.en.html", "en")
        ['example', 'org', 'index', 'html']
    """
    path = unquote(_SCHEME.sub("", address)).lower()
    codes = re.escape(language.lower())
    path = re.sub(rf"(?<![^\W_])(?:(?:lang|language|locale|hl)=)?{codes}{_REGION}(?![^\W_])", " ", path)
    return _PARTS.findall(path)


def address_tokens(addresses: Sequence[str], languages: Sequence[str]) -> TokenLists:
    """The parts of each page's address, and one token for all of them together.

    Args:
        addresses: Addresses of n pages.
        languages: Their languages.

    Returns:
        n lists of token ids; a page without an address has an empty list.
    """
    lists = (stripped_parts(address, lang) for address, lang in zip(addresses, languages, strict=True))
    return tokenize([" ".join([*parts, WHOLE + "x".join(parts)]) if parts else "" for parts in lists])


def link_tokens(links: Iterable[Sequence[str]], languages: Sequence[str]) -> TokenLists:
    """One token for each page that a page links to.

    Args:
        links: Addresses that each of n pages links to.
        languages: The languages of the pages.

    Returns:
        n lists of token ids.
    """
    return tokenize(
        [
            " ".join(dict.fromkeys(WHOLE + "x".join(stripped_parts(target, lang)) for target in targets))
            for targets, lang in zip(links, languages, strict=True)
        ]
    )
