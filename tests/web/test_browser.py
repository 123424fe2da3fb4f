"""Journeys through the pages in a real browser, by keys, pointer and without either; colors, tab stops, requests."""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CONTRAST, UNNAMED, Browser, chromium
from toy_pairs import HOSTILE, toy_pairs, write_toy_pairs, write_toy_run

from paraloom.io import write_shard
from paraloom.web.explorer import opened
from paraloom.web.library import Library
from paraloom.web.matching import RowFilter
from paraloom.web.server import ExploreServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as window:
        window.resize(1280, 900)
        yield window


def serve(server: ExploreServer, browser: Browser) -> None:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser.open(server.url)
    browser.wait("!location.search.includes('token') && document.querySelector('main') !== null")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[ExploreServer]:
    folder = tmp_path_factory.mktemp("pairs")
    with opened(Library(write_toy_pairs(folder / "toy.parquet"), sheet=folder / "sheet.tsv")) as server:
        serve(server, browser)
        yield server
        server.shutdown()


@pytest.fixture
def visit(pairs: ExploreServer, browser: Browser) -> Browser:
    browser.open(f"http://127.0.0.1:{pairs.port}/pairs")
    return browser


def go(server: ExploreServer, browser: Browser, path: str) -> None:
    browser.open(f"http://127.0.0.1:{server.port}{path}")


def total(browser: Browser) -> int:
    return int(re.sub(r"\D", "", browser.text("#total")) or -1)


def matching(server: ExploreServer, where: str) -> int:
    return server.app.library.get().matcher.matches(RowFilter(where=where)).total


def test_1_the_printed_address_opens_the_table_and_hostile_texts_stay_text(
    pairs: ExploreServer, browser: Browser
) -> None:
    browser.open(pairs.url)
    browser.wait("location.pathname == '/pairs' && document.readyState == 'complete'")
    assert "token" not in browser.url and browser.count("tr.row") == 25 and total(browser) == 300
    assert HOSTILE[0][0] in browser.text("table.rows") and HOSTILE[1][0] in browser.text("table.rows")
    assert browser.run("return document.title") == "Pairs · toy.parquet · Paraloom"
    assert browser.count("table.rows script, table.rows img, table.rows [onclick]") == 0
    assert browser.count("table.rows mark") > 10
    browser.run("document.cookie = 'x'; localStorage.clear()")
    assert browser.run("return document.cookie").find(pairs.token) < 0


def test_2_a_search_counts_while_it_is_typed_and_the_address_is_the_state(visit: Browser) -> None:
    visit.press("/")
    visit.wait("document.activeElement.name === 'search'")
    visit.press(*"garden")
    expected = sum("garden" in row["src"] + "\n" + row["tgt"] for row in toy_pairs().to_pylist())
    visit.wait("document.querySelector('#total').innerText.startsWith(arguments[0])", str(expected))
    visit.wait("location.search.includes('search=garden')")
    visit.open(visit.url)
    assert total(visit) == expected
    assert visit.run("return document.querySelector('input[name=search]').value") == "garden"


def test_3_a_wrong_condition_explains_itself_and_a_right_one_filters(pairs: ExploreServer, visit: Browser) -> None:
    visit.press("w")
    visit.wait("document.activeElement.name === 'where'")
    visit.press(*"qualty > 0.5")
    visit.wait("document.querySelector('[role=alert]')?.innerText.includes('quality')")
    visit.type("input[name=where]", "quality > 0.5")
    visit.wait(
        "document.querySelector('#total')?.innerText.startsWith(arguments[0])", str(matching(pairs, "quality > 0.5"))
    )
    visit.press("Escape")
    assert visit.run("return document.activeElement === document.body")


def test_4_headers_sort_and_pages_turn_by_keys(visit: Browser) -> None:
    visit.click("thead a[href*='quality'], thead a[href*='bleu1']")
    visit.wait("document.querySelector('[aria-sort=descending]')")
    first = visit.text("tr.row")
    visit.press("n")
    visit.wait("location.search.includes('page=2')")
    visit.wait("document.querySelector('tr.row').innerText != arguments[0]", first)
    visit.press("p")
    visit.wait("document.querySelector('tr.row').innerText == arguments[0]", first)
    visit.run("history.back()")
    visit.wait("location.search.includes('page=2')")


def test_5_rows_open_by_keys_and_lead_back(visit: Browser) -> None:
    visit.press("j", "j", "k", "ArrowDown")
    assert visit.run("return document.activeElement.innerText") == "2"
    visit.press("Enter")
    visit.wait("document.querySelector('h1').innerText == 'Row 2'")
    assert "higher than" in visit.text("main") and "toy:1" in visit.text("main")
    visit.press("n")
    visit.wait("document.querySelector('h1').innerText == 'Row 3'")
    visit.press("ArrowLeft")
    visit.wait("document.querySelector('h1').innerText == 'Row 2'")
    visit.press("Escape")
    visit.wait("location.pathname == '/pairs'")


def test_6_bars_filter_and_are_one_tab_stop_each(pairs: ExploreServer, visit: Browser) -> None:
    go(pairs, visit, "/scores")
    assert visit.count("svg[data-bars]") == visit.count("svg[data-bars] a[tabindex='0']") == 9
    visit.run("document.querySelector('svg[data-bars] a').focus()")
    visit.press("ArrowRight", "ArrowRight")
    clicked = visit.run("return document.activeElement.getAttribute('aria-label')")
    visit.press("Enter")
    visit.wait("location.search.includes('where=')")
    where = visit.wait("document.querySelector('input[name=where]').value")
    visit.wait("document.querySelector('.cards').innerHTML.includes('after')")
    assert matching(pairs, where) == int(clicked.split(": ")[1].split()[0])
    visit.click("header nav a[href^='/pairs'], header nav a[href*='/pairs']")
    visit.wait("location.pathname == '/pairs'")
    assert total(visit) == matching(pairs, where)


def test_7_a_threshold_is_moved_by_keys_and_by_the_pointer(pairs: ExploreServer, visit: Browser) -> None:
    go(pairs, visit, "/threshold?score=quality&at=0.5&keep=above")
    assert total(visit) == matching(pairs, "quality >= 0.5")
    visit.run("document.querySelector('#threshold-range').focus()")
    visit.press("ArrowRight", "ArrowRight", "ArrowRight")
    value = float(visit.wait("Number(document.querySelector('#threshold-number').value)"))
    assert 0.5 < value < 0.52
    visit.wait(
        "document.querySelector('#total').innerText.startsWith(arguments[0])",
        f"{matching(pairs, f'quality >= {value}')} ",
    )
    box = visit.run(
        "const box = document.querySelector('#threshold-range').getBoundingClientRect();"
        "return [box.x, box.y, box.width, box.height]"
    )
    x, y = box[0] + box[2] * 0.5, box[1] + box[3] / 2
    visit.devtools("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
    for step in range(1, 9):
        visit.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=x + step * box[2] / 32, y=y, button="left")
    visit.devtools("Input.dispatchMouseEvent", type="mouseReleased", x=x + box[2] / 4, y=y, button="left", clickCount=1)
    value = float(visit.run("return document.querySelector('#threshold-number').value"))
    assert 0.7 < value < 0.8
    expected = matching(pairs, f"quality >= {value}")
    visit.wait("document.querySelector('#total').innerText.startsWith(arguments[0])", f"{expected} ")
    words = shlex.split(visit.run("return document.querySelector('[data-copy]').dataset.copy"))
    condition = words[words.index("--where") + 1]
    assert matching(pairs, condition) == expected
    assert f"at={value:g}" in visit.url and visit.count(".near tr.row") == 8
    visit.click(".conditions p a")
    visit.wait("location.pathname == '/pairs'")
    assert total(visit) == expected


def test_8_a_run_shows_rejected_rows_with_reasons_and_new_rows(browser: Browser, tmp_path: Path) -> None:
    run = write_toy_run(tmp_path / "run", finished=False)
    with opened(Library(run)) as server:
        serve(server, browser)
        browser.wait("location.pathname == '/run'")
        assert "in progress" in browser.text("main")
        more = toy_pairs(40, seed=9)
        write_shard(run / "20-filter" / "part-00001.parquet", more, more.schema)
        kept = 40 + sum((row["quality"] or 0) >= 0.3 and row["src_tokens"] <= 10 for row in toy_pairs().to_pylist())
        browser.wait("document.querySelector('main').innerText.includes(arguments[0])", str(kept))
        go(server, browser, "/pairs?corpus=20-filter&where=status+%3D+%27rejected%27")
        assert browser.count("tr.rejected") == 25
        reason = browser.text("tr.rejected .status a")
        browser.click("tr.rejected .status a")
        browser.wait("document.querySelector('input[name=where]').value.includes('reason = ')")
        browser.wait("new Set([...document.querySelectorAll('.status a')].map(a => a.innerText)).size == 1")
        assert browser.text("tr.rejected .status a") == reason
        server.shutdown()


def test_9_two_raters_judge_by_keys_and_resume(pairs: ExploreServer, visit: Browser) -> None:
    go(pairs, visit, "/judge")
    visit.run(
        "document.querySelector('select[name=by]').value = 'quality'; document.querySelector('[name=count]').value = 1"
    )
    visit.click(".judge-form button")
    visit.wait("document.querySelector('input[name=rater]') !== null")
    judging = pairs.app.library.judging
    for rater, keys in (("ada", "3322"), ("ben", "3122")):
        go(pairs, visit, "/judge")
        visit.type("input[name=rater]", rater)
        visit.press("Enter")
        for n, name in enumerate(keys, start=1):
            visit.wait("document.querySelector('button[data-key]') && document.readyState == 'complete'")
            before = visit.run("return document.querySelector('main').innerText")
            visit.press(name)
            visit.wait(
                "document.readyState == 'complete' && document.querySelector('main')?.innerText != arguments[0]", before
            )
            assert sum(bool(row[k]) for row in judging.open(rater).rows for k in ("strength", "fluency")) == n
    visit.press("5")
    visit.wait("document.querySelector('main').innerText.includes('Pair 2')")
    assert judging.open("ben").rows[1]["fluency"] == ""
    visit.press("2")
    visit.wait("document.querySelector('main').innerText.includes('Pair 3')")
    visit.press("Escape")
    visit.wait("document.querySelector('.agreement') !== null")
    assert "ada and ben" in visit.text(".agreement") and "50" in visit.text(".agreement")
    visit.click("td a")
    visit.wait("document.querySelector('main').innerText.includes('Pair 3')")


def test_10_two_conditions_and_two_files_are_compared(pairs: ExploreServer, visit: Browser, tmp_path: Path) -> None:
    go(pairs, visit, "/compare")
    visit.type("input[name=where]", "quality > 0.5")
    visit.type("input[name=other]", "src_tokens > 8")
    visit.press("Enter")
    visit.wait("document.querySelectorAll('.regions div').length == 4")
    both = matching(pairs, "quality > 0.5 and src_tokens > 8")
    assert visit.text(".regions strong") == str(both)
    visit.click(".regions a")
    visit.wait("location.pathname == '/pairs'")
    assert total(visit) == both
    write_toy_pairs(tmp_path / "a.parquet", 60)
    write_toy_pairs(tmp_path / "b.parquet", 80)
    with opened(Library(tmp_path / "a.parquet", tmp_path / "b.parquet")) as server:
        serve(server, visit)
        go(server, visit, "/compare")
        numbers = visit.run("return [...document.querySelectorAll('.regions strong')].map(e => e.innerText)")
        assert numbers == ["60", "0", "20"]
        server.shutdown()


PAGES = ["/pairs?where=quality+%3E+0.5", "/pairs?where=oops", "/scores?where=quality+%3E+0.5", "/threshold",
         "/row?row=3&at=2", "/compare?where=quality+%3E+0.5&other=bleu1+%3E+0.5", "/judge",
         "/judge/pair?rater=cleo"]  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_colors_names_and_widths(pairs: ExploreServer, browser: Browser, path: str) -> None:
    if "judge" in path and not pairs.app.library.judging.exists:
        pairs.app.post("/judge/draw", {"by": ["quality"], "count": ["1"]})
    try:
        for width, dark in ((1280, False), (1280, True), (390, False), (820, True)):
            browser.resize(width, 900, dark=dark)
            go(pairs, browser, path)
            assert browser.run(CONTRAST) == [], f"{width} {'dark' if dark else 'light'}"
            assert browser.run(UNNAMED) == []
            assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), f"wider than {width}"
            assert browser.count("h1") == browser.count("main") == 1
    finally:
        browser.resize(1280, 900)


@pytest.mark.parametrize("path", ["/pairs", "/scores", "/threshold", "/judge"])
def test_tab_reaches_everything_in_few_stops_with_visible_focus(
    pairs: ExploreServer, browser: Browser, path: str
) -> None:
    go(pairs, browser, path)
    stops = []
    for _ in range(80):
        browser.press("Tab")
        stop = browser.run(
            "const e = document.activeElement; if (e === document.body) return null;"
            "const s = getComputedStyle(e); const hit = e.querySelector?.('.hit');"
            "return [e.tagName, e.id || e.name || e.textContent.slice(0, 20),"
            " s.outlineStyle !== 'none' || (hit && getComputedStyle(hit).stroke !== 'none') || e.id === 'results']"
        )
        if stop is None and not stops:
            # The first key may only give the window its focus.
            continue
        if stop is None or (stops and stop == stops[0]):
            break
        stops.append(stop)
    assert len(stops) < 60, stops
    assert [stop for stop in stops if not stop[2]] == []
    names = [stop[1] for stop in stops]
    assert names[0] == "Skip to the results"
    if path != "/judge":
        assert {"search", "where"} <= set(names)


def test_the_keys_are_listed(visit: Browser) -> None:
    visit.press("?")
    visit.wait("document.querySelector('#keys').open")
    assert "next row" in visit.text("#keys")
    visit.press("Escape")
    visit.wait("!document.querySelector('#keys').open")


def test_pages_work_without_scripts(pairs: ExploreServer, browser: Browser) -> None:
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        go(pairs, browser, "/pairs")
        browser.click("input[name=where]")
        browser.press(*"quality > 0.5", "Enter")
        for _ in range(200):
            if "where=" in browser.url:
                break
        go(pairs, browser, browser.url.partition(str(pairs.port))[2])
    finally:
        browser.devtools("Emulation.setScriptExecutionDisabled", value=False)
    assert "quality" in browser.url


def test_nothing_was_asked_from_elsewhere_or_refused_by_the_policy(pairs: ExploreServer, visit: Browser) -> None:
    for path in PAGES:
        go(pairs, visit, path)
    hosts = {host for host in visit.requests() if host.startswith(("127.", "localhost")) or "." in host}
    assert {host.split(":")[0] for host in hosts} == {"127.0.0.1"}
    assert [line for line in visit.logs() if "favicon.ico" not in line] == []
