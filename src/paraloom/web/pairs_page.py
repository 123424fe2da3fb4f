"""The page of pairs: a table with differing words marked, scores, status and reason, sorted and filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.io.database import sql_text
from paraloom.web.dataset import Dataset
from paraloom.web.formatting import count, label, number, share
from paraloom.web.layout import Frame, View, filter_form, nothing, plural
from paraloom.web.markup import Html, Part, element, isolated, join
from paraloom.web.matching import Matcher, Matches, sort_column
from paraloom.web.samples import differences
from paraloom.web.sources import REASON, STATUS
from paraloom.web.state import ViewState, identifier, narrowed

PAGE_ROWS = 25
TEXT_LIMIT = 600
"""Characters of a side that the table shows."""

_SHOWN_SCORES = 6


def pairs_page(matcher: Matcher, frame: Frame, state: ViewState) -> View:
    """The table."""
    dataset = matcher.dataset
    matches = matcher.matches(state.filter)
    start = (state.page - 1) * PAGE_ROWS
    rows = matches.first(start + PAGE_ROWS + 1)[start:]
    shown = shown_columns(dataset, state)
    results: list[Part] = [element("div", summary(dataset, matches, state), _columns(dataset, shown, state))]
    if dataset.rejected_count:
        row, reason = dataset.rejected[0]
        n = dataset.rejected_count
        results.append(
            element(
                "p",
                f"{plural(n, 'row')} cannot be read and {'is' if n == 1 else 'are'} left out; the first is row "
                f"{row}: {reason}",
                class_="quiet",
            )
        )
    if len(rows):
        results.append(row_table(dataset, rows[:PAGE_ROWS].tolist(), state, shown, first=start))
    elif matches.is_complete:
        results.append(nothing("No row matches." if matches.total == 0 else "This page is beyond the last row."))
    else:
        results.append(nothing("Nothing found yet."))
    results.append(_pager(matches, state, len(rows) > PAGE_ROWS))
    return View(title="Pairs", results=results, wide=True)


def form(path: str, dataset: Dataset | None, frame: Frame, state: ViewState) -> Html:
    """The form of the filter, with the columns of a dataset as suggestions."""
    columns = [] if dataset is None else [identifier(name) for name in dataset.schema.names]
    return filter_form(path, frame, state, columns=columns)


def shown_columns(dataset: Dataset, state: ViewState) -> list[str]:
    """The columns of scores that the table shows: those chosen, else the first few, and the one it is sorted by."""
    chosen = [name for name in state.columns if name in dataset.numeric] or dataset.scores[:_SHOWN_SCORES]
    name, _ = sort_column(state.sort, dataset)
    return [*chosen, name] if name in dataset.numeric and name not in chosen else chosen


def row_table(
    dataset: Dataset, rows: Sequence[int], state: ViewState, columns: Sequence[str], *, first: int | None = None
) -> Html:
    """A table of rows; a key moves from one to the next."""
    has_status = first is not None and STATUS in dataset.schema.names and REASON in dataset.schema.names
    values = dataset.take(rows)
    heads = [element("th", "row", scope="col", role="columnheader", class_="n")]
    heads.append(element("th", "pair" if len(dataset.sides) > 1 else "text", scope="col", role="columnheader"))
    if has_status:
        heads.append(element("th", "status", scope="col", role="columnheader"))
    heads += [_head(name, state, sortable=first is not None) for name in columns]
    lines = [
        _row(dataset, row, value, state, columns, has_status, None if first is None else first + i)
        for i, (row, value) in enumerate(zip(rows, values, strict=True))
    ]
    table = element(
        "table",
        element("caption", "Rows", class_="unseen"),
        element("thead", element("tr", heads, role="row"), role="rowgroup"),
        element("tbody", lines, role="rowgroup"),
        role="table",
        class_="rows",
    )
    return element("div", table, class_="wide", role="region", aria_label="Rows", tabindex="0")


def sides(dataset: Dataset, row: Mapping[str, Any], limit: int | None = TEXT_LIMIT) -> list[Html]:
    """The texts of a row, with the words marked that only one side has."""
    texts = [_cut(str(row.get(name) or ""), limit) for name in dataset.sides]
    marked = differences(*texts) if len(texts) == 2 else (join(texts[0]),)
    languages = [row.get({"src": "src_lang", "tgt": "tgt_lang"}.get(name, "lang")) for name in dataset.sides]
    return [
        element("p", isolated(text, lang=_language(lang)) if text else element("i", "empty"), class_="side", dir="auto")
        for text, lang in zip(marked, languages, strict=True)
    ]


def _language(value: object) -> str:
    text = str(value or "")
    return text if len(text) <= 20 and text.replace("-", "").replace("_", "").isalnum() and text.isascii() else ""


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else text[:limit] + " …"


def _head(name: str, state: ViewState, *, sortable: bool) -> Html:
    if not sortable:
        return element("th", label(name), scope="col", role="columnheader", class_="n")
    ascending, descending = state.sort == name, state.sort == f"-{name}"
    target = f"-{name}" if not descending and not ascending else name if descending else ""
    arrow = "▲" if ascending else "▼" if descending else ""
    order = "ascending" if ascending else "descending" if descending else None
    link = element(
        "a",
        label(name),
        element("span", f" {arrow}", aria_hidden="true") if arrow else None,
        href=state.url("/pairs", sort=target),
        data_live="",
    )
    return element("th", link, scope="col", role="columnheader", class_="n", aria_sort=order)


def _row(
    dataset: Dataset,
    row: int,
    values: Mapping[str, Any],
    state: ViewState,
    columns: Sequence[str],
    has_status: bool,
    rank: int | None,
) -> Html:
    link = element("a", count(row + 1), href=state.url("/row", page=state.page, row=row + 1, at=rank), class_="open")
    cells = [
        element("td", link, class_="n", role="cell"),
        element("td", sides(dataset, values), class_="pair", role="cell"),
    ]
    if has_status:
        cells.append(element("td", status(values, state), role="cell", class_="status", data_name="status"))
    cells += [
        element("td", number(values[name]), class_="n value", role="cell", data_name=label(name)) for name in columns
    ]
    return element(
        "tr",
        cells,
        role="row",
        class_=f"row {str(values.get(STATUS) or '').replace(' ', '-')}".strip() if has_status else "row",
    )


def status(values: Mapping[str, Any], state: ViewState) -> Part:
    """Kept, or rejected, not sampled or failed with a reason that leads to all rows of the same reason."""
    kind, reason = str(values.get(STATUS) or ""), values.get(REASON)
    clause = f"{REASON} = {sql_text(str(reason))}"
    return [
        element("span", kind, class_=f"tag {kind.replace(' ', '-')}"),
        None
        if reason is None
        else element("a", str(reason), href=state.url("/pairs", where=narrowed(state.where, clause)), data_live=""),
    ]


def summary(dataset: Dataset, matches: Matches, state: ViewState) -> Html:
    """How many rows match; while a search is not complete, an estimate and how far it is."""
    total = dataset.rows
    noun = "pair" if len(dataset.sides) > 1 else "row"
    about = "" if matches.is_complete else "about "
    parts: list[Part] = [
        element("strong", f"{about}{plural(matches.total, noun)}", id="total"),
        f" of {count(total)} ({share(matches.total, total)})" if state.where or state.search else None,
    ]
    if not matches.is_complete:
        searched = f"{count(matches.searched)} of {count(matches.candidates)} rows searched so far"
        parts += [
            "; ",
            element("span", f"estimated from a sample of {count(len(dataset.sample_rows))} rows, {searched}"),
        ]
    attributes = (
        {}
        if matches.is_complete
        else {"data_continue": state.url("/pairs/summary", page=state.page, fragment="results")}
    )
    return element("p", parts, class_="summary", aria_live="polite", **attributes)


def _columns(dataset: Dataset, shown: Sequence[str], state: ViewState) -> Part:
    if len(dataset.numeric) <= _SHOWN_SCORES:
        return None
    boxes = [
        element(
            "label",
            element("input", type="checkbox", name="column", value=name, checked="checked" if name in shown else None),
            f" {label(name)}",
        )
        for name in dataset.scores
    ]
    hidden = [
        element("input", type="hidden", name=name, value=value)
        for name, value in (
            ("corpus", state.corpus),
            ("where", state.where),
            ("search", state.search),
            ("sort", state.sort),
        )
        if value
    ]
    return element(
        "details",
        element("summary", f"Columns: {len(shown)} of {len(dataset.numeric)}"),
        element("form", hidden, boxes, element("button", "Show"), action="/pairs", method="get", class_="columns"),
    )


def _pager(matches: Matches, state: ViewState, has_next: bool) -> Part:
    pages = max(1, -(-matches.total // PAGE_ROWS))
    links: list[Part] = []
    if state.page > 1:
        links.append(element("a", "Previous", href=state.url("/pairs", page=state.page - 1), rel="prev", data_live=""))
    links.append(element("span", f"page {count(state.page)} of {count(pages)}", class_="quiet"))
    if has_next:
        links.append(element("a", "Next", href=state.url("/pairs", page=state.page + 1), rel="next", data_live=""))
    elif not matches.is_complete:
        links.append(element("a", "Search on", href=state.url("/pairs", page=state.page), data_live=""))
    return (
        element("nav", links, aria_label="Pages of the table", class_="pager") if pages > 1 or len(links) > 1 else None
    )
