"""BBH22's tables out of the files of results: final BLEU of each way of back-translating, and its diversity."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from paraloom.core.stats import Estimate, student_t_quantile, welch_interval
from paraloom.papers.measurements import mean_of_seeds
from paraloom.papers.published import PAPERS, published_figures
from paraloom.papers.result_files import NUMBER, digest_of, read_result, with_half
from paraloom.papers.tables import INTERVAL, SEED_RANGE, Baseline, Figure, ReproducedTable, Row, reproduced
from paraloom.papers.verdicts import Order, without_interval

ALONE = "parallel text alone"
_SEEDS = re.compile(r"\((\S+) to (\S+)\)")


class Setting(NamedTuple):
    """A comparison of ways of back-translating: rows of a result."""

    name: str
    heading: str
    column: str
    where: tuple[tuple[str, str], ...] = ()


_GERMAN = "English to German, one kind of text"
SETTINGS = (
    Setting("English to German, 10,000 pairs", _GERMAN, "BLEU (seeds)", (("10,000", "0"), ("10,000", "30,000"))),
    Setting("English to German, 50,000 pairs", _GERMAN, "BLEU (seeds)", (("50,000", "0"), ("50,000", "50,000"))),
    Setting("Tatoeba to captions", "Tatoeba to captions", "BLEU (seeds)"),
    Setting("Turkish to English", "Turkish to English", "Tatoeba BLEU (seeds)"),
    Setting("Czech to English, captions", "Czech to English, captions", "BLEU (seeds)"),
)
"""The five settings that were run, each with three seeds."""


def final_bleu(folder: Path, name: str) -> ReproducedTable:
    """BBH22 Figure 2: BLEU of translators that are trained on each way of back-translating."""
    file = folder / "backtranslation.json"
    columns = PAPERS[name].columns
    measured = {setting.name: _bleu_of_seeds(file, setting) for setting in SETTINGS}
    rows: list[Row] = [
        (setting, [mean_of_seeds(values[column]) if column in values else None for column in columns])
        for setting, values in measured.items()
    ]
    return reproduced(
        name,
        rows,
        orders=list(_bleu_orders(measured)),
        seeds=3,
        brackets=SEED_RANGE,
        baselines={"untrained": "does not apply", "random": "does not apply", "identity": f"column *{ALONE}*"},
        inputs=digest_of(file),
    )


def diversity(folder: Path, name: str) -> ReproducedTable:
    """BBH22 Table 4: diversity of English back-translations."""
    file = folder / "diversity.json"
    result = read_result(file, "Ways of back-translating")
    ours = {"i-BLEU": "i-BLEU", "i-chrF": "i-chrF", "tree kernel": "kernel as in their script, λ 1"}
    figures = {
        row[0]: [with_half(row[result["columns"].index(column)]) for column in ours.values()] for row in result["rows"]
    }
    return reproduced(
        name,
        list(figures.items()),
        orders=list(_diversity_orders(figures)),
        brackets=INTERVAL,
        baselines=dict.fromkeys(_BASELINES, "does not apply"),
        inputs=digest_of(file),
    )


TABLES: dict[str, Callable[[Path, str], ReproducedTable]] = {"bbh22-2": final_bleu, "bbh22-4": diversity}
"""Name of a table → the function that makes it from the folder of results."""

_BASELINES: tuple[Baseline, ...] = ("untrained", "random", "identity")


def _bleu_orders(measured: Mapping[str, Mapping[str, Sequence[float]]]) -> Iterator[Order]:
    """BBH22 §4.1: back-translation helps; nucleus is better than base, sampling, syntax groups and base-big."""
    base, nucleus = published_figures("bbh22-2")["mean gain over parallel text"][1:]
    claims = (("nucleus", "base", nucleus - base), ("base", ALONE, base), ("nucleus", "sampling", None))
    for better, worse, published in (*claims, ("nucleus", "syntax", None), ("nucleus", "base-big", None)):
        settings = {name: values for name, values in measured.items() if better in values and worse in values}
        for name, values in settings.items():
            difference = welch_interval(values[better], values[worse])
            yield Order(f"{name}: {better} above {worse}", published, difference)
        if len(settings) == len(measured):
            differences = [fmean(values[better]) - fmean(values[worse]) for values in settings.values()]
            half = student_t_quantile(0.975, len(settings) - 1) * stdev(differences) / math.sqrt(len(settings))
            mean = fmean(differences)
            yield Order(
                f"mean of the settings: {better} above {worse}", published, Estimate(mean, mean - half, mean + half)
            )


def _diversity_orders(figures: Mapping[str, Sequence[Figure]]) -> Iterator[Order]:
    """BBH22 §4.2: sampling is the most diverse, then nucleus, syntax groups and beams."""
    paper = published_figures("bbh22-4")
    for column, measure in enumerate(PAPERS["bbh22-4"].columns):
        for better, worse in (("sampling", "nucleus"), ("nucleus", "syntax"), ("syntax", "beam")):
            above = paper[better][column] - paper[worse][column]
            if above > 0:
                yield Order(
                    f"{measure}: {better} above {worse}",
                    above,
                    _difference(figures[better][column], figures[worse][column]),
                )


def _difference(ours: Figure, theirs: Figure) -> Estimate:
    if not isinstance(ours, tuple) or not isinstance(theirs, tuple):
        return without_interval(math.nan)
    return Estimate(*ours[:3]) - Estimate(*theirs[:3])


def _bleu_of_seeds(file: Path, setting: Setting) -> dict[str, list[float]]:
    """Method → BLEU of the three seeds: the mean, the lowest and the highest of three values are all of them."""
    result = read_result(file, setting.heading)
    bleu = result["columns"].index(setting.column)
    values: dict[str, list[float]] = {}
    for row in result["rows"]:
        seeds = _SEEDS.search(row[bleu])
        if seeds is None or (setting.where and tuple(row[:2]) not in setting.where):
            continue
        low, high = float(seeds[1]), float(seeds[2])
        method = next(cell for cell in row if not NUMBER.fullmatch(cell.replace(",", "")))
        mean = float(NUMBER.findall(row[bleu])[0])
        values[method.removeprefix("and ")] = sorted([low, round(3 * mean - low - high, 2), high])
    return values
