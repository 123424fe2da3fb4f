"""The report: one page that needs nothing beside itself, tells the run's numbers, and breaks on no text."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from toy_run import ODD, make_toy_run

import paraloom.report
from paraloom.core.errors import DataError
from paraloom.io import Corpus, read_shard
from paraloom.report.figures import count
from paraloom.report.page import write_report
from paraloom.report.samples import pair

_VOID = {"meta", "br", "hr", "link", "img", "input"}


class Reader(HTMLParser):
    """Checks that elements nest, and collects what a test asks about."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_toy_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def page(run: Path) -> str:
    return write_report(run, run / "page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reader(page: str) -> Reader:
    return Reader(page)


def test_the_page_is_whole_small_and_alone(page: str, reader: Reader) -> None:
    assert page.startswith("<!doctype html>")
    assert reader.open == []
    assert len(page.encode()) < 2_000_000
    assert not {"script", "link", "img", "iframe"} & set(reader.seen)
    assert all(value.startswith("#") for name, value in reader.attributes if name in ("href", "src"))
    assert "url(" not in page and "@import" not in page and "http" not in page


def test_what_the_contents_point_to_is_there(reader: Reader) -> None:
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    assert {value[1:] for name, value in reader.attributes if name == "href"} <= set(ids)
    assert {"chain", "scores", "pairs", "training", "results", "made"} <= set(ids)


def test_each_picture_is_described(reader: Reader, page: str) -> None:
    told = re.findall(r"<svg[^>]*>", page)
    assert told and all('aria-label="' in tag or 'aria-hidden="true"' in tag for tag in told)
    assert reader.seen["table"] == reader.seen["thead"] + page.count('class="made"')


@pytest.mark.parametrize(("src", "tgt"), ODD)
def test_texts_from_the_data_are_shown_not_obeyed(src: str, tgt: str) -> None:
    shown = pair({"src": src, "tgt": tgt, "src_lang": '"><b>'}, note=src)
    found = Reader(shown)
    assert set(found.seen) <= {"figure", "p", "bdi", "mark", "figcaption", "span"}
    assert found.seen["bdi"] == bool(src) + bool(tgt)
    visible = "".join(found.text)
    assert src.replace("\x00", "␀") in visible and tgt.replace("\x07", "␇") in visible
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", shown)


def test_a_name_is_shown_not_obeyed(reader: Reader, page: str) -> None:
    assert "A toy <run>" in reader.text and "<run>" not in page


@pytest.mark.parametrize("lane", ["kept", "rejected"])
def test_the_books_are_told(run: Path, reader: Reader, lane: str) -> None:
    folder = run / "50-filter" / ("" if lane == "kept" else "rejected")
    assert count(Corpus.open(folder).rows) in reader.text


def test_each_reason_is_told_with_its_count(run: Path, reader: Reader) -> None:
    reasons = Counter(read_shard(run / "50-filter" / "rejected" / "part-00000.parquet").column("reason").to_pylist())
    assert len(reasons) > 2
    for reason, n in reasons.items():
        place = reader.text.index(reason)
        assert reader.text[place + 1] == count(n)


@pytest.mark.parametrize(
    "words", ["36.6", "still to do", "WORD,TRIGRAM, 600 (PNMT Table 8)", "77.4", "78.5", "sts|similarity:cosine"]
)
def test_results_are_told(reader: Reader, words: str) -> None:
    assert any(words in text for text in reader.text)


def test_the_same_run_gives_the_same_bytes(run: Path, page: str, tmp_path: Path) -> None:
    assert write_report(run, tmp_path / "again.html").read_text(encoding="utf-8") == page


def test_a_run_that_has_only_begun_is_reported(tmp_path: Path) -> None:
    told = {"name": "early", "seed": 1, "versions": {}, "stages": [{"name": "read", "state": "to do"}], "pipeline": ""}
    (tmp_path / "run.json").write_text(json.dumps(told))
    page = write_report(tmp_path, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "still to do" in page and Reader(page).open == []


@pytest.mark.parametrize(
    ("content", "message"), [(None, "no run folder"), ("{", "cannot be read"), ('{"stages": 3}', "cannot be read")]
)
def test_what_is_no_run_is_refused(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(DataError, match=message):
        write_report(tmp_path, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("colour", ["ink", "quiet", "kept", "rejected", "failed"])
def test_text_stands_out_from_the_paper(theme: str, colour: str) -> None:
    # WCAG 2.2, success criterion 1.4.3: 4.5 to 1.
    style = (Path(paraloom.report.__file__).parent / "style.css").read_text(encoding="utf-8")
    palettes = [
        dict(re.findall(r"--([a-z]+): #([0-9a-f]{6})", block)) for block in style.split("prefers-color-scheme")[:2]
    ]
    palette = palettes[theme == "dark"]

    def luminance(name: str) -> float:
        channels = [int(palette[name][i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    light, dark = sorted((luminance(colour), luminance("paper")), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5
