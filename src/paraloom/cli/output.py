"""What commands print when they are done: row counts, figures, first rows, the next command, plans."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from paraloom import api
from paraloom.core.progress import format_duration
from paraloom.pipeline.result import describe_figures

if TYPE_CHECKING:
    from paraloom.pipeline.result import RunResult
    from paraloom.pipeline.runner import StagePlan

_started = time.monotonic()


class Printable(Protocol):
    """A result with figures."""

    def to_dict(self) -> dict[str, Any]:
        """Its figures as JSON values."""

    def format(self) -> str:
        """Its figures as text."""


def start_clock() -> None:
    """Count the time of the command from now."""
    global _started
    _started = time.monotonic()


def conclude(output: str | Path, then: str = "", *, counted: bool = False, rows: bool = True) -> None:
    """What was written and how long it took, its first rows, and the next likely command; on stderr."""
    if api.is_output_stream(output):
        return
    took = time_taken()
    written = api.preview_output(output) if rows else None
    if written is None or written.about:
        typer.echo(f"\nWritten in {took}: {output}", err=True)
    else:
        count = f"Done in {took}" if counted else f"\n{written.count} in {output}, {took}"
        typer.echo(f"{count}{'; the first of them:' if written.shown else ''}", err=True)
        if written.shown:
            typer.echo(f"\n{written.format()}", err=True)
    if then and not (written is not None and written.rows == 0):
        suggest(then.replace("{output}", shlex.quote(str(output))))


def written(
    output: str | Path,
    figures: Mapping[str, Any],
    text: str = "",
    then: str = "",
    *,
    as_json: bool,
    err: bool = True,
    counted: bool = False,
    rows: bool = True,
) -> None:
    """What a command says of what it wrote: figures as JSON, or else a text, on stderr or not, and `conclude`."""
    if as_json:
        typer.echo(as_written(output, **figures))
        return
    if text:
        typer.echo(text, err=err)
    conclude(output, then, counted=counted, rows=rows)


def suggest(command: str) -> None:
    """The next likely command, after `paraloom`, on stderr."""
    typer.echo(f"\nNext: paraloom {command}", err=True)


def time_taken() -> str:
    """How long the command took until now, in words."""
    return format_duration(time.monotonic() - _started)


def as_written(output: str | Path, **figures: object) -> str:
    """What a command prints with --json after it wrote something: the path, the seconds, and the figures."""
    seconds = round(time.monotonic() - _started, 1)
    return json.dumps({"output": str(output), "seconds": seconds, **figures}, ensure_ascii=False, default=str)


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


def show(result: Any, values: Mapping[str, Any], then: str = "") -> None:
    """What a command prints of what its function returned: a run, a number of rows, or a result with figures."""
    output, as_json = values.get("output"), bool(values.get("as_json"))
    if isinstance(getattr(result, "digest", None), str):
        if result.stages[-1].kind == "fit":
            print_figures(result, then, as_json)
        else:
            print_run(result, str(output), then, as_json)
    elif isinstance(result, int) and output is not None:
        if as_json and str(output) != "-":
            typer.echo(as_written(output, rows=result))
        else:
            conclude(output, then)
    else:
        print_result(result, as_json)
        if output is not None and not as_json:
            conclude(output, then)


def show_figures(result: Printable, values: Mapping[str, Any]) -> None:
    print_result(result, values["as_json"])


def print_result(result: Printable, as_json: bool) -> None:
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


def _as_dict(result: RunResult, output: str | Path) -> dict[str, object]:
    stages = [stage.as_dict() | {"reasons": stage.reasons} for stage in result.stages]
    seconds = round(time.monotonic() - _started, 1)
    return {"output": str(output), "seconds": seconds, "digest": result.digest, "stages": stages}
