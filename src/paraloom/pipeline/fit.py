"""Runs a Fit in a child process: in a folder that survives a kill, with a record of the result."""

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
    """A finished artifact."""

    key: str
    output: str
    figures: dict[str, Json]
    seconds: float
    memory: int


@dataclass(frozen=True)
class FitTask:
    """A Fit as a task for an engine."""

    stage: str
    file: str
    fitting: Fit
    folder: Path
    key: str
    context: StageContext
    rows: int = 0

    def __call__(self, report: ProgressCallback) -> FitRecord:
        started = time.monotonic()
        scratch = scratch_folder(self.folder, self.key)
        for stale in self.folder.glob("scratch-*"):
            if stale != scratch:
                shutil.rmtree(stale)
        scratch.mkdir(parents=True, exist_ok=True)
        with report_progress_to(report):
            figures = self.fitting.fit(scratch, self.context)
        _check_figures(figures)
        seconds = round(time.monotonic() - started, 3)
        return FitRecord(self.key, artifact_digest(scratch), figures, seconds, peak_memory())


def scratch_folder(folder: Path, key: str) -> Path:
    """Folder in which a Fit with these inputs and settings works; checkpoints of others are never resumed."""
    return folder / f"scratch-{key[:16]}"


def find_artifact(folder: Path, record: Mapping[str, Json]) -> Path | None:
    """The folder with the artifact of `record`, by digest: the scratch or the final one, or None."""
    candidates = (scratch_folder(folder, record["key"]), folder / ARTIFACT)
    return next((path for path in candidates if path.is_dir() and artifact_digest(path) == record["output"]), None)


def commit_artifact(folder: Path, record: Mapping[str, Json]) -> None:
    """Move the artifact of `record`, which is recorded first, to its final folder, unless it is there already."""
    present, artifact = find_artifact(folder, record), folder / ARTIFACT
    if present is not None and present != artifact:
        shutil.rmtree(present / "checkpoint", ignore_errors=True)
        shutil.rmtree(artifact, ignore_errors=True)
        present.rename(artifact)


def _check_figures(figures: object) -> None:
    try:
        if not isinstance(figures, dict):
            raise TypeError(f"expected a dict, got {type(figures).__name__}")
        json.dumps(figures, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise RunError(
            f"the figures cannot be written to run.json: {error}",
            remedy="A Fit must return a dict of JSON values without NaN.",
        ) from error
