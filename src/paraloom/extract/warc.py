"""WARC archives: the pages and pictures among their records, whole or refused."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from paraloom.core.errors import DataError, MissingExtraError
from paraloom.extract.pages import Page
from paraloom.io.compression import open_read

_KINDS = {"text/html": "html", "application/xhtml+xml": "html", "text/plain": "text"}
_RECORDS = ("response", "resource", "conversion")
_PIECE = 1 << 16
_ADDRESS = re.compile(rb"^warc-target-uri:\s*<?([^\s>]+)", re.I | re.M)
_LENGTH = re.compile(rb"^content-length:\s*(\d+)\s*$", re.I | re.M)


@dataclass(frozen=True)
class Picture:
    """A picture in an archive."""

    url: str
    body: bytes


def records_of(path: Path) -> Iterator[Page | Picture]:
    """The pages and the pictures of an archive, in their order, read once and one at a time.

    Of the records, responses, resources and conversions count; responses are rid of HTTP's chunks and compression.
    Pictures that the server did not give (status other than 200) are left out, such pages are not.  `.gz` may be one
    member a record, as the standard has it, or one for all.
    Raises DataError that names the file where it is cut short, also within its last record, or is no WARC file:
    whether a cut lost one record or a thousand cannot be seen from what is left.
    """
    try:
        from warcio.recordloader import ArcWarcRecordLoader
    except ImportError:
        raise MissingExtraError.for_verb("extract", "extract") from None
    loader = ArcWarcRecordLoader(verify_http=False)
    with open_read(path) as opened:
        stream = io.BufferedReader(opened) if isinstance(opened, io.RawIOBase) else opened
        for number in count(1):
            head = _head(stream, path, number)
            if not head:
                if number == 1:
                    raise DataError("there is no record in it", file=path, remedy="Check what was to write it.")
                return
            rest = _Record(head, stream, path, number)
            found = _found(loader, rest)
            rest.drain()
            if found is not None:
                yield found


class _Record:
    """One record as a stream of its own, which knows when the archive ends before it does.

    warcio parses it, but where records begin and end is found here: warcio takes an archive that ends within a
    record, or within a member of .gz, for one that ends well.
    """

    def __init__(self, head: bytes, stream: BinaryIO, path: Path, number: int) -> None:
        length = _LENGTH.search(head)
        if length is None:
            raise _no_warc(path, number, "it has no Content-Length")
        address = _ADDRESS.search(head)
        self.address = address[1].decode("utf-8", "replace") if address else ""
        self._head = io.BytesIO(head)
        self._stream = stream
        self._left = int(length[1])
        self._place = path, number

    def read(self, size: int = -1) -> bytes:
        return self._head.read(size) or self._taken(self._stream.read(self._size(size)))

    def readline(self, size: int = -1) -> bytes:
        return self._head.readline(size) or self._taken(self._stream.readline(self._size(size)))

    def drain(self) -> None:
        """Go to the record's end."""
        while self.read(_PIECE):
            pass

    def _size(self, size: int | None) -> int:
        return self._left if size is None or size < 0 else min(size, self._left)

    def _taken(self, piece: bytes) -> bytes:
        if not piece and self._left:
            raise _cut(*self._place)
        self._left -= len(piece)
        return piece


def _head(stream: BinaryIO, path: Path, number: int) -> bytes:
    """The lines of a record up to the empty one; b"" at the archive's end."""
    lines: list[bytes] = []
    while line := stream.readline(_PIECE):
        if line.strip():
            lines.append(line)
        elif lines:
            return b"".join([*lines, line])
        if lines and not lines[0].startswith(b"WARC/"):
            raise _no_warc(path, number, "it does not begin with WARC/")
    if lines:
        raise _cut(path, number)
    return b""


def _no_warc(path: Path, number: int, why: str) -> DataError:
    return DataError(
        f"record {number} is none of a WARC file: {why}",
        file=path,
        remedy="Check that this is a WARC file, and copy it again from where it came.",
    )


def _cut(path: Path, number: int) -> DataError:
    return DataError(
        f"the archive is cut short: it ends inside record {number}",
        file=path,
        remedy="Copy it again from where it came, and compare sizes.",
    )


def _found(loader: Any, stream: _Record) -> Page | Picture | None:
    from warcio.statusandheaders import StatusAndHeadersParserException

    url = stream.address
    if not url:
        return None
    try:
        record = loader.parse_record_stream(stream)
    except (StatusAndHeadersParserException, EOFError):
        return Page(url, _host(url), "html", status=0)
    if record.rec_type not in _RECORDS:
        return None
    if record.rec_type == "response" and url.startswith("http") and not record.http_headers:
        return Page(url, _host(url), "html", status=0)
    headers = record.http_headers or record.rec_headers
    mime, _, parameters = (headers.get_header("Content-Type") or "").partition(";")
    mime = mime.strip().lower()
    status = _status(record)
    if mime.startswith("image/"):
        return Picture(url, record.content_stream().read()) if status == 200 else None
    body = record.content_stream().read() if mime in _KINDS or not mime else b""
    kind = _KINDS.get(mime) or ("html" if _looks_like_html(body) else None)
    if kind is None:
        return None
    charset = next((p.partition("=")[2].strip("\"' ") for p in parameters.split(";") if "charset" in p.lower()), None)
    lang = record.http_headers.get_header("Content-Language") if record.http_headers else None
    return Page(url, _host(url), kind, body=body, charset=charset, lang=lang, status=status)


def _status(record: Any) -> int:
    if record.rec_type != "response":
        return 200
    code = record.http_headers.get_statuscode() if record.http_headers else None
    return int(code) if code and code.isdigit() else 0


def _looks_like_html(body: bytes) -> bool:
    start = body[:1000].lower()
    return b"<html" in start or b"<!doctype html" in start


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # a bracket without its fellow
        return ""
