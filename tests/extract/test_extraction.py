"""Extraction end to end: pages in, documents out, what is wrong with a page set aside with its reason."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

WHY = "extraction needs packages: pip install 'paraloom[extract]'"
for _package in ("trafilatura", "justext", "warcio", "imagehash"):
    pytest.importorskip(_package, reason=WHY)

from paraloom.core.errors import ConfigError, DataError, RunError  # noqa: E402
from paraloom.extract.counts import ExtractionCounts  # noqa: E402
from paraloom.io import Corpus  # noqa: E402
from paraloom.workflows import extract as recipe  # noqa: E402
from paraloom.workflows.extract import ASIDE, ExtractConfig, extract_documents  # noqa: E402

Command = Callable[..., tuple[int, str, str]]

ENGLISH = (
    "The museum opens its doors on Sunday, and everybody who lives in the old town may visit it without a ticket. "
)
GERMAN = "Das Museum öffnet am Sonntag seine Türen, und jeder, der in der Altstadt wohnt, darf es umsonst besuchen. "
MENU = "<nav>Home | News | Contact</nav><div>Follow us on all channels</div>"


def html(text: str, *, title: str = "A page", lang: str = "en", extra: str = "", body: str = MENU) -> str:
    paragraphs = "".join(f"<p>{line}</p>" for line in text.split("\n"))
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    return f'<!DOCTYPE html><html lang="{lang}">{head}<body>{body}{paragraphs}{extra}</body></html>'


def site(folder: Path, pages: int = 25) -> Path:
    """A folder of pages that share a menu; each has two sentences of its own and a heading that others have too."""
    folder.mkdir(parents=True)
    for number in range(pages):
        text = f"Room {number}\n{ENGLISH * 2} It is room {number}.\nPlease close the door of room {number} behind you."
        (folder / f"{number:03d}.html").write_text(html(text, title=f"Room {number}"), encoding="utf-8")
    return folder


def run(sources: Sequence[Path | str], output: Path, **options: Any) -> tuple[ExtractionCounts, list[dict], list[dict]]:
    """The counts, the documents and the lines of set-aside.jsonl."""
    counts = extract_documents([str(each) for each in sources], str(output), ExtractConfig(**options), workers=1)
    rows = [row for batch in Corpus.open(output).batches() for row in batch.to_pylist()]
    aside = [json.loads(line) for line in (output / ASIDE).read_text(encoding="utf-8").splitlines()]
    assert counts.read == len(rows) + len(aside)
    assert counts.documents == len(rows)
    return counts, rows, aside


def one(tmp_path: Path, content: str | bytes, name: str = "page.html", **options: Any) -> dict:
    """The only document of a folder with one page."""
    folder = tmp_path / "in"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    _, rows, aside = run([folder], tmp_path / "out", **options)
    assert not aside
    return rows[0]


def picture(colour: str = "red", size: int = 64) -> bytes:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (size, size), "white")
    ImageDraw.Draw(image).ellipse((5, 9, size // 2, size - 20), fill=colour)
    made = io.BytesIO()
    image.save(made, "PNG")
    return made.getvalue()


def test_a_site_keeps_all_but_what_it_repeats(tmp_path: Path) -> None:
    counts, rows, _ = run([site(tmp_path / "museum")], tmp_path / "out")
    assert counts.by == {"site": 25}
    assert rows[3]["doc_id"] == "003" and rows[3]["url"] == "museum/003.html"
    assert (rows[3]["title"], rows[3]["lang"]) == ("Room 3", "en")
    assert rows[3]["text"].split("\n")[0::2] == ["Room 3", "Please close the door of room 3 behind you."]
    assert counts.repeated == 2 * 25
    assert not any("Follow us" in row["text"] or "Contact" in row["text"] for row in rows)


def test_a_small_site_goes_to_trafilatura(tmp_path: Path) -> None:
    counts, rows, _ = run([site(tmp_path / "museum", 5)], tmp_path / "out")
    assert counts.by == {"trafilatura": 5} and "It is room 2." in rows[2]["text"]


@pytest.mark.parametrize("method", ["site", "trafilatura", "justext"])
def test_each_way_finds_the_text(tmp_path: Path, method: str) -> None:
    long = ENGLISH * 3
    found = one(tmp_path, html(f"{long}\n{long}\n{long}"), main_text=method)
    assert long.strip() in found["text"].split("\n")


def test_the_bytes_do_not_depend_on_the_workers(tmp_path: Path) -> None:
    source = site(tmp_path / "museum", 150)
    (source / "077.html").write_bytes(b"")
    for workers in (1, 2):
        extract_documents([str(source)], str(tmp_path / f"out{workers}"), workers=workers)
    files = sorted(path.name for path in (tmp_path / "out1").iterdir())
    assert files == [*sorted(["corpus.json", "part-00000.parquet", ASIDE])]
    for name in files:
        assert (tmp_path / "out1" / name).read_bytes() == (tmp_path / "out2" / name).read_bytes()


def test_a_page_in_the_wrong_language_is_set_aside_or_kept_on_demand(tmp_path: Path) -> None:
    pytest.importorskip("lingua", reason="telling languages apart needs lingua: pip install 'paraloom[language]'")
    source = tmp_path / "in"
    source.mkdir()
    (source / "false.html").write_text(html(ENGLISH * 3, lang="ko-KR"))
    (source / "none.html").write_text(html(GERMAN * 3, lang=""))
    (source / "true.html").write_text(html(GERMAN * 4, lang="de"))
    _, rows, aside = run([source], tmp_path / "out")
    assert [row["lang"] for row in rows] == ["de", "de"]
    assert (aside[0]["reason"], aside[0]["detail"]) == ("language", "said ko, reads as en")
    _, rows, aside = run([source], tmp_path / "kept", keep_languages=True, languages=("de", "en", "ko"))
    assert [row["lang"] for row in rows] == ["ko", "de", "de"] and not aside
    _, rows, _ = run([source], tmp_path / "told", lang="de")
    assert [row["url"] for row in rows] == ["in/none.html", "in/true.html"]


def test_without_lingua_languages_are_believed_and_a_warning_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> list[str]:
        raise ConfigError("telling languages apart needs lingua")

    monkeypatch.setattr(recipe, "known_languages", missing)
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.html").write_text(html(ENGLISH * 3, lang="ko"))
    (source / "b.html").write_text(html(GERMAN * 3, lang=""))
    with pytest.warns(UserWarning, match="lingua is not installed") as warned:
        counts, rows, _ = run([source], tmp_path / "out")
    assert [row["lang"] for row in rows] == ["ko", "und"] and counts.unchecked == 2 and len(warned) == 1


def test_two_copies_of_one_page(tmp_path: Path) -> None:
    source = site(tmp_path / "museum", 3)
    (source / "copy.html").write_bytes((source / "001.html").read_bytes())
    _, rows, aside = run([source], tmp_path / "out")
    assert len(rows) == 3
    assert [(line["doc_id"], line["reason"], line["detail"]) for line in aside] == [
        ("copy", "duplicate", "the main text of 001")
    ]


def test_empty_and_short_pages(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.html").write_bytes(b"")
    (source / "b.html").write_text("<html><head><title>Nothing</title></head><body><script>1</script></body></html>")
    (source / "c.html").write_text("<p>Short.</p>")
    (source / "d.html").write_bytes(b"\x89PNG\r\n" + bytes(500))
    (source / "e.html").write_text("<!-- no element -->")
    counts, rows, aside = run([source], tmp_path / "out", main_text="site")
    assert not rows
    assert [line["reason"] for line in aside] == ["empty", "empty", "short", "charset", "empty"]
    assert counts.aside == {"empty": 3, "short": 1, "charset": 1}
    assert "set aside (charset 1, empty 3, short 1)" in counts.render()


def test_truncated_html_gives_what_is_there(tmp_path: Path) -> None:
    whole = html(f"{ENGLISH}\n{GERMAN * 3}").encode()
    found = one(tmp_path, whole[: whole.index("Türen".encode()) + 2], main_text="site", languages=("de", "en"))
    assert ENGLISH.strip() in found["text"] and found["text"].endswith("Sonntag seine T")


def test_mixed_encodings_replace_the_bad_bytes_only(tmp_path: Path) -> None:
    body = html(GERMAN * 3, lang="de").encode().replace(b"umsonst", "Stra\xdfe".encode("latin-1"), 1)
    counts, rows, _ = run([_page(tmp_path, body)], tmp_path / "out", main_text="site")
    text = rows[0]["text"]
    assert text.count("�") == 1 and text.count("Türen") == 3 and counts.replaced == 1


@pytest.mark.parametrize(("declared", "real"), [("iso-8859-1", "utf-8"), ("utf-8", "cp1252"), ("utf-8", "utf-16")])
def test_false_charset_declarations(tmp_path: Path, declared: str, real: str) -> None:
    body = html(GERMAN * 5, lang="de").replace("utf-8", declared).encode(real)
    assert GERMAN.strip() in one(tmp_path, body, main_text="site")["text"]


def test_pictures_found_missing_shared_and_inline(tmp_path: Path) -> None:
    source, media = site(tmp_path / "museum", 25), tmp_path / "elsewhere"
    media.mkdir()
    (source / "img").mkdir()
    (source / "img" / "a b.png").write_bytes(picture("red"))
    (source / "logo.png").write_bytes(picture("blue"))
    (media / "vase.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "secret.png").write_bytes(picture("green"))
    for path in source.glob("*.html"):
        path.write_text(path.read_text().replace("</body>", "<img src='/logo.png'></body>"))
    images = (
        '<img src="img/a%20b.png" alt=" A  vase "><img src="figures/vase.svg?v=2"><img src="gone.png" alt="Gone">'
        '<img src="../secret.png"><img src="data:image/png;base64,AAAA"><nav><img src="arrow.png"></nav>'
    )
    path = source / "007.html"
    path.write_text(path.read_text().replace("</body>", f"{images}</body>"))
    counts, rows, _ = run([source], tmp_path / "out", media=(media,))
    found = rows[7]["images"]
    assert [each["src"] for each in found] == [
        "img/a%20b.png",
        "figures/vase.svg?v=2",
        "gone.png",
        "../secret.png",
        "data:image/png",
    ]
    assert found[0]["alt"] == "A vase" and len(found[0]["phash"]) == 16 and len(found[0]["sha256"]) == 64
    assert found[1]["sha256"] and found[1]["phash"] is None
    assert found[2] == {"src": "gone.png", "alt": "Gone", "sha256": None, "phash": None}
    assert found[3]["sha256"] is None, "a page must not reach out of its root"
    assert found[4]["sha256"]
    assert (counts.pictures, counts.missing, counts.repeated_pictures) == (5, 2, 25)


def test_a_page_of_100_000_paragraphs_is_whole(tmp_path: Path) -> None:
    text = "\n".join(f"This is paragraph {number} of a long page." for number in range(100_000))
    assert one(tmp_path, html(text), main_text="site")["text"].count("\n") >= 99_999


def test_a_list_and_a_text_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    site(tmp_path / "museum", 3)
    (tmp_path / "notes.txt").write_text(f"Notes\n\n{ENGLISH}\n{ENGLISH * 2}", encoding="utf-8")
    (tmp_path / "list.txt").write_text("museum/002.html\n\nnotes.txt\n")
    _, rows, _ = run(["@list.txt", "museum/000.html"], tmp_path / "out")
    assert [row["doc_id"] for row in rows] == ["museum/002", "notes", "museum/000"]
    assert rows[1]["title"] == "Notes" and rows[1]["text"].count("\n") == 2


def test_a_list_that_names_a_file_that_is_not_there(tmp_path: Path, paraloom: Command) -> None:
    site(tmp_path / "museum", 2)
    (tmp_path / "list.txt").write_text("museum/001.html\nmuseum/01.html\n")
    status, _, said = paraloom("extract", "--list", "list.txt", "-o", "out")
    assert status == 1 and "list.txt, row 2: museum/01.html: there is no such file" in said
    assert "001.html" in said and not (tmp_path / "out").exists()


def test_a_folder_without_pages(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.png").write_bytes(picture())
    with pytest.raises(DataError, match=r"in: there is no page in this folder[^$]*\.html"):
        extract_documents([str(tmp_path / "in")], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_the_command_prints_its_books_and_does_not_write_over_a_corpus(tmp_path: Path, paraloom: Command) -> None:
    site(tmp_path / "museum", 3)
    status, _, said = paraloom("extract", "museum", "-o", "out", "--workers", "1")
    assert status == 0 and "pages: 3 read = 3 documents + 0 set aside" in said
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    status, _, said = paraloom("extract", "museum", "-o", "out", "--workers", "1")
    assert status == 1 and "there is a corpus already" in said
    assert before == {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    status, said, _ = paraloom("extract", "museum", "-o", "again", "--workers", "1", "--json")
    assert status == 0 and json.loads(said)["documents"] == 3
    assert paraloom("extract", "-o", "nothing")[0] == 2


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    source = str(site(tmp_path / "museum", 1))
    for options in ({"main_text": "sight"}, {"least": 0}, {"lang": "English"}, {"media": (tmp_path / "no",)}):
        with pytest.raises(ConfigError):
            extract_documents([source], str(tmp_path / "out"), ExtractConfig(**options))
    with pytest.raises(ConfigError, match="Name a folder"):
        extract_documents([source], str(tmp_path / "out.parquet"))


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(recipe, "repeated_texts", stop)
    with pytest.raises(KeyboardInterrupt, match="nothing was written"):
        extract_documents([str(site(tmp_path / "museum", 2))], str(tmp_path / "out"), workers=1)
    assert [path.name for path in tmp_path.iterdir()] == ["museum"]


def test_books_that_do_not_close_are_an_error() -> None:
    with pytest.raises(RunError, match="read 2, documents 1, aside 0"):
        ExtractionCounts(read=2, documents=1).check()


def test_gold_paragraphs_of_real_pages_are_found_whole(data: Path, tmp_path: Path) -> None:
    """A hundred English help pages: at least 97 of 100 gold paragraphs stand whole among the extracted ones."""
    folder = data / "documents" / "libreoffice-help"
    gold: dict[str, set[str]] = {}
    with gzip.open(folder / "gold.paragraphs.en-de.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            page, _, english, _ = line.rstrip("\n").split("\t")
            gold.setdefault(page, set()).add(" ".join(english.split()))
    wanted = sorted(gold)[:100]
    (tmp_path / "en").mkdir()
    with tarfile.open(folder / "pages.en.tar.xz") as archive:
        for member in archive:
            if Path(member.name).stem in wanted:
                content = archive.extractfile(member)
                assert content is not None
                (tmp_path / "en" / Path(member.name).name).write_bytes(content.read())
    counts, rows, _ = run([tmp_path / "en"], tmp_path / "out")
    found = {os.path.basename(row["doc_id"]): set(row["text"].split("\n")) for row in rows}  # noqa: PTH119
    total = sum(len(gold[page]) for page in wanted)
    assert sum(len(gold[page] & found.get(page, set())) for page in wanted) / total > 0.97
    assert counts.documents >= 98


def _page(tmp_path: Path, body: bytes) -> Path:
    path = tmp_path / "page.html"
    path.write_bytes(body)
    return path
