"""The frame of every page: head, navigation, the form of the filter, messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paraloom.core.errors import ParaloomError
from paraloom.web.formatting import count
from paraloom.web.markup import Html, Part, element, isolated, join
from paraloom.web.state import ViewState

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of all pages: nothing from elsewhere, nothing inline."""


@dataclass(frozen=True)
class View:
    """A page, or the place to go to instead."""

    title: str = ""
    before: Part = None
    results: Part = None
    location: str = ""
    status: int = 200
    wide: bool = False


@dataclass(frozen=True)
class Frame:
    """What is the same on all pages of a server."""

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


def render(page: View, frame: Frame, path: str, state: ViewState) -> str:
    """The whole page."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{page.title} · {frame.name} · Paraloom"),
        element("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        element("link", rel="stylesheet", href="/static/style.css"),
        element("link", rel="stylesheet", href="/static/explore.css"),
        element("script", src="/static/explore.js", defer="defer"),
    )
    items = [
        element(
            "li",
            element(
                "a",
                text,
                href=target if target == "/run" else state.url(target),
                aria_current="page" if path == target else None,
            ),
        )
        for target, text in _PAGES
        if target != "/run" or frame.has_run
    ]
    body = element(
        "body",
        element("a", "Skip to the results", href="#results", class_="skip"),
        element(
            "header",
            element("p", element("a", isolated(frame.name), href="/"), class_="eyebrow"),
            element("nav", element("ul", items), aria_label="Pages"),
            element("button", "Keys", type="button", class_="plain", id="show-keys", aria_haspopup="dialog"),
            class_="top-bar",
        ),
        element(
            "main",
            element("h1", page.title),
            page.before,
            element("div", page.results, id="results", tabindex="-1", class_="results"),
        ),
        _keys(),
        element("div", "", id="announcer", class_="unseen", role="status", aria_live="polite"),
        class_="explore wide-page" if page.wide else "explore",
    )
    return "<!doctype html>\n" + element("html", head, body, lang="en") + "\n"


def filter_form(
    path: str, frame: Frame, state: ViewState, *, columns: Sequence[str] = (), extra: Part = None, keep: Part = None
) -> Html:
    """The form of corpus, condition and search; without scripts it has a button."""
    choices = [
        element("option", name, value=name, selected="selected" if name == state.corpus else None)
        for name in frame.corpora
    ]
    corpus = element("label", element("span", "Rows of"), element("select", choices, name="corpus"))
    return element(
        "form",
        corpus if len(frame.corpora) > 1 else None,
        element(
            "label",
            element("span", "Search"),
            element(
                "input",
                type="search",
                name="search",
                value=state.search,
                autocomplete="off",
                spellcheck="false",
                dir="auto",
                placeholder="words in either side",
                aria_keyshortcuts="/",
            ),
            class_="search",
        ),
        element(
            "label",
            element("span", "Where"),
            element(
                "input",
                type="text",
                name="where",
                value=state.where,
                autocomplete="off",
                autocapitalize="off",
                spellcheck="false",
                list="columns" if columns else None,
                placeholder="a condition in SQL: trigram_overlap <= 0.7",
                aria_keyshortcuts="w",
            ),
            element("datalist", [element("option", value=name) for name in columns], id="columns") if columns else None,
            class_="where",
        ),
        extra,
        element("input", type="hidden", name="sort", value=state.sort) if state.sort else None,
        [element("input", type="hidden", name="column", value=name) for name in state.columns],
        keep,
        element("button", "Show", class_="show"),
        element("a", "Clear", href=ViewState(corpus=state.corpus).url(path), class_="clear"),
        action=path,
        method="get",
        class_="filter",
        role="search",
        id="filter",
    )


def message(error: ParaloomError) -> Html:
    """An error, where the results would be."""
    return element(
        "div",
        element("p", element("strong", f"{error.what}.")),
        element("p", element("code", error.file)) if error.file else None,
        element("p", error.remedy) if error.remedy else None,
        class_="alert",
        role="alert",
    )


def nothing(*parts: Part) -> Html:
    """A note in place of results."""
    return element("p", *parts, class_="nothing")


def plural(n: int, noun: str) -> str:
    """A number of things.

    Example:
        >>> plural(1, "pair"), plural(2, "pair")
        ('1 pair', '2 pairs')
    """
    return f"{count(n)} {noun}{'' if n == 1 else 's'}"


def key(name: str) -> Html:
    """A key of the keyboard."""
    return element("kbd", name)


def copyable(label: str, text: str) -> Html:
    """A text with a button that copies it."""
    return element(
        "div",
        element("span", label, class_="quiet"),
        element("code", text, class_="to-copy"),
        element("button", "Copy", type="button", class_="plain", data_copy=text, aria_label=f"Copy: {label}"),
        class_="copyable",
    )


def _keys() -> Html:
    lines: list[tuple[tuple[str, ...], str]] = [
        (("/",), "search"),
        (("w",), "condition"),
        (("j", "↓"), "next row"),
        (("k", "↑"), "previous row"),
        (("Enter",), "open the row"),
        (("n", "→"), "next page, or next row of a single row"),
        (("p", "←"), "previous page, or previous row"),
        (("Esc",), "leave a field; from a single row, back to the table"),
        (("1", "2", "3"), "judging: the label"),
        (("4",), "judging: skip"),
        (("5",), "judging: back"),
        (("?",), "these keys"),
    ]
    rows = [
        element("div", element("dt", [join(key(name), " ") for name in names]), element("dd", text))
        for names, text in lines
    ]
    return element(
        "dialog",
        element("h2", "Keys", id="keys-title"),
        element("dl", rows, class_="keys"),
        element("form", element("button", "Close"), method="dialog"),
        id="keys",
        aria_labelledby="keys-title",
    )
