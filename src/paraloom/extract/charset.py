"""Decodes pages: by byte order mark, UTF-8 validity, declared charset, or a guess."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple


class DecodedPage(NamedTuple):
    text: str
    charset: str
    replaced: int


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # The mark of UTF-32 starts with that of UTF-16, so it is tried first.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# The charset that browsers use for a label, by the WHATWG Encoding Standard: a superset that pages really use.
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
}
# Text codecs of Python that are not charsets of pages.
_NOT_CHARSETS = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}
# All their bytes are ASCII, so only the declaration distinguishes them from it.
_SEVEN_BIT = ("iso2022", "hz")

# Charsets of web pages; among all that Python knows, the guess is often a code page of DOS.
_WEB_CHARSETS = [
    *(f"cp{number}" for number in range(1250, 1259)),
    *("iso8859_2", "iso8859_5", "iso8859_7", "iso8859_15", "koi8_r", "koi8_u", "cp874"),
    *("gb18030", "big5hkscs", "euc_jp", "cp932", "cp949"),
]

_META = re.compile(rb"""<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,80}?encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I)
_HEAD_BYTES = 4096
# Text has hardly any NUL bytes; images, archives and programs are full of them.
_MAX_NUL_SHARE = 0.01


def decode_page(body: bytes, declared: str | None = None, *, html: bool = True) -> DecodedPage | None:
    """Decode a page: by its byte order mark, as UTF-8 if mostly valid, as declared, or as guessed."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _decode_replacing(body[len(mark) :], encoding)
    charsets = _declared_charsets(body, declared, html)
    if body.count(0) > _MAX_NUL_SHARE * len(body):
        wide = [charset for charset in charsets if charset.startswith(("utf-16", "utf-32"))]
        return _decode_replacing(body, wide[0]) if wide else None
    charsets = [charset for charset in charsets if not charset.startswith("utf")]
    seven_bit = [charset for charset in charsets if charset.startswith(_SEVEN_BIT)]
    return (
        _first_valid(body, [*seven_bit, "utf-8"])
        or _first_mostly_valid(body, ["utf-8"])
        or _first_valid(body, charsets)
        or _first_mostly_valid(body, charsets)
        or _guess(body)
    )


def _declared_charsets(body: bytes, declared: str | None, html: bool) -> list[str]:
    in_page = _META.search(body, 0, _HEAD_BYTES) if html else None
    labels = [declared, in_page[1].decode("ascii", "replace") if in_page else None]
    return [charset for label in labels if label and (charset := python_charset(label))]


def python_charset(label: str) -> str | None:
    """Find Python's codec for a declared charset, as browsers interpret it."""
    try:
        name = codecs.lookup(label.strip()).name
        " ".encode(name)  # LookupError for a codec that does not encode text
    except (LookupError, ValueError):
        return None
    return None if name in _NOT_CHARSETS else _SUPERSETS.get(name, name)


def _first_valid(body: bytes, charsets: Sequence[str]) -> DecodedPage | None:
    """The page by the first charset in which all of its bytes are valid."""
    for charset in charsets:
        with suppress(UnicodeDecodeError):
            # Not final: a character truncated at the end of the page does not make the charset wrong.
            text = codecs.getincrementaldecoder(charset)("strict").decode(body, final=False)
            return DecodedPage(text, charset, 0)
    return None


def _first_mostly_valid(body: bytes, charsets: Sequence[str]) -> DecodedPage | None:
    return next(
        (page for page in (_decode_replacing(body, charset) for charset in charsets) if _mostly_valid(page)), None
    )


def _decode_replacing(body: bytes, charset: str) -> DecodedPage:
    text = body.decode(charset, "replace")
    intended = body.count("\ufffd".encode()) if charset == "utf-8" else 0
    return DecodedPage(text, charset, max(0, text.count("\ufffd") - intended))


def _mostly_valid(decoded: DecodedPage) -> bool:
    """True if more characters outside of ASCII are valid than were replaced."""
    ascii_only = len(decoded.text.encode("ascii", "ignore"))
    return len(decoded.text) - ascii_only - decoded.replaced > decoded.replaced


def _guess(body: bytes) -> DecodedPage | None:
    from charset_normalizer import from_bytes

    best = from_bytes(body, cp_isolation=_WEB_CHARSETS).best()
    return None if best is None else _decode_replacing(body, best.encoding)
