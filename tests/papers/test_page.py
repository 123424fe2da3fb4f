"""The page of the papers' tables is what its JSON files give, and these say what a table has to say."""

from __future__ import annotations

import json
import re
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from commands import Command

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.stats import Estimate
from paraloom.papers.catalog import catalog_entries
from paraloom.papers.page import SECTIONS, SectionRow, papers_pages, read_sections, write_page
from paraloom.papers.published import PAPERS
from paraloom.papers.tables import BASELINES, NOT_MEASURED, ReproducedTable, read_table, reproduced, table_json
from paraloom.papers.verdicts import OUTCOMES, Order, count_open, format_open_orders
from paraloom.stages import STAGES

FOLDER = Path(__file__).parents[2] / "docs/explanations/papers"
FILES = sorted(FOLDER.glob("*.json"))
INDEX = json.loads(files("paraloom.cli").joinpath("commands.json").read_text(encoding="utf-8"))

_TRAINING = "training, which moved figures by 1.00"

PROSE = """
title = "Tables"
text = "$orders It costs $5.\\n\\n$verdicts"

[[section]]
paper = "W17"
heading = "Pairs"
text = "Before."
tables = ["w17-9"]
after = "$orders"
"""


def test_the_pages_are_in_step_with_their_tables() -> None:
    pages = papers_pages(FOLDER)
    assert set(pages) == {FOLDER.with_suffix(".md"), *FOLDER.glob("*.md")}
    for page, text in pages.items():
        assert page.read_text(encoding="utf-8") == text, "run `paraloom papers page docs/explanations/papers`"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_page_of_a_table_has_each_condition_once(path: Path) -> None:
    lines = path.with_suffix(".md").read_text(encoding="utf-8").splitlines()
    for condition in read_table(path).conditions:
        if condition.ours == condition.paper:
            assert sum(f"{condition.name}, {condition.ours}" in line for line in lines) == 1, condition
        else:
            assert lines.count(f"| {' | '.join(condition)} |") == 1, condition


def test_the_page_counts_undecided_orders_that_are_below_half_of_the_papers_difference() -> None:
    orders = [order for path in FILES for order in read_table(path).orders if order.counted]
    undecided = [order for order in orders if order.outcome == "undecided"]
    small = [order for order in undecided if order.published and order.ours.high < order.published / 2]
    page = " ".join(FOLDER.with_suffix(".md").read_text(encoding="utf-8").split())
    assert f"Of the {len(undecided)} undecided, {len(small)} have an interval that ends below half" in page


def test_the_pages_are_short() -> None:
    for page in [FOLDER.with_suffix(".md"), *FOLDER.glob("*.md")]:
        assert len(page.read_text(encoding="utf-8").splitlines()) <= 200, page


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_the_page_says_what_a_table_has_to_say(path: Path) -> None:
    table = read_table(path)
    assert path.read_text(encoding="utf-8") == table_json(table.to_dict())
    assert table.name == path.stem and table.conditions
    assert set(table.baselines) == set(BASELINES) and all(table.baselines.values())
    columns = len(table.columns)
    assert all(len(figures) == columns for _, figures in table.rows)
    for _, figures in table.rows:
        for figure in figures:
            assert not isinstance(figure, tuple) or (figure[1] <= figure[0] <= figure[2] and table.brackets)
    for condition in table.conditions:
        assert condition.paper and condition.ours and (condition.why or condition.ours == condition.paper), condition
    text = table.format()
    assert "Verdict: " in text and NOT_MEASURED not in text.replace(f": {NOT_MEASURED}", "")


@pytest.mark.parametrize("path", [path for path in FILES if path.stem in PAPERS], ids=lambda path: path.stem)
def test_the_published_figures_of_a_file_are_those_of_the_package(path: Path) -> None:
    paper, published = read_table(path).paper, PAPERS[path.stem]
    columns = len(paper.columns)  # Table 8 of PNMT leaves out the year that we do not have
    assert paper.columns == published.columns[:columns]
    assert paper.rows == tuple((name, figures[:columns]) for name, figures in published.rows)


SECTION_ROWS = [
    pytest.param(row, id=f"{paper} {row.section} {row.subject}")
    for paper, rows in read_sections(FOLDER / SECTIONS).items()
    for row in rows
]


@pytest.mark.parametrize("row", SECTION_ROWS)
def test_a_section_of_a_paper_names_what_exists(row: SectionRow) -> None:
    root = Path(__file__).parents[2]
    assert row.verdict in ("done", "done otherwise", "missing") and bool(row.note) == (row.verdict != "done")
    assert bool(row.file) == bool(row.test) == bool(row.command) == (row.verdict != "missing")
    if row.verdict != "missing":
        assert (root / "src/paraloom" / row.file).is_file()
        file, _, name = row.test.partition("::")
        assert (f"def {name}(" if name else ">>>") in (root / "tests" / file).read_text(encoding="utf-8")
        use = row.command.removeprefix("stage ")
        assert use in (STAGES if row.command.startswith("stage ") else INDEX)


def test_the_sections_are_those_of_all_papers() -> None:
    assert set(read_sections(FOLDER / SECTIONS)) == {entry.paper for entry in catalog_entries()}


def test_a_row_of_sections_has_seven_texts(tmp_path: Path) -> None:
    (tmp_path / SECTIONS).write_text('W17 = [["§3", "translation"]]', encoding="utf-8")
    with pytest.raises(ConfigError, match="sections cannot be read"):
        read_sections(tmp_path / SECTIONS)


def small_page(folder: Path) -> Path:
    """A folder with prose and one table."""
    folder.mkdir()
    shutil.copyfile(FOLDER / "w17-9.json", folder / "w17-9.json")
    (folder / "page.toml").write_text(PROSE, encoding="utf-8")
    return folder


def test_a_page_has_its_prose_and_the_counts_of_its_orders(tmp_path: Path, paraloom: Command) -> None:
    folder = small_page(tmp_path / "tables")
    status, out, err = paraloom("papers", "page", folder)
    assert status == 0, err
    assert out.strip() == str(tmp_path / "tables.md")
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert page.startswith(
        "# Tables\n\nOf 24 orders of the papers, 24 agree, 0 disagree, 0 are undecided, 0 had no power. It costs $5."
    )
    assert "| 24 | 0 | 0 | 0 | agrees |" in page
    paper = (folder / "w17.md").read_text(encoding="utf-8")
    assert "\n## Pairs\n\nBefore.\n\n- [W17 Table 9" in paper and "\n\nOf 24 orders of the papers, 24 agree" in paper
    assert (folder / "w17-9.md").read_text(encoding="utf-8").startswith("# W17 Table 9")


def test_open_orders_are_counted_by_what_would_decide_them() -> None:
    def order(value: float, half: float, published: float, moved: float | None = None) -> Order:
        return Order("a above b", published, Estimate(value, value - half, value + half), moved=moved)

    orders = [order(2, 1, 1), order(1, 1.4, 3), order(0.1, 3, 1), order(0, 1, 3), order(0.1, 0.5, 3, moved=1)]
    assert [item.decided_by for item in orders] == ["", "2 ×", "9 ×", "over 100 ×", _TRAINING]
    assert format_open_orders({"`w17-5`": [*orders[:2], Order("b above c", 1, orders[1].ours, counted=False)]})[2:] == [
        "| `w17-5` | a above b | +3 | +1.00 [-0.40, +2.40] | 2 × |"
    ]
    assert count_open(orders) == (
        "Of 4 that are open, twice as many seeds and test items or fewer would decide 1, ten times 2, a hundred times "
        "2; the others need longer training, or more."
    )


def test_orders_that_the_text_does_not_state_are_printed_and_not_counted() -> None:
    # PARK17 4.3 speaks of the beads of many sentences on both sides, not of those of three and one.
    orders = [Order(f"{kind} easier than 1:1", 0.3, Estimate(-0.2, -0.3, -0.1)) for kind in ("2:2", "3:1")]
    table = reproduced("park17-5", [], orders=orders)
    assert [(order.counted, "counted" in order.to_dict()) for order in table.orders] == [(True, False), (False, True)]
    assert ReproducedTable.from_dict(json.loads(table_json(table.to_dict()))).orders == table.orders
    text = table.format()
    assert "| 2:2 easier than 1:1 | +0.3 | -0.20 [-0.30, -0.10] | disagrees |  |" in text
    assert "| 3:1 easier than 1:1 | +0.3 | -0.20 [-0.30, -0.10] | not counted |  |" in text
    assert "Of 1 order of the paper, 0 agree, 1 disagrees" in text
    none_counts = reproduced("park17-5", [], orders=orders[1:])
    assert none_counts.to_dict()["verdict"] == "states no order" and "states no order here" in none_counts.format()


def test_a_changed_figure_changes_the_page(tmp_path: Path) -> None:
    folder = small_page(tmp_path / "tables")
    before = write_page(folder).read_text(encoding="utf-8")
    table = json.loads((folder / "w17-9.json").read_text(encoding="utf-8"))
    order = table["orders"][0]
    order["value"], order["low"], order["high"] = -order["value"], -order["high"], -order["low"]
    (folder / "w17-9.json").write_text(table_json(table), encoding="utf-8")
    after = papers_pages(folder)[tmp_path / "tables.md"]
    assert after != before and "23 agree, 1 disagrees, 0 are undecided, 0 had no power" in after


def test_a_page_names_what_is_missing(tmp_path: Path) -> None:
    folder = small_page(tmp_path / "tables")
    (folder / "w17-10.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match=r"not that of a reproduced table \(KeyError"):
        papers_pages(folder)
    shutil.copyfile(FOLDER / "w17-10.json", folder / "w17-10.json")
    with pytest.raises(DataError, match="no section of the page has this table"):
        papers_pages(folder)
    (folder / "page.toml").write_text(PROSE.replace('"w17-9"', '"w17-9", "w17-8", "w17-10"'), encoding="utf-8")
    with pytest.raises(ConfigError, match="table 'w17-8' has no file"):
        papers_pages(folder)
    (folder / "page.toml").write_text("title = 1", encoding="utf-8")
    with pytest.raises(ConfigError, match="prose cannot be read"):
        papers_pages(folder)


def test_the_catalog_has_every_table_that_is_made() -> None:
    entries = catalog_entries()
    assert {entry.table for entry in entries if entry.table} == set(PAPERS)
    names = [entry.paper for entry in entries]
    assert names == sorted(names, key=["W17", "PNMT", "BBH22", "PARK17", "MultiNews", "PGRU", "SCPN"].index)
    for entry in entries:
        assert entry.note or entry.status == "faithfully", entry
        assert not entry.table or (entry.inputs and entry.hours)
    keys = [(entry.paper, entry.number) for entry in entries]
    assert len(set(keys)) == len(keys)


def test_tables_are_listed_with_cost_and_inputs(paraloom: Command) -> None:
    status, out, _ = paraloom("papers", "run")
    assert status == 0
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert set(lines) == {"table", *PAPERS}
    assert re.search(
        r"^park17-5 +\S+ min, measured +--loop +PARK17 Table 5: sentence alignment by kind of bead$", out, re.M
    )


def test_the_catalog_is_listed_for_programs(paraloom: Command) -> None:
    status, out, _ = paraloom("papers", "run", "--json")
    assert status == 0
    assert [row["subject"] for row in json.loads(out)] == [entry.subject for entry in catalog_entries()]


def test_outcomes_are_computed_again_when_a_table_is_read() -> None:
    table = json.loads((FOLDER / "w17-9.json").read_text(encoding="utf-8"))
    assert {order["outcome"] for order in table["orders"]} <= set(OUTCOMES)
    table["orders"][0]["outcome"] = "disagrees"
    assert "0 disagree" in ReproducedTable.from_dict(table).format()
