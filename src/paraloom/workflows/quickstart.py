"""The quickstart: the whole chain on the bundled sample, offline, in minutes on two cores."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraloom import bundled
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import read_pipeline

BUNDLED = Path(bundled.__file__).parent
"""Folder of the sample, the models and the pipeline that come with the package."""


@dataclass(frozen=True)
class Quickstart:
    """The run, and how well an encoder retrieves held-out paraphrases before and after training.

    Args:
        run: The result of the run.
        before: Accuracy in percent before training.
        after: Accuracy in percent after training.
        candidates: Number of sentences to choose from; chance is one in so many.
        queries: Number of held-out paraphrases.
    """

    run: RunResult
    before: float
    after: float
    candidates: int
    queries: int

    def format(self) -> str:
        """One sentence."""
        return (
            f"Among {self.candidates} sentences the paraphrase of a held-out one is retrieved in {self.before:.1f} % "
            f"of {self.queries} cases before training and in {self.after:.1f} % after it."
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return {name: value for name, value in asdict(self).items() if name != "run"}


def run_quickstart(folder: str | Path, *, workers: int | None = None) -> Quickstart:
    """Run the bundled pipeline: back-translate, score and select the sample, train an encoder on it, evaluate both.

    Args:
        folder: Run folder.
        workers: Processes; default: one per core. The result is the same.

    Returns:
        The run and the retrieval accuracies.
    """
    result = run_pipeline(read_pipeline(BUNDLED / "quickstart.toml"), folder, workers=workers)
    figures = result.stage("found").figures
    before, after = figures["accuracy_percent"]
    return Quickstart(result, before, after, figures["candidates"], figures["pairs"])
