"""Scores of sentence alignments file by file, with one pooled figure beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from paraloom.core.results import text_table
from paraloom.evaluate.alignment import AlignmentScore
from paraloom.evaluate.base import EvaluationResult

_MAX_NAME = 40


@dataclass(frozen=True)
class FileScore:
    """The score of one pair of texts."""

    beads: str
    gold: str
    score: AlignmentScore


@dataclass(frozen=True)
class AlignmentReport(EvaluationResult):
    """Result of `evaluate_alignment_files`.

    Args:
        files: The score of each pair of texts, in order.
        crossing: Beads that cross a hard delimiter, where one alignment was cut; they count as wrong. None without
            hard delimiters.
    """

    files: Sequence[FileScore]
    crossing: int | None = None

    @cached_property
    def pooled(self) -> AlignmentScore:
        """The figures of all files together: counts are added first, so that long texts count more, as in vecalign."""
        pooled = AlignmentScore()
        for file in self.files:
            pooled.merge(file.score)
        return pooled

    def to_dict(self) -> dict[str, Any]:
        """The pooled figures, the beads that cross a delimiter, and the figures of each file."""
        return {
            **self.pooled.to_dict(),
            "crossing": self.crossing,
            "files": [{"beads": file.beads, "gold": file.gold, **file.score.to_dict()} for file in self.files],
        }

    def format(self) -> str:
        """A table of the files if they are several, then the pooled figures by kind of bead."""
        lines = []
        if len(self.files) > 1:
            scores = [*((_short(file.gold), file.score) for file in self.files), ("pooled", self.pooled)]
            rows = []
            for name, score in scores:
                figures = (f"{figure:.4f}" for kind in (score.strict, score.lax) for figure in kind)
                rows.append((name, *figures, f"{score.counts['gold']:,}"))
            lines += text_table(["", "strict P", "R", "F1", "lax P", "R", "F1", "gold"], rows)
        if self.crossing:
            noun = "bead crosses" if self.crossing == 1 else "beads cross"
            lines.append(f"{self.crossing:,} {noun} a hard delimiter, wrong in each text that a part of it is in")
        if lines:
            lines += ["", "pooled:"]
        lines.append(self.pooled.format())
        return "\n".join(lines)


def _short(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}"
