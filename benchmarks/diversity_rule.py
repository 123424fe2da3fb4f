"""Draw from small trainings when diversity trains better: differences, a rule of German, its test on French, a figure.

    python benchmarks/diversity_rule.py runs/when-diversity --write

The rule is straight lines for German: BLEU of students over the teacher's rate of wrong words, for one copy and for
three diverse ones. Diversity pays where the line of the diverse copies, at the rate of their words, is above that of
one copy at its own. What is said of French, and of a teacher that is a translator, was not used for the lines.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import numpy as np
from results_pages import FOLDER, put_result, standalone
from when_diversity_trains import COPIES, TEACHER, read

from paraloom.core.stats import Estimate, student_t_quantile
from paraloom.web.charts import Curve, curves

FIGURE = FOLDER.parents[1] / "_static/when-diversity-trains.svg"
DIGITS = {"bleu": 2, "chrf": 2, "loss": 3}
MEASURES = tuple(DIGITS)
COMMON = {
    "command": [
        "python benchmarks/when_diversity_trains.py runs/when-diversity",
        "python benchmarks/diversity_rule.py runs/when-diversity --write",
    ],
    "machine": "cores",
    "seeds": "3, of the continuation and of the wrong words",
}

Row = tuple[str, str, str, str]
"""Language, teacher, copies, novelty."""


class Study:
    """All trainings of a folder, seeds together."""

    def __init__(self, folder: Path) -> None:
        self.figures: dict[Row, list[dict[str, float]]] = defaultdict(list)
        for cell, figures in read(folder).items():
            self.figures[cell.language, cell.teacher, cell.copies, cell.novelty].append(figures)

    def mean(self, row: Row, measure: str = "bleu") -> float:
        """Mean over the seeds."""
        return fmean(figures[measure] for figures in self.figures[row])

    def difference(self, rows: Sequence[tuple[Row, Row]], measure: str = "bleu") -> Estimate:
        """The mean difference of pairs of rows; the spread over seeds is that of all rows, as each has a few seeds."""
        groups = [[figures[measure] for figures in group] for group in self.figures.values() if len(group) > 1]
        degrees = sum(len(group) - 1 for group in groups)
        spread = math.sqrt(sum((len(group) - 1) * variance(group) for group in groups) / degrees)
        value = fmean(self.mean(row, measure) - self.mean(other, measure) for row, other in rows)
        seeds = sum(1 / len(self.figures[row]) for pair in rows for row in pair) / len(rows) ** 2
        half = student_t_quantile(0.975, degrees) * spread * math.sqrt(seeds)
        return Estimate(value, value - half, value + half)

    def line(self, copies: str, measure: str = "bleu") -> tuple[float, float]:
        """Slope and height of the German line over rates of wrong words."""
        points = [
            (float(row[1]), figures[measure])
            for row, group in self.figures.items()
            if row[0] == "de" and row[2:] == (copies, "novel")
            for figures in group
        ]
        slope, height = np.polyfit(*zip(*points, strict=True), 1)
        return float(slope), float(height)

    def predicted(self, copies: str, rate: float, rate_of_one: float, measure: str = "bleu") -> float:
        """The difference of diverse copies from one copy, by the lines."""
        (slope, height), (slope_of_one, height_of_one) = self.line(copies, measure), self.line("one", measure)
        return slope * rate + height - slope_of_one * rate_of_one - height_of_one

    def gain(self, copies: str, measure: str) -> Estimate:
        """The mean difference of diverse copies from one copy with as many wrong words, German and novel."""
        rows = [row for row in self.figures if row[0] == "de" and row[2:] == (copies, "novel")]
        return self.difference([(row, (*row[:2], "one", "novel")) for row in rows], measure)

    def rate(self, row: Row) -> float:
        """Wrong words of a teacher: the rate at which one copy has its share of words that other people use."""
        if row[1] != TEACHER:
            return float(row[1])
        known = [one for one in self.figures if one[0] == row[0] and one[2:] == ("one", "novel")]
        slope, height = np.polyfit([self.mean(one, "precision") for one in known], [float(one[1]) for one in known], 1)
        return float(slope * self.mean(row, "precision") + height)

    def tests(self) -> Iterator[tuple[Row, Row, str]]:
        """Diverse copies, one copy, and the line that predicts the former: what the rule has not seen."""
        for rate, copies, other in (
            ("0.1", "independent", "0.1"),
            ("0.5", "independent", "0.5"),
            ("0.5", "wordings", "0.5"),
            ("0.5", "independent", "0.1"),
            ("0.5", "wordings", "0.1"),
        ):
            yield ("fr", rate, copies, "novel"), ("fr", other, "one", "novel"), copies
        yield ("de", TEACHER, "nucleus", "novel"), ("de", TEACHER, "base", "novel"), "wordings"


def interval(estimate: Estimate, digits: int = 2) -> str:
    """A difference with its interval."""
    value, low, high = (f"{end:+.{digits}f}" for end in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low} to {high})".replace("-", "−")


def name(row: Row) -> str:
    """Language, teacher, copies and novelty, in words."""
    language = {"de": "German", "fr": "French"}[row[0]]
    if not row[1]:
        return f"{language}, parallel text alone"
    teacher = f"`{row[1]}`" if row[1] == TEACHER else f"{float(row[1]):.0%} wrong"
    return f"{language}, {teacher}, {row[2]}, {row[3]}"


def measured(study: Study) -> Iterator[list[str]]:
    """Rows of the table of all trainings on diverse copies, beside one copy with as many wrong words."""
    for row in study.figures:
        other = (*row[:2], "base" if row[2] == "nucleus" else "one", row[3])
        if other in study.figures and other != row:
            differences = (interval(study.difference([(row, other)], measure)) for measure in ("bleu", "chrf"))
            yield [name(row), *(f"{study.mean(one):.2f}" for one in (other, row)), *differences]


def rule(study: Study) -> Iterator[list[str]]:
    """Rows of the table of the rule: the gain, and how many more wrong words cost as much."""
    for copies, measure in product(COPIES[1:], MEASURES):
        gain, slope = study.gain(copies, measure), study.line("one", measure)[0]
        allowed = sorted(-end / slope for end in (gain.low, gain.high))
        yield [
            copies,
            {"bleu": "BLEU", "chrf": "chrF", "loss": "loss"}[measure],
            interval(gain, DIGITS[measure]),
            f"{slope / 10:+.{DIGITS[measure]}f}".replace("-", "−"),
            interval(Estimate(-100 * gain.value / slope, *(100 * end for end in allowed)), 0),
        ]


def predictions(study: Study) -> Iterator[list[str]]:
    """Rows of the table of what the rule has not seen."""
    for row, other, copies in study.tests():
        if row not in study.figures or other not in study.figures:
            continue
        rates = study.rate(other), study.rate(row)
        predicted = study.predicted(copies, rates[1], rates[0])
        difference = study.difference([(row, other)])
        clear = difference.low > 0 or difference.high < 0
        verdict = "as predicted" if (predicted > 0) == (difference.value > 0) else "**not as predicted**"
        yield [
            f"{name(row)} − {other[2]}",
            f"{rates[0]:.0%}",
            f"{rates[1]:.0%}",
            f"{predicted:+.2f}".replace("-", "−"),
            interval(difference),
            verdict if clear else f"{verdict}, not clear",
        ]


def draw(study: Study) -> str:
    """The figure: BLEU gained over parallel text alone, by the rate of wrong words."""
    alone, drawn = study.mean(("de", "", "", "")), []
    for copies in COPIES:
        rows = sorted(row for row in study.figures if row[0] == "de" and row[2:] == (copies, "novel"))
        drawn.append(Curve(copies, [(float(row[1]), study.mean(row) - alone) for row in rows]))
    return standalone(
        curves("BLEU gained over parallel text alone, by the rate of wrong words: German", drawn, "wrong")
    )


def main() -> None:
    """Print the tables, or put them with the figure into the page on diversity."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the trainings")
    parser.add_argument("--write", action="store_true", help="into the page of results")
    options = parser.parse_args()
    study = Study(options.folder)
    columns = ["", "BLEU, one copy", "BLEU", "difference", "chrF, difference"]
    rules = ["copies", "measure", "− one copy, as many wrong words", "10 % more wrong words", "as good with more, %"]
    tested = ["not used for the rule", "wrong words of one", "of the copies", "predicted", "measured", "sign"]
    tables: dict[str, dict[str, Any]] = {
        "When diversity trains better": {"columns": columns, "align": "lrrll", "rows": list(measured(study))},
        "A rule for diversity": {"columns": rules, "align": "lllrl", "rows": list(rule(study))},
        "What the rule predicts": {"columns": tested, "align": "lrrrll", "rows": list(predictions(study))},
    }
    for heading, table in tables.items():
        print(heading, *(" | ".join(row) for row in [table["columns"], *table["rows"]]), sep="\n", end="\n\n")
    if options.write:
        FIGURE.write_text(draw(study), encoding="utf-8")
        page = FOLDER / "diversity.json"
        for heading, table in tables.items():
            put_result(page, {"heading": heading, **COMMON, **table})


if __name__ == "__main__":
    main()
