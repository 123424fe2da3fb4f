"""Before its first task, the Ray engine compares versions on the machines of a cluster."""

from __future__ import annotations

import importlib.metadata
from types import SimpleNamespace
from typing import Any

import pytest

from paraloom.core.errors import RunError
from paraloom.pipeline.engines.ray import Cluster

ray = pytest.importorskip("ray", reason="ray is not installed")


class FakeRay:
    """A cluster whose machines answer as they are asked to."""

    exceptions = ray.exceptions

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked = -1

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 24.0}

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": f"{n}" * 56, "Alive": answer is not None, "NodeManagerHostname": f"node{n}"}
            for n, answer in enumerate(self.answers)
        ]

    def remote(self, **options: object) -> Any:
        def ask(function: Any) -> SimpleNamespace:
            def remote() -> int:
                self.asked += 1
                return self.asked

            self.function = function
            return SimpleNamespace(options=lambda **strategy: SimpleNamespace(remote=remote))

        return ask

    def get(self, number: int, timeout: float) -> Any:
        answer = self.answers[number]
        if isinstance(answer, Exception):
            raise answer
        return {**self.function(), **answer}  # type: ignore[dict-item]


def cluster(*answers: object) -> Cluster:
    """The engine at an address where machines answer so."""
    engine = Cluster(None, "10.0.0.1:6379")
    engine.ray = FakeRay(*answers)
    return engine


def test_the_same_versions() -> None:
    engine = cluster({}, {})
    engine._begin()
    assert engine.workers == 24
    assert not engine.shares_disk


def test_other_versions() -> None:
    with pytest.raises(RunError) as failed:
        cluster({}, {"pyarrow": "1.0"})._begin()
    here = importlib.metadata.version("pyarrow")
    assert failed.value.what == f"the machine node1 has other versions: pyarrow 1.0 there, {here} here"


def test_a_machine_that_has_left() -> None:
    cluster(ray.exceptions.TaskUnschedulableError("gone"), {})._begin()


def test_a_machine_without_paraloom() -> None:
    with pytest.raises(RunError, match="cannot be used on the machine node0: no module"):
        cluster(ray.exceptions.RayError("no module named paraloom"))._begin()
