"""The engine of a cluster: the same tasks on Ray, which schedules and retries them.

With a run folder at a URL, machines need no disk in common: workers fetch their input by its digest and commit what
they made. With a local run folder, it and whatever the pipeline reads must be at the same path on every machine.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from itertools import chain, islice
from types import ModuleType
from typing import Any, Generic

from paraloom.core.devices import DEVICE_VARIABLE
from paraloom.core.errors import RunError, imports_of_extra
from paraloom.core.progress import ProgressCallback, disable_progress
from paraloom.core.resources import ONE_CPU, Resources, describe_machine
from paraloom.pipeline.engines.base import Outcome, Result, Task, announce, attempt
from paraloom.pipeline.engines.local import worker_variables
from paraloom.pipeline.store import versions

ATTEMPTS = 3  # Number of times that a shard whose workers crash, or a worker that cannot be started, is begun
_PATIENCE = 120.0  # Seconds to wait for a machine that can hold a worker, after the last one has left the cluster
_RECOUNT = 5.0  # Seconds between two looks at which machines the cluster has

_SHOWN_MACHINES = 5


class Worker:
    """Actor that runs tasks in a process of its own."""

    def __init__(self) -> None:
        disable_progress()

    def ready(self) -> str:
        """Return the name of the machine, which shows that the process has started."""
        import ray

        # Several nodes of a cluster may be on one machine.
        return f"{platform.node()}/{ray.get_runtime_context().get_node_id()[:6]}"

    def call(self, task: Task[Result]) -> Outcome[Result]:
        """Call a task; what it loads is kept for the next ones of its stage."""
        return attempt(task, lambda rows: None)


class Pool(Generic[Result]):
    """Actors for a stage's tasks, replaced when they crash; at most two unfinished tasks for each worker."""

    def __init__(self, ray: ModuleType, stage: str, needs: Resources, max_workers: int | None = None) -> None:
        self.ray = ray
        self.stage = stage
        self.needs = needs
        self.max_workers = max_workers
        self.starting: dict[Any, Any] = {}  # reference → actor
        self.idle: list[Any] = []
        self.machines: dict[Any, str] = {}
        self.running: dict[Any, tuple[Any, Task[Result]]] = {}
        self.queue: deque[Task[Result]] = deque()
        self.attempts: Counter[int] = Counter()
        self.failed_starts = 0
        self.size = 0
        self.counted_at = float("-inf")
        variables = worker_variables() | ({DEVICE_VARIABLE: "cuda"} if needs.gpus else {})
        self.actor = ray.remote(Worker).options(
            num_cpus=needs.cpus,
            num_gpus=needs.gpus,
            memory=needs.memory_bytes or None,
            max_restarts=0,
            max_task_retries=0,
            runtime_env={"env_vars": variables},
        )

    def run(self, tasks: Iterable[Task[Result]], report: ProgressCallback) -> Generator[Result, None, None]:
        """The results as they come; see `Engine.run`. The actors end with it."""
        waiting = iter(tasks)
        finished: list[Outcome[Result]] = []
        try:
            while True:
                self._count()
                self.queue.extend(islice(waiting, max(0, self.size - len(self.queue))))
                self._assign()
                # Only now, with all workers busy again, because the caller may take its time.
                for outcome in finished:
                    yield outcome.get()
                finished.clear()
                if not self.queue and not self.running:
                    return
                self._start()
                ready, _ = self.ray.wait([*self.running, *self.starting], num_returns=1, timeout=_PATIENCE)
                if not ready and not self.running:
                    require(self.ray, self.stage, self.needs)
                for reference in ready:
                    if reference in self.starting:
                        self._admit(reference)
                    elif (done := self._collect(reference)) is not None:
                        outcome, rows = done
                        report(rows)
                        finished.append(outcome)
        finally:
            for actor in [*self.starting.values(), *self.idle, *(actor for actor, _ in self.running.values())]:
                self.ray.kill(actor)

    def _count(self) -> None:
        """Count, now and then, how many workers the cluster holds: machines come and go."""
        if time.monotonic() - self.counted_at < _RECOUNT:
            return
        self.counted_at = time.monotonic()
        fitting = max(1, sum(self.needs.workers_on(machine) for machine in machines(self.ray)))
        self.size = fitting if self.max_workers is None else min(fitting, self.max_workers)

    def _start(self) -> None:
        """Start workers for the tasks that wait for one; those for which a machine is still too busy come later."""
        present = len(self.starting) + len(self.idle) + len(self.running)
        for _ in range(min(self.size - present, len(self.queue) - len(self.starting))):
            actor = self.actor.remote()
            self.starting[actor.ready.remote()] = actor

    def _assign(self) -> None:
        while self.idle and self.queue:
            actor, task = self.idle.pop(), self.queue.popleft()
            self.running[actor.call.remote(task)] = actor, task
            announce(task, self.machines[actor])

    def _admit(self, reference: Any) -> None:
        """Take a worker that has started, or note that it could not."""
        actor = self.starting.pop(reference)
        try:
            self.machines[actor] = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            self.failed_starts += 1
            if self.failed_starts == ATTEMPTS:
                raise RunError(
                    f"a worker cannot be started: {reason_of(error)}",
                    stage=self.stage,
                    remedy="See the logs of Ray on that machine (/tmp/ray/session_latest/logs).",
                ) from error
        else:
            self.failed_starts = 0
            self.idle.append(actor)

    def _collect(self, reference: Any) -> tuple[Outcome[Result], int] | None:
        """The outcome of a task and its rows, or None if its worker crashed: then it is done again."""
        actor, task = self.running.pop(reference)
        try:
            outcome: Outcome[Result] = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            self.idle.append(actor)
            raise RunError(
                f"a worker cannot call the stage: {reason_of(error.cause)}",
                stage=task.stage,
                file=task.file,
                remedy="Define the stage in a module that Python can import on each machine.",
            ) from error
        except self.ray.exceptions.RayError as error:
            self.ray.kill(actor)
            self.attempts[id(task)] += 1
            if self.attempts[id(task)] == ATTEMPTS:
                raise RunError(
                    f"a worker crashed three times: {reason_of(error)}",
                    stage=task.stage,
                    file=task.file,
                    remedy="Run again, with fewer workers if memory was short: finished shards are kept.",
                ) from error
            self.queue.appendleft(task)
            return None
        self.idle.append(actor)
        self.attempts.pop(id(task), None)
        return outcome, task.rows


def machines(ray: ModuleType) -> list[Mapping[str, float]]:
    return [node.get("Resources", {}) for node in ray.nodes() if node["Alive"]]


def require(ray: ModuleType, stage: str, needs: Resources) -> None:
    """Check that a machine of the cluster can hold a worker of a stage, when it is not busy."""
    present = machines(ray)
    if any(needs.workers_on(machine) for machine in present):
        return
    kinds = Counter(describe_machine(machine) for machine in present).most_common(_SHOWN_MACHINES)
    described = "; ".join(f"{count} × {kind}" if count > 1 else kind for kind, count in kinds) or "none"
    raise RunError(
        f"no machine of the Ray cluster can hold a worker, which asks for {needs}; its machines have: {described}",
        stage=stage,
        remedy="Add such a machine to the cluster, or ask for less: key 'resources' of the stage.",
    )


def reason_of(error: Exception) -> str:
    """The first line of an error of Ray."""
    first = str(error).split("\n")[0].removeprefix("System error: ")
    return " ".join(first.split()).rstrip(".") or type(error).__name__


_CHECK_SECONDS = 120  # Seconds that a machine may take to start a worker that says its versions
_COMPARED = ("paraloom", "python", "numpy", "pyarrow")  # Packages that bytes depend on most


class Cluster:
    """Ray at `address`, or started on this machine with `workers` processors; connected when first needed."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        with imports_of_extra("cluster", "run --engine ray"):
            import ray
        self.ray: ModuleType = ray
        self.workers = workers or (os.cpu_count() or 1)
        self.counted = workers is not None
        self.address = address
        self.ours = False
        self.checked = False

    @property
    def shares_disk(self) -> bool:
        """True if Ray is started here; the machines of another cluster need not share a disk."""
        return self.address is None

    def check(self, needs: Mapping[str, Resources]) -> None:
        """Check that a machine of the cluster can hold a worker of each stage; see `Engine`."""
        self._begin()
        for stage, resources in needs.items():
            require(self.ray, stage, resources)

    def run(
        self, tasks: Iterable[Task[Result]], report: ProgressCallback, needs: Resources = ONE_CPU
    ) -> Generator[Result, None, None]:
        """The results as they come; see `Engine`. Workers live as long as the stage, with what they have loaded."""
        waiting = iter(tasks)
        first = next(waiting, None)
        if first is None:
            return
        self._begin()
        require(self.ray, first.stage, needs)
        pool: Pool[Result] = Pool(self.ray, first.stage, needs, self.workers if self.counted else None)
        with closing(pool.run(chain([first], waiting), report)) as results:
            yield from results

    def close(self) -> None:
        """Stop Ray, if it was started here."""
        if self.ours:
            self.ray.shutdown()
            self.ours = False

    def _begin(self) -> None:
        if self.ray.is_initialized():
            self._check_machines()
            return
        # Its workers import the stages as this process does.
        variables = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **worker_variables()}
        local = {"num_cpus": self.workers, "include_dashboard": False} if self.address is None else {}
        try:
            self.ray.init(
                address=self.address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": variables} if self.address is None else None,
                **local,
            )
        except Exception as error:  # Ray raises bare ones.
            raise RunError(
                f"Ray does not answer at {self.address}" if self.address else f"Ray cannot be started here ({error})",
                remedy="Check the address, and that Ray runs there; --engine local does not need Ray.",
            ) from error
        self.ours = True
        self._check_machines()

    def _check_machines(self) -> None:
        """Count the processors of a cluster, and compare versions on its machines, once."""
        if self.address is None or self.checked:
            return
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self.checked = True
        if not self.counted:
            self.workers = max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        here = _versions()
        call = self.ray.remote(num_cpus=0, max_retries=0)(_versions)
        nodes = [node for node in self.ray.nodes() if node["Alive"]]
        strategies = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=False) for node in nodes]
        asked = [call.options(scheduling_strategy=strategy).remote() for strategy in strategies]
        for node, reference in zip(nodes, asked, strict=True):
            machine = node.get("NodeManagerHostname") or node["NodeID"]
            there = self._answer(reference, node["NodeID"], machine)
            which = "" if there is None else _differing(there, here)
            if which:
                raise RunError(
                    f"the machine {machine} has other versions: {which}",
                    remedy="Install the same packages on each machine: bytes depend on them.",
                )

    def _answer(self, reference: Any, node: str, machine: str) -> dict[str, str] | None:
        """What a machine says of its versions; None if it has left the cluster."""
        try:
            versions: dict[str, str] = self.ray.get(reference, timeout=_CHECK_SECONDS)
            return versions
        except self.ray.exceptions.TaskUnschedulableError:
            return None
        except self.ray.exceptions.RayError as error:
            if node not in {one["NodeID"] for one in self.ray.nodes() if one["Alive"]}:
                return None
            raise RunError(
                f"Paraloom cannot be used on the machine {machine}: {reason_of(error)}",
                remedy="Install the same packages on each machine of the cluster.",
            ) from error


def _differing(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """The packages whose versions differ on two machines, in words."""
    names = [name for name in here if there.get(name) != here[name]]
    return ", ".join(f"{name} {there.get(name)} there, {here[name]} here" for name in names)


def _versions() -> dict[str, str]:
    installed = versions()
    return {name: installed[name] for name in _COMPARED if name in installed}
