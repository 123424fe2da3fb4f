"""Common parts of tables of encoders: rows of systems that need no training, and orders of two systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from paraloom.papers.measurements import Measurements, SystemNames
from paraloom.papers.study import Study
from paraloom.papers.tables import SEED_RANGE, Baseline, Row
from paraloom.papers.trainings import GIVEN_VECTORS, OVERLAP
from paraloom.papers.verdicts import Order


def about_encoders(study: Study, random: str = "0 but for chance") -> dict[str, Any]:
    """The fields of a table of encoders that say what its rows and brackets are."""
    given = GIVEN_VECTORS if study.vectors is not None else OVERLAP
    baselines: dict[Baseline, str] = {"untrained": "rows or columns of that name", "random": random}
    brackets = SEED_RANGE if study.seeds > 1 else ""
    return {"seeds": study.seeds, "brackets": brackets, "baselines": {**baselines, "identity": f"row *{given}*"}}


def baseline_rows(measurements: Measurements, groups: Sequence[str | None]) -> list[Row]:
    """Rows of the systems that need no training."""
    names = [name for name in (OVERLAP, GIVEN_VECTORS) if name in measurements.systems]
    return [(name, [None if group is None else measurements.figure(name, group) for group in groups]) for name in names]


def judged(
    measurements: Measurements, claim: str, better: SystemNames, worse: SystemNames, published: float, group: str
) -> Order:
    """The order of two systems, in the paper and in ours."""
    return Order(claim, published, measurements.difference(better, worse, group))


def mean_of_rows(rows: Mapping[str, Sequence[float]], without: Sequence[str]) -> tuple[float, ...]:
    """The mean of each column over all rows but some."""
    kept = [figures for name, figures in rows.items() if name not in without]
    return tuple(fmean(column) for column in zip(*kept, strict=True))
