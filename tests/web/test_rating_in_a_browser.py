"""The page on which pairs are labeled, in a real browser: keys, the labels it keeps, and the sheet it saves."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, chromium

from paraloom.pairs.annotation import RangeSample, summarize_ratings, write_rating_sheet
from paraloom.web import write_rating_page

pytestmark = pytest.mark.slow

PAIRS = [('say "no"\tnow', "=1+1"), ("he sleeps", "he is asleep"), ("</script><b>x</b>", "a < b & c")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rating")
    rows = [{"src": src, "tgt": tgt, "score": 0.5} for src, tgt in PAIRS]
    write_rating_sheet([RangeSample(0.4, 0.6, rows, 3)], folder / "sheet.tsv")
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


def test_further_keys_change_nothing_but_a_pair_gone_back_to_is_labeled_again(page: Browser) -> None:
    labels = "return table().trim().split('\\n').map((row) => row.split('\\t').slice(-2).join(''))"
    page.press("1")
    assert page.run(labels)[1:] == ["32", "13", "22"]
    page.press("ArrowLeft", "1")
    assert page.run("return at") == 1
    page.press("1")
    assert page.run("return at") == 2 and page.run(labels)[1:] == ["32", "11", "22"]
    page.press("2", "3")
    assert page.run(labels)[1:] == ["32", "11", "23"]


def test_a_key_that_is_held_labels_nothing(page: Browser) -> None:
    page.run("document.dispatchEvent(new KeyboardEvent('keydown', { key: '1', repeat: true }))")
    assert page.run("return table()").rstrip().endswith("2\t3")


def test_the_sheet_is_downloaded_from_a_page_on_disk(page: Browser, tmp_path: Path) -> None:
    page.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.click("#save")
    end = time.monotonic() + 20
    while not (saved := list(tmp_path.glob("*.labeled.tsv"))) and time.monotonic() < end:
        time.sleep(0.05)
    assert saved[0].read_text(encoding="utf-8") == page.run("return table()")


def test_labels_are_kept_until_the_page_is_opened_again(page: Browser, folder: Path) -> None:
    page.open((folder / "sheet.html").as_uri())
    assert "All pairs are labeled" in page.text(".progress")
    page.run("window.confirm = () => false; document.querySelector('#clear').click()")
    assert "All pairs are labeled" in page.text(".progress")
    page.run("window.confirm = () => true; document.querySelector('#clear').click()")
    assert page.text(".progress") == "Pair 1. 0 of 3 labeled"
    page.open((folder / "sheet.html").as_uri())
    assert page.text(".progress") == "Pair 1. 0 of 3 labeled" and page.count("input:checked") == 0
