"""What a run hands back: for each stage its counts, figures and digest, and one digest for all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow.compute as pc

from paraloom.core.digests import digest
from paraloom.core.stage import Json
from paraloom.io.shards import read_batches
from paraloom.pipeline.counts import RowCounts


@dataclass(frozen=True)
class StageResult:
    """One stage that is done.

    kind: what it is.  counts: its rows (none of a Fit).  figures: what a Fit returned.  seconds: of work, summed over
    workers and over the runs it took.  memory: peak of its largest worker, in bytes.  shards: how many it has, of
    which `made` in this run.  why: the reason that it was worked at, '' where all of it was there.
    reasons: why rows were rejected, and how many for each; empty unless somebody counted (see `rejections`).
    """

    name: str
    folder: Path
    kind: Literal["source", "map", "fit"]
    digest: str
    counts: RowCounts = field(default_factory=RowCounts)
    figures: dict[str, Json] = field(default_factory=dict)
    seconds: float = 0.0
    memory: int = 0
    shards: int = 0
    made: int = 0
    why: str = ""
    reasons: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For run.json."""
        told = {name: value for name, value in vars(self).items() if name != "reasons"}
        return {**told, "folder": self.folder.name, "counts": self.counts.as_dict()}


@dataclass(frozen=True)
class RunResult:
    """A run that came to its end, or to the stage it was to run to."""

    folder: Path
    stages: tuple[StageResult, ...]

    @property
    def digest(self) -> str:
        """SHA-256 over the stages' digests, in order: equal for equal bytes, wherever and however they were made."""
        return digest([[stage.name, stage.digest] for stage in self.stages])

    def stage(self, name: str) -> StageResult:
        """The result of the stage of this name; raises KeyError when it was not run."""
        found = {stage.name: stage for stage in self.stages}
        return found[name]


def rejections(folder: Path) -> dict[str, int]:
    """The reasons for which a stage's folder says rows were rejected, with their rows, the commonest first."""
    counts: Counter[str] = Counter()
    for shard in sorted((folder / "rejected").glob("*.parquet")):
        for batch in read_batches(shard, ["reason"]):
            for found in pc.value_counts(batch.column("reason")).to_pylist():
                counts[str(found["values"])] += found["counts"]
    return dict(counts.most_common())
