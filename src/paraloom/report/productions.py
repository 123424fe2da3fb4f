"""Figure 1 of BBH22 for each fine-tuned translator: the commonest root productions, counted before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.report.charts import paired_bars
from paraloom.report.markup import Html, element

_COLUMNS = ("production", "before")


def are_productions(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these are the rows that `count-productions` writes."""
    return all(set(_COLUMNS) < set(row) for row in rows)


def productions(rows: Sequence[Mapping[str, Any]]) -> Html:
    """A chart for each column beside `before`."""
    charts = [
        paired_bars(
            f"Root productions before, and after fine-tuning on {name}",
            [(str(row["production"]), int(row["before"]), int(row[name])) for row in rows],
        )
        for name in rows[0]
        if name not in _COLUMNS
    ]
    return element("div", charts, class_="charts")
