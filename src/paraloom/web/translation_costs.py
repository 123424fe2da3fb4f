"""What translations cost, beside those of the translator's development text, and the warning if they cost more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.web.charts import compared_histogram
from paraloom.web.formatting import count, number
from paraloom.web.markup import Html, Part, element, join
from paraloom.web.run_folder import RunView

_MAX_BARS = 40


def translation_costs(run: RunView) -> Part:
    """A chart for each stage that compared costs; None if none did."""
    charts = [_chart(stage.name, stage.figures) for stage in run.stages if _has_costs(stage.figures)]
    if not charts:
        return None
    return join(
        element(
            "p",
            "The cost of a translation is −log p(translation | source) per subword, here of the best of a beam of 5: "
            "for a sample of this run's text, and for the text that the translator was developed on. Text that costs "
            "much more is unlike what the translator learned, and its translations are often wrong.",
            class_="intro",
        ),
        element(
            "p",
            element("span", element("i", class_="swatch-before"), "development text"),
            element("span", element("i", class_="swatch-after"), "this run"),
            class_="legend",
        ),
        element("div", charts, class_="scores"),
    )


def _has_costs(figures: Mapping[str, Any]) -> bool:
    sides = (figures.get("costs"), figures.get("development_costs"))
    return all(isinstance(side, Mapping) and side.get("counts") for side in sides)


def _chart(name: str, figures: Mapping[str, Any]) -> Html:
    development, text = figures["development_costs"], figures["costs"]
    bins = max(len(development["counts"]), len(text["counts"]))
    together = -(-bins // _MAX_BARS)
    edges = [development["bin_width"] * together * i for i in range(-(-bins // together) + 1)]
    counts = [_merged(side["counts"], together, len(edges) - 1) for side in (development, text)]
    warning = figures.get("warning")
    return element(
        "article",
        element("h3", name),
        element("p", str(warning), class_="warning") if warning else None,
        compared_histogram(f"Costs of {name}", edges, counts[0], counts[1], ("development text", "this run")),
        element("p", f"{_median(text)} in this run; {_median(development)} in the development text", class_="quiet"),
        class_="score",
    )


def _merged(counts: Sequence[int], together: int, bins: int) -> list[int]:
    """A histogram with `together` bins in one."""
    return [sum(counts[i * together : (i + 1) * together]) for i in range(bins)]


def _median(side: Mapping[str, Any]) -> str:
    return f"median {number(side['percentiles']['50'])} nats per subword over {count(side['sentences'])} sentences"
