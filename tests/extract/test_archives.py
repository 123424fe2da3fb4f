"""WARC archives: pages and images by address, plain and compressed, complete and truncated anywhere."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

for _package in ("trafilatura", "justext", "warcio", "imagehash"):
    pytest.importorskip(_package, reason="extraction needs packages: pip install 'paraloom[extract]'")

from toy_pages import ENGLISH, GERMAN, html, png  # noqa: E402
from warcio.statusandheaders import StatusAndHeaders  # noqa: E402
from warcio.warcwriter import WARCWriter  # noqa: E402

from paraloom.api.extract import REJECTED_PAGES, extract_documents  # noqa: E402
from paraloom.core.errors import DataError  # noqa: E402
from paraloom.extract.images import hash_image  # noqa: E402
from paraloom.extract.pages import MAX_PAGE_BYTES, Page  # noqa: E402
from paraloom.extract.warc import read_archive  # noqa: E402
from paraloom.io import Corpus  # noqa: E402


def response(writer: WARCWriter, url: str, body: bytes, *headers: tuple[str, str], status: str = "200 OK") -> None:
    headers_and_status = StatusAndHeaders(status, list(headers), protocol="HTTP/1.1")
    writer.write_record(
        writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=headers_and_status)
    )


def archive(path: Path, *, compressed: bool = True) -> Path:
    """Pages of three hosts, one of them with status 404, two images, and records of other kinds."""
    text = ("Content-Type", "text/html; charset=ISO-8859-1")
    with path.open("wb") as stream:
        writer = WARCWriter(stream, gzip=compressed)
        writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "none"}))
        body = html(GERMAN * 3, lang="", extra='<img src="../pictures/a.png#top" alt="A"><img src="b.png">')
        body = body.replace('<meta charset="utf-8">', "")
        response(writer, "http://a.example/de/1", body.encode("latin-1"), text, ("Content-Language", "de-AT"))
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (b"<p>", ENGLISH.encode() * 3, b"</p>"))
        chunked = ("Transfer-Encoding", "chunked")
        response(writer, "http://a.example/en/2", chunks + b"0\r\n\r\n", ("Content-Type", "text/html"), chunked)
        zipped = gzip.compress(html(ENGLISH * 4).encode())
        response(writer, "http://b.example/", zipped, ("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
        response(writer, "http://a.example/gone", html(ENGLISH).encode(), text, status="404 Not Found")
        response(writer, "http://a.example/de/pictures/a.png", png("blue"), ("Content-Type", "image/png"))
        response(writer, "http://a.example/pictures/a.png", png(), ("Content-Type", "image/png"))
        record = writer.create_warc_record(
            "http://c.example/r",
            "resource",
            payload=io.BytesIO(html(ENGLISH * 5).encode()),
            warc_content_type="text/html",
        )
        writer.write_record(record)
        response(writer, "http://a.example/style.css", b"p {}", ("Content-Type", "text/css"))
    return path


@pytest.mark.parametrize("compressed", [True, False])
def test_pages_and_images_of_an_archive(tmp_path: Path, compressed: bool) -> None:
    path = archive(tmp_path / ("x.warc.gz" if compressed else "x.warc"), compressed=compressed)
    counts = extract_documents([str(path)], str(tmp_path / "out"), workers=1)
    rows = [row for batch in Corpus.open(tmp_path / "out").batches() for row in batch.to_pylist()]
    assert [(row["doc_id"], row["lang"]) for row in rows] == [
        ("http://a.example/de/1", "de"),
        ("http://a.example/en/2", "en"),
        ("http://b.example/", "en"),
        ("http://c.example/r", "en"),
    ]
    assert "öffnet" in rows[0]["text"] and rows[1]["text"] == (ENGLISH * 3).strip()
    first, second = rows[0]["images"]
    assert (first["sha256"], first["phash"]) == hash_image(png())
    assert second == {"src": "b.png", "alt": "", "sha256": None, "phash": None}
    line = json.loads((tmp_path / "out" / REJECTED_PAGES).read_text())
    assert (line["reason"], line["detail"]) == ("status", "HTTP status 404") and counts.read == 5


def test_gzip_with_one_member_for_all_records(tmp_path: Path) -> None:
    plain = archive(tmp_path / "x.warc", compressed=False).read_bytes()
    (tmp_path / "y.warc.gz").write_bytes(gzip.compress(plain))
    both = [[item.url for item in read_archive(tmp_path / name)] for name in ("x.warc", "y.warc.gz")]
    assert both[0] == both[1] and len(both[0]) == 7


def test_equal_addresses_get_different_ids(tmp_path: Path) -> None:
    one = archive(tmp_path / "x.warc.gz")
    with (tmp_path / "y.warc").open("wb") as stream:
        body = html(GERMAN * 6, lang="de").encode()
        response(WARCWriter(stream, gzip=False), "http://a.example/de/1", body, ("Content-Type", "text/html"))
    extract_documents([str(one), str(tmp_path / "y.warc")], str(tmp_path / "out"), workers=1)
    names = [
        name for batch in Corpus.open(tmp_path / "out").batches(["doc_id"]) for name in batch.column(0).to_pylist()
    ]
    assert names[-1] == "http://a.example/de/1#2" and len(set(names)) == len(names)


@pytest.mark.parametrize("compressed", [True, False])
def test_a_truncated_archive_is_an_error(tmp_path: Path, compressed: bool) -> None:
    path = archive(tmp_path / ("x.warc.gz" if compressed else "x.warc"), compressed=compressed)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"x\.warc.*truncated"):
        extract_documents([str(path)], str(tmp_path / "out"), workers=1)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("compressed", [True, False])
def test_an_archive_truncated_anywhere_within_a_record_is_an_error(tmp_path: Path, compressed: bool) -> None:
    path = archive(tmp_path / ("x.warc.gz" if compressed else "x.warc"), compressed=compressed)
    whole = path.read_bytes()
    mark = b"\x1f\x8b\x08" if compressed else b"WARC/1.0\r\n"
    starts = [i for i in range(len(whole)) if whole.startswith(mark, i)]
    for end in range(1, len(whole), 11):
        path.write_bytes(whole[:end])
        try:
            list(read_archive(path))
        except DataError as error:
            assert error.file == str(path)
        else:
            # The two empty lines after a record do not belong to it.
            assert any(end <= start <= end + 4 for start in [*starts, len(whole)]), end


def test_another_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_text(html(ENGLISH))
    with pytest.raises(DataError, match=r"x\.warc"):
        extract_documents([str(tmp_path / "x.warc")], str(tmp_path / "out"), workers=1)


def test_responses_that_cannot_be_read_are_rejected(tmp_path: Path) -> None:
    with (tmp_path / "x.warc").open("wb") as stream:
        for body in (b"", b"nonsense\r\n\r\n<html>"):
            head = f"WARC-Type: response\r\nWARC-Target-URI: http://a.example/{len(body)}\r\n"
            stream.write(f"WARC/1.0\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body + b"\r\n\r\n")
    counts = extract_documents([str(tmp_path / "x.warc")], str(tmp_path / "out"), workers=1)
    assert counts.read == 2 and counts.rejected == {"status": 2}


def test_archives_in_a_folder_of_pages(tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    archive(tmp_path / "crawl" / "x.warc.gz")
    (tmp_path / "crawl" / "page.html").write_text(html(ENGLISH * 7))
    counts = extract_documents([str(tmp_path / "crawl")], str(tmp_path / "out"), workers=1)
    assert counts.read == 6


def test_charset_language_and_kind_come_from_the_headers(tmp_path: Path) -> None:
    first = next(read_archive(archive(tmp_path / "x.warc.gz")))
    assert isinstance(first, Page)
    assert (first.site, first.charset, first.lang, first.kind) == ("a.example", "ISO-8859-1", "de-AT", "html")


PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><p>hi</html>"


def raw(body: bytes = PAGE, *, length: bytes = b"", version: bytes = b"WARC/1.0", head: bytes = b"") -> bytes:
    """A response record, byte by byte."""
    lines = [
        version,
        b"WARC-Type: response",
        b"WARC-Target-URI: http://a.example/",
        b"Content-Type: application/http; msgtype=response",
        b"Content-Length: " + (length or b"%d" % len(body)),
    ]
    return b"\r\n".join(lines) + b"\r\n" + head + b"\r\n" + body + b"\r\n\r\n"


@pytest.mark.parametrize(
    "body",
    [
        b"<html><p>hi</html>",
        b"plain text\nof two lines",
        b"",
        b"\x00\xff" * 99,
        b"HTTP/1.1 " + b"9" * 5000 + b" OK\r\nContent-Type: text/html\r\n\r\n",
    ],
)
def test_a_response_without_a_http_head_counts_as_a_page(body: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(raw(body) + raw())
    first, second = read_archive(tmp_path / "a.warc")
    assert isinstance(first, Page) and isinstance(second, Page)
    assert (first.status, second.status, second.body) == (0, 200, b"<html><p>hi</html>")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (raw(length=b"9" * 30), "its Content-Length is out of range"),
        pytest.param(raw(length=b"9" * 5000), "its Content-Length is out of range", id="digits"),
        (raw(length=b"1" + b"0" * 15), "the archive is truncated"),
        (raw(version=b"WARC/x"), "not a version of WARC"),
        (raw(version=b"WARC/1"), "not a version of WARC"),
        (raw(version=b"WARC/"), "not a version of WARC"),
        (raw(version=b"WARC/\xff"), "not a version of WARC"),
        pytest.param(raw(head=b"X: y\r\n" * 200_000), "its header has more than 1 MB", id="lines"),
        pytest.param(raw(head=b"X: " + b"y" * 2_000_000 + b"\r\n"), "its header has more than 1 MB", id="line"),
    ],
)
def test_hostile_heads_of_records_are_errors(record: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(record + raw())
    with pytest.raises(DataError, match=message):
        list(read_archive(tmp_path / "a.warc"))


@pytest.mark.parametrize("kind", ["text/html", "image/png"])
def test_a_record_is_decompressed_up_to_the_limit(kind: str, tmp_path: Path) -> None:
    """100 kB in two layers of gzip, which decompress to 100 MB."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: gzip\r\n\r\n".encode()
    bomb = gzip.compress(b"<html>" + b"a" * 100_000_000)
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(raw(head + bomb) + raw()))
    contents = list(read_archive(tmp_path / "a.warc.gz"))
    assert [len(content.body) for content in contents] == [*([MAX_PAGE_BYTES + 1] if kind == "text/html" else []), 18]
