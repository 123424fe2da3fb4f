"""The page on which pairs are labeled, in a real browser: keys, the labels it keeps, and the sheet it saves."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, chromium

from paraloom.pairs.annotation import RangeSample, summarize_ratings, write_sheet
from paraloom.report import write_rating_page

pytestmark = pytest.mark.slow

PAIRS = [('say "no"\tnow', "=1+1"), ("he sleeps", "he is asleep"), ("</script><b>x</b>", "a < b & c")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rating")
    rows = [{"src": src, "tgt": tgt, "score": 0.5} for src, tgt in PAIRS]
    write_sheet([RangeSample(0.4, 0.6, rows, 3)], folder / "sheet.tsv")
    write_rating_page(folder / "sheet.tsv", folder / "sheet.html")
    return folder


@pytest.fixture(scope="module")
def page(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as window:
        window.resize(1280, 900)
        window.open((folder / "sheet.html").as_uri())
        yield window


def test_pairs_are_labeled_by_keys_and_the_sheet_is_saved(page: Browser, folder: Path) -> None:
    assert page.text(".progress") == "Pair 1. 0 of 3 labeled"
    assert page.run("return document.querySelectorAll('article:not([hidden])').length") == 1
    page.press("3", "2", "1")
    assert page.run("return at") == 1
    page.press("ArrowLeft", "ArrowRight", "3")
    page.press("2", "2")
    assert page.text(".progress").endswith("All pairs are labeled: save the sheet.")
    (folder / "labeled.tsv").write_text(page.run("return table()"), encoding="utf-8")
    sheet, labeled = (
        list(csv.reader(io.StringIO((folder / name).read_text(encoding="utf-8"), newline=""), delimiter="\t"))
        for name in ("sheet.tsv", "labeled.tsv")
    )
    assert [row[:3] for row in labeled] == [row[:3] for row in sheet]
    assert [row[3:] for row in labeled[1:]] == [["3", "2"], ["1", "3"], ["2", "2"]]
    table = summarize_ratings([folder / "labeled.tsv"], folder / "sheet.tsv.key.tsv")
    assert table["rows"][0]["strength"] == {"3": 1, "2": 1, "1": 1}


def test_labels_are_kept_until_the_page_is_opened_again(page: Browser, folder: Path) -> None:
    page.open((folder / "sheet.html").as_uri())
    assert "All pairs are labeled" in page.text(".progress")
    page.run("localStorage.clear()")
    page.open((folder / "sheet.html").as_uri())
    assert page.text(".progress") == "Pair 1. 0 of 3 labeled"
