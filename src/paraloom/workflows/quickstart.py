"""The quickstart: the whole chain on the bundled sample, offline, in minutes on two cores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import read_pipeline

BUNDLED = Path(__file__).parents[1] / "bundled"
"""The sample, the translator, the encoder and the pipeline that come with the package, each with its card."""


@dataclass(frozen=True)
class Quickstart:
    """The run, and in how many of `asked` cases (percent) the paraphrase was found before and after training."""

    run: RunResult
    before: float
    after: float
    candidates: int
    asked: int

    def __str__(self) -> str:
        return (
            f"Among {self.candidates} sentences the paraphrase of a held-back one is found in {self.before:.1f} % of "
            f"{self.asked} cases before training and {self.after:.1f} % after."
        )


def quickstart(folder: str | Path, *, workers: int | None = None) -> Quickstart:
    """Run the bundled pipeline in `folder`.

    It back-translates the sample, scores and selects the pairs, goes on training the bundled encoder with them, and
    asks both encoders to find, for sentences that were held back, the paraphrase among 100.
    """
    result = run_pipeline(read_pipeline(BUNDLED / "quickstart.toml"), folder, workers=workers)
    figures = result.stage("found").figures
    before, after = figures["accuracy_percent"]
    return Quickstart(result, before, after, figures["candidates"], figures["pairs"])
