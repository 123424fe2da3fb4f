"""Correlations of trained encoders and baselines on the same test pairs, and intervals of their differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, mean, stdev
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.stats import Z_95, Estimate, student_t_quantile, welch_interval, wilson_interval
from paraloom.evaluate.published import W17_MEAN, YEARS_MEAN
from paraloom.evaluate.resampling import SAMPLES, Floats, pearson, resampled_pearson
from paraloom.evaluate.sts import task_weights
from paraloom.evaluate.sts_tasks import W17_TASKS, YEARS, STSPairs
from paraloom.papers.tables import Figure

SystemNames: TypeAlias = str | Sequence[str]
"""A system, or several whose mean is meant."""


class Measurements:
    """Pearson's r × 100 of systems, of one seed or several (Welch 1947), on tasks and on bootstrap samples."""

    def __init__(
        self,
        tasks: Sequence[STSPairs],
        similarities: Mapping[str, npt.NDArray[Any]],
        *,
        resamples: int = SAMPLES,
        seed: int = 1,
    ) -> None:
        self._tasks = tasks
        ends = np.cumsum([0, *(len(rows) for rows in similarities.values())]).tolist()
        self._rows = {name: slice(*ends[index : index + 2]) for index, name in enumerate(similarities)}
        stacked = np.concatenate(list(similarities.values()))
        self._exact: Floats = np.empty((len(stacked), len(tasks)))
        self._resampled: Floats = np.empty((resamples, len(stacked), len(tasks)))
        start = 0
        for index, task in enumerate(tasks):
            of_task = stacked[:, start : start + len(task.scores)]
            start += len(task.scores)
            self._exact[:, index] = [100 * np.nan_to_num(pearson(task.scores, row)) for row in of_task]
            self._resampled[:, :, index] = resampled_pearson(task.scores, of_task, resamples, seed, index)

    @property
    def systems(self) -> list[str]:
        """Names of all systems."""
        return list(self._rows)

    def values(self, systems: SystemNames, group: str) -> list[float]:
        """The figure of each seed."""
        values: list[float] = (self._of_systems(systems)[0] @ self._weights(group)).tolist()
        return values

    def figure(self, systems: SystemNames, group: str) -> Figure:
        """The mean over the seeds, with the lowest and the highest if there are several."""
        return mean_of_seeds(self.values(systems, group))

    def difference(self, systems: SystemNames, baseline: SystemNames, group: str) -> Estimate:
        """Difference of two systems, with a 95 % interval that covers the choice of test pairs and of seeds."""
        weights = self._weights(group)
        (ours, ours_resampled), (theirs, theirs_resampled) = map(self._of_systems, (systems, baseline))
        resampled = (ours_resampled.mean(axis=1) - theirs_resampled.mean(axis=1)) @ weights
        return combined_estimate((ours @ weights).tolist(), (theirs @ weights).tolist(), resampled)

    def distances(self, a: str, b: str, group: str) -> tuple[list[float], Floats]:
        """Mean absolute difference of r × 100 between two systems over the tasks of a group (PNMT Table 10)."""
        weights = self._weights(group)
        (ours, ours_resampled), (theirs, theirs_resampled) = map(self._of_systems, (a, b))
        values: list[float] = (np.abs(ours - theirs) @ weights).tolist()
        return values, (np.abs(ours_resampled - theirs_resampled) @ weights).mean(axis=1)

    def _of_systems(self, systems: SystemNames) -> tuple[Floats, Floats]:
        """r × 100, exact `(seeds, t)` and resampled `(b, seeds, t)`, the mean over the systems."""
        names = [systems] if isinstance(systems, str) else list(systems)
        exact = np.mean([self._exact[self._rows[name]] for name in names], axis=0)
        return exact, np.mean([self._resampled[:, self._rows[name]] for name in names], axis=0)

    def _weights(self, group: str) -> Floats:
        tasks = [pairs.task for pairs in self._tasks]
        if group == ALL_TASKS:
            return np.full(len(tasks), 1 / len(tasks))
        if "/" in group:
            chosen = np.array([float(task.name == group) for task in tasks])
            return chosen / chosen.sum()
        return task_weights(tasks, [*YEARS, group])[group]

    def has(self, group: str) -> bool:
        """True if all tasks of a group are there."""
        names = {pairs.task.name for pairs in self._tasks}
        groups = {pairs.task.group for pairs in self._tasks}
        if group == W17_MEAN:
            return names >= W17_TASKS
        return set(YEARS) <= groups if group == YEARS_MEAN else group in names | groups


ALL_TASKS = "all tasks"
"""The group of all tasks, each with the same weight."""


def mean_of_seeds(values: Sequence[float]) -> Figure:
    """The mean, with the lowest and the highest value if there are several, and these."""
    return values[0] if len(values) == 1 else (mean(values), min(values), max(values), *values)


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of several seeds' estimates; the interval joins that of test pairs and Student's over seeds."""
    values = [estimate.value for estimate in estimates]
    of_pairs = fmean((estimate.high - estimate.low) / 2 for estimate in estimates)
    half = math.hypot(of_pairs, _half_width_of_seeds(values, [0.0]))
    return Estimate(fmean(values), fmean(values) - half, fmean(values) + half)


def combined_estimate(ours: Sequence[float], theirs: Sequence[float], resampled: Floats) -> Estimate:
    """A difference of means, with a 95 % interval over seeds and test pairs."""
    value = fmean(ours) - fmean(theirs)
    half = math.hypot(Z_95 * float(np.std(resampled)), _half_width_of_seeds(ours, theirs))
    return Estimate(value, value - half, value + half)


def _half_width_of_seeds(ours: Sequence[float], theirs: Sequence[float]) -> float:
    if len(ours) > 1 and len(theirs) > 1:
        interval = welch_interval(ours, theirs)
        return interval.high - interval.value
    several = ours if len(ours) > 1 else theirs
    if len(several) == 1:
        return 0.0
    return student_t_quantile(0.975, len(several) - 1) * stdev(several) / math.sqrt(len(several))


class Accuracies(NamedTuple):
    """Accuracies × 100 of a system on the same test items, one of each seed."""

    values: Sequence[float]
    items: int

    @property
    def figure(self) -> Figure:
        """The mean over the seeds, with the 95 % interval of a proportion of as many items (Wilson)."""
        mean = fmean(self.values)
        low, high = wilson_interval(mean / 100 * self.items, self.items)
        return (mean, 100 * low, 100 * high, *(self.values if len(self.values) > 1 else ()))

    def above(self, other: Accuracies) -> Estimate:
        """Difference of the means, with a 95 % interval that covers the choice of test items and of seeds.

        Half its width is the root of the sum of two squares, as of `combined_estimate`: that of two proportions of
        independent items, which is wider than that of the same items, and Welch's over the seeds.
        """
        ours, theirs = fmean(self.values), fmean(other.values)
        variance = sum(mean * (100 - mean) / items for mean, items in ((ours, self.items), (theirs, other.items)))
        half = Z_95 * math.sqrt(variance)
        if len(self.values) > 1 and len(other.values) > 1:
            of_seeds = welch_interval(self.values, other.values)
            half = math.hypot(half, of_seeds.high - of_seeds.value)
        return Estimate(ours - theirs, ours - theirs - half, ours - theirs + half)
