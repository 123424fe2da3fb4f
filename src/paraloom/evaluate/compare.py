"""Encoders compared on the same test by Pearson's r, with paired bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.array_types import Floats
from paraloom.core.digests import signature
from paraloom.core.protocols import EncoderLike
from paraloom.core.results import text_table
from paraloom.core.stats import Estimate
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.resampling import SAMPLES, bootstrap_estimate, pearson, resampled_pearson
from paraloom.evaluate.sts import System, overlap_of, similarities
from paraloom.evaluate.sts_tasks import find_tasks, read_task


@dataclass(frozen=True)
class EncoderComparison(EvaluationResult):
    """Result of `compare_encoders`, for k encoders, t tasks and b bootstrap samples."""

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    pearson: Floats  # float64 (k, t), Pearson's r × 100
    resampled: Floats  # float64 (b, k, t), the same of pairs drawn with replacement, the same pairs for every encoder
    signature: str  # What was measured and how

    @property
    def means(self) -> list[Estimate]:
        """The mean over the tasks of each encoder, with its 95 % interval (percentiles of the samples)."""
        rows = zip(self.pearson, self.resampled.swapaxes(0, 1), strict=True)
        return [bootstrap_estimate(row.mean(), resampled.mean(axis=1)) for row, resampled in rows]

    def difference(self, a: int, b: int) -> Estimate:
        """The mean of one encoder minus that of another, with its 95 % interval, narrow because pairs are shared."""
        resampled = self.resampled[:, a].mean(axis=1) - self.resampled[:, b].mean(axis=1)
        return bootstrap_estimate(self.pearson[a].mean() - self.pearson[b].mean(), resampled)

    @property
    def distances(self) -> Floats:
        """float64 (k, k): mean absolute difference of r × 100 over the tasks (PNMT Table 10)."""
        return np.abs(self.pearson[:, None] - self.pearson[None]).mean(axis=2)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the bootstrap samples, as json.dumps takes it."""
        return {
            "signature": self.signature,
            "tasks": list(self.tasks),
            "encoders": [
                {"name": name, "pearson": row.tolist(), "mean": mean.value, "low": mean.low, "high": mean.high}
                for name, row, mean in zip(self.names, self.pearson, self.means, strict=True)
            ],
            "mean_absolute_differences": self.distances.tolist(),
            "differences_from_first": [list(vars(self.difference(k, 0)).values()) for k in range(len(self.names))],
        }

    def format(self) -> str:
        lines = [f"mean Pearson × 100 over {len(self.tasks)} tasks; minus the first encoder's"]
        rows = []
        for k, (name, mean) in enumerate(zip(self.names, self.means, strict=True)):
            difference = self.difference(k, 0).format("+.2f") if k else ""
            rows.append((name, mean.format(".2f"), difference))
        lines += text_table(["", "mean", "difference"], rows)
        lines += ["", "mean absolute difference of Pearson × 100 (PNMT Table 10: 2.2 to 2.9 between its encoders)"]
        distances = zip(self.names, self.distances, strict=True)
        lines += text_table(
            ["", *self.names], [(name, *(f"{figure:.2f}" for figure in row)) for name, row in distances]
        )
        return "\n".join([*lines, "", self.signature])


def compare_encoders(
    encoders: Mapping[str, EncoderLike],
    folder: str | Path,
    tasks: Iterable[str] | None = None,
    *,
    overlap: bool = False,
    resamples: int = SAMPLES,
    seed: int = 1,
) -> EncoderComparison:
    """Compare encoders on semantic textual similarity tasks with a paired bootstrap (Efron 1979)."""
    root, present, _ = find_tasks(folder, tasks)
    data = [read_task(root, task) for task in present]
    systems: dict[str, System] = dict(encoders)
    if overlap:
        systems["overlap"] = overlap_of(data)
    exact = np.empty((len(systems), len(present)))
    resampled = np.empty((resamples, len(systems), len(present)))
    for index, pairs in enumerate(data):
        cosines = np.stack([similarities(system, pairs.first, pairs.second) for system in systems.values()])
        exact[:, index] = [100 * pearson(pairs.scores, row) for row in cosines]
        resampled[:, :, index] = resampled_pearson(pairs.scores, cosines, resamples, seed, index, np.nan)
    how = signature("compare", tasks=len(present), correlation="pearson", bootstrap=resamples, seed=seed)
    return EncoderComparison(tuple(systems), tuple(task.name for task in present), exact, resampled, how)
