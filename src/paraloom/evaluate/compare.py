"""Encoders side by side on the same tasks: bootstrap intervals of each mean, of differences, and PNMT Table 10."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.evaluate.correlation import pearson
from paraloom.evaluate.sts import cosine
from paraloom.evaluate.sts_tasks import choose_tasks, read_task

_CHUNK = 100


@dataclass(frozen=True)
class Comparison:
    """What `compare_encoders` found, over k encoders, t tasks and b resamples.

    names: of the encoders.  tasks: of the files.  pearson: float64 (k, t), × 100.  resampled: float64 (b, k, t), the
    same of pairs drawn with replacement, the same pairs for every encoder.
    """

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    pearson: npt.NDArray[np.float64]
    resampled: npt.NDArray[np.float64]
    signature: str

    @property
    def means(self) -> list[tuple[float, float, float]]:
        """The mean over the tasks of each encoder, and its 95 % interval (percentiles of the resamples)."""
        return [
            _with_interval(self.pearson[k].mean(), self.resampled[:, k].mean(axis=1)) for k in range(len(self.names))
        ]

    def difference(self, a: int, b: int) -> tuple[float, float, float]:
        """The mean of encoder a minus that of encoder b, and its 95 % interval; pairs are shared, so it is narrow."""
        apart = self.resampled[:, a].mean(axis=1) - self.resampled[:, b].mean(axis=1)
        return _with_interval(self.pearson[a].mean() - self.pearson[b].mean(), apart)

    @property
    def distances(self) -> npt.NDArray[np.float64]:
        """float64 (k, k): the mean over the tasks of |r of one − r of the other| × 100 (PNMT Table 10)."""
        return np.abs(self.pearson[:, None] - self.pearson[None]).mean(axis=2)

    def to_json(self) -> dict[str, Any]:
        """Everything but the resamples, as json.dumps takes it."""
        return {
            "signature": self.signature,
            "tasks": list(self.tasks),
            "encoders": [
                {"name": name, "pearson": row.tolist(), "mean": mean[0], "low": mean[1], "high": mean[2]}
                for name, row, mean in zip(self.names, self.pearson, self.means, strict=True)
            ],
            "mean_absolute_differences": self.distances.tolist(),
            "differences_from_first": [list(self.difference(k, 0)) for k in range(len(self.names))],
        }

    def render(self) -> str:
        """A plain-text table for people."""
        width = max(map(len, self.names))
        lines = [f"{'':<{width}}  mean Pearson × 100 over {len(self.tasks)} tasks; minus the first encoder's"]
        for k, (name, (mean, low, high)) in enumerate(zip(self.names, self.means, strict=True)):
            apart = "" if k == 0 else "  {:+.2f} [{:+.2f}, {:+.2f}]".format(*self.difference(k, 0))
            lines.append(f"{name:<{width}}  {mean:.2f} [{low:.2f}, {high:.2f}]{apart}")
        lines += ["", "mean absolute difference of Pearson × 100 (PNMT Table 10: 2.2 to 2.9 between its encoders)"]
        for name, row in zip(self.names, self.distances, strict=True):
            lines.append(f"{name:<{width}}  " + "  ".join(f"{figure:5.2f}" for figure in row))
        return "\n".join([*lines, "", self.signature])


def compare_encoders(
    encoders: Mapping[str, EncoderLike],
    folder: str | Path,
    tasks: Iterable[str] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 1,
) -> Comparison:
    """Pearson of each encoder on each similarity task, and on `resamples` bootstrap samples of its pairs (Efron 1979).

    tasks: as evaluate_sts takes them.  Raises DataError where no task is there.

    >>> compare_encoders({"a": one, "b": two}, "data/sts").difference(1, 0)    # doctest: +SKIP
    """
    present = [task for task in choose_tasks(tasks) if (Path(folder) / task.file).is_file()]
    if not present:
        raise DataError("none of the similarity tasks is here", file=folder)
    exact = np.empty((len(encoders), len(present)))
    drawn = np.empty((resamples, len(encoders), len(present)))
    for place, task in enumerate(present):
        pairs = read_task(folder, task)
        cosines = np.stack([cosine(each.encode(pairs.first), each.encode(pairs.second)) for each in encoders.values()])
        exact[:, place] = [100 * pearson(pairs.scores, each) for each in cosines]
        draw = generator(seed, place)
        for start in range(0, resamples, _CHUNK):
            chosen = draw.integers(0, len(pairs.scores), (min(_CHUNK, resamples - start), len(pairs.scores)))
            for k, each in enumerate(cosines):
                drawn[start : start + len(chosen), k, place] = 100 * _rows_pearson(pairs.scores[chosen], each[chosen])
    how = signature("compare", tasks=len(present), correlation="pearson", bootstrap=resamples, seed=seed)
    return Comparison(tuple(encoders), tuple(task.name for task in present), exact, drawn, how)


def _rows_pearson(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Pearson's r of each row of a with the same row of b; 0 where one is constant."""
    x = a - a.mean(axis=1, keepdims=True, dtype=np.float64)
    y = b - b.mean(axis=1, keepdims=True, dtype=np.float64)
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    products = np.einsum("ij,ij->i", x, y)
    return np.divide(products, lengths, where=lengths > 0, out=np.zeros_like(products))


def _with_interval(value: float, resampled: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    low, high = np.percentile(resampled, [2.5, 97.5])
    return float(value), float(low), float(high)
