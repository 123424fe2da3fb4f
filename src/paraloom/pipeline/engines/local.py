"""The engine of one machine: worker processes, each with one task at a time, so that a crash can be attributed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, parent_process
from multiprocessing.reduction import ForkingPickler
from typing import Any

from paraloom.core.arrow import start_without_pandas
from paraloom.core.devices import DEVICE_VARIABLE, gpu_count, main_memory
from paraloom.core.errors import RunError
from paraloom.core.progress import ProgressCallback, disable_progress
from paraloom.core.resources import ONE_CPU, Resources
from paraloom.pipeline.engines.base import Outcome, Result, Task, announce, attempt, check_gpus, forget

# Several workers with several threads each would compete for the cores; one thread per worker also makes sums of
# floats independent of the machine. What the user has set is kept.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

# glibc returns freed memory to the system and requests it again at each batch of a decoder: a tenth of its time. So
# does the memory pool that pyarrow prefers.
MEMORY_KEPT = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


# Most workers end at once; one with requests to an endpoint under way waits for their answers.
_END_SECONDS = 10

# What is sent to a worker at the end of a stage, in place of a task.
_REST = "rest"


def _received(workers: Sequence[_Worker], report: ProgressCallback) -> Iterator[tuple[_Worker, Outcome[Any]]]:
    """Wait for workers: the outcomes of those that are done; what others say is reported."""
    ready = set(wait([handle for worker in workers for handle in worker.handles()]))
    for worker in workers:
        if ready.intersection(worker.handles()):
            message = worker.receive()
            if isinstance(message, Outcome):
                yield worker, message
            else:
                report(message)


class Local:
    """A process pool. Between two stages its workers rest, without the models that they have loaded, until `close`."""

    shares_disk = True

    def __init__(self, workers: int | None = None, *, threads: bool = False) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.counted = workers is not None
        self.threads = threads
        self._resting: list[_Worker] = []

    def check(self, needs: Mapping[str, Resources]) -> None:
        """Check that this machine has the GPUs that each stage asks for; see `Engine`."""
        check_gpus(needs)

    def run(
        self, tasks: Iterable[Task[Result]], report: ProgressCallback, needs: Resources = ONE_CPU
    ) -> Generator[Result, None, None]:
        """The results as they come; see `Engine`. A worker is started when there is a task for it."""
        waiting = iter(tasks)
        workers: list[_Worker] = []
        idle: list[_Worker] = []
        finished: list[Outcome[Result]] = []
        count = self._count(needs)
        try:
            while True:
                while idle or len(workers) < count:
                    task = next(waiting, None)
                    if task is None:
                        break
                    self._begin(task, workers, idle, needs)
                # Only now, with all workers busy again, because the caller may take its time.
                yield from map(Outcome.get, finished)
                finished.clear()
                busy = [worker for worker in workers if worker.task is not None]
                if not busy:
                    break
                try:
                    for worker, outcome in _received(busy, report):
                        idle.append(worker)
                        finished.append(outcome)
                except RunError:
                    yield from map(Outcome.get, finished)
                    raise
            if self.threads or needs.gpus:
                _dismiss(workers)
            else:
                while workers:
                    workers[-1].rest()
                    self._resting.append(workers.pop())
        finally:
            for worker in workers:
                worker.process.terminate()
            for worker in workers:
                worker.stop()

    def _begin(self, task: Task[Result], workers: list[_Worker], idle: list[_Worker], needs: Resources) -> None:
        if not idle:
            workers.append(self._rested_or_new(_is_of_script(task), needs, len(workers)))
            idle.append(workers[-1])
        idle.pop().begin(task)
        announce(task)

    def close(self) -> None:
        """End the workers that rest. The next `run` starts new ones."""
        resting, self._resting = self._resting, []
        _dismiss(resting)

    def _rested_or_new(self, imports_script: bool, needs: Resources, number: int) -> _Worker:
        """A worker for a task of the script that is run, or of a module; with GPUs of its own, it is a new one."""
        for worker in self._resting if not needs.gpus else []:
            if worker.imports_script == imports_script and worker.process.is_alive():
                self._resting.remove(worker)
                return worker
        return _Worker(self.threads, _gpu_variables(needs, number), imports_script)

    def _count(self, needs: Resources) -> int:
        """Number of workers that fit this machine, which `workers` bounds if it was named."""
        # More workers than processors are started where that many were named.
        processors = max(self.workers, os.cpu_count() or 1)
        machine = {"CPU": processors, "memory": main_memory(), "GPU": gpu_count() if needs.gpus else 0}
        count = max(1, needs.workers_on(machine))
        return min(count, self.workers) if self.counted else count


def _dismiss(workers: Iterable[_Worker]) -> None:
    """Let workers end by themselves, all at the same time."""
    for worker in workers:
        worker.dismiss()
    for worker in workers:
        worker.process.join(5)
        worker.stop()


class _Worker:
    """One process and the pipe to it. Invariant: `task` is what it is busy with, None while it waits."""

    def __init__(self, threads: bool, gpus: Mapping[str, str], imports_script: bool) -> None:
        self.connection, far_end = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process: BaseProcess = context.Process(target=_serve, args=(far_end,), daemon=not threads)
        self.task: Task[Any] | None = None
        self.imports_script = imports_script
        script = nullcontext() if imports_script else _script_hidden()
        with _environment({**({} if threads else worker_variables()), **gpus}), _interrupts_held(), script:
            self.process.start()
        far_end.close()

    def begin(self, task: Task[Any]) -> None:
        self.task = task
        with suppress(ConnectionError):  # It crashed: `receive` will say so, with the task's name.
            self.connection.send(task)

    def handles(self) -> tuple[Connection, int]:
        """Handle that becomes ready when the worker has sent something, or has crashed."""
        return self.connection, self.process.sentinel

    def receive(self) -> Outcome[Any] | Any:
        """The outcome of the task, or what it reports on its way; RunError if the worker crashed."""
        assert self.task is not None
        try:
            if not self.connection.poll() and not self.process.is_alive():
                raise EOFError
            message = self.connection.recv()
        except (EOFError, ConnectionError) as error:
            self.process.join()
            raise RunError(
                f"a worker crashed: {_cause(self.process.exitcode)}",
                stage=self.task.stage,
                file=self.task.file,
                remedy="Run again, with fewer workers if memory was short: finished shards are kept.",
            ) from error
        if isinstance(message, Outcome):
            self.task = None
        return message

    def rest(self) -> None:
        """Let it forget what it has loaded, and wait."""
        with suppress(ConnectionError):
            self.connection.send(_REST)

    def dismiss(self) -> None:
        with suppress(ConnectionError):
            self.connection.send(None)

    def stop(self) -> None:
        self.process.terminate()
        self.process.join(_END_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.connection.close()


def _serve(connection: Connection) -> None:
    """Main loop of a worker: receive a task, send its outcome, until None comes or the pipe is closed."""
    disable_progress()
    warnings.showwarning = _print_warning  # type: ignore[assignment]
    start_without_pandas()
    with _ending_with_parent(), suppress(EOFError, ConnectionError):
        while True:
            try:
                task = connection.recv()
            except (ImportError, AttributeError) as error:
                connection.send(Outcome(error=_unknown(error)))
                continue
            if task is None:
                return
            if task == _REST:
                forget()
                continue
            connection.send(attempt(task, connection.send))


def _print_warning(message: Warning | str, *location: object) -> None:
    """Print a warning as one line, without its location in our code."""
    print(f"paraloom: {message}", file=sys.stderr)


def _unknown(error: Exception) -> RunError:
    return RunError(
        f"a worker cannot import the stage ({error})",
        remedy='Define it in a module that Python can import, or run the pipeline below `if __name__ == "__main__":`.',
    )


@contextmanager
def _ending_with_parent() -> Iterator[None]:
    """End this process when its parent ends: an orphan must not keep writing into the run's folder."""
    parent = parent_process()
    if parent is None:
        yield
        return
    done, finish = multiprocessing.Pipe(duplex=False)

    def watch() -> None:
        if parent.sentinel in wait([parent.sentinel, done]):
            os._exit(1)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        # Nanobind, and so DuckDB, prints a page of leaks if a thread is still alive while Python shuts down.
        finish.close()
        thread.join()
        done.close()


def _cause(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        name = signal.Signals(-exitcode).name
        hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
        return f"it was ended by {name}{hint}"
    return f"it ended with status {exitcode}"


def _is_of_script(task: Task[Any]) -> bool:
    """True if a task has objects whose classes are defined in the script that is run."""
    return b"__main__" in bytes(ForkingPickler.dumps(task))


@contextmanager
def _script_hidden() -> Iterator[None]:
    """Processes started in the block do not run the script again, so it needs no ``if __name__ == "__main__":``."""
    main = sys.modules["__main__"]
    hidden = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    for name in hidden:
        setattr(main, name, None)
    try:
        yield
    finally:
        for name, value in hidden.items():
            setattr(main, name, value)


def worker_variables() -> dict[str, str]:
    """Environment of a worker: one thread, memory kept, and what the user has set of that."""
    defaults = ONE_THREAD | MEMORY_KEPT
    return {**defaults, **_present(defaults)}


def _present(names: Iterable[str]) -> dict[str, str]:
    return {name: os.environ[name] for name in names if name in os.environ}


def _gpu_variables(needs: Resources, worker: int) -> dict[str, str]:
    """The environment of a worker that sees its own GPUs only, on which its translators run."""
    numbers = needs.gpu_numbers(worker)
    if not numbers:
        return {}
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    names = visible or [str(number) for number in range(numbers.stop)]
    return {"CUDA_VISIBLE_DEVICES": ",".join(names[number] for number in numbers), DEVICE_VARIABLE: "cuda"}


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = _present(variables)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Processes started in the block never receive Ctrl-C: their parent does, and ends them."""
    # The tracker starts with the first process, and unblocks the signal as it does: it must be there before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
