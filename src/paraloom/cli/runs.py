"""Commands that run pipelines and watch them: quickstart, run, status."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import paraloom
import paraloom.web as reports
from paraloom.api.travelling_warnings import repeat_warnings, warnings_of_result
from paraloom.api.yields import warn_of_yield
from paraloom.cli.declaration import Command
from paraloom.cli.output import conclude, outlook, show_figures, written
from paraloom.core.remote_files import is_url, local_copy

if TYPE_CHECKING:
    from paraloom.api.quickstart import Quickstart


def _show_quickstart(result: Quickstart, values: Mapping[str, Any]) -> None:
    folder = Path(values["folder"])
    page = reports.write_report(folder, folder / "report.html")
    figures = {"report": page, **result.to_dict(), **result.run.to_dict()}
    text = f"{result.run.with_reasons().format()}\n\n{result.format()}\nReport: {page}"
    written(folder, figures, text, "explore {output}", as_json=values["as_json"], err=False, rows=False)


def _run(
    pipeline: str | Path,
    *,
    output: str | Path | None = None,
    dry_run: bool = False,
    estimate: bool = False,
    plan_rows: int = 2000,
    plan_for: int | None = None,
    plan_gpu: float = 0.0,
    seed: int | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Run a pipeline, or resume one that was stopped.

    Args:
        pipeline: A pipeline's TOML file.
        output: Run folder, or its URL; default: runs/NAME.
        dry_run: Print what would be done, and why.
        estimate: Measure on samples what it will take: time, memory, disk of each stage.
        plan_rows: Rows of each sample for --plan.
        plan_for: With --plan: as if this many rows were read.
        plan_gpu: With --plan: a line for a GPU that decodes so many tokens a second.
    """
    loaded = paraloom.Pipeline.from_toml(pipeline)
    if seed is not None:
        loaded = loaded.with_seed(seed)
    folder, until = output or Path("runs") / loaded.name, options.get("until")
    if dry_run:
        planned = loaded.plan(folder, until=until)
        typer.echo(json.dumps([asdict(stage) for stage in planned], default=str) if as_json else outlook(planned))
        return
    copy = local_copy(folder)
    if estimate:
        forecast = loaded.estimate(workers=options.get("workers"), until=until, rows=plan_rows)
        if plan_for is None:
            forecast.save(copy)
            forecast = forecast.remaining(loaded.plan(folder, until=until))
        else:
            forecast = forecast.scaled(plan_for / max(1, forecast.input_rows))
        forecast = replace(forecast, gpu=plan_gpu)
        typer.echo(json.dumps(forecast.to_dict()) if as_json else forecast.format())
        return
    started = time.monotonic()
    known = repeat_warnings(loaded.definition)
    result = loaded.run(folder, **options)
    if not is_url(str(folder)):
        warn_of_yield(loaded.definition, result, warnings_of_result(loaded.definition, result, known))
    seconds = time.monotonic() - started
    page = reports.write_report(copy, copy / "report.html")
    expected = loaded.estimate_in(copy)
    if as_json:
        typer.echo(json.dumps(result.to_dict()))
        return
    comparison = expected.compare(result, seconds) if expected else ""
    typer.echo("\n\n".join(part for part in (result.with_reasons().format(), comparison, f"Report: {page}") if part))
    conclude(copy, "explore {output}")


DECLARED = [
    Command(
        name="quickstart",
        of="run_quickstart",
        show=_show_quickstart,
        help="Make paraphrases of the bundled sample, offline.\n\n"
        "400 German–English pairs through the whole chain, with a report: a minute.",
        examples=("",),
        watched=True,
    ),
    Command(
        name="research clean",
        of="clean_work_folders",
        examples=("", "results --dry-run"),
    ),
    Command(
        name="run",
        run=_run,
        of="paraloom.pipeline.pipeline:Pipeline.run",
        leave_out="folder log_file",
        flags={"estimate": "--plan"},
        settings={
            "plan_rows": {"low": 60},
            "plan_for": {"low": 1},
            "plan_gpu": {"low": 0},
            "seed": {"help": "Seed; default: the pipeline's own."},
        },
        examples=("examples/german.toml -o runs/german",),
        resumes=True,
        watched=True,
    ),
    Command(
        name="publish",
        of="publish",
        show=show_figures,
        help="Make a data set for the Hugging Face Hub of the last pairs of a run: Parquet and a card. It is uploaded "
        "if the output is hf://datasets/OWNER/NAME.",
        examples=(
            "runs/german -o german-paraphrases --license cc-by-4.0",
            "runs/german -o hf://datasets/me/german-paraphrases --license cc-by-4.0",
        ),
    ),
    Command(
        name="status",
        of="run_status",
        settings={"path": {"metavar": "RUN"}},
        help="Print where a run is, or how it ended.\n\nStage, rate, remaining time, memory, failed rows.",
        examples=("runs/german",),
    ),
]
