"""Measured corpora of variants side by side, a row each, as BBH22's Tables 1 to 4 have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.diversity.names import NAMES, NOTE
from paraloom.report.figures import count
from paraloom.report.markup import Html, element
from paraloom.report.run_folder import StageView


def side_by_side(stages: Sequence[StageView]) -> Html | None:
    """The figures of all stages that measured variants; None without one."""
    measured = {stage.name: stage.figures for stage in stages if (stage.what or stage.name) == "measure-diversity"}
    columns = [name for name in NAMES if any(figures.get(name) is not None for figures in measured.values())]
    if not columns:
        return None
    heads = ["corpus", "sources", "alone", *(NAMES[name] for name in columns)]
    rows = []
    for corpus, figures in measured.items():
        counts = [count(figures[name]) if name in figures else "–" for name in ("groups", "alone")]
        cells = [*counts, *(_cell(figures, name) for name in columns)]
        row = [element("th", corpus, scope="row"), *(element("td", cell, class_="n") for cell in cells)]
        rows.append(element("tr", row))
    head = [element("th", name, scope="col", class_="n" if place else None) for place, name in enumerate(heads)]
    table = element("table", element("thead", element("tr", head)), element("tbody", rows))
    return element(
        "section",
        element("h3", "Diversity"),
        element("div", table, class_="wide"),
        element("p", NOTE.replace("\n", " "), class_="quiet"),
        class_="augmented",
    )


def _cell(figures: Mapping[str, Any], name: str) -> str:
    value, half = figures.get(name), figures.get(f"{name}_interval")
    if value is None:
        return "–"
    if name.endswith("vocabulary"):
        return count(int(value))
    return f"{value:.2f}" + (f" ± {half:.2f}" if half else "")
