"""The costs of translations, next to those of the translator's development text, and the warning if they are higher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from paraloom.web.charts import compared_histogram
from paraloom.web.formatting import count, number
from paraloom.web.run_folder import RunView
from paraloom.web.templates import draw

_MAX_BARS = 40


def translation_costs(run: RunView) -> Markup | None:
    """A chart for each stage that compared costs; None if none did."""
    charts = [_chart(stage.name, stage.figures) for stage in run.stages if _has_costs(stage.figures)]
    return draw("costs", charts) if charts else None


def _has_costs(figures: Mapping[str, Any]) -> bool:
    sides = (figures.get("costs"), figures.get("development_costs"))
    return all(isinstance(side, Mapping) and side.get("counts") for side in sides)


def _chart(name: str, figures: Mapping[str, Any]) -> tuple[str, object, Markup, str]:
    development, text = figures["development_costs"], figures["costs"]
    bins = max(len(development["counts"]), len(text["counts"]))
    together = -(-bins // _MAX_BARS)
    edges = [development["bin_width"] * together * i for i in range(-(-bins // together) + 1)]
    counts = [_merged(side["counts"], together, len(edges) - 1) for side in (development, text)]
    chart = compared_histogram(f"Costs of {name}", edges, counts[0], counts[1], ("development text", "this run"))
    note = f"{_median(text)} in this run; {_median(development)} in the development text"
    return name, figures.get("warning"), chart, note


def _merged(counts: Sequence[int], together: int, bins: int) -> list[int]:
    """A histogram with `together` bins in one."""
    return [sum(counts[i * together : (i + 1) * together]) for i in range(bins)]


def _median(side: Mapping[str, Any]) -> str:
    return f"median {number(side['percentiles']['50'])} nats per subword over {count(side['sentences'])} sentences"
