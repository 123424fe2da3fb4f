"""Stages say what a worker needs: in TOML, outside of digests, on the local engine and on this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_runs import marks_in, run, toml

from paraloom.core.errors import ConfigError, RunError
from paraloom.core.resources import ONE_CPU, Resources
from paraloom.core.stage import Fit, Map
from paraloom.pipeline.engines import local
from paraloom.pipeline.engines.local import Local
from paraloom.pipeline.toml import format_pipeline, parse_pipeline

COUNT = toml({"use": "Count", "sentences": 160})
HEAVY = '[[stage]]\nuse = "toy_stages:Heavy"\n'


def resources_of(text: str) -> list[Resources]:
    """What workers of the stages of a pipeline need."""
    steps = parse_pipeline(text).steps
    return [step.stage.resources for step in steps if isinstance(step.stage, (Map, Fit))]


def test_in_toml() -> None:
    """As an inline table, as a table of its own, and not at all."""
    text = COUNT + HEAVY + 'resources = { cpus = 2, gpus = 1, memory = "8 GB" }\n'
    text += HEAVY + 'name = "b"\n[stage.resources]\ngpus = 0.5\n' + HEAVY + 'name = "c"\n'
    asked = [Resources(cpus=2, gpus=1, memory=8 * 10**9), Resources(gpus=0.5), ONE_CPU]
    assert resources_of(text) == asked
    assert resources_of(format_pipeline(parse_pipeline(text))) == asked


WRONG = [
    ("{ gpu = 1 }", "key 'resources': unknown key 'gpu'; did you mean 'gpus'?"),
    ("{ cpus = -2 }", "key 'resources': key 'cpus' must be more than 0, not -2"),
    (
        '{ memory = "lots" }',
        "key 'resources': key 'memory' must be a number of bytes or text such as '8 GB', not 'lots'",
    ),
    ("3", "key 'resources' must be a table of cpus, gpus and memory, not 3"),
]


@pytest.mark.parametrize(("value", "what"), WRONG)
def test_what_is_wrong_is_named(value: str, what: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_pipeline(f"{COUNT}{HEAVY}resources = {value}\n")
    assert raised.value.what == what
    assert raised.value.stage == "toy_stages:Heavy"


def test_a_source_has_none() -> None:
    with pytest.raises(ConfigError, match="unknown key 'resources'"):
        parse_pipeline(COUNT + "resources = { cpus = 2 }\n")


def test_digests_do_not_depend_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with other resources has nothing left to do."""
    monkeypatch.setenv("TOY_MARKS", str(tmp_path))
    run(COUNT + HEAVY, tmp_path / "run")
    again = run(COUNT + HEAVY + "resources = { cpus = 2, memory = 5 }\n", tmp_path / "run")
    assert [stage.written for stage in again.stages] == [0, 0]


@pytest.mark.parametrize("engine", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_gpus_that_are_not_there(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error before any work: the stage before it has not run."""
    monkeypatch.setattr("paraloom.pipeline.engines.base.gpu_count", lambda: 1)
    monkeypatch.setenv("TOY_MARKS", str(tmp_path))
    text = COUNT + '[[stage]]\nname = "first"\nuse = "toy_stages:Upper"\n'
    text += HEAVY + 'name = "second"\nresources = { gpus = 2 }\n'
    with pytest.raises(RunError) as raised:
        run(text, tmp_path / "run", engine=engine)
    assert raised.value.what == "a worker asks for 1 CPU and 2 GPUs; this machine has 1 GPU"
    assert raised.value.stage == "second"
    assert not marks_in(tmp_path)


def test_a_finished_run_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.pipeline.engines.base.gpu_count", lambda: 0)
    monkeypatch.setenv("TOY_MARKS", str(tmp_path))
    first = run(COUNT + HEAVY, tmp_path / "run")
    assert run(COUNT + HEAVY + "resources = { gpus = 2 }\n", tmp_path / "run").digest == first.digest


COUNTS = [
    (None, Resources(), 8),
    (None, Resources(cpus=2), 4),
    (None, Resources(cpus=0.5), 16),
    (None, Resources(cpus=100), 1),
    (None, Resources(gpus=1), 2),
    (None, Resources(memory="30 GB"), 2),
    (3, Resources(), 3),
    (3, Resources(cpus=0.5), 3),
    (3, Resources(cpus=2), 3),
    (3, Resources(cpus=4), 2),
    (12, Resources(), 12),
    (3, Resources(gpus=1), 2),
]


@pytest.mark.parametrize(("workers", "needs", "count"), COUNTS)
def test_workers_of_the_local_engine(
    workers: int | None, needs: Resources, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "gpu_count", lambda: 2)
    monkeypatch.setattr(local, "main_memory", lambda: 64 * 10**9)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert Local(workers)._count(needs) == count


@pytest.mark.slow
def test_each_local_worker_sees_its_own_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that this process sees; its own variables are as before."""
    monkeypatch.setattr(local, "gpu_count", lambda: 2)
    monkeypatch.setattr("paraloom.pipeline.engines.base.gpu_count", lambda: 2)
    monkeypatch.setenv("TOY_MARKS", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    monkeypatch.setenv("PARALOOM_DEVICE", "cpu")
    text = COUNT + HEAVY + "resources = { gpus = 1 }\ndelay = 0.5\n" + HEAVY + 'name = "after"\n'
    run(text, tmp_path / "run", engine="local", workers=4)
    ends = {mark.split()[1]: mark.split()[3:] for mark in marks_in(tmp_path) if mark.startswith("heavy")}
    with_gpus = [["CUDA_VISIBLE_DEVICES=4", "PARALOOM_DEVICE=cuda"], ["CUDA_VISIBLE_DEVICES=7", "PARALOOM_DEVICE=cuda"]]
    after = ["CUDA_VISIBLE_DEVICES=4,7", "PARALOOM_DEVICE=cpu"]
    assert sorted(end for end in ends.values() if end != after) == with_gpus
    assert after in ends.values()
    assert local._present(["CUDA_VISIBLE_DEVICES", "PARALOOM_DEVICE"]) == {
        "CUDA_VISIBLE_DEVICES": "4,7",
        "PARALOOM_DEVICE": "cpu",
    }
