"""Precision, recall and F1 of mined pairs against true ones, at a threshold and at the best one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Ints
from paraloom.core.errors import DataError
from paraloom.core.results import ResultRecord
from paraloom.io import read_lines


@dataclass(frozen=True)
class MiningScore(ResultRecord):
    """Agreement of mined pairs with the true ones."""

    pairs: int  # Mined pairs at the threshold
    gold: int  # True pairs
    threshold: float
    precision: float  # Share of the mined pairs that are true, 0 to 1
    recall: float  # Share of the true pairs that were mined, 0 to 1
    f1: float  # Harmonic mean of both
    best_threshold: float  # The threshold of highest F1
    best_precision: float  # Precision at that
    best_recall: float  # Recall at that
    best_f1: float  # F1 at that; it is chosen on these pairs, and so flatters

    def format(self) -> str:
        """Two lines: at the threshold, and at the best one."""
        at, best = (
            f"precision {100 * precision:.1f}, recall {100 * recall:.1f}, F1 {100 * f1:.1f}"
            for precision, recall, f1 in (
                (self.precision, self.recall, self.f1),
                (self.best_precision, self.best_recall, self.best_f1),
            )
        )
        return (
            f"threshold {self.threshold:.3f}: {at} ({self.pairs:,} pairs, {self.gold:,} true ones)\n"
            f"best threshold {self.best_threshold:.3f}: {best}"
        )


def evaluate_mining(
    sources: Sequence[int] | Ints,
    targets: Sequence[int] | Ints,
    margins: Sequence[float] | npt.NDArray[np.floating],
    gold: Sequence[tuple[int, int]] | Ints,
    threshold: float,
) -> MiningScore:
    """Compare mined pairs with the true ones, as the shared task BUCC does (Zweigenbaum et al. 2018)."""
    if not len(gold):
        raise DataError("no true pairs to compare with")
    true = np.unique(np.asarray(gold, np.int64), axis=0)
    order = np.argsort(-np.asarray(margins, np.float64), kind="stable")
    scores = np.asarray(margins, np.float64)[order]
    pairs = [np.asarray(side, np.int64)[order] for side in (sources, targets)]
    width = max(pairs[1].max(initial=0), true[:, 1].max()) + 1
    correct = np.cumsum(np.isin(pairs[0] * width + pairs[1], true[:, 0] * width + true[:, 1]), dtype=np.int64)
    kept = int((scores >= threshold).sum())
    figures = _figures(int(correct[kept - 1]) if kept else 0, kept, len(true))
    # A threshold keeps all pairs of equal scores, or none.
    ends = np.flatnonzero(np.append(scores[1:] < scores[:-1], True)) if len(scores) else np.empty(0, np.int64)
    f1 = 2 * correct[ends] / (ends + 1 + len(true)) if len(ends) else np.zeros(0)
    if not f1.any():
        return MiningScore(kept, len(true), threshold, *figures, threshold, *figures)
    last = int(ends[f1.argmax()])
    best = (scores[last] + scores[last + 1]) / 2 if last + 1 < len(scores) else scores[last]
    return MiningScore(
        kept, len(true), threshold, *figures, float(best), *_figures(int(correct[last]), last + 1, len(true))
    )


def read_gold_rows(path: str | Path) -> list[tuple[int, int]]:
    """Read true pairs: on each line the row of the source and of the target, from 1, between tabs; returned from 0."""
    rows = []
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split("\t")
        if len(fields) != 2 or not all(map(_is_row, fields)):
            raise DataError(
                f"expected two row numbers, got '{line[:60]}'",
                file=str(path),
                row=number,
                remedy="Write the rows of a source and of its target, from 1, separated by a tab.",
            )
        source, target = (int(field.strip()) - 1 for field in fields)
        rows.append((source, target))
    if not rows:
        raise DataError(
            "no true pairs to compare with",
            file=str(path),
            remedy="Write the rows of a source and of its target, from 1, separated by a tab, on each line.",
        )
    return rows


def check_gold_rows(gold: Sequence[tuple[int, int]], source_lines: int, target_lines: int, path: str | Path) -> None:
    for number, (source, target) in enumerate(gold, 1):
        for row, lines, side in ((source, source_lines, "source"), (target, target_lines, "target")):
            if row >= lines:
                swapped = all(a < target_lines and b < source_lines for a, b in gold)
                raise DataError(
                    f"row {row + 1:,} is beyond the {lines:,} lines of the {side}",
                    file=str(path),
                    row=number,
                    remedy="The columns seem to be swapped: first the row of the source, then that of the target."
                    if swapped
                    else "Check that the file belongs to these texts.",
                )


def _is_row(field: str) -> bool:
    field = field.strip()
    return field.isdecimal() and len(field) <= 18 and int(field) > 0


def _figures(correct: int, kept: int, gold: int) -> tuple[float, float, float]:
    """Precision, recall and F1; 0 where they are undefined."""
    return correct / kept if kept else 0.0, correct / gold, 2 * correct / (kept + gold)
