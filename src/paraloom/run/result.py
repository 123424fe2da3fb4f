"""What a run hands back: for each stage its counts, figures and digest, and one digest for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from paraloom.core.signature import digest
from paraloom.run.books import Books
from paraloom.run.stage import Json


@dataclass(frozen=True)
class StageResult:
    """One stage that is done.

    kind: what it is.  books: its rows (none of a Fit).  figures: what a Fit returned.  seconds: of work, summed over
    workers and over the runs it took.  memory: peak of its largest worker, in bytes.  shards: how many it has, of
    which `made` in this run.  why: the reason that it was worked at, '' where all of it was there.
    """

    name: str
    folder: Path
    kind: Literal["source", "map", "fit"]
    digest: str
    books: Books = field(default_factory=Books)
    figures: dict[str, Json] = field(default_factory=dict)
    seconds: float = 0.0
    memory: int = 0
    shards: int = 0
    made: int = 0
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For run.json."""
        return {**vars(self), "folder": self.folder.name, "books": self.books.as_dict()}


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
