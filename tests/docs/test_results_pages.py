"""The pages of results are those of their JSON files, are short, and say where each table comes from."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]

TOLERANCE = 0.02
"""Sizes of the codebase may differ by so much from what the page says."""


@pytest.fixture
def results_pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    for name in ("results_pages", "codebase", "codebase_loading"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import results_pages

    return results_pages


def test_pages_are_those_of_their_json_files(results_pages: ModuleType) -> None:
    assert list(results_pages.differences()) == [], "run `python benchmarks/results_pages.py`"


def test_every_table_says_its_command_commit_date_and_machine(results_pages: ModuleType) -> None:
    assert list(results_pages.problems()) == []


def test_a_table_without_a_commit_is_seen(results_pages: ModuleType, tmp_path: Path) -> None:
    for path in results_pages.FOLDER.glob("*.json"):
        topic = results_pages.read_topic(path)
        if path.stem == "runs":
            del topic["results"][0]["commit"]
        results_pages.write_topic(tmp_path / path.name, topic)
    assert list(results_pages.problems(tmp_path)) == ["runs.json, result 1: 'commit' missing"]


def test_a_result_without_a_table_is_a_sentence(results_pages: ModuleType, tmp_path: Path) -> None:
    for path in results_pages.FOLDER.glob("*.json"):
        topic = results_pages.read_topic(path)
        if path.stem == "runs":
            first = topic["results"][0]
            topic["results"][0] = {key: first[key] for key in ("heading", *results_pages.REQUIRED, "notes")}
        results_pages.write_topic(tmp_path / path.name, topic)
    assert list(results_pages.problems(tmp_path)) == []
    page = results_pages.pages(tmp_path)[tmp_path / "runs.md"].partition("\n## ")[2].partition("\n## ")[0]
    assert first["notes"][0] in page and first["command"][0] in page and "|" not in page
    runs = results_pages.read_topic(tmp_path / "runs.json")
    del runs["results"][0]["notes"]
    results_pages.write_topic(tmp_path / "runs.json", runs)
    assert list(results_pages.problems(tmp_path)) == ["runs.json, result 1: 'notes' missing"]


def test_a_replaced_result_leaves_its_notes(
    results_pages: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "topic.json"
    results_pages.write_topic(path, {"results": [{"heading": "A", "notes": ["Seen by hand."]}, {"heading": "B"}]})
    results_pages.put_result(path, {"heading": "A", "rows": [["1"]]})
    results_pages.put_result(path, {"heading": "B", "notes": ["Its own."]})
    results_pages.put_result(path, {"heading": "C"})
    assert capsys.readouterr().err == "A: check the figures in its notes\n"
    results = results_pages.read_topic(path)["results"]
    assert [(one["heading"], one.get("notes")) for one in results] == [
        ("A", ["Seen by hand."]),
        ("B", ["Its own."]),
        ("C", None),
    ]
    assert results[0]["rows"] == [["1"]]


def test_pages_are_short(results_pages: ModuleType) -> None:
    lines = {path.name: text.count("\n") for path, text in results_pages.pages().items()}
    assert {name: count for name, count in lines.items() if count > results_pages.LONGEST_PAGE} == {}


def test_links_of_sources_and_examples_to_results_lead_somewhere() -> None:
    folders = [ROOT / "src", ROOT / "examples"]
    texts = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".toml", ".md", ".py")]
    missing = []
    for path in texts:
        for page, heading in re.findall(r"results/([\w-]+\.md)(?:#([\w-]+))?", path.read_text(encoding="utf-8")):
            file = ROOT / "docs/explanations/results" / page
            headings = re.findall(r"^## (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE) if file.exists() else []
            anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}
            if not file.exists() or (heading and heading not in anchors):
                missing.append(f"{path.name}: {page}#{heading}")
    assert missing == []


@pytest.mark.slow
def test_the_table_of_the_codebase_is_that_of_the_code(results_pages: ModuleType) -> None:
    import codebase

    recorded = results_pages.read_topic(results_pages.FOLDER / "codebase.json")
    results = codebase.tables(recorded["recorded"]["before"], recorded["recorded"].get("after"))
    assert recorded["results"] == results
    if "after" not in recorded["recorded"]:
        pytest.skip("the column 'after' is not recorded yet")
    said = codebase.summary(recorded["recorded"]["after"])
    now = codebase.summary(codebase.static_figures(codebase.Checkout.read(ROOT)))
    exact = ("commands and groups on the front page", "commands in all")
    stale = {
        row: (said[row], value)
        for row, value in now.items()
        if value is not None
        and (said[row] is None or abs(said[row] - value) > (0 if row in exact else max(1, TOLERANCE * value)))
    }
    assert stale == {}, "run `python benchmarks/codebase.py --record after`"
