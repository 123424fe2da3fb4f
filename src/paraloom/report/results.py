"""The results of evaluation stages: similarity tables next to published ones, comparisons, and plain figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.evaluate.published import PUBLISHED
from paraloom.report.charts import number_line, paired_bars
from paraloom.report.formatting import count, label, number
from paraloom.report.markup import Html, Part, element, table

_SIMILARITY = ("group", "subset", "n", "pearson", "spearman")
_PRODUCTIONS = ("production", "before")
_RANDOM = "random"
_MAX_SELECTIONS, _MAX_ROWS = 60, 200


def result(name: str, record: Mapping[str, Any]) -> Html:
    """The section of one stage's result.json.

    Args:
        name: Heading, such as the stage's name.
        record: Content of the file.
    """
    rows = record.get("rows")
    if isinstance(rows, list) and rows and all(isinstance(row, dict) and set(_SIMILARITY) <= set(row) for row in rows):
        body: Part = similarity(rows)
    elif _is_table(record.get("selections")):
        body = selections(record["selections"])
    else:
        counted: Any = record.get("productions")
        chart = productions(counted) if _is_table(counted) and _are_productions(counted) else None
        body = [_plain_table(key, value) for key, value in record.items() if _is_table(value)]
        body = [_figures(record), chart, body]
    skipped = record.get("skipped") or []
    return element(
        "section",
        element("h3", name),
        body,
        element("p", "Skipped, file not found: ", ", ".join(map(str, skipped)), class_="quiet") if skipped else None,
        element("p", element("code", str(record["signature"])), class_="signature") if "signature" in record else None,
        class_="result",
    )


def similarity(rows: Sequence[Mapping[str, Any]]) -> Html:
    """Correlations × 100 with human similarity scores by group of test sets, above published ones.

    Args:
        rows: Records with `group`, `subset`, `n`, `pearson` and `spearman`; the subset `mean` is the mean over a
            group's subsets, `all` is all pairs of the group together.
    """
    groups = list(dict.fromkeys(str(row["group"]) for row in rows))
    summary = {(str(row["group"]), str(row["subset"])): row for row in rows}
    subsets = {
        group: [row for row in rows if row["group"] == group and row["subset"] not in ("mean", "all")]
        for group in groups
    }
    means = {group: summary.get((group, "mean")) or subsets[group][0] for group in groups}
    pooled = {group: row for group in groups if (row := summary.get((group, "all")))}
    lines = [
        _line("Pearson, mean over subsets", {g: row["pearson"] for g, row in means.items()}, groups, "ours"),
        _intervals(means, groups),
        _line("Spearman, mean over subsets", {g: row["spearman"] for g, row in means.items()}, groups, "ours"),
        _line("Pearson, all pairs together", {g: row["pearson"] for g, row in pooled.items()}, groups, "ours"),
        _line("Spearman, all pairs together", {g: row["spearman"] for g, row in pooled.items()}, groups, "ours"),
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
            element("tbody", _subhead("Published: Pearson, mean over subsets", len(groups) + 1), published)
            if published
            else None,
        ),
        element("details", element("summary", "All subsets"), _subset_table(subsets)),
        class_="wide",
    )


def selections(rows: Sequence[Mapping[str, Any]]) -> Html:
    """The result of `compare-selections`: a dot for each selection's development score, and a table.

    Args:
        rows: Records with `selection`, `pairs`, `epoch`, `dev_pearson` and, where known, the bounds `low` and `high` of
            the confidence interval; the best first.
    """
    chance = next((row for row in rows if row["selection"] == _RANDOM), None)
    top = rows[:_MAX_SELECTIONS]
    shown = top if chance is None or chance in top else [*rows[: _MAX_SELECTIONS - 1], chance]
    band = (chance["low"], chance["high"]) if chance and "low" in chance else None
    plot = number_line(
        "Development score of each selection",
        [(str(row["selection"]), float(row["dev_pearson"]), row.get("low"), row.get("high")) for row in shown],
        band=band,
        marked=_RANDOM,
    )
    heads = _heads(("selection", "pairs", "best epoch", "Pearson × 100", "95 % interval"))
    details = table(heads, [element("tr", _selection_cells(row)) for row in rows], caption="Selections")
    note: Part = None
    if band is not None:
        above = sum(row["dev_pearson"] > band[1] for row in rows if row is not chance)
        better = "no selection is" if not above else f"{count(above)} of {count(len(rows) - 1)} selections are"
        note = element(
            "p", f"Compared with random pairs, {better} above the random selection's interval.", class_="quiet"
        )
    return element("div", plot, note, element("details", element("summary", "Show as a table"), details), class_="wide")


def productions(rows: Sequence[Mapping[str, Any]]) -> Html:
    """The result of `count-productions`: frequent root productions before and after each fine-tuning.

    Args:
        rows: Records with `production`, the count `before`, and a count for each fine-tuned translator.

    Reference:
        BBH22, Figure 1.
    """
    charts = [
        paired_bars(
            f"Root productions before and after fine-tuning on {name}",
            [(str(row["production"]), int(row["before"]), int(row[name])) for row in rows],
        )
        for name in rows[0]
        if name not in _PRODUCTIONS
    ]
    return element("div", charts, class_="charts")


def _are_productions(rows: Sequence[Mapping[str, Any]]) -> bool:
    return all(set(_PRODUCTIONS) < set(row) for row in rows)


def _selection_cells(row: Mapping[str, Any]) -> list[Html]:
    interval = f"{row['low']:.2f} – {row['high']:.2f}" if "low" in row else "–"
    return [
        element("th", str(row["selection"]), scope="row"),
        element("td", count(int(row["pairs"])), class_="n"),
        element("td", int(row["epoch"]), class_="n"),
        element("td", f"{row['dev_pearson']:.2f}", class_="n"),
        element("td", interval, class_="n"),
    ]


def _heads(names: Sequence[str], text: int = 1) -> list[Html]:
    """Header cells, of which the first `text` are of columns of text and the others of numbers."""
    return [element("th", name, scope="col", class_=None if i < text else "n") for i, name in enumerate(names)]


def _line(name: str, figures: Mapping[str, float | None], groups: Sequence[str], kind: str) -> Html:
    cells = [element("td", _correlation(figures.get(group)), class_="n") for group in groups]
    return element("tr", element("th", name, scope="row"), cells, class_=kind)


def _intervals(rows: Mapping[str, Mapping[str, Any]], groups: Sequence[str]) -> Html | None:
    """Half the width of the confidence interval of each figure above, where it is known."""
    if not any(row.get("low") is not None for row in rows.values()):
        return None
    halves = {g: (row["high"] - row["low"]) / 2 for g, row in rows.items() if row.get("low") is not None}
    cells = [element("td", f"±{halves[group]:.1f}" if group in halves else "–", class_="n") for group in groups]
    return element("tr", element("th", "95 % confidence interval", scope="row"), cells, class_="ours quiet")


def _subhead(text: str, columns: int) -> Html:
    return element("tr", element("th", text, scope="colgroup", colspan=columns), class_="subhead")


def _subset_table(subsets: Mapping[str, Sequence[Mapping[str, Any]]]) -> Html:
    rows = [
        element(
            "tr",
            element("th", group, scope="row"),
            element("td", str(row["subset"])),
            element("td", count(int(row["n"])), class_="n"),
            element("td", _correlation(row["pearson"]), class_="n"),
            element("td", _correlation(row["spearman"]), class_="n"),
        )
        for group, of_group in subsets.items()
        for row in of_group
    ]
    return table(_heads(("group", "subset", "pairs", "Pearson", "Spearman"), 2), rows)


def _figures(record: Mapping[str, Any]) -> Part:
    plain = {key: value for key, value in record.items() if _is_number(value)}
    if not plain:
        return None
    items = [
        element("div", element("dt", label(key)), element("dd", number(float(value), 4)))
        for key, value in plain.items()
    ]
    return element("dl", items, class_="figures")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _plain_table(name: str, rows: Sequence[Mapping[str, Any]]) -> Html:
    columns = list(dict.fromkeys(str(key) for row in rows[:_MAX_ROWS] for key in row))
    cells = [element("tr", [_cell(row.get(column)) for column in columns]) for row in rows[:_MAX_ROWS]]
    return element("div", table([label(column) for column in columns], cells, caption=label(name)), class_="wide")


def _cell(value: object) -> Html:
    if isinstance(value, int | float) and _is_number(value):
        return element("td", number(float(value), 4), class_="n")
    return element("td", "–" if value is None else str(value)[:200])


def _correlation(value: object) -> str:
    """A correlation with one decimal, as the papers print it."""
    return f"{value:.1f}".replace("-", "−") if isinstance(value, int | float) else "–"
