"""What evaluation stages found: similarity tables beside the papers' rows, and any other figures as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.evaluate.published import PUBLISHED
from paraloom.report.figures import count, number, spoken
from paraloom.report.markup import Html, Part, element
from paraloom.report.productions import are_productions, productions
from paraloom.report.tuning import selections

_SIMILARITY = ("group", "subset", "n", "pearson", "spearman")


def result(name: str, found: Mapping[str, Any]) -> Html:
    """The figures of one stage's result.json, under its name."""
    rows = found.get("rows")
    if isinstance(rows, list) and rows and all(isinstance(row, dict) and set(_SIMILARITY) <= set(row) for row in rows):
        body: Part = similarity(rows)
    elif _is_table(found.get("selections")):
        body = selections(found["selections"])
    else:
        counted: Any = found.get("productions")
        chart = productions(counted) if _is_table(counted) and are_productions(counted) else None
        body = [_plain_table(key, value) for key, value in found.items() if _is_table(value)]
        body = [_figures(found), chart, body]
    skipped = found.get("skipped") or []
    return element(
        "section",
        element("h3", name),
        body,
        element("p", "Not there and left out: ", ", ".join(map(str, skipped)), class_="quiet") if skipped else None,
        element("p", element("code", str(found["signature"])), class_="signature") if "signature" in found else None,
        class_="result",
    )


def similarity(rows: Sequence[Mapping[str, Any]]) -> Html:
    """Correlations × 100 of every group: mean over its subsets, all pairs together, then each subset on demand."""
    groups = list(dict.fromkeys(str(row["group"]) for row in rows))
    summary = {(str(row["group"]), str(row["subset"])): row for row in rows}
    subsets = {
        group: [row for row in rows if row["group"] == group and row["subset"] not in ("mean", "all")]
        for group in groups
    }
    means = {group: summary.get((group, "mean")) or subsets[group][0] for group in groups}
    together = {group: summary.get((group, "all")) for group in groups}
    lines = [
        _line("Pearson, mean over subsets", {g: row["pearson"] for g, row in means.items()}, groups, "ours"),
        _margins(means, groups),
        _line("Spearman, mean over subsets", {g: row["spearman"] for g, row in means.items()}, groups, "ours"),
        _line("Pearson, all pairs together", {g: row["pearson"] for g, row in together.items() if row}, groups, "ours"),
        _line(
            "Spearman, all pairs together", {g: row["spearman"] for g, row in together.items() if row}, groups, "ours"
        ),
    ]
    published = [
        _line(f"{row.system} ({row.source})", row.figures, groups, "published")
        for row in PUBLISHED
        if any(group in row.figures for group in groups)
    ]
    head = element(
        "tr",
        element("th", "correlation × 100", scope="col"),
        [element("th", group, scope="col", class_="n") for group in groups],
    )
    return element(
        "div",
        element(
            "table",
            element("caption", "Semantic textual similarity"),
            element("thead", head),
            element("tbody", lines),
            element("tbody", _subhead("published, Pearson, mean over subsets", len(groups) + 1), published)
            if published
            else None,
        ),
        element("details", element("summary", "each subset"), _subset_table(subsets)),
        class_="wide",
    )


def _line(name: str, figures: Mapping[str, float | None], groups: Sequence[str], kind: str) -> Html:
    cells = [element("td", _figure(figures.get(group)), class_="n") for group in groups]
    return element("tr", element("th", name, scope="row"), cells, class_=kind)


def _margins(rows: Mapping[str, Mapping[str, Any]], groups: Sequence[str]) -> Html | None:
    """Half the width of the interval of each figure above, where it is known."""
    if not any(row.get("low") is not None for row in rows.values()):
        return None
    halves = {g: (row["high"] - row["low"]) / 2 for g, row in rows.items() if row.get("low") is not None}
    cells = [element("td", f"±{halves[group]:.1f}" if group in halves else "–", class_="n") for group in groups]
    return element("tr", element("th", "95 % interval of it", scope="row"), cells, class_="ours quiet")


def _subhead(text: str, columns: int) -> Html:
    return element("tr", element("th", text, scope="colgroup", colspan=columns), class_="subhead")


def _subset_table(subsets: Mapping[str, Sequence[Mapping[str, Any]]]) -> Html:
    names = ("group", "subset", "pairs", "Pearson", "Spearman")
    heads = [element("th", name, scope="col", class_="n" if place > 1 else None) for place, name in enumerate(names)]
    body = [
        element(
            "tr",
            element("th", group, scope="row"),
            element("td", str(row["subset"])),
            element("td", count(int(row["n"])), class_="n"),
            element("td", _figure(row["pearson"]), class_="n"),
            element("td", _figure(row["spearman"]), class_="n"),
        )
        for group, of_group in subsets.items()
        for row in of_group
    ]
    return element("table", element("thead", element("tr", heads)), element("tbody", body))


def _figures(found: Mapping[str, Any]) -> Part:
    plain = {key: value for key, value in found.items() if _is_number(value)}
    if not plain:
        return None
    pairs = [
        element("div", element("dt", spoken(key)), element("dd", number(float(value), 4)))
        for key, value in plain.items()
    ]
    return element("dl", pairs, class_="figures")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _plain_table(name: str, rows: Sequence[Mapping[str, Any]], most: int = 200) -> Html:
    columns = list(dict.fromkeys(str(key) for row in rows[:most] for key in row))
    body = [element("tr", [_cell(row.get(column)) for column in columns]) for row in rows[:most]]
    table = element(
        "table",
        element("caption", spoken(name)),
        element("thead", element("tr", [element("th", spoken(column), scope="col") for column in columns])),
        element("tbody", body),
    )
    return element("div", table, class_="wide")


def _cell(value: object) -> Html:
    if isinstance(value, int | float) and _is_number(value):
        return element("td", number(float(value), 4), class_="n")
    return element("td", "–" if value is None else str(value)[:200])


def _figure(value: object) -> str:
    """A correlation, one digit behind the point as the papers print it."""
    return f"{value:.1f}".replace("-", "−") if isinstance(value, int | float) else "–"
