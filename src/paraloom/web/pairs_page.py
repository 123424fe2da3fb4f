"""The page of pairs: a table with differing words marked, scores, status and reason, sorted and filtered."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from paraloom.api.harvest import RANKED_BY
from paraloom.api.yield_curve import presets_for
from paraloom.io.database import sql_text
from paraloom.pairs.filtering.expressions import condition
from paraloom.web.dataset import Dataset
from paraloom.web.formatting import count, share
from paraloom.web.layout import Frame, View, filter_form, nothing, plural
from paraloom.web.matching import FILE_ORDER, Matcher, Matches, sort_column
from paraloom.web.samples import differences
from paraloom.web.sources import REASON, STATUS, path_to_filter
from paraloom.web.state import ViewState, identifier, narrowed
from paraloom.web.templates import draw

PAGE_ROWS = 25
TEXT_LIMIT = 600  # Characters of a side that the table shows

_SHOWN_SCORES = 6
_LANGUAGES = {"src": "src_lang", "tgt": "tgt_lang"}


def pairs_page(matcher: Matcher, frame: Frame, state: ViewState) -> View:
    """The table, best first where a score says how right a pair is."""
    dataset = matcher.dataset
    best = best_first(dataset)
    state = state if state.sort else replace(state, sort=best)
    matches = matcher.matches(state.filter)
    start = (state.page - 1) * PAGE_ROWS
    rows = matches.page(start, PAGE_ROWS + 1)
    shown = shown_columns(dataset, state)
    rejected = ""
    if dataset.rejected:
        row, reason = dataset.rejected[0]
        rejected = f"{dataset.left_out()}; the first is row {row}: {reason}"
    if len(rows):
        body = row_table(dataset, rows[:PAGE_ROWS].tolist(), state, shown, first=start, has_order=bool(best))
    elif matches.is_complete:
        body = nothing("No row matches." if matches.total == 0 else _beyond(matches))
    else:
        body = nothing("Nothing found yet.")
    results = draw(
        "pairs", summary(dataset, matches, state), _chain(dataset, frame, state), _columns(dataset, shown, state),
        rejected, body,
        *_pager(matches, state, len(rows) > PAGE_ROWS),
    )  # fmt: skip
    return View(title="Pairs", results=results, wide=True)


def _beyond(matches: Matches) -> str:
    if matches.reachable == matches.total:
        return "This page is beyond the last row."
    return f"This page is beyond the first {count(matches.reachable)} rows: narrow the condition."


def best_first(dataset: Dataset) -> str:
    """The order by the score that says how right a pair is; '' without one."""
    return next((f"-{name}" for name in RANKED_BY if name in dataset.numeric), "")


def _chain(dataset: Dataset, frame: Frame, state: ViewState) -> Markup:
    """The presets, the conditions that are joined by `and`, each of which can be removed, and all of them to copy."""
    presets = [
        (name, state.url("/pairs", where="" if state.where == where else where), state.where == where)
        for name, where in presets_for(dataset.schema.names).items()
    ]
    clauses = condition(state.where).clauses if state.where else ()
    parts = [
        (clause, state.url("/pairs", where=" and ".join(other for j, other in enumerate(clauses) if j != i)))
        for i, clause in enumerate(clauses)
    ]
    return draw("chain", presets, parts, copies(dataset, state.where) if parts and not frame.compares else None)


def copies(dataset: Dataset, where: str) -> Markup:
    """A condition as a line of shell and as a stage of a pipeline, to copy."""
    path, quoted = shlex.quote(str(path_to_filter(dataset.source))), json.dumps(where, ensure_ascii=False)
    shell = f"paraloom filter {path} --where {shlex.quote(where)} -o kept.tsv"
    return draw("copies", shell, f'[[stage]]\nuse = "filter"\nwhere = {quoted}')


def form(path: str, dataset: Dataset | None, frame: Frame, state: ViewState) -> Markup:
    return filter_form(path, frame, state, [] if dataset is None else [identifier(n) for n in dataset.schema.names])


def shown_columns(dataset: Dataset, state: ViewState) -> list[str]:
    """The columns of scores that the table shows: those chosen, else the first few, and the one it is sorted by."""
    chosen = [name for name in state.columns if name in dataset.numeric] or dataset.scores[:_SHOWN_SCORES]
    name, _ = sort_column(state.sort, dataset)
    return [*chosen, name] if name in dataset.numeric and name not in chosen else chosen


def row_table(
    dataset: Dataset,
    rows: Sequence[int],
    state: ViewState,
    columns: Sequence[str],
    *,
    first: int | None = None,
    has_order: bool = False,
) -> Markup:
    """A table of rows; a key moves from one to the next."""
    has_status = first is not None and STATUS in dataset.schema.names and REASON in dataset.schema.names
    lines = []
    for i, (row, values) in enumerate(zip(rows, dataset.take(rows, _read(dataset, columns)), strict=True)):
        href = state.url("/row", page=state.page, row=row + 1, at=None if first is None else first + i)
        kind = str(values.get(STATUS) or "") if has_status else ""
        shown = status(values, state) if has_status else None
        lines.append((row + 1, href, sides(dataset, values), kind, shown, [(name, values[name]) for name in columns]))
    noun = "pair" if len(dataset.sides) > 1 else "text"
    heads = [(name, "", "", "") if first is None else _head(name, state) for name in columns]
    in_order = state.url("/pairs", sort=FILE_ORDER) if has_order else ""
    return draw("row_table", noun, has_status, heads, lines, in_order)


def _read(dataset: Dataset, columns: Sequence[str]) -> list[str]:
    drawn = [*dataset.sides, *_LANGUAGES.values(), "lang", STATUS, REASON, *columns]
    return [name for name in dict.fromkeys(drawn) if name in dataset.schema.names]


def sides(dataset: Dataset, row: Mapping[str, object]) -> Markup:
    """The texts of a row, with the words marked that only one side has."""
    return draw("sides", side_texts(dataset, row))


def side_texts(dataset: Dataset, row: Mapping[str, object], limit: int = TEXT_LIMIT) -> list[tuple[str, str]]:
    texts = [_cut(str(row.get(name) or ""), limit) for name in dataset.sides]
    marked = differences(*texts) if len(texts) == 2 else texts
    languages = [row.get(_LANGUAGES.get(name, "lang")) for name in dataset.sides]
    return [(text, _language(lang)) for text, lang in zip(marked, languages, strict=True)]


def _language(value: object) -> str:
    text = str(value or "")
    return text if len(text) <= 20 and text.replace("-", "").replace("_", "").isalnum() and text.isascii() else ""


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + " …"


def _head(name: str, state: ViewState) -> tuple[str, str, str, str]:
    """A column, the address that sorts by it, and its present order."""
    ascending, descending = state.sort == name, state.sort == f"-{name}"
    target = f"-{name}" if not descending and not ascending else name if descending else ""
    arrow = "▲" if ascending else "▼" if descending else ""
    order = "ascending" if ascending else "descending" if descending else ""
    return name, state.url("/pairs", sort=target), order, arrow


def status(values: Mapping[str, object], state: ViewState) -> Markup:
    """Kept, or rejected, not sampled or failed with a reason that leads to all rows of the same reason."""
    reason = values.get(REASON)
    clause = f"{REASON} = {sql_text(str(reason))}"
    return draw(
        "status", str(values.get(STATUS) or ""), reason, state.url("/pairs", where=narrowed(state.where, clause))
    )


def summary(dataset: Dataset, matches: Matches, state: ViewState) -> Markup:
    """Number of rows that match; while a search is not complete, an estimate and its progress."""
    total = dataset.rows
    about = "" if matches.is_complete else "about "
    rest = f" of {count(total)} ({share(matches.total, total)})" if state.where or state.search else ""
    searched = address = ""
    if not matches.is_complete:
        done = f"{count(matches.searched)} of {count(total)} rows searched so far"
        done += ", of which the table has the first" if matches.is_sorted else ""
        searched = f"estimated from a sample of {count(len(dataset.sample_rows))} rows, {done}"
        address = state.url("/pairs/summary", page=state.page, fragment="results")
    noun = "pair" if len(dataset.sides) > 1 else "row"
    return draw("summary", plural(matches.total, noun), about, rest, searched, address, matches.is_sorted)


def _columns(dataset: Dataset, shown: Sequence[str], state: ViewState) -> Markup | None:
    if len(dataset.numeric) <= _SHOWN_SCORES:
        return None
    fields = [(name, getattr(state, name)) for name in ("corpus", "where", "search", "sort")]
    return draw("columns", dataset.scores, shown, len(dataset.numeric), fields)


def _pager(matches: Matches, state: ViewState, has_next: bool) -> tuple[str, str, str, str]:
    """The address before, where the table is, the address after, and its name."""
    pages = max(1, -(-matches.reachable // PAGE_ROWS))
    previous = state.url("/pairs", page=state.page - 1) if state.page > 1 else ""
    following, name = "", ""
    if has_next:
        following, name = state.url("/pairs", page=state.page + 1), "Next"
    elif not matches.is_complete:
        following, name = state.url("/pairs", page=state.page), "Search on"
    is_shown = pages > 1 or previous or following
    return previous, f"page {count(state.page)} of {count(pages)}" if is_shown else "", following, name
