"""Runs a pipeline stage by stage, skipping what is already done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from paraloom.core.digests import digest, path_digest
from paraloom.core.errors import ConfigError, ParaloomError, is_interruption, nearest
from paraloom.core.lazy import load_object
from paraloom.core.resources import ONE_CPU
from paraloom.core.secrets import redacted
from paraloom.core.stage import Fit, Map, Source, Stage
from paraloom.io.atomic import check_local
from paraloom.pipeline import execution as execute
from paraloom.pipeline.counts import RowCounts
from paraloom.pipeline.definition import Definition, Step, detached
from paraloom.pipeline.engines.base import Engine, check_gpus
from paraloom.pipeline.engines.registry import make_engine
from paraloom.pipeline.fit import commit_artifact
from paraloom.pipeline.monitor import Monitor
from paraloom.pipeline.result import RunResult, StageResult
from paraloom.pipeline.shard import OnError
from paraloom.pipeline.state import Output, State, output_of, remote_run, shard_keys, state_of, survey_of
from paraloom.pipeline.store import check, check_run, claimed, renumber, stage_folder, versions, write_report

if TYPE_CHECKING:
    from paraloom.pipeline.remote import RemoteRun
    from paraloom.pipeline.remote_manifest import Elsewhere
    from paraloom.pipeline.transfer import Files

_KINDS: dict[Literal["source", "map", "fit"], type[Stage]] = {"source": Source, "map": Map, "fit": Fit}


def run_pipeline(
    pipeline: Definition,
    folder: str | Path,
    *,
    engine: str = "local",
    workers: int | None = None,
    until: str | None = None,
    on_error: OnError = "stop",
    address: str | None = None,
) -> RunResult:
    """Run a pipeline in a folder, resuming from whatever is done there.

    The same pipeline and input give the same bytes with any engine and number of workers (see `RunResult.digest`).
    The engine 'local' spawns processes. A script that defines stage classes itself calls this below
    ``if __name__ == "__main__":``; any other script needs no such line.
    """
    if on_error not in ("stop", "reject"):
        raise ConfigError(f"unknown on_error '{on_error}'{nearest(on_error, ('stop', 'reject'))}")
    steps = pipeline.until(until)
    remote = remote_run(folder)
    if remote is not None:
        remote.begin()
    else:
        check_local(Path(folder))
    folder = remote.folder if remote is not None else Path(folder).absolute()
    check_run(folder, pipeline.name, {step.name for step in pipeline.steps})
    with claimed(folder), closing(make_engine(engine, workers, address)) as chosen:
        monitor = Monitor(folder, pipeline.name, [step.name for step in steps], engine, workers, remote)
        with monitor.watching():
            return _Run(pipeline, folder, chosen, on_error, monitor, remote).run(steps)


@dataclass
class _Run:
    """One run in its folder, which is locked for it."""

    pipeline: Definition
    folder: Path
    engine: Engine
    on_error: OnError
    monitor: Monitor
    remote: RemoteRun | None = None
    outputs: dict[str, Output] = field(default_factory=dict)
    ends: dict[str, tuple[State, dict[str, Any]]] = field(default_factory=dict)
    results: list[StageResult] = field(default_factory=list)
    checked: bool = False

    def run(self, steps: Sequence[Step]) -> RunResult:
        """Run all steps in order, updating run.json after each."""
        if self.remote is not None:
            self.remote.share()
        self._report()
        for number, step in enumerate(steps, start=1):
            present = stage_folder(self.folder, number * 10, step)
            folder = renumber(self.folder, present, number * 10, step)
            self.monitor.begin_stage(folder.name, number)
            try:
                self.results.append(self._step(step, folder, steps[number:]))
            except ParaloomError as error:
                error.at(stage=folder.name)
                raise
            except (KeyboardInterrupt, RuntimeError) as error:
                if not is_interruption(error):
                    raise
                message = f"Interrupted in stage {folder.name}. Run the same again: it resumes from there."
                raise KeyboardInterrupt(message) from None
            self.monitor.end_stage(folder.name, self.results[-1].as_dict())
            self._report()
        return RunResult(self.folder, tuple(self.results))

    def _step(self, step: Step, folder: Path, later: Sequence[Step]) -> StageResult:
        state = state_of(step, self.pipeline, folder, self.outputs, self.remote)
        assert isinstance(state, State), "a step refers only to earlier ones, which are done"
        end, written, why = state.finished(), 0, ""
        if end is None:
            why = state.why()
            if why != "unfinished":
                state.manifest.put("begin", state.described)
            self._check_resources([step, *later])
            self._fetch_inputs(step)
            end, written = self._execute(step, state)
        elif isinstance(step.stage, Fit):
            commit_artifact(folder, end)
        self.outputs[step.name] = output_of(state, end, step.stage)
        self.ends[step.name] = state, end
        return _result(step, folder, end, written, why)

    def _check_resources(self, steps: Sequence[Step]) -> None:
        """Check, before the first stage that has work, that the workers of it and of those after it fit a machine."""
        if self.checked:
            return
        self.checked = True
        asking = [(s.name, s.stage) for s in steps if getattr(s.stage, "resources", ONE_CPU) != ONE_CPU]
        check_gpus({name: stage.resources for name, stage in asking if isinstance(stage, Fit)})
        if maps := {name: stage.resources for name, stage in asking if isinstance(stage, Map)}:
            self.engine.check(maps)

    def _fetch_inputs(self, step: Step) -> None:
        """Fetch what earlier stages made and a storage keeps, where this machine does not have it."""
        for name in {step.source, *step.references.values()} & self.ends.keys():
            state, end = self.ends[str(name)]
            state.manifest.fetch_output(end)

    def _elsewhere(self, step: Step, state: State) -> Elsewhere | None:
        """The input of a Map for workers that do not share a disk with this process."""
        if self.remote is None or self.engine.shares_disk:
            return None
        store = self.remote.store
        uploaded = load_object("paraloom.pipeline.transfer:uploaded")

        def files(reference: str | Path, content: str) -> Files:
            if not isinstance(reference, Path):
                earlier, end = self.ends[reference]
                if earlier.stored is not None:
                    return earlier.stored.output(end)
            whole: Files = uploaded(store, Path(reference), content)
            return whole

        assert step.source is not None and state.source is not None, "a Map has an input corpus"
        elsewhere: Elsewhere = load_object("paraloom.pipeline.remote_manifest:Elsewhere")(
            source=files(step.source, state.source.digest).objects,
            inputs={name: files(reference, state.described[name]) for name, reference in step.references.items()},
            paths={path: uploaded(store, path, path_digest(path)) for path in step.stage.files()},
        )
        return elsewhere

    def _execute(self, step: Step, state: State) -> execute.Closed:
        seeds = (self.pipeline.seed, step.name)
        match detached(step):
            case Source() as source:
                return execute.read(source, state, seeds, compressed=self.pipeline.compressed)
            case Map() as mapping:
                elsewhere = self._elsewhere(step, state)
                return execute.map_shards(mapping, state, seeds, self.engine, self.on_error, elsewhere)
            case Fit() as fitting:
                return execute.fit(fitting, state, seeds, self.engine)
        raise ConfigError(f"{type(step.stage).__name__} is not a Source, Map or Fit")

    def _report(self) -> None:
        results = {result.name: result for result in self.results}
        stages = []
        for step in self.pipeline.steps:
            configured = {"use": step.use, "version": step.stage.version, "configuration": step.stage.configuration()}
            outcome = results[step.name].as_dict() if step.name in results else {"name": step.name}
            stages.append({**outcome, **configured, "state": "done" if step.name in results else "to do"})
        report = {
            "name": self.pipeline.name,
            "seed": self.pipeline.seed,
            "versions": versions(),
            "digest": RunResult(self.folder, tuple(self.results)).digest,
            "stages": stages,
            "pipeline": redacted(self.pipeline.text),
        }
        write_report(self.folder, report)
        if self.remote is not None:
            self.remote.write_report()


def _result(step: Step, folder: Path, end: Mapping[str, Any], written: int, why: str) -> StageResult:
    return StageResult(
        name=step.name,
        folder=folder,
        kind=next(kind for kind, base in _KINDS.items() if isinstance(step.stage, base)),
        digest=end.get("output") or digest(end["files"]),
        counts=RowCounts(**end.get("counts", {})),
        figures=end.get("figures", {}),
        seconds=end["seconds"],
        memory=end["memory"],
        shards=end.get("shards", 0),
        written=written,
        why=why,
    )


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
