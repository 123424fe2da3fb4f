"""The README and the start and how-to pages: their blocks run as written, in order, and print what the pages show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from shown_output import differences, examples, run_examples

ROOT = Path(__file__).parents[2]
GUIDES = [path for folder in ("start", "howto") for path in sorted((ROOT / "docs" / folder).glob("*.md"))]
PAGES = [ROOT / "README.md", ROOT / "docs/index.md", *GUIDES]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    blocks = examples(page.read_text(encoding="utf-8"))
    if not blocks:
        pytest.skip("the page has no code")
    for block, printed in zip(blocks, run_examples(blocks, tmp_path), strict=True):
        if block.shown is not None:
            assert not differences(block.shown, printed), f"{block.code}\n{differences(block.shown, printed)}"


def test_readme_shows_output_under_each_block() -> None:
    blocks = examples((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(blocks) >= 6
    assert all(block.shown for block in blocks)
    assert blocks[0].code == "paraloom quickstart runs/quickstart\n"


def test_readme_has_the_yields_of_the_results() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    results = json.loads((ROOT / "docs/explanations/results/kept-pairs.json").read_text(encoding="utf-8"))
    figures = {}
    for text, *cells in results["results"][0]["rows"]:
        for criterion, cell in zip(results["results"][0]["columns"][1:], cells, strict=True):
            kept, *right = re.findall(r"([\d.]+)%", cell)  # of the readers
            figures[text, criterion.strip("`")] = float(kept), min(map(int, right), default=0)
    for line, text in (("everyday sentences", "quickstart"), ("captions", "captions"), ("news", "news")):
        row = re.search(rf"^\| {line}.*$", readme, re.MULTILINE)
        assert row is not None
        cells = [cell.strip() for cell in row.group().strip("|").split("|")[1:]]
        for cell, criterion in zip(cells, ("strict", "balanced", "loose", "all"), strict=True):
            shown = re.match(r"([\d.]+) % × (\d+) %", cell)
            assert shown is not None, cell
            assert (float(shown[1]), int(shown[2])) == figures[text, criterion], (line, criterion)


def test_picture_of_the_report_shows_what_the_quickstart_prints() -> None:
    """`python benchmarks/pages.py RUN --pictures docs/_static --only report` renews it."""
    picture = (ROOT / "docs/_static/report.png").read_bytes()
    text = picture.partition(b"iTXtTitle" + bytes(5))[2]
    heading = text[: int.from_bytes(picture[33:37], "big") - len(b"Title" + bytes(5))].decode()
    kept = re.search(
        r"^\d+ pairs of .*\)", (ROOT / "docs/start/quickstart.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert kept is not None and " ".join(heading.split()) == " ".join(kept.group().split())
    assert f"![A report: {kept.group()}, " in (ROOT / "docs/start/report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [ROOT / "README.md", *GUIDES], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_is_short(page: Path) -> None:
    limit = 230 if page.name == "README.md" else 200
    assert len(page.read_text(encoding="utf-8").splitlines()) <= limit


def test_blocks_are_found_in_order() -> None:
    text = (
        "Text\n```python\na = 1\n```\n\n```text\n1\n```\nmore\n```toml\nx = 1\n```\n```shell\nls\n```\n"
        "words\n```text\nno output\n```\n```console\n$ echo a\na\n```\n"
    )
    blocks = [(block.language, block.code, block.shown) for block in examples(text)]
    assert blocks == [("python", "a = 1\n", "1\n"), ("shell", "ls\n", None), ("shell", "echo a\n", "a\n")]


def test_output_is_compared_line_by_line() -> None:
    printed = "score (1 of 2): 0/400 rows, 2 s so far\nA cat, .71\nB in 3 s\nC\n"
    assert not differences("A cat, .72\nB in 9 s\nC\n", printed)
    assert not differences("…\nC\n", printed)
    assert "-A dog" in differences("A dog, .71\n…\n", printed)
    assert differences("A cat, .91\n…\n", printed)
    assert differences("A cat, .71\n", printed)
