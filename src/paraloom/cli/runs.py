"""Commands about whole runs: quickstart, run, status."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import paraloom
import paraloom.web as reports
from paraloom import api
from paraloom.cli import options
from paraloom.cli.output import as_written, conclude, outlook, print_result
from paraloom.core.remote_files import local_copy


def quickstart(
    folder: Annotated[Path, typer.Argument(help="Folder of the run.")] = Path("quickstart"),
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Run the whole chain on the bundled German–English sample, then write the report. Offline, minutes.

    Example: `paraloom quickstart`
    """
    result = api.run_quickstart(folder, workers=workers)
    page = reports.write_report(folder, folder / "report.html")
    if as_json:
        typer.echo(as_written(folder, report=page, **result.to_dict(), **result.run.to_dict()))
        return
    typer.echo(f"{result.run.with_reasons().format()}\n\n{result.format()}\nReport: {page}")
    conclude(folder, "explore {output}")


def run(
    pipeline: Annotated[Path, typer.Argument(help="A pipeline's TOML file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Run folder, or its URL; default: runs/NAME.")
    ] = None,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    until: Annotated[str | None, typer.Option(help="Last stage to run.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and why.")] = False,
    estimate: Annotated[
        bool, typer.Option("--plan", help="Measure on samples what it will take: time, memory, disk of each stage.")
    ] = False,
    plan_rows: Annotated[int, typer.Option(help="Rows of each sample for --plan.", min=60)] = 2000,
    plan_for: Annotated[int | None, typer.Option(help="With --plan: as if this many rows were read.", min=1)] = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster; default: one started here.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; default: the pipeline's own.")] = None,
    as_json: options.Json = False,
) -> None:
    """Run a pipeline, or resume one that was stopped.

    Example: `paraloom run examples/german.toml -o runs/german`
    """
    loaded = paraloom.Pipeline.from_toml(pipeline)
    if seed is not None:
        loaded = loaded.with_seed(seed)
    folder = output or Path("runs") / loaded.name
    if dry_run:
        planned = loaded.plan(folder, until=until)
        typer.echo(json.dumps([asdict(stage) for stage in planned], default=str) if as_json else outlook(planned))
        return
    copy = local_copy(folder)
    if estimate:
        forecast = loaded.estimate(workers=workers, until=until, rows=plan_rows)
        if plan_for is None:
            forecast.save(copy)
        else:
            forecast = forecast.scaled(plan_for / max(1, forecast.input_rows))
        typer.echo(json.dumps(forecast.to_dict()) if as_json else forecast.format())
        return
    started = time.monotonic()
    result = loaded.run(folder, engine=engine, workers=workers, until=until, on_error=on_error.value, address=address)
    seconds = time.monotonic() - started
    page = reports.write_report(copy, copy / "report.html")
    expected = loaded.estimate_in(copy)
    if as_json:
        typer.echo(json.dumps(result.to_dict()))
    else:
        comparison = expected.compare(result, seconds) if expected else ""
        typer.echo(
            "\n\n".join(part for part in (result.with_reasons().format(), comparison, f"Report: {page}") if part)
        )
        conclude(copy, "explore {output}")


def status(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, or the output of another command.")],
    as_json: options.Json = False,
) -> None:
    """Print where a run is: stage, rate, remaining time, memory, failed rows. While it runs, and after it ended.

    Example: `paraloom status runs/german`
    """
    print_result(api.run_status(folder), as_json)


COMMANDS: options.Commands = {"quickstart": quickstart, "run": run, "status": status}
