"""Ray machines that share no folder: the same digest as on one disk, also when a machine or the driver is killed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import environment, kill, start, wait_until
from storage_servers import BUCKET, s3_server
from toy_runs import run, toml

from paraloom.api import run_status
from paraloom.io.store import Store

pytest.importorskip("ray", reason="ray is not installed")
pytestmark = pytest.mark.slow

DRIVER = """
import sys
from pathlib import Path
from paraloom.pipeline import monitor
from toy_runs import run
monitor.INTERVAL = monitor.REMOTE_INTERVAL = 0.1
print(run(Path(sys.argv[1]).read_text(), sys.argv[2], engine="ray", address=sys.argv[3]).digest)
"""
CHAIN = toml(
    {"use": "Count", "sentences": 320, "bad": 3},
    {"use": "Upper", "delay": 0.5},
    {"use": "Even"},
    {"use": "Echo"},
    {"use": "Total", "corpora": ["upper", "echo"]},
)


class Machines:
    """A Ray cluster whose machines have caches of their own, and the run of one pipeline on it."""

    def __init__(self, folder: Path) -> None:
        from ray.cluster_utils import Cluster

        self.folder = folder
        self.marks = folder / "marks"
        self.marks.mkdir()
        self.url = f"s3://{BUCKET}/{folder.name}"
        self.cluster = Cluster()
        self.cluster.add_node(num_cpus=0, include_dashboard=False)
        self.nodes = [self._add(name) for name in ("a", "b", "c")]

    def _add(self, name: str) -> Any:
        variables = {"PARALOOM_CACHE": str(self.folder / name), "TOY_MARKS": str(self.marks)}
        return self.cluster.add_node(num_cpus=1, env_vars=variables)

    def drive(self, name: str) -> subprocess.Popen[str]:
        """Start the pipeline from a machine with an empty cache."""
        (self.folder / "toy.toml").write_text(CHAIN)
        return start(
            DRIVER,
            self.folder / "toy.toml",
            self.url,
            self.cluster.address,
            PARALOOM_CACHE=str(self.folder / name),
        )

    def committed(self) -> list[str]:
        """The entries of shards of the slow stage."""
        return [name for name in Store.open(self.url).list("upper") if "/shard-" in name]


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    for name, value in {**s3_server(), "PYTHONPATH": environment()["PYTHONPATH"]}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "here"))
    try:
        machines = Machines(tmp_path)
    except Exception as error:
        pytest.skip(f"a Ray cluster cannot be started here: {error}")
    yield machines
    machines.cluster.shutdown()


def digest_of(driver: subprocess.Popen[str]) -> str:
    output, message = driver.communicate(timeout=500)
    assert driver.returncode == 0, message
    return output.split()[-1]  # Ray prints, too, when a machine goes.


def test_three_machines(machines: Machines, tmp_path: Path) -> None:
    """The same digest as in this process; the machines that worked have fetched shards into their own caches."""
    here = run(CHAIN, tmp_path / "local").digest
    driver = machines.drive("driver")
    wait_until(machines.committed, driver)
    wait_until(lambda: len(run_status(machines.url).machines) >= 2, driver)
    assert digest_of(driver) == here
    fetched = {name: len(list((tmp_path / name).rglob("fetched/*/part-*.parquet"))) for name in ("a", "b", "c")}
    assert sum(count > 0 for count in fetched.values()) >= 2
    assert not [path for name in "abc" for path in (tmp_path / name).glob("runs/*")]
    assert not [path for name in "abc" for path in (tmp_path / name).glob("work/*")]


def test_a_machine_is_killed(machines: Machines, tmp_path: Path) -> None:
    """Its shards are done again elsewhere."""
    driver = machines.drive("driver")
    wait_until(machines.committed, driver)
    machines.cluster.remove_node(machines.nodes[0], allow_graceful=False)
    assert digest_of(driver) == run(CHAIN, tmp_path / "local").digest


def test_the_driver_is_killed(machines: Machines, tmp_path: Path) -> None:
    """The same command, from another machine, resumes from what was committed."""
    driver = machines.drive("driver")
    wait_until(machines.committed, driver)
    kill(driver)
    committed = machines.committed()
    before = {name: Store.open(machines.url).read(name) for name in committed}
    assert digest_of(machines.drive("another")) == run(CHAIN, tmp_path / "local").digest
    assert {name: Store.open(machines.url).read(name) for name in committed} == before
