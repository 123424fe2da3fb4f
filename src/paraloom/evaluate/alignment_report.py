"""Scores of sentence alignments file by file, with one pooled figure beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from paraloom.evaluate.alignment import AlignmentScore
from paraloom.evaluate.base import EvaluationResult

_MAX_NAME = 40


@dataclass(frozen=True)
class FileScore:
    """The score of one pair of texts.

    Args:
        beads: File of the predicted beads.
        gold: File of the gold beads.
        score: The score.
    """

    beads: str
    gold: str
    score: AlignmentScore


@dataclass(frozen=True)
class AlignmentReport(EvaluationResult):
    """What `evaluate_alignment_files` returns.

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
            names = [_short(file.gold) for file in self.files]
            width = max(len(name) for name in (*names, "pooled"))
            lines.append(f"{'':{width}}{'strict P':>10}{'R':>8}{'F1':>8}{'lax P':>10}{'R':>8}{'F1':>8}{'gold':>9}")
            scores = [*(file.score for file in self.files), self.pooled]
            for name, score in zip([*names, "pooled"], scores, strict=True):
                cells = "".join(f"{p:10.4f}{r:8.4f}{f1:8.4f}" for p, r, f1 in (score.strict, score.lax))
                lines.append(f"{name:{width}}{cells}{score.counts['gold']:9,}")
        if self.crossing:
            noun = "bead crosses" if self.crossing == 1 else "beads cross"
            lines.append(f"{self.crossing:,} {noun} a hard delimiter, wrong in each text that a part of it is in")
        if lines:
            lines += ["", "pooled:"]
        lines.append(self.pooled.format())
        return "\n".join(lines)


def _short(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}"
