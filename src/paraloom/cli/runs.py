"""Commands about whole runs: quickstart, run, status, selftrain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import paraloom
import paraloom.report as reports
from paraloom import workflows
from paraloom.cli import options
from paraloom.cli.output import outlook, print_result
from paraloom.pipeline.estimate import read_estimate


def quickstart(
    folder: Annotated[Path, typer.Argument(help="Folder of the run.")] = Path("quickstart"),
    workers: options.Workers = None,
) -> None:
    """Run the whole chain on the bundled German–English sample, then write the report. Offline, minutes.

    Example: `paraloom quickstart`
    """
    result = workflows.run_quickstart(folder, workers=workers)
    page = reports.write_report(folder, folder / "report.html")
    typer.echo(f"{result.run.format()}\n\n{result.format()}\nReport: {page}")


def run(
    pipeline: Annotated[Path, typer.Argument(help="A pipeline's TOML file.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Run folder; default: runs/NAME.")] = None,
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
        typer.echo(outlook(loaded.plan(folder, until=until)))
        return
    if estimate:
        forecast = loaded.estimate(workers=workers, until=until, rows=plan_rows)
        if plan_for is None:
            forecast.save(folder)
        else:
            forecast = forecast.scaled(plan_for / max(1, forecast.input_rows))
        typer.echo(json.dumps(forecast.to_dict()) if as_json else forecast.format())
        return
    result = loaded.run(folder, engine=engine, workers=workers, until=until, on_error=on_error.value, address=address)
    page = reports.write_report(folder, folder / "report.html")
    expected = read_estimate(folder)
    if as_json:
        typer.echo(json.dumps(result.to_dict()))
    else:
        comparison = expected.compare(result) if expected else ""
        typer.echo("\n\n".join(part for part in (result.format(), comparison, f"Report: {page}") if part))


def status(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, or the output of another command.")],
    as_json: options.Json = False,
) -> None:
    """Print where a run is: stage, rate, remaining time, memory, failed rows. While it runs, and after it ended.

    Example: `paraloom status runs/german`
    """
    print_result(workflows.run_status(folder), as_json)


def selftrain(
    loop: Annotated[
        Path, typer.Argument(metavar="LOOP.toml", help="The loop's settings: see examples/selftrain.toml.")
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Run folder; default: runs/NAME.")] = None,
    workers: options.Workers = None,
) -> None:
    """Let a translator and an aligner improve each other: align, train on the result, align again (PARK17).

    Example: `paraloom selftrain examples/selftrain.toml -o runs/korean`
    """
    folder = output or Path("runs") / workflows.read_loop(loop)[0]
    workflows.selftrain(loop, folder, workers=workers, report=typer.echo)
    typer.echo(f"Report: {reports.write_report(folder, folder / 'report.html')}")


COMMANDS: options.Commands = {"quickstart": quickstart, "run": run, "status": status}
LOOPS: options.Commands = {"selftrain": selftrain}
