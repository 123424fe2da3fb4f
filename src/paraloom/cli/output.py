"""What commands print about runs: figures, results, plans."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from paraloom.pipeline.plan import StagePlan
    from paraloom.pipeline.result import RunResult


def print_figures(result: RunResult) -> None:
    """The figures of the last stage, a line each."""
    for name, value in result.stages[-1].figures.items():
        typer.echo(f"{name}: {json.dumps(value) if isinstance(value, dict) else value}")


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
