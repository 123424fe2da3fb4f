"""Semantic textual similarity: an encoder's cosines against human scores, by every protocol of the papers."""

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
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.correlation import pearson, pearson_interval, spearman
from paraloom.evaluate.published import PUBLISHED, W17_MEAN
from paraloom.evaluate.sts_tasks import W17_TASKS, read_task, select_tasks


@dataclass(frozen=True)
class STSRow:
    """Correlations of one subset of a group, of the group's `mean` over subsets, or of `all` its pairs together.

    Args:
        group: The group of tasks, such as `2012` or `STS-B`.
        subset: The subset, `mean` or `all`.
        n: Number of pairs.
        pearson: Pearson's r × 100; NaN where the encoder gave every pair the same cosine, or there are too few.
        spearman: Spearman's rho × 100; NaN as `pearson`.
        low: Lower end of the 95 % interval of Pearson's r (Fisher's z; of a mean, from those of its subsets), or NaN.
        high: Upper end of that interval, or NaN.
    """

    group: str
    subset: str
    n: int
    pearson: float
    spearman: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class STSResult(EvaluationResult):
    """What `evaluate_sts` returns.

    Args:
        rows: The correlations, group by group.
        skipped: Task files that are not in the folder.
        signature: What was measured and how.
        encoder: The signature of the encoder.
    """

    rows: tuple[STSRow, ...]
    skipped: tuple[str, ...]
    signature: str
    encoder: str

    def row(self, group: str, subset: str = "mean") -> STSRow:
        """The row of a group.

        Args:
            group: The group.
            subset: One of its subsets, `mean` or `all`.

        Raises:
            DataError: The result has no such row.
        """
        for row in self.rows:
            if (row.group, row.subset) == (group, subset):
                return row
        raise DataError(f"row '{group}/{subset}' not found in the result")

    def to_dict(self) -> dict[str, Any]:
        """All rows and signatures, as json.dumps takes them; an undefined correlation is None."""
        rows = [{key: None if value != value else value for key, value in vars(row).items()} for row in self.rows]
        return {"signature": self.signature, "encoder": self.encoder, "rows": rows, "skipped": list(self.skipped)}

    def format(self, *, published: bool = False) -> str:
        """A plain-text table.

        Args:
            published: Whether to add the figures of the papers.
        """
        lines = [f"{'group':<12} {'subset':<18} {'pairs':>6} {'Pearson':>8} {'95 %':>14} {'Spearman':>8}"]
        lines += [
            f"{row.group:<12} {row.subset:<18} {row.n:>6} {row.pearson:>8.1f} {_interval(row):>14} {row.spearman:>8.1f}"
            for row in self.rows
        ]
        lines += [f"skipped, file not found: {name}" for name in self.skipped]
        if published:
            lines += ["", "published (Pearson, mean over subsets)"]
            for row in PUBLISHED:
                figures = "  ".join(f"{group} {figure:.1f}" for group, figure in row.figures.items())
                lines.append(f"{row.source:<12} {row.system:<52} {figures}")
        return "\n".join([*lines, "", self.signature])


def evaluate_sts(encoder: EncoderLike, folder: str | Path, tasks: Iterable[str] | None = None) -> STSResult:
    """Correlate an encoder's cosines with the human scores of semantic textual similarity tasks.

    Args:
        encoder: Any sentence encoder.
        folder: Folder of task files: `2012/MSRpar.test.tsv` and so on, see `sts_tasks.TASKS`.
        tasks: Names or groups of tasks (`2012`, `STS-B/dev`); by default STS 2012–2015, STS-B dev, SICK and PIT test.

    Returns:
        Pearson's and Spearman's correlations × 100 of each task.  A group of several subsets has two more rows: `mean`,
        the mean of their correlations, and `all`, the correlation over all its pairs together.  The last row is the
        mean over W17_TASKS, if all of them are there.

    Raises:
        ConfigError: A task is unknown.
        DataError: None of the task files is there, or a row is malformed (with file and row).

    Reference:
        PNMT Table 8 (`mean`), W17 Table 4 (the mean over all tasks).

    Example:
        >>> import paraloom, tempfile
        >>> folder = Path(tempfile.mkdtemp(), "stsbenchmark")
        >>> folder.mkdir()
        >>> lines = ["5\\ta dog runs\\ta dog is running", "1\\ta dog runs\\ta cat", "0\\ta dog\\tstocks fell"]
        >>> _ = (folder / "sts-dev.tsv").write_text("\\n".join(lines))
        >>> evaluate_sts(paraloom.Encoder.load("english"), folder.parent).row("STS-B", "dev").n
        3
    """
    selected = select_tasks(tasks)
    present = [task for task in selected if (Path(folder) / task.file).is_file()]
    if not present:
        raise DataError(
            "similarity tasks not found",
            file=folder,
            remedy=f"The folder needs files such as {', '.join(task.file for task in selected[:3])}.",
        )
    groups: dict[str, list[tuple[str, npt.NDArray[np.float64], npt.NDArray[np.float32]]]] = {}
    for task in present:
        pairs = read_task(folder, task)
        cosines = paired_cosines(encoder.encode(pairs.first), encoder.encode(pairs.second))
        groups.setdefault(task.group, []).append((task.subset, pairs.scores, cosines))

    result: list[STSRow] = []
    for group, subsets in groups.items():
        rows = [_row(group, subset, scores, cosines) for subset, scores, cosines in subsets]
        result += rows
        if len(rows) > 1:
            result.append(_mean(group, rows))
            scores, cosines = (np.concatenate([subset[column] for subset in subsets]) for column in (1, 2))
            result.append(_row(group, "all", scores, cosines))
    if {task.name for task in present} >= W17_TASKS:
        result.append(_mean(W17_MEAN, [row for row in result if f"{row.group}/{row.subset}" in W17_TASKS]))
    how = signature(
        "sts",
        similarity="cosine",
        correlations="pearson+spearman",
        protocols="subsets+mean+all",
        tasks=len(present),
        n=sum(len(scores) for subsets in groups.values() for _, scores, _ in subsets),
        encoder=digest(encoder.signature)[:12],
    )
    skipped = tuple(task.file for task in selected if task not in present)
    return STSResult(tuple(result), skipped, how, encoder.signature)


def paired_cosines(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Cosine of each row with the same row of another matrix.

    Args:
        a: float32 (n, d).
        b: float32 (n, d).

    Returns:
        float32 (n,), −1 to 1; 0 where a vector is zero.

    Example:
        >>> paired_cosines(np.float32([[1, 0], [0, 0]]), np.float32([[1, 1], [1, 0]]))
        array([0.70710677, 0.        ], dtype=float32)
    """
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products: npt.NDArray[np.float32] = np.einsum("nd,nd->n", a, b)
    return np.divide(products, np.where(norms > 0, norms, 1), dtype=np.float32)


def _row(group: str, subset: str, scores: npt.NDArray[np.float64], cosines: npt.NDArray[np.float32]) -> STSRow:
    r, n = pearson(scores, cosines), len(scores)
    low, high = pearson_interval(r, n)
    return STSRow(group, subset, n, 100 * r, 100 * spearman(scores, cosines), 100 * low, 100 * high)


def _mean(group: str, rows: list[STSRow]) -> STSRow:
    means = (float(np.mean([row.pearson for row in rows])), float(np.mean([row.spearman for row in rows])))
    half = math.hypot(*((row.high - row.low) / 2 for row in rows)) / len(rows)
    return STSRow(group, "mean", sum(row.n for row in rows), *means, means[0] - half, means[0] + half)


def _interval(row: STSRow) -> str:
    return "" if math.isnan(row.low) else f"[{row.low:.1f}, {row.high:.1f}]"
