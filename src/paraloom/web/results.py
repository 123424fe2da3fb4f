"""The results of evaluation stages: similarity tables next to published ones, comparisons, and plain figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.evaluate.published import PUBLISHED, PUBLISHED_MTEB
from paraloom.web.charts import number_line, paired_bars
from paraloom.web.formatting import count, label, number
from paraloom.web.markup import Html, Part, element, table

_SIMILARITY = ("group", "subset", "n", "pearson", "spearman")
_PRODUCTIONS = ("production", "before")
_RANDOM = "random"
_MAX_SELECTIONS, _MAX_ROWS = 60, 200
_TEST_FIGURES = {"test Pearson × 100": "test_pearson", "untrained": "untrained_test_pearson"}


def result(name: str, record: Mapping[str, Any]) -> Html:
    """The section of one stage's result.json.

    Args:
        name: Heading, such as the stage's name.
        record: Content of the file.
    """
    rows = record.get("rows")
    if isinstance(rows, list) and rows and all(isinstance(row, dict) and set(_SIMILARITY) <= set(row) for row in rows):
        body: Part = similarity(rows, record.get("systems") or (), record.get("differences") or ())
    elif _is_table(record.get("selections")):
        body = selections(record["selections"])
    elif _is_table(record.get("classification")):
        body = classification(record["classification"], record.get("differences") or ())
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


def similarity(
    rows: Sequence[Mapping[str, Any]],
    systems: Sequence[Mapping[str, Any]] = (),
    differences: Sequence[Mapping[str, Any]] = (),
) -> Html:
    """Correlations × 100 with human similarity scores by group of test sets, above baselines and published ones.

    Args:
        rows: Records with `group`, `subset`, `n`, `pearson` and `spearman`; the subset `mean` is the mean over a
            group's subsets, `all` is all pairs of the group together.
        systems: Records of all systems, the one of `rows` first: `name`, `rows`, and the figures by MTEB's protocol.
        differences: Records of differences of an encoder to a baseline, with intervals.
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
    others = [_line(str(one["name"]), _means_by_group(one["rows"]), groups, "ours") for one in systems[1:]]
    published = [
        _line(f"{row.system} ({row.source})", {g: row.figure(g) for g in groups}, groups, "published")
        for row in PUBLISHED
        if any(row.figure(group) is not None for group in groups)
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
            element("tbody", _subhead("Pearson, mean over subsets, of other systems", len(groups) + 1), others)
            if others
            else None,
            element("tbody", _subhead("Published: Pearson, mean over subsets", len(groups) + 1), published)
            if published
            else None,
        ),
        _differences(differences, "group", "Pearson × 100 of the encoder minus that of a baseline"),
        _pooled(systems),
        element("details", element("summary", "All subsets"), _subset_table(subsets)),
        class_="wide",
    )


def classification(rows: Sequence[Mapping[str, Any]], differences: Sequence[Mapping[str, Any]] = ()) -> Html:
    """Accuracies of logistic regression on frozen vectors: a row for each system, a column for each task.

    Args:
        rows: Records with `task`, `system`, `accuracy`, `low` and `high`.
        differences: Records of differences of an encoder to a baseline, with intervals.
    """
    tasks = list(dict.fromkeys(str(row["task"]) for row in rows))
    by_system: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        by_system.setdefault(str(row["system"]), {})[str(row["task"])] = row
    lines = [
        element(
            "tr",
            element("th", system, scope="row"),
            [
                element("td", _with_interval(of_task[task], "accuracy") if task in of_task else "–", class_="n")
                for task in tasks
            ],
        )
        for system, of_task in by_system.items()
    ]
    head = _heads(("accuracy in percent, with 95 % intervals", *tasks))
    return element(
        "div",
        table(head, lines, caption="Classification of frozen vectors"),
        _differences(differences, "task", "Accuracy of the encoder minus that of a baseline, in points"),
        class_="wide",
    )


def _with_interval(row: Mapping[str, Any], key: str) -> str:
    return f"{row[key]:.1f} [{row['low']:.1f}, {row['high']:.1f}]".replace("-", "−")


def _means_by_group(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """The mean over subsets of each group, or its only subset."""
    means: dict[str, float | None] = {}
    for row in rows:
        if row["subset"] == "mean" or str(row["group"]) not in means:
            means[str(row["group"])] = row["pearson"]
    return means


def _pooled(systems: Sequence[Mapping[str, Any]]) -> Html | None:
    """Spearman and Pearson by MTEB's protocol: ours, then the published ones."""
    tasks = [str(row["task"]) for row in systems[0]["mteb"]] if systems else []
    if not tasks:
        return None
    lines = [
        _pooled_line(
            str(one["name"]),
            {str(row["task"]): (row["spearman"], row["pearson"]) for row in one["mteb"]},
            tasks,
            "ours",
        )
        for one in systems
    ]
    published = [
        _pooled_line(row.system, row.figures, tasks, "published")
        for row in PUBLISHED_MTEB
        if any(task in row.figures for task in tasks)
    ]
    head = element("tr", _heads(("Spearman / Pearson × 100", *tasks)))
    return element(
        "table",
        element("caption", "All pairs of each task together, as MTEB evaluates"),
        element("thead", head),
        element("tbody", lines),
        element("tbody", _subhead("Published", len(tasks) + 1), published) if published else None,
    )


def _pooled_line(
    name: str, figures: Mapping[str, tuple[float | None, float | None]], tasks: Sequence[str], kind: str
) -> Html:
    cells = [
        element(
            "td", " / ".join(_correlation(figure) for figure in figures[task]) if task in figures else "–", class_="n"
        )
        for task in tasks
    ]
    return element("tr", element("th", name, scope="row"), cells, class_=kind)


def _differences(rows: Sequence[Mapping[str, Any]], column: str, caption: str) -> Html | None:
    """A row for each encoder and baseline, a column for each group or task."""
    if not rows:
        return None
    columns = list(dict.fromkeys(str(row[column]) for row in rows))
    by_pair: dict[str, dict[str, str]] = {}
    for row in rows:
        undefined = any(row[key] is None for key in ("value", "low", "high"))
        figure = "–" if undefined else _with_interval(row, "value")
        by_pair.setdefault(f"{row['system']} − {row['baseline']}", {})[str(row[column])] = figure
    lines = [
        element(
            "tr",
            element("th", pair, scope="row"),
            [element("td", figures.get(name, "–"), class_="n") for name in columns],
        )
        for pair, figures in by_pair.items()
    ]
    return table(_heads(("difference, with 95 % intervals", *columns)), lines, caption=caption)


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
    further = {name: key for name, key in _TEST_FIGURES.items() if any(key in row for row in rows)}
    heads = _heads(("selection", "pairs", "best epoch", "Pearson × 100", "95 % interval", *further))
    cells = [element("tr", _selection_cells(row, tuple(further.values()))) for row in rows]
    details = table(heads, cells, caption="Selections")
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


def _selection_cells(row: Mapping[str, Any], further: Sequence[str]) -> list[Html]:
    interval = f"{row['low']:.2f} – {row['high']:.2f}" if "low" in row else "–"
    return [
        element("th", str(row["selection"]), scope="row"),
        element("td", count(int(row["pairs"])), class_="n"),
        element("td", int(row["epoch"]), class_="n"),
        element("td", f"{row['dev_pearson']:.2f}", class_="n"),
        element("td", interval, class_="n"),
        *(element("td", f"{row[key]:.2f}" if key in row else "–", class_="n") for key in further),
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
