"""The parts of extraction one by one: charsets, main text, what a site repeats, fingerprints of pictures."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

WHY = "extraction needs packages: pip install 'paraloom[extract]'"
for _package in ("trafilatura", "justext", "warcio", "imagehash"):
    pytest.importorskip(_package, reason=WHY)

import pyarrow as pa  # noqa: E402
from extract.test_extraction import ENGLISH, GERMAN, html, picture  # noqa: E402

from paraloom.extract.boilerplate import repeated_texts  # noqa: E402
from paraloom.extract.charset import decode_page  # noqa: E402
from paraloom.extract.html import language_of, paragraphs_of, paragraphs_of_text, parse_html, title_of  # noqa: E402
from paraloom.extract.images import fingerprint  # noqa: E402
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
    found = decode_page(body, declared)
    assert found is not None
    # Where charset_normalizer guesses, a sister of the charset with the same letters is as good.
    right = found.charset == charset or found.text == body.decode(charset)
    assert right and found.replaced == replaced


def test_bytes_that_are_no_text_have_none() -> None:
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
    assert (title_of(tree), language_of(tree)) == (title, lang)


def test_paragraphs_are_those_of_justext_and_leave_the_tree_alone() -> None:
    tree = parse_html(
        "<body>a\u00a0b<br>c<br><br>d<table><tr><td>e<td> f\n g</table><script>h</script>\x00i<img src=j>"
    )
    for _ in range(2):
        assert paragraphs_of(tree, "site") == ["a b c", "d", "e", "f g", "\ufffdi"]
    assert len(tree.xpath("//img")) == 1


def test_trafilatura_s_lists_and_tables_are_paragraphs_without_marks() -> None:
    items = "<ul><li>One <b>bold</b> thing<li>Two</ul>"
    body = f"<article><p>{ENGLISH * 2}</p>{items}<p>First<br>line. {ENGLISH}</p></article>"
    found = paragraphs_of(parse_html(body), "trafilatura")
    assert "One bold thing" in found and "Two" in found and f"First line. {ENGLISH}".strip() in found


def test_justext_has_a_stop_list_of_the_page_s_language() -> None:
    from paraloom.extract.html import _stop_list

    assert "und" in _stop_list("de") and "og" in _stop_list("nb")
    assert _stop_list("xx") == _stop_list(None) == frozenset()


def test_lines_that_were_broken_to_fit_are_joined() -> None:
    assert paragraphs_of_text("a\nb\n\n\nc\n") == ["a b", "c"]
    assert paragraphs_of_text("a\n" + "b" * 101 + "\n\nc") == ["a", "b" * 101, "c"]
    assert paragraphs_of_text("\n \n") == []


def test_what_a_fifth_of_the_pages_have_is_repeated(tmp_path: Path) -> None:
    def rows(name: str, pages: int, texts: dict[int, int], counted: bool = True) -> list[dict]:
        """Pages of a site; each text on so many of the first of them, twice on each."""
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
    found = repeated_texts(shards, "hashes", tmp_path)
    assert {site: hashes.tolist() for site, hashes in found.items()} == {"large": [1, 2**64 - 1], "small": [3]}


def test_pictures_that_look_alike_have_hashes_that_are_near() -> None:
    from PIL import Image

    def packed(image: Image.Image, kind: str) -> bytes:
        made = io.BytesIO()
        image.save(made, kind)
        return made.getvalue()

    whole = Image.open(io.BytesIO(picture(size=200)))
    same = fingerprint(packed(whole.resize((150, 150)), "JPEG"))
    other = fingerprint(packed(Image.linear_gradient("L"), "PNG"))
    mine = fingerprint(picture(size=200))
    assert mine.phash and same.phash and other.phash and mine.sha256 != same.sha256

    def apart(one: str, two: str) -> int:
        return (int(one, 16) ^ int(two, 16)).bit_count()

    assert apart(mine.phash, same.phash) <= 6 < 16 <= apart(mine.phash, other.phash)
    clear = Image.new("RGBA", (200, 200), (0, 0, 0, 0))
    clear.paste(whole.convert("RGBA"), mask=whole.convert("L").point(lambda value: 255 * (value < 250)))
    assert apart(mine.phash, fingerprint(packed(clear, "PNG")).phash or "") <= 6
    assert fingerprint(picture()[:60]).phash is None


def test_html_of_the_tests_is_html() -> None:
    assert title_of(parse_html(html("x", title="T"))) == "T"
