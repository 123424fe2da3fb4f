"""Draw from small trainings when diversity trains better: differences, a rule of German, its test on French, a figure.

    python benchmarks/diversity_rule.py runs/when-diversity --write

The rule is two straight lines for German: BLEU of students over the teacher's rate of wrong words, for one copy and for
three diverse ones. Diversity pays where the line of the diverse copies, at the rate of their words, is above that of one
copy at its own.  What is said of French, and of teachers that are translators, was not used for the lines.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, variance

import numpy as np
from results_pages import FOLDER, put_result
from when_diversity_trains import COPIES, Cell, read

from paraloom.core.stats import Estimate, student_t_quantile
from paraloom.web.charts import Curve, curves

FIGURE = FOLDER.parents[1] / "_static/when-diversity-trains.svg"
HEADING = "When diversity trains better"
STYLE = """
text { font: 12px sans-serif; fill: #24324a; } .curve { fill: none; stroke: currentColor; stroke-width: 1.8; }
circle { fill: currentColor; } .grid { stroke: #e4e0d6; } .axis { stroke: #666b6e; } .page { fill: #ffffff; }
.line-0 { color: #2b6b70; } .line-1 { color: #97601a; } .line-2 { color: #a83a33; } .line-3 { color: #666b6e; }
"""

Row = tuple[str, str, str, str]
"""Language, teacher, copies, novelty."""


@dataclass(frozen=True)
class Comparison:
    """Diverse copies against one: rates of wrong words, what the rule predicts, and what was measured."""

    name: str
    one: Row
    diverse: Row
    rates: tuple[float, float]
    predicted: float


class Study:
    """All trainings of a folder, seeds together."""

    def __init__(self, folder: Path) -> None:
        self.figures: dict[Row, list[dict[str, float]]] = defaultdict(list)
        for cell, figures in read(folder).items():
            self.figures[cell.language, cell.teacher, cell.copies, cell.novelty].append(figures)

    def mean(self, row: Row, measure: str = "bleu") -> float:
        """Mean over the seeds."""
        return fmean(figures[measure] for figures in self.figures[row])

    def difference(self, diverse: Row, one: Row, measure: str = "bleu") -> Estimate:
        """A difference of means; the spread of seeds is that of all rows together, as each has a few seeds only."""
        groups = [[figures[measure] for figures in group] for group in self.figures.values() if len(group) > 1]
        degrees = sum(len(group) - 1 for group in groups)
        spread = math.sqrt(sum((len(group) - 1) * variance(group) for group in groups) / degrees)
        value = self.mean(diverse, measure) - self.mean(one, measure)
        seeds = sum(1 / len(self.figures[row]) for row in (diverse, one))
        half = student_t_quantile(0.975, degrees) * spread * math.sqrt(seeds)
        return Estimate(value, value - half, value + half)

    @cached_property
    def lines(self) -> dict[str, tuple[float, float]]:
        """Kind of copies → slope and height of its German line."""
        lines = {}
        for copies in COPIES:
            points = [
                (float(row[1]), figures["bleu"])
                for row, group in self.figures.items()
                if row[0] == "de" and row[2] == copies and row[3] == "novel"
                for figures in group
            ]
            slope, height = np.polyfit(*zip(*points, strict=True), 1)
            lines[copies] = float(slope), float(height)
        return lines

    def predicted(self, copies: str, rate: float, rate_of_one: float) -> float:
        """BLEU that diverse copies gain over one copy, by the lines."""
        (slope, height), (slope_of_one, height_of_one) = self.lines[copies], self.lines["one"]
        return slope * rate + height - slope_of_one * rate_of_one - height_of_one

    def allowed(self, copies: str, rate: float) -> float:
        """The further rate of wrong words at which diverse copies are level with one copy."""
        return -self.predicted(copies, rate, rate) / self.lines[copies][0]

    def rate(self, row: Row) -> float:
        """Wrong words of a teacher: the rate at which one copy has its share of words that other people use."""
        language, teacher, _, novelty = row
        if teacher[0].isdigit():
            return float(teacher)
        known = [one for one in self.figures if one[0] == language and one[2:] == ("one", novelty)]
        slope, height = np.polyfit([self.mean(one, "precision") for one in known], [float(one[1]) for one in known], 1)
        return float(slope * self.mean(row, "precision") + height)

    def comparisons(self) -> Iterator[Comparison]:
        """Those of French."""
        teachers = sorted({row[1] for row in self.figures if row[0] == "fr" and row[2] == "one"})
        kinds = [(teacher, "one", other, copies) for teacher in teachers for other in teachers for copies in COPIES[1:]
                 if other >= teacher]  # fmt: skip
        kinds += [(teacher, "base", teacher, "nucleus") for teacher in ("weak", "strong")]
        for teacher, one, other, copies in kinds:
            rows = ("fr", teacher, one, "novel"), ("fr", other, copies, "novel")
            rates = self.rate(rows[0]), self.rate(rows[1])
            predicted = self.predicted("wordings" if copies == "nucleus" else copies, rates[1], rates[0])
            yield Comparison(f"{teacher}, {copies}", *rows, rates, predicted)


def signed(value: float, low: float | None = None, high: float | None = None) -> str:
    """A difference, with its interval."""
    text = f"{value:+.2f}" + (f" ({low:+.2f} to {high:+.2f})" if low is not None else "")
    return text.replace("-", "−")


def row_cells(study: Study, row: Row) -> list[str]:
    """A row of the table: rate and kind of copies, against one copy of the same rate."""
    language, teacher, copies, novelty = row
    alone, one = (language, "", "", ""), (language, teacher, "one", novelty)
    gain = study.difference(row, alone)
    cells = [language, teacher, novelty, copies, f"{study.mean(row):.2f}", signed(gain.value)]
    if copies == "one":
        return [*cells, "", ""]
    return [*cells, *(signed(*vars(study.difference(row, one, measure)).values()) for measure in ("bleu", "chrf"))]


def outcome(predicted: float, measured: Estimate) -> str:
    """Whether the sign was predicted, where it is clear."""
    if measured.low <= 0 <= measured.high:
        return "sign not clear"
    return "as predicted" if (predicted > 0) == (measured.value > 0) else "**not** as predicted"


def draw(study: Study) -> str:
    """The figure: BLEU gained over parallel text alone, by the rate of wrong words."""
    drawn = []
    for language, name in (("de", "German"), ("fr", "French")):
        for copies in COPIES:
            rows = sorted(row for row in study.figures if row[0] == language and row[2:] == (copies, "novel"))
            alone = study.mean((language, "", "", ""))
            points = [(float(row[1]), study.mean(row) - alone) for row in rows]
            drawn.append(Curve(f"{name}, {copies}", points))
    chart = str(curves("BLEU gained over parallel text alone, by wrong words", drawn, "rate"))
    return chart.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(
        "<title>", f'<style>{STYLE}</style><rect class="page" width="100%" height="100%"/><title>', 1
    )
