"""The quickstart: the whole chain on the bundled sample, offline, in minutes on two cores."""

from __future__ import annotations

from pathlib import Path

from paraloom.report import write_report
from paraloom.run.pipeline import read_pipeline
from paraloom.run.runner import run_pipeline

BUNDLED = Path(__file__).parent / "bundled"
"""The sample, the translator, the encoder and the pipeline that come with the package, each with its card."""


def quickstart(folder: str | Path, *, workers: int | None = None) -> str:
    """Run the bundled pipeline in `folder`, write `report.html` there, and return a summary for people.

    It back-translates the sample, scores and selects the pairs, goes on training the bundled encoder with them, and
    asks both encoders to find, for sentences that were held back, the paraphrase among 100.
    """
    result = run_pipeline(read_pipeline(BUNDLED / "quickstart.toml"), folder, workers=workers)
    page = Path(folder) / "report.html"
    write_report(Path(folder), page)
    figures = result.stage("found").figures
    before, after = figures["accuracy_percent"]
    return (
        f"{result}\n\n"
        f"The paraphrase of a held-back sentence is found among {figures['candidates']} in {before:.1f} % of "
        f"{figures['pairs']} cases before training and {after:.1f} % after.\n"
        f"Report: {page}"
    )
