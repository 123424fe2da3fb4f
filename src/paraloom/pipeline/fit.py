"""What a child process does for a Fit: train in a folder that survives a kill, and say what came of it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.errors import RunError
from paraloom.core.progress import ProgressCallback, report_progress_to
from paraloom.core.stage import Fit, Json, StageContext
from paraloom.pipeline.manifest import artifact_digest
from paraloom.pipeline.memory import peak_memory

ARTIFACT = "artifact"


@dataclass(frozen=True)
class FitRecord:
    """An artifact that is done.  key: digest of all that it depends on.  output: its own digest."""

    key: str
    output: str
    figures: dict[str, Json]
    seconds: float
    memory: int


@dataclass(frozen=True)
class FitTask:
    """A Fit as a task for an engine.  folder: the stage's.  file: what is made, for errors."""

    stage: str
    file: str
    fitting: Fit
    folder: Path
    key: str
    context: StageContext
    rows: int = 0

    def __call__(self, tell: ProgressCallback) -> FitRecord:
        started = time.monotonic()
        scratch = scratch_folder(self.folder, self.key)
        for stale in self.folder.glob("scratch-*"):
            if stale != scratch:
                shutil.rmtree(stale)
        scratch.mkdir(parents=True, exist_ok=True)
        with report_progress_to(tell):
            figures = self.fitting.fit(scratch, self.context)
        _check_figures(figures)
        seconds = round(time.monotonic() - started, 3)
        return FitRecord(self.key, artifact_digest(scratch), figures, seconds, peak_memory())


def scratch_folder(folder: Path, key: str) -> Path:
    """Where a Fit with these inputs and parameters works; checkpoints of other ones are never gone on from."""
    return folder / f"scratch-{key[:16]}"


def find_artifact(folder: Path, record: Mapping[str, Json]) -> Path | None:
    """Where the artifact of `record` is, judged by digest: still in the scratch folder, in its place, or nowhere."""
    places = (scratch_folder(folder, record["key"]), folder / ARTIFACT)
    return next((each for each in places if each.is_dir() and artifact_digest(each) == record["output"]), None)


def commit_artifact(folder: Path, record: Mapping[str, Json]) -> None:
    """Put the artifact of `record` in its place, unless it is there.

    It is recorded first and renamed then, so that a kill between the two costs nothing.
    """
    found, artifact = find_artifact(folder, record), folder / ARTIFACT
    if found is not None and found != artifact:
        shutil.rmtree(found / "checkpoint", ignore_errors=True)
        shutil.rmtree(artifact, ignore_errors=True)
        found.rename(artifact)


def _check_figures(figures: object) -> None:
    try:
        if not isinstance(figures, dict):
            raise TypeError(f"they are a {type(figures).__name__}")
        json.dumps(figures, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise RunError(
            f"the figures cannot go into run.json: {error}", remedy="A Fit returns a dict of JSON values, NaN left out."
        ) from error
