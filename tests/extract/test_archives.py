"""WARC archives: pages with their pictures by address, packed in each way, and cut off at each place."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

WHY = "extraction needs packages: pip install 'paraloom[extract]'"
for _package in ("trafilatura", "justext", "warcio", "imagehash"):
    pytest.importorskip(_package, reason=WHY)

from extract.test_extraction import ENGLISH, GERMAN, html, picture  # noqa: E402
from warcio.statusandheaders import StatusAndHeaders  # noqa: E402
from warcio.warcwriter import WARCWriter  # noqa: E402

from paraloom.core.errors import DataError  # noqa: E402
from paraloom.extract.pages import Page  # noqa: E402
from paraloom.extract.warc import records_of  # noqa: E402
from paraloom.io import Corpus  # noqa: E402
from paraloom.workflows.extract import ASIDE, extract_documents  # noqa: E402


def response(writer: WARCWriter, url: str, body: bytes, *headers: tuple[str, str], status: str = "200 OK") -> None:
    said = StatusAndHeaders(status, list(headers), protocol="HTTP/1.1")
    writer.write_record(writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=said))


def archive(path: Path, *, packed: bool = True) -> Path:
    """Two pages of a host, one of another, one that is not there, two pictures, and records of other kinds."""
    text = ("Content-Type", "text/html; charset=ISO-8859-1")
    with path.open("wb") as stream:
        writer = WARCWriter(stream, gzip=packed)
        writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "none"}))
        body = html(GERMAN * 3, lang="", extra='<img src="../pictures/a.png#top" alt="A"><img src="b.png">')
        body = body.replace('<meta charset="utf-8">', "")
        response(writer, "http://a.example/de/1", body.encode("latin-1"), text, ("Content-Language", "de-AT"))
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (b"<p>", ENGLISH.encode() * 3, b"</p>"))
        chunked = ("Transfer-Encoding", "chunked")
        response(writer, "http://a.example/en/2", chunks + b"0\r\n\r\n", ("Content-Type", "text/html"), chunked)
        squeezed = gzip.compress(html(ENGLISH * 4).encode())
        response(writer, "http://b.example/", squeezed, ("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
        response(writer, "http://a.example/gone", html(ENGLISH).encode(), text, status="404 Not Found")
        response(writer, "http://a.example/de/pictures/a.png", picture("blue"), ("Content-Type", "image/png"))
        response(writer, "http://a.example/pictures/a.png", picture(), ("Content-Type", "image/png"))
        record = writer.create_warc_record(
            "http://c.example/r",
            "resource",
            payload=io.BytesIO(html(ENGLISH * 5).encode()),
            warc_content_type="text/html",
        )
        writer.write_record(record)
        response(writer, "http://a.example/style.css", b"p {}", ("Content-Type", "text/css"))
    return path


@pytest.mark.parametrize("packed", [True, False])
def test_a_warc_with_pictures(tmp_path: Path, packed: bool) -> None:
    path = archive(tmp_path / ("x.warc.gz" if packed else "x.warc"), packed=packed)
    books = extract_documents([str(path)], str(tmp_path / "out"), workers=1)
    rows = [row for batch in Corpus.open(tmp_path / "out").batches() for row in batch.to_pylist()]
    assert [(row["doc_id"], row["lang"]) for row in rows] == [
        ("http://a.example/de/1", "de"),
        ("http://a.example/en/2", "en"),
        ("http://b.example/", "en"),
        ("http://c.example/r", "en"),
    ]
    assert "öffnet" in rows[0]["text"] and rows[1]["text"] == (ENGLISH * 3).strip()
    first, second = rows[0]["images"]
    from paraloom.extract.images import fingerprint

    assert (first["sha256"], first["phash"]) == fingerprint(picture())
    assert second == {"src": "b.png", "alt": "", "sha256": None, "phash": None}
    line = json.loads((tmp_path / "out" / ASIDE).read_text())
    assert (line["reason"], line["detail"]) == ("status", "the server said 404") and books.read == 5


def test_one_member_for_all_records_is_read_too(tmp_path: Path) -> None:
    plain = archive(tmp_path / "x.warc", packed=False).read_bytes()
    (tmp_path / "y.warc.gz").write_bytes(gzip.compress(plain))
    both = [[found.url for found in records_of(tmp_path / name)] for name in ("x.warc", "y.warc.gz")]
    assert both[0] == both[1] and len(both[0]) == 7


def test_an_address_that_is_there_twice_gets_two_names(tmp_path: Path) -> None:
    one = archive(tmp_path / "x.warc.gz")
    with (tmp_path / "y.warc").open("wb") as stream:
        body = html(GERMAN * 6, lang="de").encode()
        response(WARCWriter(stream, gzip=False), "http://a.example/de/1", body, ("Content-Type", "text/html"))
    extract_documents([str(one), str(tmp_path / "y.warc")], str(tmp_path / "out"), workers=1)
    names = [
        name for batch in Corpus.open(tmp_path / "out").batches(["doc_id"]) for name in batch.column(0).to_pylist()
    ]
    assert names[-1] == "http://a.example/de/1#2" and len(set(names)) == len(names)


@pytest.mark.parametrize("packed", [True, False])
def test_a_warc_cut_off_is_an_error_that_names_it_and_leaves_nothing(tmp_path: Path, packed: bool) -> None:
    path = archive(tmp_path / ("x.warc.gz" if packed else "x.warc"), packed=packed)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"x\.warc.*cut short"):
        extract_documents([str(path)], str(tmp_path / "out"), workers=1)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("packed", [True, False])
def test_a_warc_is_refused_wherever_it_is_cut_unless_between_records(tmp_path: Path, packed: bool) -> None:
    path = archive(tmp_path / ("x.warc.gz" if packed else "x.warc"), packed=packed)
    whole = path.read_bytes()
    mark = b"\x1f\x8b\x08" if packed else b"WARC/1.0\r\n"
    starts = [at for at in range(len(whole)) if whole.startswith(mark, at)]
    for end in range(1, len(whole), 11):
        path.write_bytes(whole[:end])
        try:
            list(records_of(path))
        except DataError as error:
            assert error.file == str(path)
        else:
            # The two empty lines after a record are no part of it.
            assert any(end <= start <= end + 4 for start in [*starts, len(whole)]), end


def test_what_is_no_warc_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_text(html(ENGLISH))
    with pytest.raises(DataError, match=r"x\.warc"):
        extract_documents([str(tmp_path / "x.warc")], str(tmp_path / "out"), workers=1)


def test_a_record_whose_answer_is_none_is_set_aside_not_lost(tmp_path: Path) -> None:
    with (tmp_path / "x.warc").open("wb") as stream:
        for body in (b"", b"nonsense\r\n\r\n<html>"):
            head = f"WARC-Type: response\r\nWARC-Target-URI: http://a.example/{len(body)}\r\n"
            stream.write(f"WARC/1.0\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body + b"\r\n\r\n")
    books = extract_documents([str(tmp_path / "x.warc")], str(tmp_path / "out"), workers=1)
    assert books.read == 2 and books.aside == {"status": 2}


def test_archives_in_a_folder_are_read_beside_its_pages(tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    archive(tmp_path / "crawl" / "x.warc.gz")
    (tmp_path / "crawl" / "page.html").write_text(html(ENGLISH * 7))
    books = extract_documents([str(tmp_path / "crawl")], str(tmp_path / "out"), workers=1)
    assert books.read == 6


def test_the_server_s_word_and_the_mime_type_come_with_a_page(tmp_path: Path) -> None:
    first = next(records_of(archive(tmp_path / "x.warc.gz")))
    assert isinstance(first, Page)
    assert (first.site, first.charset, first.lang, first.kind) == ("a.example", "ISO-8859-1", "de-AT", "html")
