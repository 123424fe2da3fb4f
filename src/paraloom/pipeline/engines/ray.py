"""The engine of a cluster: the same tasks on Ray, which schedules and retries them.

With a run folder at a URL, machines need no disk in common: workers fetch their input by its digest and commit what
they made. With a local run folder, it and whatever the pipeline reads must be at the same path on every machine.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from itertools import chain
from typing import Any

from paraloom.core.errors import MissingExtraError, RunError
from paraloom.core.progress import ProgressCallback
from paraloom.core.resources import ONE_CPU, Resources
from paraloom.pipeline.engines.base import Result, Task
from paraloom.pipeline.engines.local import worker_variables
from paraloom.pipeline.engines.ray_pool import Pool, reason_of, require
from paraloom.pipeline.store import versions

_CHECK_SECONDS = 120
"""Seconds that a machine may take to start a worker that says its versions."""

_COMPARED = ("paraloom", "python", "numpy", "pyarrow")
"""Packages that bytes depend on most."""


class Cluster:
    """Ray at `address`, or started on this machine with `workers` processors; connected when first needed."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtraError.for_verb("run --engine ray", "cluster") from error
        self.ray: Any = ray
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
            try:
                there = self.ray.get(reference, timeout=_CHECK_SECONDS)
            except self.ray.exceptions.TaskUnschedulableError:
                continue  # The machine has left the cluster.
            except self.ray.exceptions.RayError as error:
                if node["NodeID"] not in self._alive():
                    continue
                raise RunError(
                    f"Paraloom cannot be used on the machine {machine}: {reason_of(error)}",
                    remedy="Install the same packages on each machine of the cluster.",
                ) from error
            differing = [name for name in here if there.get(name) != here[name]]
            if differing:
                which = ", ".join(f"{name} {there.get(name)} there, {here[name]} here" for name in differing)
                raise RunError(
                    f"the machine {machine} has other versions: {which}",
                    remedy="Install the same packages on each machine: bytes depend on them.",
                )

    def _alive(self) -> set[str]:
        return {node["NodeID"] for node in self.ray.nodes() if node["Alive"]}


def _versions() -> dict[str, str]:
    installed = versions()
    return {name: installed[name] for name in _COMPARED if name in installed}
