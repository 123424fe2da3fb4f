"""Names, numbers and addresses of a text, by how they are written: no parser is needed, and any language will do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paraloom.text.tokens import TokenLists, tokenize

_A = "".join(letter for letter in map(chr, range(0x41, 0x250)) if letter.isupper())
"""Latin capitals, those with accents too."""

_ADDRESS = re.compile(r"(?:https?://|www\.)\S*[\w/]")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
# Capitals inside a word (NASA, LibreOffice, iPhone), letters with digits (F11), or a capital after a small letter and a
# blank.
_NAME = re.compile(rf"(?<=[^\W\d_{_A}] )[{_A}]\w+|\b[^\W\d_]\w*[{_A}]\w*|\b[A-Za-z]+\d\w*")
_LATIN = re.compile(r"[A-Za-z][\w'-]*")
_OTHER_LETTER = re.compile(r"[^\W\d_\u0000-\u024f]")


def entities(text: str) -> list[str]:
    """The entities of a text in lower case, each once, in order.

    In a text of another script than Latin every word in Latin letters is one.

    >>> entities("See www.example.org: LibreOffice 7.4 runs on Debian.")
    ['www.example.org', '7.4', 'libreoffice', 'debian']
    >>> entities("F11 키를 누르면 Writer 창이 열립니다.")
    ['11', 'f11', 'writer']
    """
    found = _ADDRESS.findall(text)
    rest = _ADDRESS.sub(" ", text)
    found += _NUMBER.findall(rest)
    foreign = len(_OTHER_LETTER.findall(rest)) * 4 > len(rest)
    found += (_LATIN if foreign else _NAME).findall(rest)
    return list(dict.fromkeys(name.lower() for name in found))


def entity_lists(texts: Sequence[str]) -> TokenLists:
    """The entities of n texts as ids, each once a text: TokenLists of n lists."""
    # One token a name, whatever is in it: what is no letter would part it.
    return tokenize([" ".join(re.sub(r"[\W_]", "x", name) for name in entities(text)) for text in texts])
