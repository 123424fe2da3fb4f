"""The page on which the pairs of a sheet are labeled: what it holds, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraloom.core.errors import DataError
from paraloom.pairs.annotation import RangeSample, write_rating_sheet
from paraloom.web import write_rating_page

HOSTILE = '</script><script>alert("1")</script> & "quoted"'


def sheet_of(folder: Path, pairs: list[tuple[str, str]]) -> Path:
    rows = [{"src": src, "tgt": tgt, "score": 0.5} for src, tgt in pairs]
    write_rating_sheet([RangeSample(0.4, 0.6, rows, len(rows))], folder / "sheet.tsv")
    return folder / "sheet.tsv"


def test_a_card_for_each_pair_and_two_questions_on_it(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path, [("a red house", "a house that is red"), ("he sleeps", "he is asleep")])
    page = write_rating_page(sheet, tmp_path / "sheet.html").read_text(encoding="utf-8")
    assert page.count('<article class="pair"') == 2 and page.count("<fieldset") == 4
    assert page.count('type="radio"') == 12 and "a house that is red" in page


def test_texts_are_escaped_and_formulas_are_shown_as_they_were(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path, [(HOSTILE, "=1+1")])
    page = write_rating_page(sheet, tmp_path / "sheet.html").read_text(encoding="utf-8")
    assert page.count("<script>") == page.count("</script>") == 1 and "&lt;/script&gt;" in page
    assert '<p class="text">=1+1</p>' in page and 'data-translation="&#39;=1+1"' in page
    assert "script-src &#39;sha256-" in page and "http" not in page.replace("http-equiv", "")


def test_the_same_sheet_gives_the_same_page(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path, [("one", "two")])
    first, second = (write_rating_page(sheet, tmp_path / f"{n}.html").read_bytes() for n in (1, 2))
    assert first == second


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("src\ttgt\na\tb\n", "not a sheet of pairs"),
        ("", "not a sheet of pairs"),
        ("number\treference\ttranslation\tstrength\tfluency\n", "the sheet has no pairs"),
    ],
)
def test_what_is_not_a_sheet(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "sheet.tsv").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        write_rating_page(tmp_path / "sheet.tsv", tmp_path / "sheet.html")
    assert not (tmp_path / "sheet.html").exists()
