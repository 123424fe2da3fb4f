"""Semantic textual similarity: an encoder's cosines against human scores, every protocol side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import digest, signature
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.evaluate.correlation import pearson, pearson_interval, spearman
from paraloom.evaluate.published import PUBLISHED, W17_MEAN
from paraloom.evaluate.sts_tasks import W17_TASKS, choose_tasks, read_task


@dataclass(frozen=True)
class SimilarityRow:
    """Correlations × 100 of one subset, of a group's `mean` over subsets, or of `all` its pairs taken together.

    n: pairs behind the figures.  low, high: the 95 % interval of Pearson's r, by Fisher's z; that of a mean from those
    of its subsets.  NaN where the encoder gave one same cosine to every pair, or there are too few.
    """

    group: str
    subset: str
    n: int
    pearson: float
    spearman: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class SimilarityTable:
    """What `evaluate_sts` found.  skipped: files that are not there, below the folder.  encoder: its signature."""

    table: tuple[SimilarityRow, ...]
    skipped: tuple[str, ...]
    signature: str
    encoder: str

    def rows(self) -> list[dict[str, Any]]:
        """One dict a row, in order: group, subset, n, pearson, spearman, low, high."""
        return [vars(row).copy() for row in self.table]

    def figure(self, group: str, subset: str = "mean") -> SimilarityRow:
        """The row of a group: one of its subsets, `mean` or `all`; raises DataError where there is none."""
        for row in self.table:
            if (row.group, row.subset) == (group, subset):
                return row
        raise DataError(f"the table has no row '{group}/{subset}'")

    def to_json(self) -> dict[str, Any]:
        """Everything, as json.dumps takes it; a correlation that is not defined is null."""
        rows = [{key: None if value != value else value for key, value in row.items()} for row in self.rows()]
        return {"signature": self.signature, "encoder": self.encoder, "rows": rows, "skipped": list(self.skipped)}

    def render(self, published: bool = False) -> str:
        """A plain-text table for people; with `published`, the papers' rows below ours."""
        lines = [f"{'group':<12} {'subset':<18} {'pairs':>6} {'Pearson':>8} {'95 %':>14} {'Spearman':>8}"]
        lines += [
            f"{row.group:<12} {row.subset:<18} {row.n:>6} {row.pearson:>8.1f} {_interval(row):>14} {row.spearman:>8.1f}"
            for row in self.table
        ]
        lines += [f"skipped, not there: {name}" for name in self.skipped]
        if published:
            lines += ["", "published (Pearson, mean over subsets)"]
            for row in PUBLISHED:
                figures = "  ".join(f"{group} {figure:.1f}" for group, figure in row.figures.items())
                lines.append(f"{row.source:<12} {row.system:<52} {figures}")
        return "\n".join([*lines, "", self.signature])

    def __str__(self) -> str:
        return self.render()


def evaluate_sts(encoder: EncoderLike, folder: str | Path, tasks: Iterable[str] | None = None) -> SimilarityTable:
    """Pearson and Spearman × 100 of the encoder's cosines with the human scores of each similarity task.

    folder: holds `2012/MSRpar.test.tsv` and so on, see TASKS.  tasks: names or groups (`2012`, `STS-B/dev`); None for
    STS 2012–2015, STS-B dev, SICK and PIT test.  A group of several subsets has two more rows: `mean`, the mean of
    their figures (PNMT Table 8), and `all`, the correlation over all its pairs together.  A last row is the mean over
    W17_TASKS, where all of them are measured (W17 Table 4).  Files that are not there are listed in `skipped`; none at
    all is a DataError, as is a malformed row (with file and row).

    >>> evaluate_sts(encoder, "data/sts").figure("2012").pearson    # doctest: +SKIP
    """
    chosen = choose_tasks(tasks)
    present = [task for task in chosen if (Path(folder) / task.file).is_file()]
    if not present:
        raise DataError(
            "none of the similarity tasks is here",
            file=folder,
            remedy=f"Looked for {', '.join(task.file for task in chosen[:3])} and so on.",
        )
    groups: dict[str, list[tuple[str, npt.NDArray[np.float64], npt.NDArray[np.float32]]]] = {}
    for task in present:
        pairs = read_task(folder, task)
        cosines = cosine(encoder.encode(pairs.first), encoder.encode(pairs.second))
        groups.setdefault(task.group, []).append((task.subset, pairs.scores, cosines))

    table: list[SimilarityRow] = []
    for group, subsets in groups.items():
        rows = [_row(group, subset, scores, cosines) for subset, scores, cosines in subsets]
        table += rows
        if len(rows) > 1:
            table.append(_mean(group, rows))
            scores, cosines = (np.concatenate([subset[column] for subset in subsets]) for column in (1, 2))
            table.append(_row(group, "all", scores, cosines))
    if {task.name for task in present} >= W17_TASKS:
        table.append(_mean(W17_MEAN, [row for row in table if f"{row.group}/{row.subset}" in W17_TASKS]))
    how = signature(
        "sts",
        similarity="cosine",
        correlations="pearson+spearman",
        protocols="subsets+mean+all",
        tasks=len(present),
        n=sum(len(scores) for subsets in groups.values() for _, scores, _ in subsets),
        encoder=digest(encoder.signature)[:12],
    )
    skipped = tuple(task.file for task in chosen if task not in present)
    return SimilarityTable(tuple(table), skipped, how, encoder.signature)


def cosine(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Cosine of each row of `a` with the same row of `b`, float32 (n,), −1 to 1; 0 where a vector is zero.

    >>> cosine(np.float32([[1, 0], [0, 0]]), np.float32([[1, 1], [1, 0]]))
    array([0.70710677, 0.        ], dtype=float32)
    """
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products: npt.NDArray[np.float32] = np.einsum("nd,nd->n", a, b)
    return np.divide(products, np.where(norms > 0, norms, 1), dtype=np.float32)


def _row(group: str, subset: str, scores: npt.NDArray[np.float64], cosines: npt.NDArray[np.float32]) -> SimilarityRow:
    r, n = pearson(scores, cosines), len(scores)
    low, high = pearson_interval(r, n)
    return SimilarityRow(group, subset, n, 100 * r, 100 * spearman(scores, cosines), 100 * low, 100 * high)


def _mean(group: str, rows: list[SimilarityRow]) -> SimilarityRow:
    means = (float(np.mean([row.pearson for row in rows])), float(np.mean([row.spearman for row in rows])))
    half = math.hypot(*((row.high - row.low) / 2 for row in rows)) / len(rows)
    return SimilarityRow(group, "mean", sum(row.n for row in rows), *means, means[0] - half, means[0] + half)


def _interval(row: SimilarityRow) -> str:
    return "" if math.isnan(row.low) else f"[{row.low:.1f}, {row.high:.1f}]"
