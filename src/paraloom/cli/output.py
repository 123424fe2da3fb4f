"""What commands print when they are done: row counts, figures, first rows, the next command, plans."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraloom import workflows
from paraloom.core.progress import format_duration
from paraloom.pipeline.figures import describe_figures

if TYPE_CHECKING:
    from paraloom.pipeline.plan import StagePlan
    from paraloom.pipeline.result import RunResult

_started = time.monotonic()


def start_clock() -> None:
    """Count the time of the command from now."""
    global _started
    _started = time.monotonic()


def conclude(output: str | Path, then: str = "", *, counted: bool = False) -> None:
    """What was written and how long it took, its first rows, and the next likely command; on stderr.

    Args:
        output: What was written; nothing is printed of standard output.
        then: The next command, after `paraloom`; `{output}` stands for what was written.
        counted: Whether the command printed the number of rows itself.
    """
    if str(output) == "-":
        return
    took = format_duration(time.monotonic() - _started)
    written = workflows.preview_output(output)
    if written is None or written.about:
        typer.echo(f"\nWritten in {took}: {output}", err=True)
    else:
        count = f"Done in {took}" if counted else f"\n{written.count} in {output}, {took}"
        typer.echo(f"{count}{'; the first of them:' if written.shown else ''}", err=True)
        if written.shown:
            typer.echo(f"\n{written.format()}", err=True)
    if then and not (written is not None and written.rows == 0):
        command = f"paraloom {then.replace('{output}', shlex.quote(str(output)))}"
        typer.echo(f"\nNext: {command}", err=True)


def print_run(result: RunResult, output: str | Path, then: str, as_json: bool) -> None:
    """The row counts of a command that wrote rows, then `conclude`; as JSON, the counts alone, on stdout."""
    if as_json and str(output) != "-":
        typer.echo(json.dumps(_as_dict(result, output)))
        return
    typer.echo(result.format(), err=True)
    conclude(output, then)


def print_usage(translator: object) -> None:
    """What an endpoint was asked, on stderr; nothing for another translator."""
    usage = getattr(translator, "usage", None)
    if usage is not None:
        typer.echo(f"endpoint: {usage().format()}", err=True)


def print_figures(result: RunResult, then: str = "", as_json: bool = False) -> None:
    """The figures of the model that a command trained, in words, then `conclude`."""
    figures = result.stages[-1].figures
    if as_json:
        typer.echo(json.dumps(_as_dict(result, result.folder) | {"figures": figures}))
        return
    for line in describe_figures(figures):
        typer.echo(line)
    conclude(result.folder, then)


def print_result(result: Any, as_json: bool) -> None:
    """A result with `format` and `to_dict`."""
    typer.echo(json.dumps(result.to_dict(), ensure_ascii=False) if as_json else result.format())


def outlook(stages: list[StagePlan]) -> str:
    """A line per stage of what a run would do, and why."""
    width = max(len(stage.name) for stage in stages)
    lines = []
    for stage in stages:
        shards = f"{stage.done} of {stage.shards} shards are done" if stage.shards is not None and stage.done else ""
        notes = "; ".join(note for note in (stage.why, shards) if note)
        lines.append(f"{stage.name:<{width}}  {stage.state:<4}  {notes}")
    return "\n".join(lines)


def _as_dict(result: RunResult, output: str | Path) -> dict[str, Any]:
    stages = [stage.as_dict() | {"reasons": stage.reasons} for stage in result.stages]
    seconds = round(time.monotonic() - _started, 1)
    return {"output": str(output), "seconds": seconds, "digest": result.digest, "stages": stages}
