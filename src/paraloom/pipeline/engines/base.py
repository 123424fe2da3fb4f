"""Interface of an engine: call tasks somewhere and return their results, without knowing what they do."""

from __future__ import annotations

import gc
import os
import platform
import traceback
import warnings
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from paraloom.core.devices import gpu_count
from paraloom.core.errors import ParaloomError, RunError, is_interruption, system_errno
from paraloom.core.events import emit
from paraloom.core.optional import missing_extra
from paraloom.core.progress import ProgressCallback
from paraloom.core.resources import ONE_CPU, Resources
from paraloom.core.secrets import redacted
from paraloom.core.stage_cache import begin_stage
from paraloom.pipeline.memory import restart_peak

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Task(Protocol[Result_co]):
    """A picklable piece of work."""

    @property
    def stage(self) -> str: ...

    @property
    def file(self) -> str: ...

    @property
    def rows(self) -> int: ...

    def __call__(self, report: ProgressCallback, /) -> Result_co: ...


class Engine(Protocol):
    """Calls tasks on its workers. What a task returns never depends on the engine."""

    @property
    def shares_disk(self) -> bool: ...

    def check(self, needs: Mapping[str, Resources]) -> None:
        """Check, before any work, that the workers of some stages fit a machine."""

    def run(
        self, tasks: Iterable[Task[Result]], report: ProgressCallback, needs: Resources = ONE_CPU
    ) -> Generator[Result, None, None]:
        """Call the tasks, taking the next one whenever a worker is free."""

    def close(self) -> None:
        """Free what the engine holds."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """A result, or an error with its traceback as text; can be sent between processes."""

    result: Result | None = None
    error: ParaloomError | None = None
    trace: str = ""

    def get(self) -> Result:
        """The result; raises the error, with the worker's traceback as a note."""
        if self.error is not None:
            self.error.add_note(self.trace)
            raise self.error
        return self.result  # type: ignore[return-value]


def announce(task: Task[Result], machine: str | None = None) -> None:
    """Report that a worker, on this machine or another, begins a shard."""
    if task.rows:  # a training has none
        emit("shard_begin", stage=task.stage, shard=Path(task.file).name, machine=machine or platform.node())


def attempt(task: Task[Result], report: ProgressCallback) -> Outcome[Result]:
    """Call a task; whatever it raises but Ctrl-C is returned as a ParaloomError with stage and file."""
    try:
        return Outcome(result=task(report))
    except ParaloomError as error:
        error.at(stage=task.stage, file=task.file)
        return Outcome(error=error, trace=redacted(traceback.format_exc()))
    except Exception as error:
        if is_interruption(error):
            raise KeyboardInterrupt from None
        return Outcome(error=_named(error).at(stage=task.stage, file=task.file), trace=redacted(traceback.format_exc()))


def _named(error: Exception) -> ParaloomError:
    """An exception that the stage did not handle, as one of ours."""
    if isinstance(error, ImportError) and (missing := missing_extra(error)) is not None:
        return missing
    if isinstance(error, OSError):
        reason = f"{error.strerror or error}{f' ({error.filename})' if error.filename else ''}"
        return RunError(f"system error: {reason}", remedy="Fix that, and run again: finished shards are kept.")
    if (number := system_errno(error)) is not None:
        return RunError(
            f"system error: {os.strerror(number)} ({type(error).__name__}: {error})",
            remedy="Fix that, and run again: finished shards are kept.",
        )
    return RunError(
        f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
        remedy="This is a bug of the stage, not of the data: please report it. Finished shards are kept.",
    )


class Inline:
    """Calls the tasks in this process, one after another: for small jobs, debuggers, notebooks and tests."""

    shares_disk = True

    def check(self, needs: Mapping[str, Resources]) -> None:
        check_gpus(needs)

    def run(
        self, tasks: Iterable[Task[Result]], report: ProgressCallback, needs: Resources = ONE_CPU
    ) -> Generator[Result, None, None]:
        for task in tasks:
            announce(task)
            yield attempt(task, report).get()
        forget()

    def close(self) -> None:
        pass


def forget() -> None:
    """Free what was loaded for a stage, restart the peak of memory, and show each warning again in the next stage."""
    begin_stage("")
    gc.collect()
    restart_peak()
    warnings.simplefilter("default", append=True)  # Whatever it adds, it invalidates what was shown.


def check_gpus(needs: Mapping[str, Resources]) -> None:
    """Check that this machine has the GPUs that a worker of each stage asks for; raises RunError."""
    asking = {stage: resources for stage, resources in needs.items() if resources.gpus}
    if not asking:
        return
    count = gpu_count()
    for stage, resources in asking.items():
        if resources.gpus > count:
            raise RunError(
                f"a worker asks for {resources}; this machine has {count} GPU{'s' * (count != 1)}",
                stage=stage,
                remedy="Leave gpus out of the stage's resources, or run on a machine or a Ray cluster that has them.",
            )
