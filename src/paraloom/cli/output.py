"""What commands print about runs: row counts, figures, reasons of rejection, plans."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from paraloom.pipeline.plan import StagePlan
    from paraloom.pipeline.result import RunResult

_REASONS = 5
"""Reasons of rejection that are printed for a stage, the most frequent first."""


def print_figures(result: RunResult) -> None:
    """The figures of the last stage, a line each."""
    for name, value in result.stages[-1].figures.items():
        typer.echo(f"{name}: {json.dumps(value) if isinstance(value, dict) else value}")


def print_result(result: Any, as_json: bool) -> None:
    """A result with `format` and `to_dict`."""
    typer.echo(json.dumps(result.to_dict(), ensure_ascii=False) if as_json else result.format())


def summary(result: RunResult) -> str:
    """One line per stage (rows in, kept, rejected, failed, seconds), the figures of fits, the digest of all."""
    width = max(len(stage.name) for stage in result.stages)
    lines = [f"{'stage':<{width}}  {'in':>11} {'out':>11} {'rejected':>9} {'failed':>7} {'seconds':>8}"]
    for stage in result.stages:
        counts = stage.counts
        if stage.kind == "fit":
            lines.append(f"{stage.name:<{width}}  {'':>41} {stage.seconds:>8,.1f}")
            lines += [f"{'':<{width}}    {name}: {value}" for name, value in stage.figures.items()]
        else:
            lines.append(
                f"{stage.name:<{width}}  {counts.read:>11,} {counts.out:>11,} {counts.rejected:>9,} {counts.failed:>7,}"
                f" {stage.seconds:>8,.1f}"
            )
            lines += [f"{'':<{width}}    {rows:,} rejected: {reason}" for reason, rows in stage.reasons.items()][
                :_REASONS
            ]
    return "\n".join([*lines, f"digest {result.digest}"])


def outlook(stages: list[StagePlan]) -> str:
    """A line per stage of what a run would do, and why."""
    width = max(len(stage.name) for stage in stages)
    lines = []
    for stage in stages:
        shards = f"{stage.done} of {stage.shards} shards are done" if stage.shards is not None and stage.done else ""
        notes = "; ".join(note for note in (stage.why, shards) if note)
        lines.append(f"{stage.name:<{width}}  {stage.state:<4}  {notes}")
    return "\n".join(lines)
