"""Extraction end to end: from pages to documents, and rejected pages with their reasons."""

from __future__ import annotations

import gzip
import json
import os
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

for _package in ("trafilatura", "justext", "warcio", "imagehash"):
    pytest.importorskip(_package, reason="extraction needs packages: pip install 'paraloom[extract]'")

from toy_pages import ENGLISH, GERMAN, html, png, site  # noqa: E402

from paraloom.api import extract as workflow  # noqa: E402
from paraloom.api.extract import REJECTED_PAGES, ExtractConfig, extract_documents  # noqa: E402
from paraloom.core.errors import ConfigError, DataError, RunError  # noqa: E402
from paraloom.extract.documents import ExtractionCounts  # noqa: E402
from paraloom.extract.images import IMAGE_FILES  # noqa: E402
from paraloom.io import Corpus  # noqa: E402

Command = Callable[..., tuple[int, str, str]]


def run(sources: Sequence[Path | str], output: Path, **options: Any) -> tuple[ExtractionCounts, list[dict], list[dict]]:
    """The counts, the documents and the rejected pages."""
    counts = extract_documents([str(source) for source in sources], str(output), ExtractConfig(**options), workers=1)
    rows = [row for batch in Corpus.open(output).batches() for row in batch.to_pylist()]
    rejected = [json.loads(line) for line in (output / REJECTED_PAGES).read_text(encoding="utf-8").splitlines()]
    assert counts.read == len(rows) + len(rejected)
    assert counts.documents == len(rows)
    return counts, rows, rejected


def one(tmp_path: Path, content: str | bytes, name: str = "page.html", **options: Any) -> dict:
    """The only document of a folder with one page."""
    folder = tmp_path / "in"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    _, rows, rejected = run([folder], tmp_path / "out", **options)
    assert not rejected
    return rows[0]


def test_repeated_paragraphs_of_a_site_are_dropped(tmp_path: Path) -> None:
    counts, rows, _ = run([site(tmp_path / "museum")], tmp_path / "out")
    assert counts.methods == {"site": 25}
    assert rows[3]["doc_id"] == "003" and rows[3]["url"] == "museum/003.html"
    assert (rows[3]["title"], rows[3]["lang"]) == ("Room 3", "en")
    assert rows[3]["text"].split("\n")[0::2] == ["Room 3", "Please close the door of room 3 behind you."]
    assert counts.repeated_paragraphs == 2 * 25
    assert not any("Follow us" in row["text"] or "Contact" in row["text"] for row in rows)


def test_a_small_site_uses_trafilatura(tmp_path: Path) -> None:
    counts, rows, _ = run([site(tmp_path / "museum", 5)], tmp_path / "out")
    assert counts.methods == {"trafilatura": 5} and "It is room 2." in rows[2]["text"]


@pytest.mark.parametrize("method", ["site", "trafilatura", "justext"])
def test_each_method_finds_the_text(tmp_path: Path, method: str) -> None:
    long = ENGLISH * 3
    document = one(tmp_path, html(f"{long}\n{long}\n{long}"), main_text=method)
    assert long.strip() in document["text"].split("\n")


def test_the_bytes_do_not_depend_on_the_workers(tmp_path: Path) -> None:
    source = site(tmp_path / "museum", 150)
    (source / "077.html").write_bytes(b"")
    for workers in (1, 2):
        extract_documents([str(source)], str(tmp_path / f"out{workers}"), workers=workers)
    files = sorted(path.name for path in (tmp_path / "out1").iterdir())
    assert files == [*sorted(["corpus.json", "part-00000.parquet", REJECTED_PAGES])]
    for name in files:
        assert (tmp_path / "out1" / name).read_bytes() == (tmp_path / "out2" / name).read_bytes()


def test_pages_in_another_language_than_declared(tmp_path: Path) -> None:
    pytest.importorskip("lingua", reason="language identification needs lingua: pip install 'paraloom[language]'")
    source = tmp_path / "in"
    source.mkdir()
    (source / "false.html").write_text(html(ENGLISH * 3, lang="ko-KR"))
    (source / "none.html").write_text(html(GERMAN * 3, lang=""))
    (source / "true.html").write_text(html(GERMAN * 4, lang="de"))
    _, rows, rejected = run([source], tmp_path / "out")
    assert [row["lang"] for row in rows] == ["de", "de"]
    assert (rejected[0]["reason"], rejected[0]["detail"]) == ("language", "declared ko, identified en")
    _, rows, rejected = run([source], tmp_path / "kept", keep_languages=True, languages=("de", "en", "ko"))
    assert [row["lang"] for row in rows] == ["ko", "de", "de"] and not rejected
    _, rows, _ = run([source], tmp_path / "given", lang="de")
    assert [row["url"] for row in rows] == ["in/none.html", "in/true.html"]


def test_without_lingua_declared_languages_are_used_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> list[str]:
        raise ConfigError("language identification needs lingua")

    monkeypatch.setattr(workflow, "known_languages", missing)
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.html").write_text(html(ENGLISH * 3, lang="ko"))
    (source / "b.html").write_text(html(GERMAN * 3, lang=""))
    with pytest.warns(UserWarning, match="lingua is not installed") as warnings:
        counts, rows, _ = run([source], tmp_path / "out")
    assert [row["lang"] for row in rows] == ["ko", "und"] and counts.unchecked_languages == 2 and len(warnings) == 1


def test_duplicate_pages_are_rejected(tmp_path: Path) -> None:
    source = site(tmp_path / "museum", 3)
    (source / "copy.html").write_bytes((source / "001.html").read_bytes())
    _, rows, rejected = run([source], tmp_path / "out")
    assert len(rows) == 3
    assert [(line["doc_id"], line["reason"], line["detail"]) for line in rejected] == [
        ("copy", "duplicate", "same main text as 001")
    ]


def test_empty_and_short_pages(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.html").write_bytes(b"")
    (source / "b.html").write_text("<html><head><title>Nothing</title></head><body><script>1</script></body></html>")
    (source / "c.html").write_text("<p>Short.</p>")
    (source / "d.html").write_bytes(b"\x89PNG\r\n" + bytes(500))
    (source / "e.html").write_text("<!-- no element -->")
    counts, rows, rejected = run([source], tmp_path / "out", main_text="site")
    assert not rows
    assert [line["reason"] for line in rejected] == ["empty", "empty", "short", "charset", "empty"]
    assert counts.rejected == {"empty": 3, "short": 1, "charset": 1}
    assert "rejected (charset 1, empty 3, short 1)" in counts.format()


def test_truncated_html(tmp_path: Path) -> None:
    whole = html(f"{ENGLISH}\n{GERMAN * 3}").encode()
    document = one(tmp_path, whole[: whole.index("Türen".encode()) + 2], main_text="site", languages=("de", "en"))
    assert ENGLISH.strip() in document["text"] and document["text"].endswith("Sonntag seine T")


def test_only_invalid_bytes_are_replaced(tmp_path: Path) -> None:
    body = html(GERMAN * 3, lang="de").encode().replace(b"umsonst", "Stra\xdfe".encode("latin-1"), 1)
    counts, rows, _ = run([_page(tmp_path, body)], tmp_path / "out", main_text="site")
    text = rows[0]["text"]
    assert text.count("�") == 1 and text.count("Türen") == 3 and counts.invalid_bytes == 1


@pytest.mark.parametrize(("declared", "real"), [("iso-8859-1", "utf-8"), ("utf-8", "cp1252"), ("utf-8", "utf-16")])
def test_wrong_charset_declarations(tmp_path: Path, declared: str, real: str) -> None:
    body = html(GERMAN * 5, lang="de").replace("utf-8", declared).encode(real)
    assert GERMAN.strip() in one(tmp_path, body, main_text="site")["text"]


def test_images_found_missing_repeated_and_inline(tmp_path: Path) -> None:
    source, media = site(tmp_path / "museum", 25), tmp_path / "elsewhere"
    media.mkdir()
    (source / "img").mkdir()
    (source / "img" / "a b.png").write_bytes(png("red"))
    (source / "logo.png").write_bytes(png("blue"))
    (media / "vase.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "secret.png").write_bytes(png("green"))
    for path in source.glob("*.html"):
        path.write_text(path.read_text().replace("</body>", "<img src='/logo.png'></body>"))
    images = (
        '<img src="img/a%20b.png" alt=" A  vase "><img src="figures/vase.svg?v=2"><img src="gone.png" alt="Gone">'
        '<img src="../secret.png"><img src="data:image/png;base64,AAAA"><nav><img src="arrow.png"></nav>'
    )
    path = source / "007.html"
    path.write_text(path.read_text().replace("</body>", f"{images}</body>"))
    counts, rows, _ = run([source], tmp_path / "out", media=(media,))
    found_images = rows[7]["images"]
    assert [image["src"] for image in found_images] == [
        "img/a%20b.png",
        "figures/vase.svg?v=2",
        "gone.png",
        "../secret.png",
        "data:image/png",
    ]
    assert (
        found_images[0]["alt"] == "A vase"
        and len(found_images[0]["phash"]) == 16
        and len(found_images[0]["sha256"]) == 64
    )
    assert found_images[1]["sha256"] and found_images[1]["phash"] is None
    assert found_images[2] == {"src": "gone.png", "alt": "Gone", "sha256": None, "phash": None}
    assert found_images[3]["sha256"] is None, "a page must not refer to files outside of its root"
    assert found_images[4]["sha256"]
    assert (counts.images, counts.missing_images, counts.repeated_images) == (5, 2, 25)
    entries = [json.loads(line) for line in (tmp_path / "out" / IMAGE_FILES).read_text().splitlines()]
    files = {entry["sha256"]: (tmp_path / "out" / entry["file"]).resolve() for entry in entries}
    assert files[found_images[0]["sha256"]] == source / "img/a b.png" and len(files) == 3
    assert files[found_images[1]["sha256"]] == media / "vase.svg"


@pytest.mark.slow
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


def test_a_list_with_a_missing_file(tmp_path: Path, paraloom: Command) -> None:
    site(tmp_path / "museum", 2)
    (tmp_path / "list.txt").write_text("museum/001.html\nmuseum/01.html\n")
    status, _, err = paraloom("extract", "@list.txt", "-o", "out")
    assert status == 1 and "list.txt, row 2: museum/01.html: file not found" in err
    assert "001.html" in err and not (tmp_path / "out").exists()


def test_a_folder_without_pages(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.png").write_bytes(png())
    with pytest.raises(DataError, match=r"in: the folder has no pages[^$]*\.html"):
        extract_documents([str(tmp_path / "in")], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_the_command_prints_counts_and_does_not_overwrite_a_corpus(tmp_path: Path, paraloom: Command) -> None:
    site(tmp_path / "museum", 3)
    status, _, err = paraloom("extract", "museum", "-o", "out", "--workers", "1")
    assert status == 0 and "pages: 3 read = 3 documents + 0 rejected" in err
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    status, _, err = paraloom("extract", "museum", "-o", "out", "--workers", "1")
    assert status == 0 and "up to date" in err
    site(tmp_path / "gallery", 2)
    status, _, err = paraloom("extract", "gallery", "-o", "out", "--workers", "1")
    assert status == 1 and "--force" in err
    assert before == {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    status, out, _ = paraloom("extract", "museum", "-o", "again", "--workers", "1", "--json")
    assert status == 0 and json.loads(out)["documents"] == 3
    assert paraloom("extract", "-o", "nothing")[0] == 2


def test_invalid_settings(tmp_path: Path) -> None:
    source = str(site(tmp_path / "museum", 1))
    for options in ({"main_text": "sight"}, {"min_characters": 0}, {"lang": "English"}, {"media": (tmp_path / "no",)}):
        with pytest.raises(ConfigError):
            extract_documents([source], str(tmp_path / "out"), ExtractConfig(**options))
    with pytest.raises(ConfigError, match="Name a folder"):
        extract_documents([source], str(tmp_path / "out.parquet"))


def test_an_interruption_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workflow, "find_repeated", stop)
    with pytest.raises(KeyboardInterrupt, match="nothing was written"):
        extract_documents([str(site(tmp_path / "museum", 2))], str(tmp_path / "out"), workers=1)
    assert [path.name for path in tmp_path.iterdir()] == ["museum"]


def test_counts_that_do_not_add_up_are_an_error() -> None:
    with pytest.raises(RunError, match="read 2, documents 1, rejected 0"):
        ExtractionCounts(read=2, documents=1).check()


def test_gold_paragraphs_of_real_pages(data: Path, tmp_path: Path) -> None:
    """Of a hundred English help pages, at least 97 % of the gold paragraphs are extracted completely."""
    folder = data / "documents" / "libreoffice-help"
    gold: dict[str, set[str]] = {}
    with gzip.open(folder / "gold.paragraphs.en-de.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            page, _, english, _ = line.rstrip("\n").split("\t")
            gold.setdefault(page, set()).add(" ".join(english.split()))
    names = sorted(gold)[:100]
    (tmp_path / "en").mkdir()
    with tarfile.open(folder / "pages.en.tar.xz") as archive:
        for member in archive:
            if Path(member.name).stem in names:
                content = archive.extractfile(member)
                assert content is not None
                (tmp_path / "en" / Path(member.name).name).write_bytes(content.read())
    counts, rows, _ = run([tmp_path / "en"], tmp_path / "out")
    extracted = {os.path.basename(row["doc_id"]): set(row["text"].split("\n")) for row in rows}  # noqa: PTH119
    total = sum(len(gold[page]) for page in names)
    assert sum(len(gold[page] & extracted.get(page, set())) for page in names) / total > 0.97
    assert counts.documents >= 98


def _page(tmp_path: Path, body: bytes) -> Path:
    path = tmp_path / "page.html"
    path.write_bytes(body)
    return path
