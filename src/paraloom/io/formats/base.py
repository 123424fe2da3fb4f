"""What a reader of bitext is asked for, and the rows it gives: what all formats share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from paraloom.core.errors import DataError
from paraloom.io.compression import without_compression

Column: TypeAlias = str | int | None
"""A column by name or by number from 1 ('2' is a number too); None is the format's own choice."""

OnReject: TypeAlias = Callable[[int, str, str], None]
"""Called with row (from 1), reason and raw text of each row that is set aside instead of raising."""

PROVENANCE = ("src_lang", "tgt_lang", "pair_id", "origin")
"""The columns of a pair that a table may have beside its two sides; kept as they are.  The order is Pair's."""

_LANGUAGES = re.compile(r"(?:^|\.)([a-z]{2,3})-([a-z]{2,3})$")


class Pair(NamedTuple):
    """One row of bitext; what is None is filled in from the request."""

    row: int
    src: str
    tgt: str
    src_lang: str | None = None
    tgt_lang: str | None = None
    pair_id: str | None = None
    origin: str | None = None


@dataclass(frozen=True)
class Asked:
    """The file and the caller's wishes; languages left out are taken from a name like `news.de-en.tsv`."""

    path: str
    src_lang: str | None = None
    tgt_lang: str | None = None
    src_column: Column = None
    tgt_column: Column = None
    on_reject: OnReject | None = None

    def refuse(self, row: int, error: DataError, raw: str) -> None:
        """Set a bad row aside where the caller wants that; else raise `error`, its place filled in."""
        if self.on_reject is None:
            raise error.at(file=self.path, row=row)
        self.on_reject(row, error.what, raw)


def stem(path: str) -> str:
    """The file's name without folder and suffixes of format and compression.

    >>> stem("data/news.de-en.tsv.gz")
    'news.de-en'
    """
    return without_compression(path).stem


def languages_in_name(name: str) -> tuple[str, str] | None:
    """The two languages at the end of a stem.

    >>> languages_in_name("news.de-en"), languages_in_name("news")
    (('de', 'en'), None)
    """
    found = _LANGUAGES.search(name)
    return (found[1], found[2]) if found else None


def origin_of(name: str) -> str:
    """A stem without its languages, unless nothing else is left.

    >>> origin_of("news.de-en"), origin_of("de-en")
    ('news', 'de-en')
    """
    return _LANGUAGES.sub("", name) or name


def raw_text(line: bytes) -> str:
    """A line that may be no UTF-8 as text, its bad bytes written as escapes."""
    return line.decode(errors="backslashreplace")


def file_name(path: str) -> str:
    """The name a message shows where the folder is clear."""
    return Path(path).name
