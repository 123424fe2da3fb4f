"""A dry run: what is done, what will be done, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paraloom.core.stage import Map
from paraloom.pipeline.definition import Definition
from paraloom.pipeline.state import Output, output_of, remote_run, shard_keys, state_of, survey_of
from paraloom.pipeline.store import check, stage_folder


@dataclass(frozen=True)
class StagePlan:
    """Action of a run for a stage."""

    name: str
    folder: Path
    state: Literal["done", "run"]
    why: str = ""
    done: int = 0
    shards: int | None = None


def plan(pipeline: Definition, folder: str | Path, *, until: str | None = None) -> list[StagePlan]:
    """Plan of `run_pipeline`, stage by stage; reads the folder and changes nothing."""
    remote = remote_run(folder)
    folder = remote.folder if remote is not None else Path(folder).absolute()
    check(folder)
    outputs: dict[str, Output] = {}
    plans = []
    for number, step in enumerate(pipeline.until(until), start=1):
        location = stage_folder(folder, number * 10, step)
        state = state_of(step, pipeline, location, outputs, remote)
        if isinstance(state, str):
            plans.append(StagePlan(step.name, location, "run", f"its input '{state}' has to run first"))
        elif end := state.finished():
            outputs[step.name] = output_of(state, end, step.stage)
            plans.append(StagePlan(step.name, location, "done", "", end.get("shards", 0), end.get("shards")))
        else:
            known, survey = survey_of(state, step.stage) if isinstance(step.stage, Map) else (False, None)
            keys = shard_keys(state, survey) if known else {}
            done = sum(state.shard(name, key) is not None for name, key in keys.items())
            shards = len(state.source.shards) if state.source else None
            plans.append(StagePlan(step.name, location, "run", state.why(), done, shards))
    return plans
