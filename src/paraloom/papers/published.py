"""The papers' tables, as published, in the form in which ours are printed next to them."""

from __future__ import annotations

import math
import tomllib
from importlib.resources import files
from typing import NamedTuple


class PaperTable(NamedTuple):
    """A table of a paper."""

    title: str
    unit: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]
    decimals: int | None = None
    conditions: tuple[tuple[str, ...], ...] = ()
    uncounted: tuple[str, ...] = ()


def _read() -> dict[str, PaperTable]:
    listed = tomllib.loads(files("paraloom.papers").joinpath("published.toml").read_text(encoding="utf-8"))
    for table in listed.values():
        table["columns"] = tuple(table["columns"])
        table["conditions"] = tuple(map(tuple, table.get("conditions", ())))
        table["uncounted"] = tuple(table.get("uncounted", ()))
        rows = [
            (name, [None if math.isnan(figure) else figure for figure in figures]) for name, *figures in table["rows"]
        ]
        table["rows"] = tuple((name, tuple(figures)) for name, figures in rows)
    return {name: PaperTable(**table) for name, table in listed.items()}


PAPERS = _read()
"""Name of a table → the published table."""


def published_figures(name: str) -> dict[str, tuple[float, ...]]:
    """The figures of a table by row; those that the paper does not have are left out."""
    return {row: tuple(figure for figure in figures if figure is not None) for row, figures in PAPERS[name].rows}


def uncounted(name: str) -> tuple[str, ...]:
    """Parts of the claims of a table's orders that its paper's text does not state, or that others count."""
    return PAPERS[name].uncounted if name in PAPERS else ()
