"""The text of a page's bytes: what its charset is said to be, whether that can be true, and what it is if not."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple


class Decoded(NamedTuple):
    """A page as text.  charset: Python's name of what it was read as.  replaced: bad places, each a U+FFFD now."""

    text: str
    charset: str
    replaced: int


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # UTF-32's mark begins with that of UTF-16: it is tried first.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# What browsers take a label for, after the WHATWG's Encoding Standard: the larger set that its pages are really in.
_READ_AS = {
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
# Text codecs of Python's that no page is in.
_NO_CHARSET = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}
# All their bytes are ASCII, so nothing but the declaration tells them from it.
_SHIFTING = ("iso2022", "hz")

# What pages are in: among all that Python knows, the guess is often a code page of DOS that no page was ever in.
_ON_THE_WEB = [
    *(f"cp{number}" for number in range(1250, 1259)),
    *("iso8859_2", "iso8859_5", "iso8859_7", "iso8859_15", "koi8_r", "koi8_u", "cp874"),
    *("gb18030", "big5hkscs", "euc_jp", "cp932", "cp949"),
]

_META = re.compile(rb"""<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,80}?encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I)
_HEAD = 4096
# A text has next to no NUL; pictures, archives and programs are full of them.
_NULS = 0.01


def decode_page(body: bytes, declared: str | None = None, *, html: bool = True) -> Decoded | None:
    """The text of a page; None where its bytes are no text in any charset that is known.

    declared: the charset in the HTTP header; one in the page itself is found where `html` says that it may have one.
    A byte order mark decides.  Bytes that are valid UTF-8, or most of whose other characters are, are read as UTF-8
    whatever they are said to be, because text in another charset hardly ever happens to be; then what was declared
    is believed if it fits; then charset_normalizer guesses.  Bytes that do not fit become U+FFFD, and are counted.

    >>> decode_page("<meta charset=iso-8859-1>Größe".encode())
    Decoded(text='<meta charset=iso-8859-1>Größe', charset='utf-8', replaced=0)
    >>> decode_page("Größe".encode("latin-1"), "ISO-8859-1")
    Decoded(text='Größe', charset='cp1252', replaced=0)
    >>> decode_page("Größe und Länge: ".encode() + b"\\xff")
    Decoded(text='Größe und Länge: �', charset='utf-8', replaced=1)
    """
    for mark, marked in _MARKS:
        if body.startswith(mark):
            return _replacing(body[len(mark) :], marked)
    in_page = _META.search(body, 0, _HEAD) if html else None
    labels = [declared, in_page[1].decode("ascii", "replace") if in_page else None]
    charsets = [charset for label in labels if label and (charset := charset_of(label))]
    if body.count(0) > _NULS * len(body):
        wide = [charset for charset in charsets if charset.startswith(("utf-16", "utf-32"))]
        return _replacing(body, wide[0]) if wide else None
    charsets = [charset for charset in charsets if not charset.startswith("utf")]
    shifting = [charset for charset in charsets if charset.startswith(_SHIFTING)]
    for charset in [*shifting, "utf-8"]:
        if (text := _strict(body, charset)) is not None:
            return Decoded(text, charset, 0)
    loose = _replacing(body, "utf-8")
    if _mostly_fits(loose):
        return loose
    for charset in charsets:
        if (text := _strict(body, charset)) is not None:
            return Decoded(text, charset, 0)
    for charset in charsets:
        if _mostly_fits(found := _replacing(body, charset)):
            return found
    return _guessed(body)


def charset_of(label: str) -> str | None:
    """Python's name of the charset that browsers read a declared one as; None where there is none of that name.

    >>> [charset_of(label) for label in ("Latin-1", "KS_C_5601-1987", "UTF8", "x-unknown", "zip")]
    ['cp1252', 'cp949', 'utf-8', None, None]
    """
    try:
        name = codecs.lookup(label.strip()).name
        " ".encode(name)  # LookupError for a codec that makes no text
    except (LookupError, ValueError):
        return None
    return None if name in _NO_CHARSET else _READ_AS.get(name, name)


def _strict(body: bytes, charset: str) -> str | None:
    try:
        # Not final: a character that the end of a page has cut in two says nothing against its charset.
        return codecs.getincrementaldecoder(charset)("strict").decode(body, final=False)
    except UnicodeDecodeError:
        return None


def _replacing(body: bytes, charset: str) -> Decoded:
    text = body.decode(charset, "replace")
    meant = body.count("\ufffd".encode()) if charset == "utf-8" else 0
    return Decoded(text, charset, max(0, text.count("\ufffd") - meant))


def _mostly_fits(decoded: Decoded) -> bool:
    """Whether more characters beyond ASCII came out right than were replaced."""
    ascii_only = len(decoded.text.encode("ascii", "ignore"))
    return len(decoded.text) - ascii_only - decoded.replaced > decoded.replaced


def _guessed(body: bytes) -> Decoded | None:
    from charset_normalizer import from_bytes

    best = from_bytes(body, cp_isolation=_ON_THE_WEB).best()
    return None if best is None else _replacing(body, best.encoding)
