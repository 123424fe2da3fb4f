"""The engine of one machine: a crew of processes, each with one task at a time, so that a death has a name."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, parent_process
from typing import Any

from paraloom.core.arrow import start_without_pandas
from paraloom.core.errors import RunError
from paraloom.core.progress import ProgressCallback, disable_progress
from paraloom.pipeline.engines.base import Outcome, Result, Task, attempt

# Several workers with several threads each would fight for the cores; one thread a worker also makes sums of
# floats independent of the machine.  What the user has set stands.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

# glibc gives freed memory back to the system and gets it again at each batch of a decoder: a tenth of its time.
_MEMORY_KEPT = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}


class Local:
    """A process pool that lives as long as one stage, so that what its workers have loaded goes with it.

    workers: how many processes; all cores when None.  threads: leave the number of threads to the task, as a Fit,
    which has the machine to itself, wants it.
    """

    def __init__(self, workers: int | None = None, *, threads: bool = False) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.threads = threads

    def run(self, tasks: Iterable[Task[Result]], tell: ProgressCallback) -> Generator[Result, None, None]:
        """The results as they come; see Engine.  A worker is started when there is a task for it."""
        waiting = iter(tasks)
        crew: list[_Worker] = []
        idle: list[_Worker] = []
        finished: list[Outcome[Result]] = []
        try:
            while True:
                while idle or len(crew) < self.workers:
                    task = next(waiting, None)
                    if task is None:
                        break
                    if not idle:
                        crew.append(_Worker(self.threads))
                        idle.append(crew[-1])
                    idle.pop().begin(task)
                # Only now, with everybody at work again, for whoever asked may take his time.
                for outcome in finished:
                    yield outcome.get()
                finished.clear()
                busy = [worker for worker in crew if worker.task is not None]
                if not busy:
                    break
                ready = set(wait([each for worker in busy for each in worker.signs()]))
                for worker in busy:
                    if ready.intersection(worker.signs()):
                        try:
                            message = worker.receive()
                        except RunError:
                            for outcome in finished:
                                yield outcome.get()
                            raise
                        if isinstance(message, Outcome):
                            idle.append(worker)
                            finished.append(message)
                        else:
                            tell(message)
            for worker in crew:
                worker.dismiss()
        finally:
            for worker in crew:
                worker.stop()

    def close(self) -> None:
        """Nothing is held between stages."""


class _Worker:
    """One process and the pipe to it.  Invariant: `task` is what it is busy with, None when it waits for one."""

    def __init__(self, threads: bool) -> None:
        self.connection, far_end = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process: BaseProcess = context.Process(target=_serve, args=(far_end,), daemon=not threads)
        self.task: Task[Any] | None = None
        with _environment({} if threads else _ONE_THREAD | _MEMORY_KEPT), _interrupts_held():
            self.process.start()
        far_end.close()

    def begin(self, task: Task[Any]) -> None:
        self.task = task
        with suppress(ConnectionError):  # It died: `receive` will say so, with the task's name.
            self.connection.send(task)

    def signs(self) -> tuple[Connection, int]:
        """What becomes ready when the worker has something to say, or has died."""
        return self.connection, self.process.sentinel

    def receive(self) -> Outcome[Any] | Any:
        """The outcome of the task, or what it tells on its way; raises RunError when the worker is dead."""
        assert self.task is not None
        try:
            if not self.connection.poll() and not self.process.is_alive():
                raise EOFError
            message = self.connection.recv()
        except (EOFError, ConnectionError) as error:
            self.process.join()
            raise RunError(
                f"a worker died: {_cause(self.process.exitcode)}",
                stage=self.task.stage,
                file=self.task.file,
                remedy="Run again, with fewer workers if memory was short: finished shards are kept.",
            ) from error
        if isinstance(message, Outcome):
            self.task = None
        return message

    def dismiss(self) -> None:
        """Let it end by itself."""
        with suppress(ConnectionError):
            self.connection.send(None)
        self.process.join(5)

    def stop(self) -> None:
        """End it, whatever it does."""
        self.process.terminate()
        self.process.join(1)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.connection.close()


def _serve(connection: Connection) -> None:
    """The life of a worker: a task in, its outcome out, until there is None, or nobody, to send one."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    disable_progress()
    warnings.showwarning = _say  # type: ignore[assignment]
    start_without_pandas()
    with suppress(EOFError, ConnectionError):
        while True:
            try:
                task = connection.recv()
            except (ImportError, AttributeError) as error:
                connection.send(Outcome(error=_unknown(error)))
                continue
            if task is None:
                return
            connection.send(attempt(task, connection.send))


def _say(message: Warning | str, *place: object) -> None:
    """A warning as one line, without the place in our code, as the command gives its own."""
    print(f"paraloom: {message}", file=sys.stderr)


def _unknown(error: Exception) -> RunError:
    return RunError(
        f"a worker cannot import the stage ({error})",
        remedy="Stages live in modules that Python can import, not in a notebook or in the script that is run.",
    )


def _end_with_parent() -> None:
    """A run that is killed takes its workers along: an orphan must not go on writing into the run's folder."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _cause(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        name = signal.Signals(-exitcode).name
        hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
        return f"it was ended by {name}{hint}"
    return f"it ended with status {exitcode}"


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Environment variables for a process that is started in the block; those that are set already stand."""
    added = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Processes started in the block never see Ctrl-C: the one who started them does, and ends them."""
    # The tracker starts with the first process, and unblocks the signal as it does: it must be there before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
