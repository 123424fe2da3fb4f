"""Stages on a Ray cluster: an actor loads a model once, crashes are survived, requests that nothing can hold fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from processes import environment
from toy_runs import contents, marks_in, run, toml
from toy_stages import Square

from paraloom.core.devices import parse_device
from paraloom.core.errors import RunError
from paraloom.core.resources import Resources
from paraloom.pipeline.engines.ray import Cluster as RayEngine

ray = pytest.importorskip("ray", reason="ray is not installed")
pytestmark = pytest.mark.slow

COUNT = toml({"use": "Count", "sentences": 320})
HEAVY = '[[stage]]\nname = "heavy"\nuse = "toy_stages:Heavy"\n'


class Machines:
    """A cluster of a machine with two processors and one with two GPUs that are only claimed to be there."""

    def __init__(self, marks: Path) -> None:
        from ray.cluster_utils import Cluster

        self.marks = marks
        self.cluster = Cluster()
        self.cluster.add_node(num_cpus=0, include_dashboard=False, env_vars={"TOY_MARKS": str(marks)})
        self.add(num_cpus=2, num_gpus=0)
        self.with_gpus = self.add(num_cpus=2, num_gpus=2)

    def add(self, **resources: int) -> Any:
        """Another machine."""
        return self.cluster.add_node(**resources, env_vars={"TOY_MARKS": str(self.marks)})

    def heavy(self, pattern: str = "heavy") -> list[list[str]]:
        """The marks of the heavy stage: process, threads, GPUs, device."""
        return [mark.split()[1:] for mark in marks_in(self.marks) if mark.startswith(pattern)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """The machines, for all tests: starting them takes longer than most of what runs on them."""
    marks = tmp_path_factory.mktemp("marks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
        patch.delenv("OMP_NUM_THREADS", raising=False)
        patch.setenv("TOY_MARKS", str(marks))
        try:
            machines = Machines(marks)
        except Exception as error:
            pytest.skip(f"a Ray cluster cannot be started here: {error}")
        yield machines
        ray.shutdown()
        machines.cluster.shutdown()


@pytest.fixture
def machines(cluster: Machines) -> Machines:
    """The machines, without the marks of an earlier test."""
    for path in cluster.marks.iterdir():
        path.unlink()
    return cluster


def on_ray(text: str, folder: Path, machines: Machines, **options: Any) -> Any:
    """Run a pipeline on the cluster."""
    return run(text, folder, engine="ray", address=machines.cluster.address, **options)


def test_an_actor_loads_a_model_once(machines: Machines, tmp_path: Path) -> None:
    """Eight shards, two actors at most, a model each; one thread even if a worker has two processors."""
    text = COUNT + HEAVY + "delay = 0.1\nresources = { cpus = 2 }\n"
    there = on_ray(text, tmp_path / "there", machines)
    heavy = machines.heavy()
    assert len(heavy) == 8
    processes = {process for process, *_ in heavy}
    assert len(processes) <= 2
    assert sorted(process for _, process in machines.heavy("load")) == sorted(processes)
    assert {threads for _, threads, *_ in heavy} == {"OMP_NUM_THREADS=1"}
    here = run(COUNT + HEAVY, tmp_path / "here")
    assert there.digest == here.digest
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_an_actor_has_a_gpu_of_its_own(machines: Machines, tmp_path: Path) -> None:
    text = COUNT + HEAVY + "delay = 0.3\nresources = { gpus = 1 }\n"
    there = on_ray(text, tmp_path / "there", machines)
    seen = {process: (gpus, device) for process, _, gpus, device in machines.heavy()}
    assert sorted(seen.values()) == [
        ("CUDA_VISIBLE_DEVICES=0", "PARALOOM_DEVICE=cuda"),
        ("CUDA_VISIBLE_DEVICES=1", "PARALOOM_DEVICE=cuda"),
    ]
    assert there.digest == run(COUNT + HEAVY, tmp_path / "here").digest
    # Whichever GPU it is, the worker sees one, with the number 0.
    assert str(parse_device("cuda", gpus=1)) == str(parse_device("auto", gpus=1)) == "cuda"


@pytest.mark.parametrize(
    ("resources", "asked"),
    [
        ("gpus = 3", "1 CPU and 3 GPUs"),
        ("cpus = 3", "3 CPUs"),  # the cluster has four, but not on one machine
        ('memory = "90 TB"', "1 CPU and 90,000 GB of memory"),
    ],
)
def test_what_no_machine_can_hold(resources: str, asked: str, machines: Machines, tmp_path: Path) -> None:
    """An error that says what is asked for and what there is, before the stages before it."""
    text = COUNT + '[[stage]]\nname = "upper"\nuse = "toy_stages:Upper"\n' + HEAVY + f"resources = {{ {resources} }}\n"
    with pytest.raises(RunError) as raised:
        on_ray(text, tmp_path / "run", machines)
    assert raised.value.stage == "heavy"
    assert f"can hold a worker, which asks for {asked}; its machines have: " in raised.value.what
    assert "2 CPUs, 2 GPUs and " in raised.value.what
    assert not marks_in(machines.marks)


def test_an_actor_crashes(machines: Machines, tmp_path: Path) -> None:
    """Its shard is done again by another one."""
    text = COUNT + HEAVY + "crash_at = 100\nresources = { gpus = 1 }\n"
    there = on_ray(text, tmp_path / "there", machines)
    assert (machines.marks / "crashed-heavy").exists()
    assert len(machines.heavy()) == 9
    assert there.digest == run(text.replace("resources", "#"), tmp_path / "here").digest


def test_a_shard_that_crashes_each_worker(machines: Machines, tmp_path: Path) -> None:
    text = COUNT + '[[stage]]\nname = "faulty"\nuse = "toy_stages:Faulty"\nhow = "kill"\n'
    with pytest.raises(RunError, match="a worker crashed three times") as raised:
        on_ray(text, tmp_path / "run", machines)
    assert raised.value.file is not None
    assert raised.value.file.endswith("part-00001.parquet")


def test_the_last_machine_with_gpus_leaves(machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while without one that can hold a worker, the run says so."""
    monkeypatch.setattr("paraloom.pipeline.engines.ray._PATIENCE", 3.0)
    text = COUNT + HEAVY + "delay = 2.0\nresources = { gpus = 2 }\n"

    def leave() -> None:
        while not machines.heavy():
            time.sleep(0.1)
        machines.cluster.remove_node(machines.with_gpus, allow_graceful=False)

    thread = threading.Thread(target=leave)
    thread.start()
    with pytest.raises(RunError, match="no machine of the Ray cluster can hold a worker"):
        on_ray(text, tmp_path / "run", machines)
    thread.join()
    machines.with_gpus = machines.add(num_cpus=2, num_gpus=2)


def test_tasks_are_taken_as_workers_are_free(machines: Machines) -> None:
    """However many tasks there are, two for a worker are taken at most before the caller takes a result."""
    engine = RayEngine(None, machines.cluster.address)
    taken: list[int] = []

    def tasks() -> Iterator[Square]:
        for number in range(100):
            taken.append(number)
            yield Square(number)

    with closing(engine), closing(engine.run(tasks(), lambda rows: None, Resources(cpus=2))) as results:
        assert next(results) in (0, 1, 4, 9)  # two workers, of which one may have begun first
        assert len(taken) <= 4
        assert all(next(results) <= 36 for _ in range(3))
        assert len(taken) <= 7


class Unknown(Square):
    """A task of a module that workers cannot import."""


def test_a_task_that_workers_cannot_import(machines: Machines) -> None:
    engine = RayEngine(None, machines.cluster.address)
    with closing(engine), pytest.raises(RunError, match="a worker cannot call the stage: No module named") as raised:
        list(engine.run([Unknown(1)], lambda rows: None))
    assert raised.value.stage == "squares"
