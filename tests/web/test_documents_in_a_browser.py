"""The page about aligned documents in a real browser: its columns sort, its search filters, arrow keys move."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import Browser, chromium
from web.test_documents import many

pytestmark = pytest.mark.slow

FIRST = "return [...document.querySelectorAll('.sortable tbody tr')].filter((r) => !r.hidden)[0].cells[0].textContent"
FOCUSED = (
    "return [...document.activeElement.closest('article').querySelectorAll('.bead')].indexOf(document.activeElement)"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A page about 12 pairs of six paragraphs each."""
    folder = tmp_path_factory.mktemp("documents")
    many(folder, count=12, paragraphs=6).write()
    with chromium(tmp_path_factory.mktemp("profile")) as window:
        window.resize(1280, 900)
        window.open((folder / "page.html").as_uri())
        yield window


def head(page: Browser, column: int) -> str | None:
    """How the list is sorted by a column, after its head was pressed by key."""
    page.run(f"document.querySelectorAll('.sortable thead button')[{column}].focus()")
    page.press("Enter")
    order: str | None = page.run(
        f"return document.querySelectorAll('.sortable thead th')[{column}].getAttribute('aria-sort')"
    )
    return order


def test_columns_sort(page: Browser) -> None:
    assert page.run(FIRST) == "Titel 11"
    assert (head(page, 0), page.run(FIRST)) == ("ascending", "Titel 0")
    assert (head(page, 0), page.run(FIRST)) == ("descending", "Titel 11")
    assert (head(page, 2), page.run(FIRST)) == ("descending", "Titel 11")
    assert (head(page, 2), page.run(FIRST)) == ("ascending", "Titel 0")
    assert page.count("[aria-sort]") == 1


def test_search_filters(page: Browser) -> None:
    page.type(".search input", "title 7")
    assert page.run(FIRST) == "Titel 7"
    assert page.text(".search output") == "1 of 12 pairs"


def test_arrow_keys_move_through_a_pair(page: Browser) -> None:
    page.run("document.querySelector('article .bead[tabindex=\"0\"]').focus()")
    page.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert page.run(FOCUSED) == 1
    page.press("End", "ArrowDown")
    assert page.run(FOCUSED) == 5
    page.press("Home")
    assert page.run(FOCUSED) == 0
    assert page.count("article:first-of-type .bead[tabindex='0']") == 1
    assert not page.logs()
