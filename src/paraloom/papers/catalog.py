"""The catalog of all tables of the seven papers: whether we make each, under which conditions, and at what cost."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from paraloom.core.config import Config
from paraloom.core.results import text_table
from paraloom.papers.tables import Cost, format_hours

Status = Literal["faithfully", "under other conditions", "no"]
"""State of a table: made with the paper's method, sizes and kind of data; with others, which are named; or not."""


@dataclass(frozen=True, kw_only=True)
class CatalogEntry(Config):
    """A table of a paper, or a figure that has a table's numbers.

    Args:
        note: Which conditions are others, or why it is not made.
        table: Its name for `paraloom papers run`; empty where it is not made by that.
        page: Where it is described otherwise, a link from docs/explanations/.
        inputs: The options that it needs.
        hours: Of one core, with the settings that the papers' page was made with; estimated unless `measured`.
        paper_hours: The same with the paper's sizes, estimated.
    """

    paper: str
    number: str
    subject: str
    status: Status
    note: str = ""
    table: str = ""
    page: str = ""
    inputs: str = ""
    hours: float | None = None
    measured: bool = False
    paper_hours: float | None = None

    @property
    def cost(self) -> Cost:
        """Cost of the table, as on the papers' page."""
        return Cost(self.hours, self.measured)


@cache
def catalog_entries() -> tuple[CatalogEntry, ...]:
    """All entries, by paper and number."""
    text = files("paraloom.papers").joinpath("catalog.toml").read_text(encoding="utf-8")
    return tuple(CatalogEntry(**entry) for entry in tomllib.loads(text)["table"])


def entry_of(table: str) -> CatalogEntry | None:
    """The entry of a table that `paraloom papers run` makes; None for another name."""
    return next((entry for entry in catalog_entries() if entry.table == table), None)


def format_catalog(entries: Sequence[CatalogEntry], pages: Collection[str]) -> list[str]:
    """Entries as a table, lines of Markdown; `pages` are the tables that have a page of their own."""
    lines = [
        "| paper | | subject | made | conditions that differ, or why not | name | hours | at the paper's sizes |",
        "|---|---|---|---|---|---|---:|---:|",
    ]
    for entry in entries:
        where = f"`{entry.table}`" if entry.table else ""
        if entry.page:
            where = f"[{'below' if entry.page.startswith('#') else 'results'}]({entry.page})"
        if entry.table in pages:
            where = f"[`{entry.table}`]({entry.table}.md)"
        cells = (entry.paper, entry.number, entry.subject, entry.status, entry.note, where, _hours(entry.cost))
        lines.append(f"| {' | '.join(cells)} | {_hours(Cost(entry.paper_hours))} |")
    return lines


def list_tables() -> str:
    """The tables that `paraloom papers run` makes: name, subject, cost and inputs, a line each."""
    header = ("table", "hours of one core", "at the paper's sizes", "inputs", "subject")
    rows = [
        (
            entry.table,
            _hours(entry.cost),
            _hours(Cost(entry.paper_hours)),
            entry.inputs,
            f"{entry.paper} {entry.number}: {entry.subject}",
        )
        for entry in catalog_entries()
        if entry.table
    ]
    return "\n".join(text_table(header, rows, left=len(header)))


def _hours(cost: Cost) -> str:
    if cost.hours is None:
        return ""
    return f"{format_hours(cost.hours)}, {'measured' if cost.measured else 'estimated'}"
