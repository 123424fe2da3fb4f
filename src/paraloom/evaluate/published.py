"""Published results on similarity tasks, by paper and table, for comparison with ours: read from published.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

W17_MEAN = "W17 tasks"  # The group of the mean over all tasks of W17
YEARS_MEAN = "2012-2015"  # The group of the mean over the means of the four years

_YEARS = ("2012", "2013", "2014", "2015")
_TABLES = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))


class PublishedResult(NamedTuple):
    """One system in a table of a paper; its STS 2013 has a fourth subset, SMT, which is not among our files."""

    source: str
    system: str
    figures: dict[str, float]

    def figure(self, group: str) -> float | None:
        """The figure of a group; that of YEARS_MEAN is the mean over the years 2012 to 2015."""
        if group == YEARS_MEAN and all(year in self.figures for year in _YEARS):
            return fmean(self.figures[year] for year in _YEARS)
        return self.figures.get(group)


PUBLISHED: tuple[PublishedResult, ...] = tuple(
    PublishedResult(table["source"], system, dict(zip(table["groups"], figures, strict=True)))
    for table in _TABLES["papers"]
    for system, *figures in table["systems"]
)
"""Semantic textual similarity."""


class PublishedMTEB(NamedTuple):
    """A model's results by MTEB's protocol, Spearman's and Pearson's correlation: all pairs of a task together."""

    system: str
    figures: dict[str, tuple[float, float]]


def _correlations(text: str) -> tuple[float, float]:
    rho, _, r = text.partition("/")
    return float(rho), float(r)


PUBLISHED_MTEB: tuple[PublishedMTEB, ...] = tuple(
    PublishedMTEB(
        system, {task: _correlations(cell) for task, cell in zip(_TABLES["mteb"]["tasks"], cells, strict=True) if cell}
    )
    for system, *cells in _TABLES["mteb"]["systems"]
)
"""Static models, and two transformers; compare them with `STSResult.mteb`, of the same pairs."""
