"""The results of evaluation stages: similarity tables next to published ones, comparisons, diversity, plain figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from paraloom.evaluate.diversity.names import NAMES, NOTE
from paraloom.evaluate.published import PUBLISHED, PUBLISHED_MTEB
from paraloom.web.charts import paired_bars
from paraloom.web.formatting import count, label, number
from paraloom.web.run_folder import StageView
from paraloom.web.templates import draw, table

Records = Sequence[Mapping[str, Any]]

_SIMILARITY = ("group", "subset", "n", "pearson", "spearman")
_SUMMARIES = ("mean", "all")
_PRODUCTIONS = ("production", "before")
_MAX_ROWS = 200


def result(name: str, record: Mapping[str, Any]) -> Markup:
    """The section of one stage's result.json."""
    rows = record.get("rows")
    differences = record.get("differences") or ()
    if _is_table(rows) and all(set(_SIMILARITY) <= set(row) for row in record["rows"]):
        body = _similarity(record["rows"], record.get("systems") or (), differences)
    else:
        body = [_figures(record), _productions(record.get("productions"))]
        body += [_plain_table(key, value) for key, value in record.items() if _is_table(value)]
    skipped = [str(path) for path in record.get("skipped") or []]
    signature = str(record["signature"]) if "signature" in record else ""
    return draw("result", name, [part for part in body if part], skipped, signature)


def diversity(stages: Sequence[StageView]) -> Markup | None:
    """The figures of all `measure-diversity` stages, one corpus per row (BBH22, Tables 1 to 4)."""
    measured = {stage.name: stage.figures for stage in stages if (stage.use or stage.name) == "measure-diversity"}
    columns = [name for name in NAMES if any(figures.get(name) is not None for figures in measured.values())]
    if not columns:
        return None
    rows = []
    for corpus, figures in measured.items():
        counts = [count(figures[name]) if name in figures else "–" for name in ("groups", "alone")]
        rows.append([corpus, *counts, *(_diversity_cell(figures, name) for name in columns)])
    heads = ("corpus", "sources", "alone", *(NAMES[name] for name in columns))
    return draw("section", "Diversity", "", [table(heads, rows, wide=True)], NOTE.replace("\n", " "))


def _diversity_cell(figures: Mapping[str, Any], name: str) -> str:
    value, half = figures.get(name), figures.get(f"{name}_interval")
    if value is None:
        return "–"
    if name.endswith("vocabulary"):
        return count(int(value))
    return f"{value:.2f}" + (f" ± {half:.2f}" if half else "")


def _similarity(rows: Records, systems: Records, differences: Records) -> list[Markup | None]:
    """Correlations × 100 by group, ours and published: `mean` is that of its subsets, `all` of all its pairs."""
    groups = list(dict.fromkeys(str(row["group"]) for row in rows))
    subsets = [row for group in groups for row in rows if row["group"] == group and row["subset"] not in _SUMMARIES]
    further = [
        [row["group"], row["subset"], count(int(row["n"])), _correlation(row["pearson"]), _correlation(row["spearman"])]
        for row in subsets
    ]
    lines = [*_correlations_of_groups(rows, groups), *_others(systems[1:], groups), *_published(groups)]
    return [
        table(("correlation × 100", *groups), lines, "Semantic textual similarity", wide=True),
        _differences(differences),
        _by_task(systems),
        draw("details", "All subsets", table(("group", "subset", "pairs", "Pearson", "Spearman"), further, text=2)),
    ]


def _correlations_of_groups(rows: Records, groups: Sequence[str]) -> list[list[str]]:
    """Lines of the encoder itself: the mean over the subsets of each group, and all of its pairs together."""
    # The first row of a group that has no mean is its only subset.
    means = {str(row["group"]): row for row in reversed(rows) if row["subset"] != "all"}
    means |= {str(row["group"]): row for row in rows if row["subset"] == "mean"}
    pooled = {str(row["group"]): row for row in rows if row["subset"] == "all"}
    lines = [["Pearson, mean over subsets", *(_correlation(means[group]["pearson"]) for group in groups)]]
    if any(row.get("low") is not None for row in means.values()):
        lines.append(["95 % confidence interval", *(_half(means[group]) for group in groups)])
    lines.append(["Spearman, mean over subsets", *(_correlation(means[group]["spearman"]) for group in groups)])
    for kind in ("pearson", "spearman"):
        cells = [_correlation(pooled[group][kind]) if group in pooled else "–" for group in groups]
        lines.append([f"{kind.capitalize()}, all pairs together", *cells])
    return lines


def _others(systems: Records, groups: Sequence[str]) -> list[list[str]]:
    lines = [[str(one["name"]), *map(_correlation, _of_groups(one["rows"], groups))] for one in systems]
    return [["Pearson, mean over subsets, of other systems"], *lines] if lines else []


def _published(groups: Sequence[str]) -> list[list[str]]:
    figures = [(f"{row.system} ({row.source})", [row.figure(group) for group in groups]) for row in PUBLISHED]
    lines = [[name, *map(_correlation, row)] for name, row in figures if any(one is not None for one in row)]
    return [["Published: Pearson, mean over subsets"], *lines] if lines else []


def _of_groups(rows: Records, groups: Sequence[str]) -> list[float | None]:
    """The mean over subsets of each group, or its only subset."""
    means: dict[str, float | None] = {}
    for row in rows:
        if row["subset"] == "mean" or str(row["group"]) not in means:
            means[str(row["group"])] = row["pearson"]
    return [means.get(group) for group in groups]


def _by_task(systems: Records) -> Markup | None:
    """Spearman and Pearson by MTEB's protocol: ours, then the published ones."""
    tasks = [str(row["task"]) for row in systems[0]["mteb"]] if systems else []
    if not tasks:
        return None
    ours = [
        (str(one["name"]), {str(row["task"]): (row["spearman"], row["pearson"]) for row in one["mteb"]})
        for one in systems
    ]
    published = [(row.system, row.figures) for row in PUBLISHED_MTEB if any(task in row.figures for task in tasks)]
    lines = [
        [name, *(" / ".join(map(_correlation, figures[task])) if task in figures else "–" for task in tasks)]
        for name, figures in [*ours, *published]
    ]
    lines[len(ours) : len(ours)] = [["Published"]] if published else []
    heads = ("Spearman / Pearson × 100", *tasks)
    return table(heads, lines, "All pairs of each task together, as MTEB evaluates", wide=True)


def _differences(rows: Records) -> Markup | None:
    """A row for each encoder and baseline, a column for each group."""
    if not rows:
        return None
    groups = list(dict.fromkeys(str(row["group"]) for row in rows))
    pairs: dict[str, dict[str, str]] = {}
    for row in rows:
        undefined = any(row[key] is None for key in ("value", "low", "high"))
        figure = "–" if undefined else f"{row['value']:.1f} [{row['low']:.1f}, {row['high']:.1f}]".replace("-", "−")
        pairs.setdefault(f"{row['system']} − {row['baseline']}", {})[str(row["group"])] = figure
    lines = [[pair, *(figures.get(group, "–") for group in groups)] for pair, figures in pairs.items()]
    caption = "Pearson × 100 of the encoder minus that of a baseline"
    return table(("difference, with 95 % intervals", *groups), lines, caption, wide=True)


def _productions(rows: Any) -> Markup | None:
    """Frequent root productions before and after each fine-tuning (BBH22, Figure 1)."""
    if not (_is_table(rows) and all(set(_PRODUCTIONS) < set(row) for row in rows)):
        return None
    charts = [
        paired_bars(
            f"Root productions before and after fine-tuning on {name}",
            [(str(row["production"]), int(row["before"]), int(row[name])) for row in rows],
        )
        for name in rows[0]
        if name not in _PRODUCTIONS
    ]
    return draw("charts", charts)


def _figures(record: Mapping[str, Any]) -> Markup | None:
    plain = [(label(key), number(float(value), 4)) for key, value in record.items() if _is_number(value)]
    return draw("figures", plain) if plain else None


def _plain_table(name: str, rows: Records) -> Markup:
    columns = list(dict.fromkeys(str(key) for row in rows[:_MAX_ROWS] for key in row))
    lines = [[_cell(row.get(column)) for column in columns] for row in rows[:_MAX_ROWS]]
    return table([label(column) for column in columns], lines, label(name), wide=True)


def _cell(value: object) -> str:
    if isinstance(value, int | float) and _is_number(value):
        return number(float(value), 4)
    return "–" if value is None else str(value)[:200]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _half(row: Mapping[str, Any]) -> str:
    return f"±{(row['high'] - row['low']) / 2:.1f}" if row.get("low") is not None else "–"


def _correlation(value: object) -> str:
    """A correlation with one decimal, as the papers print it."""
    return f"{value:.1f}".replace("-", "−") if isinstance(value, int | float) else "–"
