"""The page of one row: both sides, scores with their rank, parses, variants, neighbors, where the row comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError
from paraloom.io.database import sql_text
from paraloom.pairs.scoring.table import COLUMNS
from paraloom.text.trees import constituents
from paraloom.web.dataset import Dataset
from paraloom.web.formatting import count, label, number, share
from paraloom.web.layout import Frame, View, copyable, nothing
from paraloom.web.markup import Html, Part, element, isolated, join
from paraloom.web.matching import EXACT_ROWS, Matcher
from paraloom.web.neighbors import NearestRows
from paraloom.web.pairs_page import PAGE_ROWS, row_table, side_texts, sides, status
from paraloom.web.parameters import whole_number
from paraloom.web.sources import REASON, STATUS
from paraloom.web.state import ViewState
from paraloom.web.templates import draw

_NEAR = 1000
"""Rows on either side that are searched for variants in a large set: variants of a sentence are written together."""

_MAX_VARIANTS = 30
_LONG = 4000
_LONG_TREE = 20_000


def row_page(matcher: Matcher, neighbors: NearestRows | None, frame: Frame, state: ViewState) -> View:
    """The page of one row."""
    dataset = matcher.dataset
    row = _row_number(state.extra.get("row", ""), dataset.rows)
    values = dataset.take([row])[0]
    texts = [
        element("div", element("p", name, class_="quiet") if len(dataset.sides) > 1 else None, draw("sides", [text]))
        for name, text in zip(dataset.sides, side_texts(dataset, values, _LONG), strict=True)
    ]
    sections = [
        _scores(dataset, row, values),
        _variants(dataset, row, values, state),
        *(_parse(name, values.get(name)) for name in ("src_parse", "tgt_parse", "text_parse", "parse")),
        _provenance(dataset, row, values, frame, state),
        _neighbors(dataset, neighbors, row, values, state),
    ]
    results = [
        _navigation(matcher, row, state),
        element("div", status(values, state)) if values.get(STATUS) and REASON in values else None,
        element("div", texts, class_="both"),
        element("div", [section for section in sections if section], class_="row-page"),
    ]
    return View(f"Row {count(row + 1)}", results=join(results), wide=True)


def tree_list(tree: str) -> Html:
    """A bracketed tree as nested lists; the words of a node without children are beside its label.

    Example:
        >>> str(tree_list("(NP (DT The))"))
        '<ul class="tree"><li><b>NP</b><ul><li><b>DT</b> <bdi>The</bdi></li></ul></li></ul>'
    """
    nodes = constituents(tree)
    words = _leaves(tree)
    parts: list[list[Part]] = [[] for _ in nodes]
    parents: list[int] = []
    children: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        del parents[node.depth :]
        if parents:
            children[parents[-1]].append(i)
        parents.append(i)
    for i in reversed(range(len(nodes))):
        node = nodes[i]
        inside = element("ul", [parts[child] for child in children[i]]) if children[i] else None
        text = None if children[i] else isolated(" ".join(words[node.start : node.end]))
        parts[i] = [element("li", element("b", node.label), " " if text else None, text, inside)]
    return element("ul", parts[0], class_="tree")


def _leaves(tree: str) -> list[str]:
    tokens = tree.replace("(", " ( ").replace(")", " ) ").split()
    return [
        token for before, token in zip(["", *tokens], tokens, strict=False) if token not in ("(", ")") and before != "("
    ]


def _row_number(text: str, rows: int) -> int:
    row = whole_number(text, 1, rows)
    if row is None:
        raise ConfigError(f"row '{text[:20]}' not found", remedy=f"Give a number from 1 to {rows:,}.")
    return row - 1


def _navigation(matcher: Matcher, row: int, state: ViewState) -> Html:
    """Links to the rows before and after in the table, and back to it."""
    links: list[Part] = []
    at = whole_number(state.extra.get("at", ""), 0, 10**9)
    page = state.page
    if at is not None:
        page = at // PAGE_ROWS + 1
        matches = matcher.matches(state.filter)
        rows = matches.first(at + 2)
        for name, rel, to in (("Previous", "prev", at - 1), ("Next", "next", at + 1)):
            if 0 <= to < len(rows):
                target = state.url("/row", page=to // PAGE_ROWS + 1, row=int(rows[to]) + 1, at=to)
                links.append(element("a", name, href=target, rel=rel))
    back = element("a", "Back to the table", href=state.url("/pairs", page=page), data_back="")
    return element("nav", [back, *links], class_="pager", aria_label="Rows")


def _scores(dataset: Dataset, row: int, values: Mapping[str, Any]) -> Part:
    lines = []
    for name in dataset.scores:
        value = values[name]
        direction = COLUMNS[name].direction if name in COLUMNS else "none"
        better = {"higher": "higher is better", "lower": "lower is better"}.get(direction, "")
        lines.append(
            element(
                "tr",
                element("th", label(name), scope="row", title=dataset.signatures.get(name)),
                element("td", number(value, 4), class_="n"),
                element("td", _rank(dataset, name, value), class_="n quiet"),
                element("td", better, class_="quiet"),
            )
        )
    if not lines:
        return None
    heads = [element("th", text, scope="col") for text in ("score", "value", "higher than", "")]
    head = element("thead", element("tr", heads[:3], element("td", "")))
    return element(
        "section", element("h2", "Scores"), element("table", head, element("tbody", lines)), class_="row-scores"
    )


def _rank(dataset: Dataset, name: str, value: float | None) -> str:
    """The share of the sample that is lower."""
    if value is None:
        return ""
    column = dataset.sample.column(name)
    lower = pc.sum(pc.less(column, pa.scalar(value, column.type))).as_py() or 0
    return share(lower, len(column) - column.null_count)


def _variants(dataset: Dataset, row: int, values: Mapping[str, Any], state: ViewState) -> Part:
    """Other rows of the same pair_id: the n-best translations and samples of one sentence."""
    if values.get("pair_id") is None:
        return None
    start, end = (0, dataset.rows) if dataset.rows <= EXACT_ROWS else (max(0, row - _NEAR), row + _NEAR)
    column = dataset.table.column("pair_id").slice(start, end - start)
    same = np.flatnonzero(pc.equal(column, values["pair_id"]).to_numpy()) + start
    same = same[same != row][:_MAX_VARIANTS]
    if not len(same):
        return None
    columns = [name for name in ("rank", *dataset.scores) if name in dataset.numeric]
    return element(
        "section",
        element("h2", "Other variants of the sentence"),
        row_table(dataset, same.tolist(), state, list(dict.fromkeys(columns))[:4]),
    )


def _parse(name: str, tree: object) -> Part:
    if not isinstance(tree, str) or not tree.strip():
        return None
    try:
        body: Part = tree_list(tree) if len(tree) <= _LONG_TREE else element("code", tree[:_LONG_TREE], " …")
    except DataError:
        body = element("code", tree)
    return element("section", element("h2", label(name)), body)


def _provenance(dataset: Dataset, row: int, values: Mapping[str, Any], frame: Frame, state: ViewState) -> Html:
    shown = {*dataset.sides, *dataset.numeric, STATUS, REASON, "src_parse", "tgt_parse", "text_parse", "parse"}
    lines = [("file", dataset.source.name), ("row", count(row + 1))]
    lines += [
        (label(name), value if isinstance(value, str) else _json(value))
        for name, value in values.items()
        if name not in shown and value is not None
    ]
    rows = [
        element("tr", element("th", name, scope="row"), element("td", isolated(value[:_LONG]))) for name, value in lines
    ]
    parts: list[Part] = [element("table", element("tbody", rows))]
    if values.get("pair_id") is not None:
        condition = f"pair_id = {sql_text(str(values['pair_id']))}"
        parts.append(copyable("Find it", condition))
        if frame.has_run:
            trace = state.url("/trace", id=values["pair_id"])
            parts.append(element("p", element("a", "Follow it through the run", href=trace)))
    return element("section", element("h2", "Provenance"), parts)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _neighbors(
    dataset: Dataset, neighbors: NearestRows | None, row: int, values: Mapping[str, Any], state: ViewState
) -> Part:
    title = element("h2", "Nearest rows by the encoder")
    if neighbors is None:
        return element("section", title, nothing("Start with an encoder to see them:", "--encoder english"))
    if not neighbors.is_ready:
        return element("section", title, element("p", neighbors.format(), class_="quiet", data_refresh=""))
    side = dataset.sides[-1]
    nearest = [pair for pair in neighbors.near(str(values.get(side) or "")) if pair[0] != row]
    lines = [
        element(
            "tr",
            element("td", number(cosine), class_="n"),
            element("td", element("a", count(near + 1), href=state.url("/row", row=near + 1))),
            element("td", sides(dataset, dataset.take([near])[0])),
        )
        for near, cosine in nearest
    ]
    heads = [element("th", text, scope="col") for text in ("cosine", "row", "texts")]
    return element(
        "section",
        title,
        element("p", f"Among {neighbors.format()}, by the column {side}.", class_="quiet"),
        element("table", element("thead", element("tr", heads)), element("tbody", lines)),
    )
