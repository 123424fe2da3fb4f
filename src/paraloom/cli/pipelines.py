"""Verbs about whole runs: quickstart, run, selftrain, report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def quickstart(
    folder: Annotated[Path, typer.Argument(help="Folder of the run.")] = Path("quickstart"),
    workers: options.Workers = None,
) -> None:
    """The whole chain on the bundled German-English sample, then the report. Offline, minutes.

    Example: `paraloom quickstart`
    """
    from paraloom.cli.summary import summary
    from paraloom.report import write_report
    from paraloom.workflows.quickstart import quickstart as run_quickstart

    found = run_quickstart(folder, workers=workers)
    page = write_report(folder, folder / "report.html")
    typer.echo(f"{summary(found.run)}\n\n{found}\nReport: {page}")


def selftrain(
    loop: Annotated[Path, typer.Argument(metavar="LOOP.toml", help="What goes round: see examples/selftrain.toml.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Run folder; default: runs/NAME.")] = None,
    workers: options.Workers = None,
) -> None:
    """A translator and an aligner improve each other: align, learn from what was found, align again (PARK17).

    Example: `paraloom selftrain examples/selftrain.toml -o runs/korean`
    """
    from paraloom.report import write_report
    from paraloom.workflows.selftrain import read_loop
    from paraloom.workflows.selftrain import selftrain as run_selftrain

    folder = output or Path("runs") / read_loop(loop)[0]
    run_selftrain(loop, folder, workers=workers, tell=typer.echo)
    typer.echo(f"Report: {write_report(folder, folder / 'report.html')}")


def run(
    pipeline: Annotated[Path, typer.Argument(help="A pipeline's TOML file.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Run folder; default: runs/NAME.")] = None,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    until: Annotated[str | None, typer.Option(help="Last stage to run.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and why.")] = False,
    on_error: options.OnError = "stop",
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster; default: one started here.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; default: the pipeline's own.")] = None,
    as_json: options.Json = False,
) -> None:
    """Run a pipeline, or go on with one that was stopped.

    Example: `paraloom run examples/german.toml -o runs/german`
    """
    from dataclasses import replace

    from paraloom.cli.summary import outlook, summary
    from paraloom.pipeline.pipeline import read_pipeline
    from paraloom.pipeline.plan import plan
    from paraloom.pipeline.runner import run_pipeline
    from paraloom.report import write_report

    wanted = read_pipeline(pipeline)
    if seed is not None:
        wanted = replace(wanted, seed=seed)
    folder = output or Path("runs") / wanted.name
    if dry_run:
        typer.echo(outlook(plan(wanted, folder, until=until)))
        return
    result = run_pipeline(
        wanted,
        folder,
        engine=engine,
        workers=workers,
        until=until,
        on_error=on_error,  # type: ignore[arg-type]
        address=address,
    )
    page = folder / "report.html"
    write_report(folder, page)
    if as_json:
        typer.echo(json.dumps({"digest": result.digest, "stages": [stage.as_dict() for stage in result.stages]}))
    else:
        typer.echo(summary(result))
        typer.echo(f"report {page}")


def report(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
) -> None:
    """One self-contained HTML page about a run.

    Example: `paraloom report runs/german -o german.html`
    """
    from paraloom.report import write_report

    write_report(run_folder, output)
    typer.echo(f"{output}")


VERBS = {"quickstart": quickstart, "run": run, "selftrain": selftrain, "report": report}
