"""The plot of a tuning: a dot for each selection's development figure, beside the random selection and its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.report.charts import number_line
from paraloom.report.figures import count
from paraloom.report.markup import Html, Part, element

_RANDOM = "random"
_MOST = 60


def selections(rows: Sequence[Mapping[str, Any]]) -> Html:
    """What `compare-selections` found, the best first: a plot and a table."""
    chance = next((row for row in rows if row["selection"] == _RANDOM), None)
    shown = rows[:_MOST] if chance is None or chance in rows[:_MOST] else [*rows[: _MOST - 1], chance]
    band = (chance["low"], chance["high"]) if chance and "low" in chance else None
    plot = number_line(
        "Development figure of each selection",
        [(str(row["selection"]), float(row["dev_pearson"]), row.get("low"), row.get("high")) for row in shown],
        band=band,
        marked=_RANDOM,
    )
    heads = ("selection", "pairs", "best epoch", "Pearson × 100", "95 %")
    body = [element("tr", _cells(row)) for row in rows]
    table = element(
        "table",
        element("caption", "Selections"),
        element(
            "thead", element("tr", [element("th", head, scope="col", class_=_kind(i)) for i, head in enumerate(heads)])
        ),
        element("tbody", body),
    )
    note: Part = None
    if band is not None:
        above = sum(row["dev_pearson"] > band[1] for row in rows if row is not chance)
        said = "no selection lies" if not above else f"{count(above)} of {count(len(rows) - 1)} selections lie"
        note = element("p", f"Against random pairs: {said} above the interval of the random selection.", class_="quiet")
    return element("div", plot, note, element("details", element("summary", "as a table"), table), class_="wide")


def _cells(row: Mapping[str, Any]) -> list[Html]:
    interval = f"{row['low']:.2f} – {row['high']:.2f}" if "low" in row else "–"
    return [
        element("th", str(row["selection"]), scope="row"),
        element("td", count(int(row["pairs"])), class_="n"),
        element("td", int(row["epoch"]), class_="n"),
        element("td", f"{row['dev_pearson']:.2f}", class_="n"),
        element("td", interval, class_="n"),
    ]


def _kind(place: int) -> str | None:
    return "n" if place else None
