"""The frame of every page of `paraloom explore`: head, navigation, the form of the filter, messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from paraloom.core.errors import ParaloomError
from paraloom.web import templates
from paraloom.web.formatting import plural as plural
from paraloom.web.state import ViewState
from paraloom.web.templates import draw

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of all pages: nothing from elsewhere, nothing inline."""


@dataclass(frozen=True)
class View:
    """A page, or the place to go to instead; the results are the part that is replaced when the state changes."""

    title: str = ""
    before: str | Markup = ""
    results: str | Markup = ""
    location: str = ""
    status: int = 200
    wide: bool = False


@dataclass(frozen=True)
class Frame:
    """The common parts of all pages of a server: the name of what is explored, and its corpora."""

    name: str
    corpora: Sequence[str]
    has_run: bool = False
    compares: bool = False


_PAGES = (
    ("/run", "Run"),
    ("/pairs", "Pairs"),
    ("/scores", "Scores"),
    ("/threshold", "Threshold"),
    ("/compare", "Compare"),
    ("/judge", "Judge"),
)
_KEYS = (
    ("/", "search"),
    ("w", "condition"),
    ("j ↓", "next row"),
    ("k ↑", "previous row"),
    ("Enter", "open the row"),
    ("n →", "next page, or next row of a single row"),
    ("p ←", "previous page, or previous row"),
    ("Esc", "leave a field; from a single row, back to the table"),
    ("1 2 3", "judging: the label"),
    ("4", "judging: skip"),
    ("5", "judging: back"),
    ("?", "these keys"),
)


def render(page: View, frame: Frame, path: str, state: ViewState) -> str:
    """The whole page at a path; links of its navigation keep the state."""
    pages = [item for item in _PAGES if item[0] != "/run" or frame.has_run]
    title = f"{page.title} · {frame.name}"
    return templates.render(
        "explore.html", page=page, frame=frame, path=path, state=state, pages=pages, keys=_KEYS, title=title
    )


def filter_form(path: str, frame: Frame, state: ViewState, columns: Sequence[str] = ()) -> Markup:
    """The form of corpus, condition and search; without scripts it has a button."""
    return draw("filter_form", path, frame.corpora, state, columns, ViewState(corpus=state.corpus).url(path))


def message(error: ParaloomError) -> Markup:
    return draw("message", error)


def nothing(text: str) -> Markup:
    return draw("nothing", text)
