"""Reads pages and images from WARC archives; a truncated archive is an error."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

from paraloom.core.errors import DataError, MissingExtraError
from paraloom.extract.pages import MAX_PAGE_BYTES, Page
from paraloom.io.compression import open_read

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord, ArcWarcRecordLoader

_KINDS = {"text/html": "html", "application/xhtml+xml": "html", "text/plain": "text"}
_RECORDS = ("response", "resource", "conversion")
_CHUNK_BYTES = 1 << 16
_MAX_HEAD_BYTES = 1 << 20
# More than any file has; numbers of thousands of digits are not even converted.
_MAX_LENGTH_DIGITS = 18
_VERSION = re.compile(rb"WARC/\d+(\.\d+)+\s*")
_ADDRESS = re.compile(rb"^warc-target-uri:\s*<?([^\s>]+)", re.I | re.M)
_LENGTH = re.compile(rb"^content-length:\s*(\d+)\s*$", re.I | re.M)


@dataclass(frozen=True)
class ArchivedImage:
    url: str
    body: bytes


def read_archive(path: Path) -> Iterator[Page | ArchivedImage]:
    """Read the pages and images of a WARC archive in order, one at a time, decoded and bounded in size."""
    try:
        from warcio.recordloader import ArcWarcRecordLoader
    except ImportError:
        raise MissingExtraError.for_verb("extract", "extract") from None
    loader = ArcWarcRecordLoader(verify_http=False)
    with open_read(path) as opened:
        stream = io.BufferedReader(opened) if isinstance(opened, io.RawIOBase) else opened
        for number in count(1):
            head = _read_head(stream, path, number)
            if not head:
                if number == 1:
                    raise DataError("the archive has no records", file=path, remedy="Check the program that wrote it.")
                return
            record = _Record(head, stream, path, number)
            content = _content(loader, record)
            record.skip_rest()
            if content is not None:
                yield content


class _Record:
    """One record as a stream, with an error where the archive ends within it, which warcio does not notice."""

    def __init__(self, head: bytes, stream: BinaryIO, path: Path, number: int) -> None:
        length = _LENGTH.search(head)
        if length is None:
            raise _not_warc(path, number, "it has no Content-Length")
        if len(length[1].lstrip(b"0")) > _MAX_LENGTH_DIGITS:
            raise _not_warc(path, number, "its Content-Length is out of range")
        address = _ADDRESS.search(head)
        self.address = address[1].decode("utf-8", "replace") if address else ""
        self._head = io.BytesIO(head)
        self._stream = stream
        self._left = int(length[1])
        self._location = path, number

    def read(self, size: int = -1) -> bytes:
        return self._head.read(size) or self._count(self._stream.read(self._size(size)))

    def readline(self, size: int = -1) -> bytes:
        return self._head.readline(size) or self._count(self._stream.readline(self._size(size)))

    def skip_rest(self) -> None:
        while self.read(_CHUNK_BYTES):
            pass

    def _size(self, size: int | None) -> int:
        return self._left if size is None or size < 0 else min(size, self._left)

    def _count(self, data: bytes) -> bytes:
        if not data and self._left:
            raise _truncated(*self._location)
        self._left -= len(data)
        return data


def _read_head(stream: BinaryIO, path: Path, number: int) -> bytes:
    """The lines of a record up to the empty one; b"" at the end of the archive."""
    lines: list[bytes] = []
    size = 0
    while line := stream.readline(_CHUNK_BYTES):
        size += len(line)
        if size > _MAX_HEAD_BYTES:
            raise _not_warc(path, number, f"its header has more than {_MAX_HEAD_BYTES >> 20} MB")
        if line.strip():
            lines.append(line)
        elif lines:
            return b"".join([*lines, line])
        if lines and not lines[0].startswith(b"WARC/"):
            raise _not_warc(path, number, "it does not start with WARC/")
        if lines and not _VERSION.fullmatch(lines[0]):
            raise _not_warc(path, number, "its first line is not a version of WARC, such as WARC/1.1")
    if lines:
        raise _truncated(path, number)
    return b""


def _not_warc(path: Path, number: int, why: str) -> DataError:
    return DataError(
        f"record {number} is not a WARC record: {why}",
        file=path,
        remedy="Check that this is a WARC file, and copy it again.",
    )


def _truncated(path: Path, number: int) -> DataError:
    return DataError(
        f"the archive is truncated: it ends inside of record {number}",
        file=path,
        remedy="Copy it again, and compare sizes.",
    )


def _content(loader: ArcWarcRecordLoader, stream: _Record) -> Page | ArchivedImage | None:
    """The page or image of a record; None for other records."""
    from warcio.exceptions import ArchiveLoadFailed
    from warcio.statusandheaders import StatusAndHeadersParserException

    url = stream.address
    if not url:
        return None
    try:
        record = loader.parse_record_stream(stream)
    except (ArchiveLoadFailed, StatusAndHeadersParserException, EOFError):
        return Page(url, _host(url), "html", status=0)
    return _page_or_image(record, url) if record.rec_type in _RECORDS else None


def _page_or_image(record: ArcWarcRecord, url: str) -> Page | ArchivedImage | None:
    if record.rec_type == "response" and url.lower().startswith("http") and not _has_http_head(record):
        return Page(url, _host(url), "html", status=0)
    headers = record.http_headers or record.rec_headers
    mime, _, parameters = (headers.get_header("Content-Type") or "").partition(";")
    mime, status = mime.strip().lower(), _status(record)
    if mime.startswith("image/"):
        return _image(record, url) if status == 200 else None
    body = _read_content(record) if mime in _KINDS or not mime else b""
    kind = _KINDS.get(mime) or ("html" if _looks_like_html(body) else None)
    if kind is None:
        return None
    lang = record.http_headers.get_header("Content-Language") if record.http_headers else None
    return Page(url, _host(url), kind, body=body, charset=_charset(parameters), lang=lang, status=status)


def _image(record: ArcWarcRecord, url: str) -> ArchivedImage | None:
    image = _read_content(record)
    return ArchivedImage(url, image) if len(image) <= MAX_PAGE_BYTES else None


def _charset(parameters: str) -> str | None:
    return next((p.partition("=")[2].strip("\"' ") for p in parameters.split(";") if "charset" in p.lower()), None)


def _has_http_head(record: ArcWarcRecord) -> bool:
    # warcio takes the first lines of a body without a head for one.
    return bool(record.http_headers) and str(record.http_headers.protocol).upper().startswith("HTTP/")


def _read_content(record: ArcWarcRecord) -> bytes:
    """The decoded content of a record, up to one byte more than the limit: few bytes can decompress to gigabytes."""
    stream = record.content_stream()
    parts = []
    left = MAX_PAGE_BYTES + 1
    while left > 0 and (part := stream.read(min(left, _CHUNK_BYTES))):
        parts.append(part[:left])
        left -= len(part)
    return b"".join(parts)


def _status(record: ArcWarcRecord) -> int:
    if record.rec_type != "response":
        return 200
    code = record.http_headers.get_statuscode() if record.http_headers else None
    return int(code) if code and len(code) == 3 and code.isdecimal() else 0


def _looks_like_html(body: bytes) -> bool:
    start = body[:1000].lower()
    return b"<html" in start or b"<!doctype html" in start


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # an unbalanced bracket
        return ""
