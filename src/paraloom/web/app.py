"""Routes from addresses to pages; independent of HTTP, so that pages can be tested as functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Protocol, TypeAlias

from paraloom.core.errors import DataError, ParaloomError, RunError
from paraloom.web.compare_page import compare_page
from paraloom.web.judge_page import draw_sheet, judge_page, pair_page, save_label
from paraloom.web.layout import Frame, View, message, render
from paraloom.web.library import Library, OpenCorpus
from paraloom.web.matching import Matcher
from paraloom.web.pairs_page import form, pairs_page, summary
from paraloom.web.row_page import row_page
from paraloom.web.run_page import run_page, trace_page
from paraloom.web.scores_page import ScoreBins, scores_page
from paraloom.web.state import Query, ViewState
from paraloom.web.templates import in_sequence
from paraloom.web.threshold_page import threshold_page

STATIC: Mapping[str, str] = {
    "style.css": "text/css; charset=utf-8",
    "explore.css": "text/css; charset=utf-8",
    "explore.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""File below /static → its type."""


@dataclass(frozen=True)
class Answer:
    """Answer to a request."""

    body: bytes = b""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    location: str = ""
    sets_cookie: bool = False


class Pages(Protocol):
    """What a server serves."""

    def get(self, path: str, query: Query) -> Answer:
        """Answer a GET request."""

    def post(self, path: str, form: Query) -> Answer:
        """Answer a POST request."""


_TITLES = {"/pairs": "Pairs", "/scores": "Scores", "/threshold": "Threshold", "/compare": "Compare", "/judge": "Judge"}
"""Pages whose parameters a person types: an error there is a result."""

_SEARCH_ON = 1.0  # Seconds that a search continues behind a page that is shown

_Handler: TypeAlias = Callable[[ViewState, Frame], View]
_BinnedPage: TypeAlias = Callable[[Matcher, ScoreBins, Frame, ViewState], View]


class App:
    """The pages over a library."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._pages: dict[str, _Handler] = {
            "/pairs": self._pairs,
            "/scores": partial(self._binned, "/scores", scores_page),
            "/pairs/summary": self._pairs_summary,
            "/threshold": partial(self._binned, "/threshold", threshold_page),
            "/row": self._row,
            "/compare": self._compare,
            "/judge": self._judge,
            "/judge/pair": lambda state, frame: pair_page(library.judging, state),
        }
        if library.is_run:
            self._pages["/run"] = lambda state, frame: run_page(library.run())
            self._pages["/trace"] = lambda state, frame: trace_page(library.run(), state)
        self._forms: dict[str, _Handler] = {
            "/judge/draw": lambda state, frame: draw_sheet(library.judging, self._corpus(state).dataset, state),
            "/judge/label": lambda state, frame: save_label(library.judging, state),
        }

    def get(self, path: str, query: Query) -> Answer:
        if is_static(path):
            return static_file(path)
        if path == "/":
            return Answer(status=303, location="/run" if self.library.is_run else "/pairs")
        return self._page(path, self._pages.get(path), query)

    def post(self, path: str, form: Query) -> Answer:
        return self._page(path, self._forms.get(path), form, changes=True)

    def _page(self, path: str, handler: _Handler | None, query: Query, *, changes: bool = False) -> Answer:
        state = ViewState.from_query(query)
        frame = self._frame()
        if handler is None:
            page = View("Not found", results="No page has this address.", status=404)
        else:
            try:
                page = handler(state, frame)
            except ParaloomError as error:
                page = self._failed(path, error, state, frame, changes)
            except OSError as error:
                page = self._failed(path, _as_data_error(error), state, frame, changes)
        if page.location:
            return Answer(status=303, location=page.location)
        if query.get("fragment"):
            return Answer(in_sequence(page.results).encode(), page.status)
        return Answer(render(page, frame, path, state).encode(), page.status)

    def _frame(self) -> Frame:
        try:
            names = self.library.names()
        except OSError:
            names = []  # the page says what is missing
        return Frame(self.library.name, names, self.library.is_run, self.library.compares)

    def _failed(self, path: str, error: ParaloomError, state: ViewState, frame: Frame, changes: bool) -> View:
        """The page with an error instead of its results, so that the condition can be corrected."""
        before = form(path, None, frame, state) if path in ("/pairs", "/scores", "/threshold") else ""
        # Browsers report answers from 400 on in their console, and half a condition is not a fault of the page.
        status = 400 if changes or isinstance(error, RunError) else 200 if path in _TITLES else 404
        return View(_TITLES.get(path, "Error"), before, message(error), status=status)

    def _corpus(self, state: ViewState) -> OpenCorpus:
        return self.library.get(state.corpus)

    def _pairs(self, state: ViewState, frame: Frame) -> View:
        corpus = self._corpus(state)
        page = pairs_page(corpus.matcher, frame, state)
        return _with_form(page, "/pairs", corpus, frame, state)

    def _pairs_summary(self, state: ViewState, frame: Frame) -> View:
        """The line above the table, after the search has continued for a moment."""
        matcher = self._corpus(state).matcher
        matches = matcher.matches(state.filter)
        matches.advance(_SEARCH_ON)
        return View(results=summary(matcher.dataset, matches, state))

    def _binned(self, path: str, page: _BinnedPage, state: ViewState, frame: Frame) -> View:
        corpus = self._corpus(state)
        return _with_form(page(corpus.matcher, corpus.bins, frame, state), path, corpus, frame, state)

    def _row(self, state: ViewState, frame: Frame) -> View:
        corpus = self._corpus(state)
        return row_page(corpus.matcher, corpus.neighbors, frame, state)

    def _compare(self, state: ViewState, frame: Frame) -> View:
        return compare_page(self._corpus(state).matcher, frame, state)

    def _judge(self, state: ViewState, frame: Frame) -> View:
        judging = self.library.judging
        return judge_page(judging, None if judging.exists else self._corpus(state).dataset, state)


def _with_form(page: View, path: str, corpus: OpenCorpus, frame: Frame, state: ViewState) -> View:
    before = in_sequence(form(path, corpus.dataset, frame, state), page.before)
    return View(page.title, before, page.results, page.location, page.status, page.wide)


def _as_data_error(error: OSError) -> DataError:
    return DataError(
        f"cannot be read: {error.strerror or error}",
        file=error.filename,
        remedy="Put the files back, or start paraloom explore again where they are now.",
    )


def is_static(path: str) -> bool:
    """True for style sheets, scripts and the icon, which browsers also ask for where a page names none."""
    return path.startswith("/static/") or path == "/favicon.ico"


def static_file(path: str) -> Answer:
    """A style sheet, script or icon."""
    name = "icon.svg" if path == "/favicon.ico" else path.removeprefix("/static/")
    if name not in STATIC:
        return Answer(b"not found", 404, "text/plain; charset=utf-8")
    return Answer(files("paraloom.web").joinpath(f"static/{name}").read_bytes(), kind=STATIC[name])
