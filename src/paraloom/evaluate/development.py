"""Similarity tasks that choose: epochs, filters and settings are chosen by pairs that no test task has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from paraloom.core.array_types import Bools
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import EncoderLike
from paraloom.evaluate.resampling import pearson
from paraloom.evaluate.sts import similarities
from paraloom.evaluate.sts_tasks import TASKS, STSPairs, STSTask, find_tasks, read_task
from paraloom.text.normalize import letters_and_digits

DEVELOPMENT = "STS-B/dev+2012-train+SICK/trial+PIT/dev?overlap=drop"
"""The tasks that choose by default: those of the known ones that are there, without pairs of the test tasks."""

_OVERLAP = {"": "refuse", "overlap=drop": "drop", "overlap=keep": "keep"}


@dataclass(frozen=True)
class Development:
    tasks: tuple[STSPairs, ...]
    # Name of a task → how many of its pairs a test task has, too, and how many pairs it has.
    shared: Mapping[str, tuple[int, int]]
    overlap: str  # Whether these pairs were dropped or kept

    def figures(self, encoder: EncoderLike) -> dict[str, float]:
        """Mean of Pearson's r × 100 over the tasks."""
        figures = [pearson(task.scores, similarities(encoder, task.first, task.second)) for task in self.tasks]
        return {"dev_pearson": 100 * fmean(figures)}

    def describe(self) -> str:
        """The tasks, and what they share with the tests, a phrase."""
        total = sum(count for count, _ in self.shared.values())
        names = ", ".join(
            f"{task.task.name} ({len(task.scores):,} of {self.shared[task.task.name][1]:,} pairs)"
            for task in self.tasks
        )
        if not total:
            return f"{names}; the test tasks have none of them"
        return f"{names}; {'without' if self.overlap == 'drop' else 'with'} {total:,} pairs that test tasks have, too"


def read_development(folder: str | Path, development: str = DEVELOPMENT) -> Development:
    """Read the tasks that choose, and count by key how many of their pairs the test tasks have, too."""
    setting = development.partition("?")[2]
    if setting not in _OVERLAP:
        raise ConfigError(
            f"unknown setting '{setting}' of the development tasks",
            remedy="Write '?overlap=drop' or '?overlap=keep' behind their names.",
        )
    how = _OVERLAP[setting]
    root, evaluated, _ = find_tasks(folder)
    chosen = _chosen(folder, evaluated, development)
    tested: set[frozenset[str]] = set().union(
        *(_keys(read_task(root, task)) for task in evaluated if task not in chosen)
    )
    tasks, shared = [], {}
    for task in (read_task(root, task) for task in chosen):
        is_shared = np.array([key in tested for key in _keys(task)])
        shared[task.task.name] = int(is_shared.sum()), len(is_shared)
        tasks.append(_kept(task, ~is_shared) if how == "drop" else task)
    tasks = [task for task in tasks if len(set(task.scores.tolist())) > 1]
    if how == "refuse" and any(count for count, _ in shared.values()):
        raise _shares(shared, development)
    if not tasks:
        raise ConfigError("the test tasks have all pairs of the development tasks", remedy="Name other ones.")
    return Development(tuple(tasks), shared, how)


def _chosen(folder: str | Path, evaluated: list[STSTask], development: str) -> list[STSTask]:
    if development == DEVELOPMENT and not any(task in TASKS for task in evaluated):
        if len(evaluated) > 1:
            raise ConfigError(
                f"{len(evaluated)} files of your own, and none is known to be for development",
                remedy="Give one file, or name the tasks that choose in 'development', such as 'dev/news'.",
            )
        return evaluated
    return find_tasks(folder, development.partition("?")[0].split("+"))[1]


def _shares(shared: Mapping[str, tuple[int, int]], development: str) -> ConfigError:
    counts = ", ".join(f"{count:,} of {total:,} pairs of {name}" for name, (count, total) in shared.items() if count)
    return ConfigError(
        f"test tasks have {counts}, too, so that figures would be chosen on test pairs",
        remedy=f"Leave them out by '{development}?overlap=drop', or keep them by '?overlap=keep'.",
    )


def _keys(pairs: STSPairs) -> Iterable[frozenset[str]]:
    """A key of each pair that does not depend on order, case, spaces and punctuation."""
    return (frozenset(map(letters_and_digits, both)) for both in zip(pairs.first, pairs.second, strict=True))


def _kept(pairs: STSPairs, rows: Bools) -> STSPairs:
    indices = np.flatnonzero(rows).tolist()
    first, second = ([side[index] for index in indices] for side in (pairs.first, pairs.second))
    return STSPairs(pairs.task, pairs.scores[rows], first, second)
