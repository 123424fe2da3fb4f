"""The page of one row: both sides, scores with their rank, parses, variants, neighbors, where the row comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from paraloom.core.errors import ConfigError, DataError
from paraloom.io.database import sql_text
from paraloom.pairs.scoring.table import COLUMNS
from paraloom.text.trees import constituents
from paraloom.web.dataset import Dataset
from paraloom.web.formatting import count, label, number, share
from paraloom.web.layout import Frame, View
from paraloom.web.matching import Matcher
from paraloom.web.neighbors import NearestRows
from paraloom.web.pairs_page import PAGE_ROWS, row_table, side_texts, sides, status
from paraloom.web.parameters import whole_number
from paraloom.web.scores import BETTER
from paraloom.web.sources import REASON, STATUS
from paraloom.web.state import ViewState
from paraloom.web.templates import draw

_NEAR = 1000
"""Rows on either side that are searched for variants in a large set: variants of a sentence are written together."""

_MAX_VARIANTS = 30
_LONG = 4000
_LONG_TREE = 20_000
_PARSES = ("src_parse", "tgt_parse", "text_parse", "parse")


def row_page(matcher: Matcher, neighbors: NearestRows | None, frame: Frame, state: ViewState) -> View:
    dataset = matcher.dataset
    row = _row_number(state.extra.get("row", ""), dataset.rows)
    values = dataset.take([row])[0]
    named = [("file", dataset.source.name), ("row", count(row + 1))]
    condition, trace = "", ""
    if values.get("pair_id") is not None:
        condition = f"pair_id = {sql_text(str(values['pair_id']))}"
        trace = state.url("/trace", id=values["pair_id"]) if frame.has_run else ""
    results = draw(
        "row_page",
        _links(matcher, row, state),
        status(values, state) if values.get(STATUS) and REASON in values else None,
        list(zip(dataset.sides, side_texts(dataset, values, _LONG), strict=True)),
        _scores(dataset, values),
        _variants(dataset, row, values, state),
        [_parse(name, tree) for name in _PARSES if isinstance(tree := values.get(name), str) and tree.strip()],
        [*named, *_provenance(dataset, values)],
        condition,
        trace,
        None if neighbors is None else _neighbors(dataset, neighbors, row, values, state),
    )
    return View(f"Row {count(row + 1)}", results=results, wide=True)


def tree_list(tree: str) -> Markup:
    """A bracketed tree as nested lists; the words of a node without children are beside its label."""
    nodes = constituents(tree)
    words = _leaves(tree)
    drawn = [Markup()] * len(nodes)
    parents: list[int] = []
    children: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        del parents[node.depth :]
        if parents:
            children[parents[-1]].append(i)
        parents.append(i)
    for i in reversed(range(len(nodes))):
        node, below = nodes[i], [drawn[child] for child in children[i]]
        drawn[i] = draw("tree_node", node.label, "" if below else " ".join(words[node.start : node.end]), below)
    return draw("tree", drawn[0])


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


def _links(matcher: Matcher, row: int, state: ViewState) -> list[tuple[str, str, str]]:
    """Links back to the table, and to the rows before and after in it."""
    links: list[tuple[str, str, str]] = []
    at = whole_number(state.extra.get("at", ""), 0, 10**9)
    page = state.page
    if at is not None:
        page = at // PAGE_ROWS + 1
        first = max(0, at - 1)
        rows = matcher.matches(state.filter).page(first, at + 2 - first).tolist()
        for name, rel, to in (("Previous", "prev", at - 1), ("Next", "next", at + 1)):
            if 0 <= to < first + len(rows):
                target = state.url("/row", page=to // PAGE_ROWS + 1, row=rows[to - first] + 1, at=to)
                links.append((name, target, rel))
    return [("Back to the table", state.url("/pairs", page=page), ""), *links]


def _scores(dataset: Dataset, values: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    return [
        (
            name,
            dataset.signatures.get(name, ""),
            number(values[name], 4),
            _rank(dataset, name, values[name]),
            BETTER[COLUMNS[name].direction] if name in COLUMNS else "",
        )
        for name in dataset.scores
    ]


def _rank(dataset: Dataset, name: str, value: float | None) -> str:
    if value is None:
        return ""
    column = dataset.sample.column(name)
    lower = pc.sum(pc.less(column, pa.scalar(value, column.type))).as_py() or 0
    return share(lower, len(column) - column.null_count)


def _variants(dataset: Dataset, row: int, values: Mapping[str, object], state: ViewState) -> Markup | None:
    """Other rows of the same pair_id: the n-best translations and samples of one sentence."""
    if values.get("pair_id") is None:
        return None
    start, column = 0, dataset.sample.column("pair_id")
    if dataset.is_sampled:
        start = max(0, row - _NEAR)
        near = np.arange(start, min(dataset.rows, row + _NEAR), dtype=np.int32)
        column = dataset.gather(near, ["pair_id"]).column(0)
    same = np.flatnonzero(pc.equal(column, values["pair_id"]).to_numpy()) + start
    same = same[same != row][:_MAX_VARIANTS]
    if not len(same):
        return None
    columns = [name for name in ("rank", *dataset.scores) if name in dataset.numeric]
    return row_table(dataset, same.tolist(), state, list(dict.fromkeys(columns))[:4])


def _parse(name: str, tree: str) -> tuple[str, Markup | None, str]:
    """A parse as nested lists, or as its text where it is long or not a tree."""
    if len(tree) > _LONG_TREE:
        return name, None, f"{tree[:_LONG_TREE]} …"
    try:
        return name, tree_list(tree), ""
    except DataError:
        return name, None, tree


def _provenance(dataset: Dataset, values: Mapping[str, object]) -> list[tuple[str, str]]:
    shown = {*dataset.sides, *dataset.numeric, STATUS, REASON, *_PARSES}
    return [
        (label(name), (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))[:_LONG])
        for name, value in values.items()
        if name not in shown and value is not None
    ]


def _neighbors(
    dataset: Dataset, neighbors: NearestRows, row: int, values: Mapping[str, object], state: ViewState
) -> dict[str, object]:
    side = dataset.sides[-1]
    nearest = neighbors.near(str(values.get(side) or "")) if neighbors.is_ready else []
    rows = [
        (cosine, near + 1, state.url("/row", row=near + 1), sides(dataset, dataset.take([near])[0]))
        for near, cosine in nearest
        if near != row
    ]
    return {"about": neighbors.format(), "side": side, "rows": rows}
