"""The page about aligned documents: side-by-side rows, escaped text, embedded images, errors for inconsistent input."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from toy_report_run import ODD
from web.test_page import Reader

import paraloom.web
from paraloom.alignment.document_pairs import DocumentPair, write_document_pairs
from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import DOCUMENTS, LINKS
from paraloom.io import write_corpus
from paraloom.io.formats.alignments import beads_to_links
from paraloom.io.shards import write_shard
from paraloom.web.documents_data import Document, Image, sample_pairs
from paraloom.web.documents_page import write_aligned_documents
from paraloom.web.documents_pair import bead_row, connections, heights, images, reading_order
from paraloom.web.images import Embedder, candidate_paths

PNG = b"\x89PNG\r\n\x1a\n" + b"toy"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HASH = "ff00ff00ff00ff00"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def image(src: str, data: bytes | None = None, alt: str = "", phash: str | None = None) -> dict[str, Any]:
    return {"src": src, "alt": alt, "sha256": digest(data) if data is not None else None, "phash": phash}


def document(
    name: str, lang: str, text: str, title: str = "", pictures: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    return {"doc_id": name, "lang": lang, "url": "", "title": title, "text": text, "images": list(pictures)}


@dataclass
class World:
    """Two corpora, their pairs and their links, in a folder."""

    folder: Path
    source: list[dict[str, Any]]
    target: list[dict[str, Any]]
    pairs: list[DocumentPair]
    beads: dict[tuple[str, str], list[Bead]] = field(default_factory=dict)

    def write(self, name: str = "page.html", **options: Any) -> str:
        for side, documents in (("ours", self.source), ("theirs", self.target)):
            if not (self.folder / side).exists():
                batch = pa.RecordBatch.from_pylist(documents, schema=DOCUMENTS)
                write_corpus(self.folder / side, [batch], kind="DOCUMENTS", shard_rows=7)
        write_document_pairs(self.folder / "pairs.tsv", self.pairs)
        links = [beads_to_links(beads, *pair) for pair, beads in self.beads.items()]
        write_shard(self.folder / "links.parquet", links, LINKS)
        page = self.folder / name
        settings = {"pairs": self.folder / "pairs.tsv", "links": self.folder / "links.parquet", **options}
        write_aligned_documents(self.folder / "ours", self.folder / "theirs", page, **settings)
        return page.read_text(encoding="utf-8")


@pytest.fixture
def small(tmp_path: Path) -> World:
    """One pair with beads of every type."""
    source = document("a", "ar", "o0\no1\no2\no3\no4\no5", "عنوان")
    target = document("x", "en-GB", "t0\nt1\nt2\nt3\nt4\nt5", "A title")
    beads = [
        Bead((0,), (0,), 3.25),
        Bead((1,), (1, 2), 1.5),
        Bead((2,), (), -2.0),
        Bead((), (3,), -1.0),
        Bead((3, 4), (4, 5), 9.0),
    ]
    return World(tmp_path, [source], [target], [DocumentPair("a", "x", 1.2, 0.4)], {("a", "x"): beads})


def many(folder: Path, count: int = 60, paragraphs: int = 60) -> World:
    """`count` pairs of long documents, and as many documents without a counterpart."""
    text = "\n".join(f"{i} " + "word " * 40 for i in range(paragraphs))
    source = [document(f"a{i}", "de", text, f"Titel {i}") for i in range(2 * count)]
    target = [document(f"x{i}", "en", text, f"Title {i}") for i in range(count)]
    pairs = [DocumentPair(f"a{i}", f"x{i}", 1 + i / count, i / count) for i in range(count)]
    beads = [Bead((i,), (i,), 1.0) for i in range(paragraphs)]
    return World(folder, source, target, pairs, {(pair.source, pair.target): beads for pair in pairs})


def test_page_is_complete_and_self_contained(small: World) -> None:
    page = small.write()
    reader = Reader(page)
    assert page.startswith("<!doctype html>") and reader.open == []
    assert not {"link", "iframe", "object"} & set(reader.seen)
    assert all(value.startswith(("#", "data:image/")) for name, value in reader.attributes if name in ("href", "src"))
    assert "url(" not in page and "@import" not in page and "default-src" in page
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    assert {value[1:] for name, value in reader.attributes if name == "href"} <= set(ids)


def test_the_page_may_run_its_own_script_only(small: World) -> None:
    page = small.write()
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{allowed}&#39;" in policy and "default-src &#39;none&#39;" in policy
    assert not re.findall(r" on\w+=", page.replace(script, ""))


def test_a_pair_is_one_tab_stop(tmp_path: Path) -> None:
    """Arrow keys lead to the other rows."""
    world = many(tmp_path, count=3, paragraphs=60)
    page = world.write()
    assert page.count('tabindex="0"') == 3 and page.count('tabindex="-1"') == 3 * 59


def test_all_pairs_are_listed(tmp_path: Path) -> None:
    page = many(tmp_path, count=30, paragraphs=3).write()
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td>(.*?)</tr>", page)
    assert [re.sub("<.*?>", "", name) for name, _, _ in rows] == [f"Titel {i}" for i in range(29, -1, -1)]
    assert sum("#pair-" in name for name, _, _ in rows) == 20
    assert rows[0][2].startswith('<td class="n" data-name="margin" data-value="0.9667"') and "100\u202f%" in rows[0][2]
    assert "A random sample of 20 is on this page, equally many from each third of the margins." in page
    assert "With --all, the others have pages too." in page


def test_every_pair_has_a_page(tmp_path: Path) -> None:
    world = many(tmp_path, count=60, paragraphs=3)
    page = world.write("my page.html", everything=True)
    folder = tmp_path / "my page-pairs"
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert sorted(pages) == ["page-1.html", "page-2.html", "page-3.html"]
    assert [pages[name].count("<article") for name in sorted(pages)] == [25, 25, 10]
    links = re.findall(r'<td><a href="([^"]*)">', page)
    assert len(links) == 60
    for link in links:
        file, _, anchor = link.partition("#")
        target = page if not file else pages[file.removeprefix("my page-pairs/")]
        assert f'id="{anchor}"' in target
    second = pages["page-2.html"]
    assert 'href="page-1.html#pair-25">previous pair' in second and 'href="page-3.html#pair-51">next pair' in second
    assert 'href="../my%20page.html#list"' in second and "26 of 60" in second and "Pairs 26 to 50 of 60." in second
    assert world.write("my page.html", everything=True) == page, "they replace those of an earlier call"
    (tmp_path / "other-pairs").mkdir()
    (tmp_path / "other-pairs/notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="holds something else"):
        world.write("other.html", everything=True)


def test_pairs_beyond_the_list_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.web.documents_page._MAX_LISTED", 10)
    page = many(tmp_path, count=30, paragraphs=3).write()
    assert page.count("<tr><td>") == 10 and "The first 10 of 30 are listed." in page


def test_figures_are_shown(small: World) -> None:
    small.source.append(document("b", "ar", "lone"))
    small.beads["q", "r"] = [Bead((0,), (0,))]
    text = "".join(Reader(small.write()).text)
    for part in (
        "1 pair of 2 and 1 documents, 5 sentence beads",
        "50\u202f% of 2",
        "100\u202f% of 1",
        "20\u202f% of 5",
    ):
        assert part in text
    assert "1 link of other pairs is not counted." in text
    for kind in ("1:1", "1:2", "1:0", "0:1", "2:2"):
        assert kind in Reader(small.write()).text


def test_rows_contain_the_sentences_of_one_bead(small: World) -> None:
    page = small.write()
    items = re.findall(r'<li class="(bead[^"]*)" title="([^"]*)" tabindex="-?[01]">(.*?)</li>', page)
    assert [(shape, title) for shape, title, _ in items] == [
        ("bead", "1:1, score 3.25"),
        ("bead several", "1:2, score 1.5"),
        ("bead unaligned", "1:0, score −2"),
        ("bead unaligned", "0:1, score −1"),
        ("bead several", "2:2, score 9"),
        ("bead unaligned", "in no link"),
    ]
    shown = [re.findall(r"<p>(.*?)</p>", body) for _, _, body in items]
    assert shown == [["o0", "t0"], ["o1", "t1", "t2"], ["o2"], ["t3"], ["o3", "o4", "t4", "t5"], ["o5"]]
    assert [body.count("<path") for _, _, body in items] == [1, 4, 2, 2, 5, 2]
    assert items[2][2].count("no counterpart") == 1


def test_each_side_has_its_language_and_writing_direction(small: World) -> None:
    page = small.write()
    assert '<div lang="ar" dir="rtl" class="cell"><p>o0</p></div>' in page
    assert '<div lang="en-GB" dir="ltr" class="cell"><p>t0</p></div>' in page
    small.source[0]["lang"] = None
    world = World(small.folder / "unknown", small.source, small.target, small.pairs, small.beads)
    assert '<div dir="auto" class="cell"><p>o0</p></div>' in world.write()


def test_identical_sentences_are_marked() -> None:
    ours, theirs = (Document(name, "en", "", ["The same.", name], []) for name in ("a", "b"))
    assert 'class="bead equal"' in bead_row(Bead((0,), (0,)), ours, theirs)
    assert 'class="bead"' in bead_row(Bead((1,), (1,)), ours, theirs)


@pytest.mark.parametrize(("src", "tgt"), ODD)
def test_text_of_the_data_is_escaped(tmp_path: Path, src: str, tgt: str) -> None:
    hostile = [image('"><script>alert(1)</script>.png', alt='"><b onload="x">')]
    world = World(
        tmp_path,
        [document("a", '"><i>', src, '</title><script>"', hostile)],
        [document("x<b>", "en", tgt, "</style><script>", hostile)],
        [DocumentPair("a", "x<b>", 1.0, 0.3)],
    )
    page = world.write()
    reader = Reader(page)
    assert reader.open == [] and not {"i", "b", "img"} & set(reader.seen)
    assert reader.seen["script"] == 1, "its own"
    assert not any(name.startswith("on") for name, _ in reader.attributes)
    visible = "".join(reader.text)
    for line in (line for text in (src, tgt) for line in text.split("\n") if line.strip()):
        assert line.replace("\x00", "␀").replace("\x07", "␇")[:1000].rstrip() in visible
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", page)


def test_pairs_without_links_show_their_texts(small: World) -> None:
    small.beads.clear()
    page = small.write()
    assert "This pair has no sentence links." in page
    assert "1 of the pairs has no sentence links." in page
    assert page.count('title="in no link"') == 12


def side(pictures: Sequence[dict[str, Any]]) -> Document:
    return Document("d", "en", "", [], [Image(**picture) for picture in pictures])


def test_shared_images_are_matched_and_embedded(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a b.png").write_bytes(PNG)
    (tmp_path / "icon.svg").write_bytes(SVG)
    ours = side([image("media/a%20b.png", PNG, "ours"), image("../up/icon.svg", SVG), image("n", b"1", phash=HASH)])
    theirs = side(
        [image("m", b"2", phash=HASH[:-1] + "3"), image("https://e.org/media/a%20b.png", PNG), image("far", b"3")]
    )
    shown = str(images(ours, theirs, Embedder([tmp_path / "nowhere", tmp_path])))
    assert Reader(shown).open == []
    assert re.findall(r'<li class="(bead[^"]*)"', shown) == ["bead shared", "bead shared similar", "bead others"]
    assert shown.count('title="identical images"') == 1 and shown.count('title="similar images"') == 1
    embedded = re.findall(r'<img src="data:(image/[a-z+]+);base64,([^"]*)" alt="([^"]*)">', shown)
    png, svg = (base64.b64encode(data).decode() for data in (PNG, SVG))
    assert embedded == [("image/png", png, "ours"), ("image/png", png, ""), ("image/svg+xml", svg, "")]
    assert "alert" not in shown and shown.count("image file not found") == 3


@pytest.mark.parametrize(
    ("data", "recorded", "embedder", "reason"),
    [
        (PNG, PNG, {"max_bytes": 5}, "1\u202fkB, too large for the page"),
        (PNG, PNG, {"max_total_bytes": 5}, "omitted: size limit of the page reached"),
        (PNG, b"other", {}, "the file of this name is a different image"),
        (b"<html>", b"<html>", {}, "not an image"),
        (None, PNG, {}, "image file not found"),
        (PNG, PNG, {"media": []}, "no image folder given"),
    ],
)
def test_missing_images_show_the_reason(
    tmp_path: Path, data: bytes | None, recorded: bytes, embedder: dict[str, Any], reason: str
) -> None:
    if data is not None:
        (tmp_path / "p.png").write_bytes(data)
    shown = Embedder(**{"media": [tmp_path], **embedder}).figure(Image("p.png", "A <dog>", digest(recorded), None))
    assert reason in shown and "A &lt;dog&gt;" in shown and "<img" not in shown


@pytest.mark.parametrize("src", ["../secret", "/../secret", "%2e%2e/secret", "file:///../secret", "a/../../secret"])
def test_images_are_looked_up_inside_their_folder_only(tmp_path: Path, src: str) -> None:
    assert all(path.is_relative_to(tmp_path) and ".." not in path.parts for path in candidate_paths(src, [tmp_path]))


def test_images_are_found_where_they_were_extracted(tmp_path: Path) -> None:
    """Their addresses do not lead there; another file of that name is not shown."""
    source = [document("a", "de", "eins", pictures=[image("../x/cat.png", PNG, "Katze")])]
    world = World(tmp_path, source, [document("x", "en", "one")], [DocumentPair("a", "x", 1, 1)])
    assert "no image folder given" in world.write()
    (tmp_path / "site").mkdir()
    (tmp_path / "site/1.png").write_bytes(PNG)
    record = tmp_path / "ours/image-files.jsonl"
    record.write_text(f'{{"sha256": "{digest(PNG)}", "file": "../site/1.png"}}\n{{"sha256": 1}}\nno JSON\n[]\n')
    page = world.write()
    assert base64.b64encode(PNG).decode() in page and 'alt="Katze"' in page
    (tmp_path / "site/1.png").write_bytes(PNG + b"other")
    assert "the file of this name is a different image" in world.write()
    record.write_bytes(b"\xff")
    assert "no image folder given" in world.write()


@pytest.mark.parametrize("src", ["", "/", "data:image/png", "javascript:x.png", "http://[", "\0.png", "a" * 5000])
def test_invalid_addresses_are_not_embedded(tmp_path: Path, src: str) -> None:
    assert "<img" not in Embedder([tmp_path]).figure(Image(src, "", None, None))


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    world = many(tmp_path, paragraphs=3)
    page = world.write()
    world.pairs.reverse()
    assert world.write("again.html").replace("again", "page") == page
    assert world.write("other.html", seed=2) != page


def test_twenty_pairs_stay_small_and_come_from_each_third(tmp_path: Path) -> None:
    world = many(tmp_path)
    page = world.write()
    assert page.count("<article") == 20 and len(page.encode()) < 2_000_000
    assert page.count("20 more rows") == 20
    for third, count in (("highest margins", 7), ("middle margins", 6), ("lowest margins", 7)):
        assert page.count(f"· {third} ·") == count
    assert "Titel 119" not in page


@pytest.mark.parametrize(
    ("pairs", "show", "expected"), [(9, 3, [0, 1, 2]), (9, 20, [0] * 3 + [1] * 3 + [2] * 3), (1, 5, [None])]
)
def test_samples_have_equally_many_pairs_of_each_third(pairs: int, show: int, expected: list[int | None]) -> None:
    sample = sample_pairs([DocumentPair(f"a{i}", f"x{i}", 0.0, i / 10) for i in range(pairs)], show, seed=1)
    assert [third for _, third in sample] == expected
    margins = [pair.margin for pair, _ in sample]
    assert margins == sorted(margins, reverse=True) and len(set(sample)) == len(sample)


def test_equal_and_undefined_margins_are_accepted(small: World) -> None:
    assert {third for _, third in sample_pairs([DocumentPair(c, c) for c in "abcde"], 3, seed=1)} == {None}
    small.source.append(document("b", "ar", "b"))
    small.pairs.append(DocumentPair("b", "x", 1.0, float("nan")))
    assert Reader(small.write()).open == []


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"pairs": [DocumentPair("a", "gone")]}, DataError, r"pairs\.tsv: document 'gone' not found in .*theirs"),
        (
            {"pairs": [DocumentPair("lost", "x"), DocumentPair("a", "x")]},
            DataError,
            "document 'lost' not found in .*ours",
        ),
        ({"pairs": []}, DataError, "contains no document pairs"),
        (
            {"beads": {("a", "x"): [Bead((9,), (0,))]}},
            DataError,
            "sentence 9 is out of range: the text has 6.*'a' and 'x'",
        ),
        ({"beads": {("a", "x"): [Bead((0,), (0,)), Bead((0,), (1,))]}}, DataError, "links.*sentence 0 is in two beads"),
    ],
)
def test_inconsistent_input_is_an_error(
    small: World, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    for name, value in change.items():
        setattr(small, name, value)
    with pytest.raises(error, match=message):
        small.write()
    assert not (small.folder / "page.html").exists()


def test_page_without_pairs_is_an_error(small: World) -> None:
    with pytest.raises(ConfigError, match="1 or more"):
        small.write(show=0)


def test_rows_are_in_reading_order_for_any_order_of_links() -> None:
    beads = [Bead((2,), (3,)), Bead((), (1,)), Bead((1,), ()), Bead((0,), (0,))]
    assert [(one.source, one.target) for one in reading_order(beads, 4, 5)] == [
        ((0,), (0,)),
        ((1,), ()),
        ((), (1,)),
        ((), (2,)),
        ((2,), (3,)),
        ((3,), ()),
        ((), (4,)),
    ]


def test_connections_meet_the_middle_of_each_block() -> None:
    assert heights(["字" * 40]) == heights(["ab" * 40])
    drawn = connections([1], [1, 3])
    assert 'd="M0 50H50"' in drawn and "M100 12.5C" in drawn and "M100 62.5C" in drawn


def test_style_sheet_uses_only_colors_of_the_palette() -> None:
    style = (Path(paraloom.web.__file__).parent / "static/documents.css").read_text(encoding="utf-8")
    assert len(style.splitlines()) < 300 and "prefers-color-scheme: dark" in style and "@media print" in style
    assert set(re.findall(r"#[0-9a-f]{6}", style)) == {"#ffffff", "#edf3f1", "#1f2e2f"}


def test_command(small: World, paraloom: Callable[..., tuple[int, str, str]]) -> None:
    small.write()
    arguments = ["show", "documents", "ours", "theirs", "--pairs", "pairs.tsv", "--links", "links.parquet"]
    status, _, errors = paraloom(*arguments, "-o", "made.html")
    assert (status, "1 of 1 pairs" in errors) == (0, True)
    assert (small.folder / "made.html").read_text(encoding="utf-8") == (small.folder / "page.html").read_text("utf-8")
    status, _, errors = paraloom(*arguments, "-o", "made.html", "--all")
    assert (status, "all 1 pairs in made-pairs" in errors) == (0, True)
    assert (small.folder / "made-pairs/page-1.html").is_file()
    status, _, errors = paraloom(*arguments, "--media", "none")
    assert (status, "'none'" in errors) == (1, True)
