"""What an engine does: calls tasks somewhere and hands back their results.  It knows nothing of what they are."""

from __future__ import annotations

import traceback
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from paraloom.core.errors import ParaloomError, RunError
from paraloom.core.progress import ProgressCallback

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Task(Protocol[Result_co]):
    """A piece of work that can be pickled.  stage, file: its place, for errors.  rows: its size, for the bar."""

    @property
    def stage(self) -> str: ...

    @property
    def file(self) -> str: ...

    @property
    def rows(self) -> int: ...

    def __call__(self, tell: ProgressCallback, /) -> Result_co: ...


class Engine(Protocol):
    """Calls tasks, a few at a time, wherever it has hands.  What a task returns never depends on the engine."""

    def run(self, tasks: Iterable[Task[Result]], tell: ProgressCallback) -> Generator[Result, None, None]:
        """The results, each as soon as it is there, in any order; tasks are drawn from `tasks` as hands get free.

        Raises the first task's error, or RunError when a worker died, after all hands have been stopped.
        """

    def close(self) -> None:
        """Give back what the engine holds."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """A result, or the error instead of it with its traceback as text; crosses process borders."""

    result: Result | None = None
    error: ParaloomError | None = None
    trace: str = ""

    def get(self) -> Result:
        """The result; raises the error, with the far side's traceback as a note."""
        if self.error is not None:
            self.error.add_note(self.trace)
            raise self.error
        return self.result  # type: ignore[return-value]


def attempt(task: Task[Result], tell: ProgressCallback) -> Outcome[Result]:
    """Call a task; whatever it raises comes back as an error of ours that knows its place."""
    try:
        return Outcome(result=task(tell))
    except ParaloomError as error:
        error.at(stage=task.stage, file=task.file)
        return Outcome(error=error, trace=traceback.format_exc())
    except Exception as error:
        return Outcome(error=_named(error).at(stage=task.stage, file=task.file), trace=traceback.format_exc())


def _named(error: Exception) -> RunError:
    """What a stage, or something below it, did not foresee, as an error of ours."""
    if isinstance(error, OSError):
        reason = f"{error.strerror or error}{f' ({error.filename})' if error.filename else ''}"
        return RunError(f"the system refuses: {reason}", remedy="Mend that, and run again: finished shards are kept.")
    return RunError(
        f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
        remedy="This is a fault of the stage, not of the data: please report it.  Finished shards are kept.",
    )


class Inline:
    """Calls the tasks in this very process, one after another: for debuggers, notebooks and small tests."""

    def run(self, tasks: Iterable[Task[Result]], tell: ProgressCallback) -> Generator[Result, None, None]:
        for task in tasks:
            yield attempt(task, tell).get()

    def close(self) -> None:
        pass
