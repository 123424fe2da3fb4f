"""Ten journeys through the page of `paraloom demo` in a real browser, by keys and pointer, and its gallery."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CONTRAST, UNNAMED, Browser, chromium
from toy_demo import Toy

from paraloom.web.demo import EXAMPLES, demo_server, gallery
from paraloom.web.server import ExploreServer

pytestmark = pytest.mark.slow

SIZES = [(1280, False), (1280, True), (390, False), (390, True)]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as window:
        window.resize(1280, 900)
        yield window


@pytest.fixture(scope="module")
def demo(browser: Browser) -> Iterator[ExploreServer]:
    with demo_server(Toy()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.open(server.url)
        browser.wait("!location.search.includes('token') && document.querySelector('main') !== null")
        browser.requests()  # those of the empty window
        yield server
        server.shutdown()


@pytest.fixture
def visit(demo: ExploreServer, browser: Browser) -> Browser:
    browser.open(f"http://127.0.0.1:{demo.port}/")
    return browser


def field(box: str) -> str:
    return f"#{box} input[name=text]"


def ask(browser: Browser, box: str, text: str) -> None:
    browser.type(field(box), text)
    browser.press("Enter")
    browser.wait(f"location.search.includes('box={box}') && document.readyState === 'complete'")


def test_1_three_boxes_and_nothing_from_elsewhere(demo: ExploreServer, visit: Browser) -> None:
    assert visit.count("form") == 3 and visit.count("figure") == 0
    assert visit.requests() <= {f"127.0.0.1:{demo.port}"} and visit.logs() == []


def test_2_a_sentence_and_enter_fill_one_box(visit: Browser) -> None:
    ask(visit, "paraphrase", "A dog.")
    assert "A dog. !" in visit.text("#paraphrase figure") and visit.count("figure") == 1
    assert visit.run("return document.querySelector(arguments[0]).value", field("paraphrase")) == "A dog."


def test_3_an_example_is_chosen_by_keys(visit: Browser) -> None:
    visit.run("document.querySelector('#similar button').focus()")
    visit.press("Tab", "Enter")
    visit.wait("location.search.includes('box=similar')")
    assert visit.text("#similar [role=status]") == "None."
    assert visit.run("return document.querySelector(arguments[0]).value", field("similar")) == EXAMPLES["similar"][0]


def test_4_a_template_is_a_button_that_keeps_the_sentence(visit: Browser) -> None:
    visit.type(field("paraphrase"), "A cat.")
    visit.click("#paraphrase .chip")
    visit.wait("location.search.includes('template=')")
    assert visit.count(".chip[aria-pressed=true]") == 1 and "A cat. (S (NP) (VP))!" in visit.text("#paraphrase figure")


def test_5_an_error_is_told_in_its_box(visit: Browser) -> None:
    ask(visit, "translate", "A dog.")
    assert "the model is gone" in visit.text("#translate [role=alert]") and visit.count("[role=alert]") == 1


def test_6_what_was_dropped_is_unfolded_by_keys(visit: Browser) -> None:
    ask(visit, "paraphrase", "A dog.")
    assert not visit.run("return document.querySelector('s').checkVisibility()")
    visit.run("document.querySelector('summary').focus()")
    visit.press("Enter")
    visit.wait("document.querySelector('s').checkVisibility()")


def test_7_the_address_is_the_state_and_back_returns(visit: Browser) -> None:
    ask(visit, "paraphrase", "One.")
    ask(visit, "paraphrase", "Two.")
    visit.run("history.back()")
    visit.wait("document.querySelector('#paraphrase figure')?.innerText.includes('One.')")


def test_8_an_empty_sentence_is_not_sent(visit: Browser) -> None:
    visit.run("document.querySelector(arguments[0]).focus()", field("paraphrase"))
    visit.press("Enter")
    assert visit.run("return location.search") == "" and visit.count("figure") == 0


def test_9_a_hostile_sentence_stays_text(visit: Browser) -> None:
    ask(visit, "paraphrase", "<img src=x onerror=document.title=1>")
    assert "<img src=x" in visit.text("#paraphrase figure") and visit.count("img") == 0
    assert visit.run("return document.title") == "Demo · Paraloom"


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_10_every_size_and_theme_is_legible(visit: Browser, width: int, dark: bool) -> None:
    visit.resize(width, 850, dark=dark)
    try:
        ask(visit, "paraphrase", "A dog.")
        visit.run("document.querySelector('details').open = true")
        assert visit.run(CONTRAST) == [] and visit.run(UNNAMED) == []
        assert visit.run("return document.documentElement.scrollWidth <= innerWidth")
    finally:
        visit.resize(1280, 900)


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_the_gallery_is_legible_and_asks_nobody(browser: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    (tmp_path / "demo.html").write_text(gallery(Toy()), encoding="utf-8")
    browser.resize(width, 850, dark=dark)
    browser.requests()
    browser.open((tmp_path / "demo.html").as_uri())
    assert browser.run(CONTRAST) == [] and browser.requests() <= {""} and browser.logs() == []
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    browser.resize(1280, 900)
