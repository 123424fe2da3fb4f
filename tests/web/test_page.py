"""The report of a run: self-contained, shows the run's numbers, escapes all text."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from toy_report_run import ODD, make_toy_run

import paraloom.web
from paraloom.core.errors import DataError
from paraloom.io import Corpus, read_shard
from paraloom.web.formatting import count
from paraloom.web.report import write_report
from paraloom.web.samples import pair

_VOID = {"meta", "br", "hr", "link", "img", "input"}


class Reader(HTMLParser):
    """Checks that elements are nested correctly, and collects tags, attributes and text."""

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


def test_page_is_complete_small_and_self_contained(page: str, reader: Reader) -> None:
    assert page.startswith("<!doctype html>")
    assert reader.open == []
    assert len(page.encode()) < 2_000_000
    assert not {"script", "link", "img", "iframe"} & set(reader.seen)
    assert all(value.startswith("#") for name, value in reader.attributes if name in ("href", "src"))
    assert "url(" not in page and "@import" not in page and "http" not in page.replace("http-equiv", "")


def test_the_page_may_not_load_or_run_anything(page: str) -> None:
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert policy is not None and page.index(policy.group()) < page.index("<title>")
    rules = html.unescape(policy.group(1)).split("; ")
    assert {"default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'"} <= set(rules)
    assert not [rule for rule in rules if rule.startswith("script-src")]


def test_links_of_the_contents_have_targets(reader: Reader) -> None:
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    assert {value[1:] for name, value in reader.attributes if name == "href"} <= set(ids)
    assert {"pipeline", "scores", "training", "results", "details"} <= set(ids)


def test_each_picture_has_a_description(reader: Reader, page: str) -> None:
    tags = re.findall(r"<svg[^>]*>", page)
    assert tags and all('aria-label="' in tag or 'aria-hidden="true"' in tag for tag in tags)
    assert reader.seen["table"] == reader.seen["thead"] + page.count('class="details"')


@pytest.mark.parametrize(("src", "tgt"), ODD)
def test_text_of_the_data_is_escaped(src: str, tgt: str) -> None:
    shown = pair({"src": src, "tgt": tgt, "src_lang": '"><b>'}, note=src)
    reader = Reader(shown)
    assert set(reader.seen) <= {"figure", "p", "bdi", "mark", "figcaption", "span"}
    assert reader.seen["bdi"] == bool(src) + bool(tgt)
    visible = "".join(reader.text)
    assert src.replace("\x00", "␀") in visible and tgt.replace("\x07", "␇") in visible
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", shown)


def test_name_of_the_run_is_escaped(reader: Reader, page: str) -> None:
    assert any(text.startswith("A toy <run>: ") for text in reader.text) and "<run>" not in page


@pytest.mark.parametrize("split", ["kept", "rejected"])
def test_row_counts_are_shown(run: Path, reader: Reader, split: str) -> None:
    folder = run / "50-filter" / ("" if split == "kept" else "rejected")
    assert count(Corpus.open(folder).rows) in reader.text


def test_each_reason_is_shown_with_its_count(run: Path, reader: Reader) -> None:
    reasons = Counter(read_shard(run / "50-filter" / "rejected" / "part-00000.parquet").column("reason").to_pylist())
    assert len(reasons) > 2
    for reason, n in reasons.items():
        assert (reason, count(n)) in zip(reader.text, reader.text[1:], strict=False)


def test_costs_are_shown_beside_those_of_the_development_text(reader: Reader, page: str) -> None:
    text = "".join(reader.text)
    assert "median cost 1.4 <nats>: expect wrong translations" in text
    assert re.search(r"median 1\.\d+ nats per subword over 200 sentences in this run", text)
    bars = re.findall(r"<title>([\d.]+) to [\d.]+: development text ([\d.]+)%, this run ([\d.]+)%</title>", page)
    assert 10 < len(bars) <= 40
    for side in (1, 2):
        assert sum(float(bar[side]) for bar in bars) == pytest.approx(100, abs=1)


@pytest.mark.parametrize(
    "words", ["36.6", "not run yet", "WORD,TRIGRAM, 600 (PNMT Table 8)", "77.4", "78.5", "sts|similarity:cosine"]
)
def test_results_are_shown(reader: Reader, words: str) -> None:
    assert any(words in text for text in reader.text)


@pytest.mark.slow
def test_the_same_run_gives_the_same_bytes(run: Path, page: str, tmp_path: Path) -> None:
    assert write_report(run, tmp_path / "again.html").read_text(encoding="utf-8") == page


def test_runs_without_a_finished_stage_are_reported(tmp_path: Path) -> None:
    record = {
        "name": "early",
        "seed": 1,
        "versions": {},
        "stages": [{"name": "read", "state": "to do"}],
        "pipeline": "",
    }
    (tmp_path / "run.json").write_text(json.dumps(record))
    page = write_report(tmp_path, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "not run yet" in page and Reader(page).open == []


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "not a run folder: run.json not found"), ("{", "cannot be read"), ('{"stages": 3}', "cannot be read")],
)
def test_other_folders_are_errors(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(DataError, match=message):
        write_report(tmp_path, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("color", "beside", "required"),
    [
        # WCAG 2.2, success criterion 1.4.3: a contrast of 4.5 to 1 for text; 1.4.11: 3 to 1 for what a chart shows.
        *((color, "paper", 4.5) for color in ("ink", "quiet", "kept", "rejected", "failed")),
        ("before", "paper", 3),
        ("pale", "kept", 3),
    ],
)
def test_there_is_enough_contrast(theme: str, color: str, beside: str, required: float) -> None:
    style = (Path(paraloom.web.__file__).parent / "static/style.css").read_text(encoding="utf-8")
    palettes = [
        dict(re.findall(r"--([a-z]+): #([0-9a-f]{6})", block)) for block in style.split("prefers-color-scheme")[:2]
    ]
    palette = palettes[theme == "dark"]

    def luminance(name: str) -> float:
        channels = [int(palette[name][i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    light, dark = sorted((luminance(color), luminance(beside)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= required


def test_the_other_part_of_a_split_is_held_back_not_rejected(tmp_path: Path) -> None:
    import paraloom as library

    pairs = [(f"a {number}", f"the {number}") for number in range(40)]
    library.as_pairs(pairs).write(tmp_path / "pairs.parquet", engine="inline")
    text = '[[stage]]\nuse = "read-pairs"\nsource = "pairs.parquet"\n[[stage]]\nuse = "split"\nshare = 0.4\n'
    (tmp_path / "toy.toml").write_text(f'name = "toy"\n{text}', encoding="utf-8")
    library.Pipeline.from_toml(tmp_path / "toy.toml").run(tmp_path / "run", engine="inline")
    page = write_report(tmp_path / "run", tmp_path / "page.html").read_text(encoding="utf-8")
    assert " held back (" in page and "Held back: " in page and 'class="split held-back"' in page
    assert "row-line held-back" in page and 'class="split rejected"' not in page


def test_rows_that_a_sample_leaves_out_are_not_rejected(tmp_path: Path) -> None:
    import paraloom as library

    pairs = [(f"a {number}", f"the {number}") for number in range(40)]
    library.as_pairs(pairs).write(tmp_path / "pairs.parquet", engine="inline")
    text = '[[stage]]\nuse = "read-pairs"\nsource = "pairs.parquet"\n[[stage]]\nuse = "filter"\n'
    text += "where = \"src <> 'a 7'\"\nsample = 10\n"
    (tmp_path / "toy.toml").write_text(f'name = "toy"\n{text}', encoding="utf-8")
    library.Pipeline.from_toml(tmp_path / "toy.toml").run(tmp_path / "run", engine="inline")
    page = write_report(tmp_path / "run", tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<strong>1</strong> rejected (2" in page and "<strong>29</strong> not sampled (72" in page
    assert "Rejected: 1 " in page and "Not sampled: 29 " in page
    assert page.count("row-line not-sampled") == 20 and page.count("row-line rejected") == 1


def test_words_of_translations_are_not_marked() -> None:
    sides = {"src": "ein Hund", "tgt": "a dog"}
    assert "<mark>" not in str(pair({**sides, "src_lang": "de", "tgt_lang": "en"}))
    assert "<mark>" in str(pair({**sides, "src_lang": "en", "tgt_lang": "en"}))
    assert "<mark>" in str(pair({**sides, "src_lang": "und", "tgt_lang": "en"}))
