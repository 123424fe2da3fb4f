"""The parts of an extraction: charsets, main text, repeated content, hashes of images."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

for _package in ("trafilatura", "justext", "warcio", "imagehash"):
    pytest.importorskip(_package, reason="extraction needs packages: pip install 'paraloom[extract]'")

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
from toy_pages import ENGLISH, GERMAN, html, png  # noqa: E402

from paraloom.extract.boilerplate import find_repeated  # noqa: E402
from paraloom.extract.charset import decode_page  # noqa: E402
from paraloom.extract.documents import PageProse, identify_pages  # noqa: E402
from paraloom.extract.html import (  # noqa: E402
    _stop_list,
    code_texts,
    declared_language,
    extract_paragraphs,
    extract_title,
    parse_html,
    split_paragraphs,
)
from paraloom.extract.images import hash_image  # noqa: E402
from paraloom.extract.pages import Page  # noqa: E402
from paraloom.extract.parsing import (  # noqa: E402
    ParseJob,
    find_links,
    parse_page,
)
from paraloom.io import write_shard  # noqa: E402

KOREAN = "박물관은 일요일에 문을 엽니다. 누구나 표 없이 들어갈 수 있습니다. "
GERMANS = GERMAN * 4


@pytest.mark.parametrize(
    ("body", "declared", "charset", "replaced"),
    [
        (b"plain", None, "utf-8", 0),
        (b"\xef\xbb\xbf" + GERMANS.encode(), "latin-1", "utf-8", 0),
        (b"\xff\xfe" + GERMANS.encode("utf-16-le"), "utf-8", "utf-16-le", 0),
        (GERMANS.encode("utf-16-le"), "utf-16-le", "utf-16-le", 0),
        (GERMANS.encode(), "us-ascii", "utf-8", 0),
        (GERMANS.encode()[: GERMANS.encode().index(b"\xc3") + 1], "utf-8", "utf-8", 0),
        (KOREAN.encode("euc-kr"), "euc-kr", "cp949", 0),
        (KOREAN.encode("euc-kr") + b"\xff ", "euc-kr", "cp949", 1),
        (b'<?xml version="1.0" encoding="EUC-KR"?>' + KOREAN.encode("euc-kr"), None, "cp949", 0),
        (KOREAN.encode() + b"\xb9\xda" + KOREAN.encode(), "euc-kr", "utf-8", 2),
        ("日本語".encode("iso2022_jp"), "iso-2022-jp", "iso2022_jp", 0),
        (GERMANS.encode("cp1252"), "windows-1252", "cp1252", 0),
        (GERMANS.encode("cp1252"), "no-such-charset", "cp1252", 0),
        ("one � that is meant".encode(), None, "utf-8", 0),
    ],
)
def test_charsets(body: bytes, declared: str | None, charset: str, replaced: int) -> None:
    page = decode_page(body, declared)
    assert page is not None
    # charset_normalizer may guess a related charset that decodes to the same text.
    assert page.charset == charset or page.text == body.decode(charset)
    assert page.replaced == replaced


def test_binary_content_is_not_decoded() -> None:
    assert decode_page(bytes(range(256)) * 20) is None


@pytest.mark.parametrize(
    ("page", "title", "lang"),
    [
        ("<title> A \n b </title><h1>c</h1>", "A b", None),
        ("<title></title><h1>c <i>d</i></h1>", "c d", None),
        ("<html xml:lang=cs-CZ><p>x", "", "cs"),
        ("<html lang=zh_TW><meta http-equiv='Content-language' content=en><p>x", "", "zh"),
        ("<meta http-equiv='Content-Language' content='en-GB'><p>x", "", "en"),
        ("<html lang='{{lang}}'><p>x", "", None),
    ],
)
def test_title_and_language(page: str, title: str, lang: str | None) -> None:
    tree = parse_html(page)
    assert (extract_title(tree), declared_language(tree)) == (title, lang)


def test_paragraphs_equal_justexts_and_the_tree_is_not_changed() -> None:
    tree = parse_html(
        "<body>a\u00a0b<br>c<br><br>d<table><tr><td>e<td> f\n g</table><script>h</script>\x00i<img src=j>"
    )
    for _ in range(2):
        assert extract_paragraphs(tree, "site") == ["a b c", "d", "e", "f g", "\ufffdi"]
    assert len(tree.xpath("//img")) == 1


def test_lists_of_trafilatura_become_paragraphs() -> None:
    items = "<ul><li>One <b>bold</b> thing<li>Two</ul>"
    body = f"<article><p>{ENGLISH * 2}</p>{items}<p>First<br>line. {ENGLISH}</p></article>"
    paragraphs = extract_paragraphs(parse_html(body), "trafilatura")
    assert {"One bold thing", "Two", f"First line. {ENGLISH}".strip()} <= set(paragraphs)


def test_stop_lists_of_justext_by_language() -> None:
    assert "und" in _stop_list("de") and "og" in _stop_list("nb")
    assert _stop_list("xx") == _stop_list(None) == frozenset()


def test_wrapped_lines_are_joined() -> None:
    assert split_paragraphs("a\nb\n\n\nc\n") == ["a b", "c"]
    assert split_paragraphs("a\n" + "b" * 101 + "\n\nc") == ["a", "b" * 101, "c"]
    assert split_paragraphs("\n \n") == []


def test_repeated_content_is_on_a_fifth_of_the_pages(tmp_path: Path) -> None:
    def rows(name: str, pages: int, texts: dict[int, int], counted: bool = True) -> list[dict]:
        """Pages of a site; text → on how many of the first pages it is, twice on each."""
        return [
            {"site": name, "counted": counted, "hashes": [text for text, n in texts.items() if page < n for _ in "12"]}
            for page in range(pages)
        ]

    schema = pa.schema([("site", pa.string()), ("counted", pa.bool_()), ("hashes", pa.list_(pa.uint64()))])
    parts = [
        rows("large", 100, {1: 20, 2: 19, 2**64 - 1: 100}),
        rows("small", 10, {1: 4, 3: 5}) + rows("large", 500, {1: 0}, counted=False),
        rows("it's", 3, {1: 3}),
    ]
    shards = [tmp_path / f"it's {number}.parquet" for number in range(3)]
    for shard, part in zip(shards, parts, strict=True):
        write_shard(shard, pa.RecordBatch.from_pylist(part, schema=schema), schema)
    repeated = find_repeated(shards, "hashes", tmp_path)
    assert {site: hashes.tolist() for site, hashes in repeated.items()} == {"large": [1, 2**64 - 1], "small": [3]}


def test_similar_images_have_similar_hashes() -> None:
    from PIL import Image

    def encoded(image: Image.Image, kind: str) -> bytes:
        stream = io.BytesIO()
        image.save(stream, kind)
        return stream.getvalue()

    whole = Image.open(io.BytesIO(png(size=200)))
    same = hash_image(encoded(whole.resize((150, 150)), "JPEG"))
    other = hash_image(encoded(Image.linear_gradient("L"), "PNG"))
    mine = hash_image(png(size=200))
    assert mine.phash and same.phash and other.phash and mine.sha256 != same.sha256

    def distance(one: str, two: str) -> int:
        return (int(one, 16) ^ int(two, 16)).bit_count()

    assert distance(mine.phash, same.phash) <= 6 < 16 <= distance(mine.phash, other.phash)
    clear = Image.new("RGBA", (200, 200), (0, 0, 0, 0))
    clear.paste(whole.convert("RGBA"), mask=whole.convert("L").point(lambda value: 255 * (value < 250)))
    assert distance(mine.phash, hash_image(encoded(clear, "PNG")).phash or "") <= 6
    assert hash_image(png()[:60]).phash is None


def test_the_helper_writes_html() -> None:
    assert extract_title(parse_html(html("x", title="T"))) == "T"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("<p " + " ".join(f"a{i}=1" for i in range(100_000)) + ">text", "a tag has more than 1,000 attributes"),
        ("<p " + "".join(f"""a{i}='>'""" for i in range(1_001)) + ">text", "a tag has more than 1,000 attributes"),
        ("<p " + " ".join(f"a{i}" for i in range(1_001)) + ">text", "a tag has more than 1,000 attributes"),
        ('<p " ' + " ".join(f"a{i}" for i in range(1_001)) + ">text", "a tag has more than 1,000 attributes"),
        ("<table><tr><td>" * 20_000 + "text", "more than 512 elements within each other"),
        ("<div>" * 600 + "text", "more than 512 elements within each other"),
        ("<br>" * 250_001, "more than 250,000 elements"),
        (ENGLISH * 200_000, "more than 16 MB"),
    ],
    ids=["attributes", "values", "names", "quote", "tables", "depth", "elements", "bytes"],
)
@pytest.mark.parametrize("method", ["site", "trafilatura"])
def test_a_page_beyond_the_limits_is_set_aside(body: str, detail: str, method: str) -> None:
    page = Page("http://a.example/", "a.example", "html", body=f"<html><body>{body}".encode())
    row = parse_page(ParseJob("x", page, method, counted=True))
    assert (row["reason"], row["detail"], row["counted"], row["paragraphs"]) == ("size", detail, False, [])


def test_long_attributes_and_stray_quotes_are_within_the_limits() -> None:
    body = f"""<p data-a="{"word " * 5000}" b='{"x > y " * 3000}' c=it's>One</p><p title=it's>{ENGLISH * 500}</p>"""
    body += "<p " + " ".join(f"a{i}=1" for i in range(900)) + ">Two</p>" + "<div>" * 400 + "Three"
    page = Page("http://a.example/", "a.example", "html", body=body.encode())
    row = parse_page(ParseJob("x", page, "site", counted=True))
    assert row["reason"] is None
    assert [row["paragraphs"][0], *row["paragraphs"][2:]] == ["One", "Two", "Three"]


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    with (tmp_path / "a.html").open("wb") as stream:
        stream.write(b"<html><p>text")
        stream.truncate(1 << 40)
    row = parse_page(ParseJob("x", Page("a.html", "x", "html", tmp_path / "a.html"), "site", counted=True))
    assert (row["reason"], row["detail"]) == ("size", "more than 16 MB")


class Spelling:
    """Identifies German by its umlauts and Korean by its syllables; everything else is English."""

    languages = ("de", "en", "ko")

    def identify(self, texts):
        return ["ko" if any("가" <= c <= "힣" for c in text[:30]) else "de" if "ü" in text else "en" for text in texts]

    def probabilities(self, texts, languages):
        return np.array([float(a == b) for a, b in zip(self.identify(texts), languages, strict=True)])


@pytest.mark.parametrize(("korean", "expected"), [(1, "ko"), (0, "en")])
def test_a_page_is_in_its_language_if_a_tenth_of_it_is(korean: int, expected: str) -> None:
    """32 bytes of Korean after 255 of English: more than a tenth."""
    page = PageProse(
        ["A sentence of fifty letters, more or less, in all."] * 5 + ["한국어로 쓴 문장입니다"] * korean, "ko"
    )
    assert identify_pages([page], Spelling()) == [expected]  # type: ignore[arg-type]
    assert identify_pages([page], Spelling(), keep_declared=True) == [None]  # type: ignore[arg-type]
    assert identify_pages([page], None) == [None]


def test_code_is_known_by_its_elements() -> None:
    tree = parse_html("<p>Call <code>f(x)</code> so:<pre>f(1)\nf(2)</pre><p class='note code'>g()</p><p>codes</p>")
    assert code_texts(tree) == {"f(x)", "f(1) f(2)", "f(1)", "f(2)", "g()"}


def test_links_are_absolute_and_each_once() -> None:
    tree = parse_html(
        "<a href='b.html#x'>b</a><a href='b.html'>b</a><a href='mailto:a@b.c'>m</a><a href='https://c.org/'>c</a>"
        "<a href='http://[bad'>d</a><a href='#top'>top</a>"
    )
    page = Page("https://a.org/de/a.html", "a.org", "html")
    assert find_links(tree, page) == ["https://a.org/de/b.html", "https://c.org/"]
    assert find_links(tree, Page("de/a.html", "de", "html"))[0] == "de/b.html"
