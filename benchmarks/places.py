"""One pipeline on a disk, on S3, on SFTP and on Ray machines that share no folder: digests, seconds, restarts.

python benchmarks/places.py                 # a disk, S3, SFTP; S3 with the run killed three times, each time resumed
python benchmarks/places.py --ray           # and three Ray machines, also with a machine and with the driver killed
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from storage_servers import BUCKET, new_password, s3_server, sftp_server

from paraloom.bundled import SAMPLE
from paraloom.io.store import Store

PIPELINE = """
name = "places"
seed = 7

[[stage]]
name = "pairs"
use = "read-pairs"
source = "{source}"
shard_rows = {shard_rows}

[[stage]]
name = "scored"
use = "score"
scores = ["length", "overlap", "bleu1"]

[[stage]]
name = "kept"
use = "filter"
where = "tgt_tokens between 3 and 40"

[[stage]]
name = "encoder"
use = "train-encoder"
pairs = ["kept"]
epochs = 1
"""


class Driver:
    """A run of the pipeline in a process group of its own, with an empty cache of its own."""

    def __init__(self, pipeline: Path, folder: str, cache: Path, *options: str) -> None:
        command = [sys.executable, "-m", "paraloom.cli.main", "run", str(pipeline), "-o", folder, "--json", *options]
        self.process = subprocess.Popen(
            command,
            env={**os.environ, "PARALOOM_CACHE": str(cache)},
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def digest(self) -> str:
        """Wait for the end."""
        output, message = self.process.communicate()
        if self.process.returncode:
            sys.exit(f"the run failed: {message}")
        return str(json.loads(output[output.index("{") :])["digest"])

    def kill(self) -> None:
        """Kill it and its workers, as a lost machine would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def entries(store: Store) -> dict[str, bytes]:
    """The committed shards of a run."""
    return store.read_all([name for name in store.list() if "/shard-" in name])


def killed_and_resumed(start: Callable[[int], Driver], store: Store, times: int) -> tuple[str, int, int]:
    """Kill a run some times, whenever more shards are committed; returns digest, restarts, and shards done twice."""
    twice, restarts = 0, 0
    for attempt in range(times):
        before = entries(store)
        driver = start(attempt)
        while len(entries(store)) < len(before) + 2 and driver.process.poll() is None:
            time.sleep(0.05)
        if driver.process.poll() is None:
            driver.kill()
            restarts += 1
        now = entries(store)
        twice += sum(now[name] != content for name, content in before.items())
    before = entries(store)
    digest = start(times).digest()
    now = entries(store)
    return digest, restarts, twice + sum(now[name] != content for name, content in before.items())


@contextmanager
def ray_machines(folder: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """The address of a cluster of three machines with caches of their own, and a function that kills one of them."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    cluster.add_node(num_cpus=0, include_dashboard=False)
    machines: list[Any] = [
        cluster.add_node(num_cpus=1, env_vars={"PARALOOM_CACHE": str(folder / f"machine-{name}")}) for name in "abc"
    ]
    try:
        yield cluster.address, lambda: cluster.remove_node(machines.pop(), allow_graceful=False)
    finally:
        cluster.shutdown()


def main() -> None:
    """Print a table with a line for each place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the input")
    parser.add_argument("--shard-rows", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--ray", action="store_true", help="also on Ray")
    options = parser.parse_args()
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ.update(s3_server(), PYTHONPATH=os.pathsep.join([str(Path(__file__).parents[1] / "src"), *sys.path]))
        sftp = stack.enter_context(sftp_server(work, new_password()))
        source = work / "pairs.de-en.tsv"
        lines = SAMPLE.read_text(encoding="utf-8").splitlines()[1:]
        sides = [line.split("\t")[:2] for line in lines]
        rows = ([*sides[row % len(sides)], row // len(sides)] for row in range(options.rows))
        source.write_text("".join(f"{src}\t{tgt} {number}\n" for src, tgt, number in rows), encoding="utf-8")
        Store(f"s3://{BUCKET}").replace("input/pairs.de-en.tsv", source)
        inputs = {"disk": str(source), "s3": f"s3://{BUCKET}/input/pairs.de-en.tsv", "sftp": f"{sftp}/{source.name}"}

        def pipeline(storage: str) -> Path:
            path = work / f"{storage}.toml"
            text = PIPELINE.format(source=inputs[storage], shard_rows=options.shard_rows)
            path.write_text(text, encoding="utf-8")
            return path

        print(f"{options.rows:,} pairs, shards of {options.shard_rows:,}")
        print(f"{'place':<34} {'digest':<14} {'seconds':>8} {'restarts':>9} {'shards done twice':>18}", flush=True)

        def measure(label: str, run: Callable[[], tuple[str, int, int]]) -> None:
            started = time.monotonic()
            digest, restarts, twice = run()
            seconds = time.monotonic() - started
            print(f"{label:<34} {digest[:12]:<14} {seconds:>8.1f} {restarts:>9} {twice:>18}", flush=True)

        def plain(storage: str, folder: str, *arguments: str) -> Callable[[], tuple[str, int, int]]:
            cache = work / f"cache-{len(list(work.iterdir()))}"
            return lambda: (Driver(pipeline(storage), folder, cache, *arguments).digest(), 0, 0)

        def killed(storage: str, folder: str, *arguments: str) -> Callable[[], tuple[str, int, int]]:
            def start(attempt: int) -> Driver:
                cache = work / f"cache-of-attempt-{attempt}"
                shutil.rmtree(cache, ignore_errors=True)
                return Driver(pipeline(storage), folder, cache, *arguments)

            return lambda: killed_and_resumed(start, Store(folder), options.kills)

        local = ("--workers", "2")
        plain("disk", str(work / "warm-up"), *local)()  # compiles what numba keeps
        measure("disk", plain("disk", str(work / "run"), *local))
        measure("S3", plain("s3", f"s3://{BUCKET}/run", *local))
        measure("SFTP", plain("sftp", f"{sftp}/sftp-run", *local))
        measure("S3, killed, resumed elsewhere", killed("s3", f"s3://{BUCKET}/killed", *local))
        if not options.ray:
            return
        with ray_machines(work) as (address, kill_machine):
            cluster = ("--engine", "ray", "--address", address)
            measure("Ray, 3 machines, S3", plain("s3", f"s3://{BUCKET}/ray", *cluster))
            measure("Ray, the driver killed", killed("s3", f"s3://{BUCKET}/ray-killed", *cluster))

            def with_a_machine_killed() -> tuple[str, int, int]:
                folder = f"s3://{BUCKET}/ray-machine"
                driver = Driver(pipeline("s3"), folder, work / "cache-of-survivor", *cluster)
                while driver.process.poll() is None and not any("scored" in name for name in entries(Store(folder))):
                    time.sleep(0.05)
                kill_machine()
                return driver.digest(), 0, 0

            measure("Ray, a machine killed", with_a_machine_killed)


if __name__ == "__main__":
    main()
