"""One pipeline on a disk, on S3, on SFTP and on Ray nodes that share no folder: digests, processor seconds, restarts.

    PARALOOM_DATA=… python benchmarks/places.py --rows 100000
    PARALOOM_DATA=… python benchmarks/places.py --ray --rows 20000 --shard-rows 2000 --kills 1 --write
    PARALOOM_DATA=… python benchmarks/places.py --ray --rows 1000000 --without S3 SFTP killed joins

The pairs are those of large_run.py. With `--ray` three nodes work, too: undisturbed, with the driver killed, with a
node killed, with one that joins late, and with nodes that come and go. Processor time is that of the run and of Ray's
processes; the servers of S3 and SFTP are not in it, as they are in the process of this command. It is sampled twice a
second.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from large_run import WHERE, MakePairs, Meter
from results_pages import FOLDER, put_result, read_topic

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from storage_servers import BUCKET, new_password, s3_server, sftp_server

from paraloom.core.stage import StageContext
from paraloom.io.store import Store

PAGE = FOLDER / "runs.json"
HEADING = "Runs at URLs"
SHARED = "Ray on S3, three nodes"

PIPELINE = f"""
name = "places"

[[stage]]
name = "pairs"
use = "read-pairs"
source = "{{source}}"
src_column = "src"
tgt_column = "tgt"
src_lang = "en"
tgt_lang = "en"
shard_rows = {{shard_rows}}

[[stage]]
name = "scored"
use = "score"
encoder = "english"

[[stage]]
name = "kept"
use = "filter"
where = "{WHERE}"

[[stage]]
name = "duplicates"
use = "find-duplicates"
pairs = "kept"

[[stage]]
name = "distinct"
use = "drop-duplicates"
input = "kept"
duplicates = "duplicates"
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


def committed(store: Store) -> list[str]:
    """Names of the entries of committed shards."""
    return [name for name in store.list() if "/shard-" in name]


def entries(store: Store) -> dict[str, bytes]:
    """The committed shards of a run."""
    return store.read_all(committed(store))


def wait_for(store: Store, shards: int, driver: Driver) -> bool:
    """Wait until so many shards are committed; False if the run has ended before."""
    while driver.process.poll() is None:
        if len(committed(store)) >= shards:
            return True
        time.sleep(0.2)
    return False


def killed_and_resumed(start: Callable[[int], Driver], store: Store, shards: int, times: int) -> tuple[str, int, int]:
    """Kill a run of some shards some times, evenly; returns digest, restarts, and shards committed twice."""
    twice, restarts = 0, 0
    for attempt in range(times):
        before = entries(store)
        driver = start(attempt)
        if wait_for(store, shards * (attempt + 1) // (times + 1), driver):
            driver.kill()
            restarts += 1
        now = entries(store)
        twice += sum(now[name] != content for name, content in before.items())
    before = entries(store)
    digest = start(times).digest()
    now = entries(store)
    return digest, restarts, twice + sum(now[name] != content for name, content in before.items())


class Nodes:
    """A cluster of three nodes with caches of their own; nodes can be killed, and others join."""

    def __init__(self, folder: Path) -> None:
        from ray.cluster_utils import Cluster

        self.folder = folder
        self.cluster = Cluster()
        self.cluster.add_node(num_cpus=0, include_dashboard=False)
        self.nodes: list[Any] = []
        self.started = 0
        for _ in range(3):
            self.join()

    def join(self) -> Path:
        """Add a node; its cache."""
        self.started += 1
        cache = self.folder / f"node-{self.started}"
        for left in reversed(range(5)):
            try:
                self.nodes.append(self.cluster.add_node(num_cpus=1, env_vars={"PARALOOM_CACHE": str(cache)}))
                break
            except Exception:  # of no other class: Ray waits for 30 s, which is too short on a busy machine
                if not left:
                    raise
        return cache

    def kill(self) -> None:
        """Kill one, with its workers."""
        self.cluster.remove_node(self.nodes.pop(0), allow_graceful=False)


class ProcessorTime:
    """Processor seconds of all processes below this one, without it."""

    def __init__(self) -> None:
        self.meter = Meter(os.getpid(), Path("/nonexistent"))
        threading.Thread(target=self._sample, daemon=True).start()

    def _sample(self) -> None:
        while True:
            self.meter.sample()
            time.sleep(0.5)

    def seconds(self) -> float:
        """What was used so far, to half a second."""
        time.sleep(1)
        return self.meter.processor.total() - time.process_time()


def write(digest: str, cells: dict[str, str], options: argparse.Namespace) -> None:
    """Put a column into the table on the page of results; what is not measured this time stays."""
    table = next(one for one in read_topic(PAGE)["results"] if one.get("heading") == HEADING)
    heads, column = table["columns"], f"{options.rows:,} pairs"
    rows = {row[0]: row for row in table["rows"]}
    if column not in heads:
        heads.append(column)
        table["align"] += "r"
    for label, cell in {"digest": f"`{digest[:12]}`", **cells}.items():
        row = rows.setdefault(label, [label])
        row += [""] * (len(heads) - len(row))
        row[heads.index(column)] = cell
    rows = {label: row + [""] * (len(heads) - len(row)) for label, row in rows.items()}
    earlier = dict.fromkeys([f"{table['commit']} {table['date']}", *table.get("earlier", [])])
    put_result(PAGE, {**table, "rows": [*rows.values()], "earlier": [*earlier]})


def main() -> None:
    """Print a line for each place."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the input")
    parser.add_argument("--shard-rows", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--ray", action="store_true", help="also on Ray")
    parser.add_argument("--without", nargs="*", default=[], help="no rows whose names have one of these words")
    parser.add_argument("--write", action="store_true", help="with --ray: put the column on the page of results")
    options = parser.parse_args()
    captions = Path(os.environ["PARALOOM_DATA"]) / "bitext/multi30k/task2"
    cells: dict[str, str] = {}
    digests: set[str] = set()
    taken: list[float] = []
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="paraloom-places-")))
        os.environ.update(s3_server(), PYTHONPATH=os.pathsep.join([str(Path(__file__).parents[1] / "src"), *sys.path]))
        sftp = stack.enter_context(sftp_server(work, new_password()))
        source = work / "pairs.tsv.gz"  # the server of S3 is slow with objects of gigabytes
        with gzip.open(source, "wt", compresslevel=1, encoding="utf-8") as stream:
            stream.write("src\ttgt\n")
            for batch in MakePairs(captions=captions, pairs=options.rows).batches(StageContext.__new__(StageContext)):
                sides = zip(*(batch.column(side).to_pylist() for side in ("src", "tgt")), strict=True)
                stream.writelines(f"{src}\t{tgt}\n" for src, tgt in sides)
        Store(f"s3://{BUCKET}").replace(f"input/{source.name}", source)
        inputs = {"disk": str(source), "s3": f"s3://{BUCKET}/input/{source.name}", "sftp": f"{sftp}/{source.name}"}
        processor = ProcessorTime()

        def pipeline(storage: str) -> Path:
            path = work / f"{storage}.toml"
            text = PIPELINE.format(source=inputs[storage], shard_rows=options.shard_rows)
            path.write_text(text, encoding="utf-8")
            return path

        def measure(label: str, run: Callable[[], tuple[str, int, int]]) -> None:
            if {*label.split()} & {*options.without}:
                return
            began, used = time.monotonic(), processor.seconds()
            digest, restarts, twice = run()
            wall, used = time.monotonic() - began, processor.seconds() - used
            taken.append(used)
            digests.add(digest)
            label = label.format("once" if restarts == 1 else f"{restarts} times")
            print(label, digest[:12], f"{used:.1f} s, {used / taken[0]:.2f}; by the clock {wall:.0f} s", flush=True)
            if twice or len(digests) > 1:
                sys.exit(f"{twice} shards were committed twice; digests: {digests}")
            cells[label] = f"{used:.0f}" if len(taken) == 1 else f"{used:.0f} ({used / taken[0]:.1f})"

        def plain(storage: str, folder: str, *arguments: str) -> Callable[[], tuple[str, int, int]]:
            cache = work / f"cache-{len(list(work.iterdir()))}"
            return lambda: (Driver(pipeline(storage), folder, cache, *arguments).digest(), 0, 0)

        def killed(storage: str, folder: str, *arguments: str) -> Callable[[], tuple[str, int, int]]:
            def start(attempt: int) -> Driver:
                cache = work / f"cache-of-attempt-{attempt}"
                shutil.rmtree(cache, ignore_errors=True)
                return Driver(pipeline(storage), folder, cache, *arguments)

            return lambda: killed_and_resumed(start, Store(folder), shards, options.kills)

        local = ("--workers", "2")
        measure("local disk", plain("disk", str(work / "run"), *local))
        shards = len(list((work / "run").glob("*/part-*.parquet")))
        measure("S3", plain("s3", f"s3://{BUCKET}/run", *local))
        measure("SFTP", plain("sftp", f"{sftp}/sftp-run", *local))
        measure("S3, killed {}, resumed elsewhere", killed("s3", f"s3://{BUCKET}/killed", *local))
        if not options.ray:
            return
        nodes = Nodes(work)
        stack.callback(nodes.cluster.shutdown)
        cluster = ("--engine", "ray", "--address", nodes.cluster.address)
        measure(SHARED, plain("s3", f"s3://{BUCKET}/ray", *cluster))
        measure("the same, driver killed {}", killed("s3", f"s3://{BUCKET}/ray-killed", *cluster))

        added: list[Path] = []

        def join() -> None:
            added.append(nodes.join())

        def disturbed(name: str, changes: dict[int, Callable[[], object]]) -> Callable[[], tuple[str, int, int]]:
            """Changes of the cluster, by the number of shards that are done."""

            def run() -> tuple[str, int, int]:
                store = Store(f"s3://{BUCKET}/ray-{name}")
                driver = Driver(pipeline("s3"), store.url, work / f"cache-{name}", *cluster)
                before: dict[str, bytes] = {}
                for done, change in changes.items():
                    if not wait_for(store, done, driver):
                        sys.exit("the run ended before")
                    before |= entries(store)
                    change()
                digest, now = driver.digest(), entries(store)
                return digest, 0, sum(now[name] != content for name, content in before.items())

            return run

        measure("the same, node killed", disturbed("node", {shards * 2 // 5: nodes.kill}))
        measure("two nodes, a third joins", disturbed("joins", {shards * 2 // 5: join}))
        come_and_go = {shards * fifth // 5: change for fifth, change in enumerate((nodes.kill, join) * 2, start=1)}
        measure("two nodes killed, two join", disturbed("spot", come_and_go))
        for cache in added:
            fetched = len(list(cache.rglob("fetched/*/part-*.parquet")))
            print(f"the node that joined has fetched {fetched} shards of {shards}")
    if options.write:
        write(digests.pop(), cells, options)


if __name__ == "__main__":
    main()
