"""Runs on all engines and stores that are killed at random moments, and started again until they end.

A run in a local folder is started again in the same folder; one in a storage with an empty cache, as on a new machine.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from trials import ROOT, Outcomes, Scene, judge, lost_rows

SIGNALS = ("SIGKILL to all", "SIGKILL to the first", "SIGKILL to a worker", "SIGTERM", "SIGINT")
ENGINES = ("inline", "local", "ray")
STORES = {"a local folder": (), "S3": ("s3fs", "moto"), "SFTP": ("paramiko",)}
"""Stores → the packages that they need."""

PIPELINE = """
name = "kills"
seed = 7
[[stage]]
name = "read"
use = "read-pairs"
source = "sample.de-en.tsv"
shard_rows = 25
[[stage]]
use = "score"
scores = ["overlap", "length"]
[[stage]]
name = "kept"
use = "filter"
where = "tgt_tokens > 2"
sample = 200
[[stage]]
name = "words"
use = "count-words"
corpora = ["kept"]
"""
"""A Source, a Map of many shards, a Map that rejects rows, and a Fit: what else runs take is the start of Python."""

_RUNS_OF_A_FOLDER = 4
_START_SECONDS = 60.0
_POLL_SECONDS = 0.005
_END_SECONDS = 300.0
_CUT_START = "preparation_data = reduction.pickle.load(from_parent)"
"""In what a process prints whose parent is killed before it has any code of ours to run."""

_STILL_RUNNING = f"still running {_END_SECONDS:.0f} s after the signal"


@dataclass(frozen=True)
class Setting:
    """Where runs of an engine are kept.

    Args:
        scene: The scene.
        engine: The engine.
        store: The store.
        url: Folder, or URL, below which each run has a folder of its own.
    """

    scene: Scene
    engine: str
    store: str
    url: str

    def run(self, number: int) -> tuple[object, ...]:
        """The arguments that run the pipeline in a folder of its own."""
        folder = f"{self.url}/{self.engine}-{number}"
        return (
            "run",
            self.scene.folder / "kills.toml",
            "-o",
            folder,
            "--engine",
            self.engine,
            "--workers",
            2,
            "--json",
        )

    @contextmanager
    def machine(self) -> Iterator[Path]:
        """The empty cache of a new machine, as which this one runs commands in the block."""
        with tempfile.TemporaryDirectory(prefix="machine-", dir=self.scene.folder, ignore_cleanup_errors=True) as cache:
            os.environ["PARALOOM_CACHE"] = cache
            try:
                yield Path(cache)
            finally:
                del os.environ["PARALOOM_CACHE"]

    def local(self, number: int) -> Path | None:
        """The folder of a run; None for a storage, where equal digests show that no row is missing."""
        return None if "://" in self.url else Path(self.url) / f"{self.engine}-{number}"


def trials(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Kills of each engine with each store: their sum is `scene.kills`."""
    engines = [engine for engine in ENGINES if engine != "ray" or _installed("ray")]
    stores = [store for store, packages in STORES.items() if all(map(_installed, packages))]
    pairs = [(engine, store) for engine in engines for store in stores]
    (scene.folder / "kills.toml").write_text(PIPELINE, encoding="utf-8")
    undisturbed = scene.call(*Setting(scene, "inline", "a local folder", str(scene.folder)).run(0))
    if undisturbed.returncode:
        raise SystemExit(undisturbed.stderr)
    digest = json.loads(undisturbed.stdout.splitlines()[-1])["digest"]
    # To start Ray takes several times as long as all else.
    weights = [1 if engine == "ray" else 5 for engine, _ in pairs]
    for number, (engine, store) in enumerate(pairs):
        before, after = (scene.kills * sum(weights[:end]) // sum(weights) for end in (number, number + 1))
        if kills := after - before:
            with ExitStack() as stack:
                url = _served(store, scene, stack)
                outcomes = _of_setting(Setting(scene, engine, store, url), kills, digest)
            yield f"kills: engine {engine}, run in {store}", outcomes


def _of_setting(setting: Setting, kills: int, digest: str) -> Outcomes:
    rng = random.Random(f"{setting.scene.seed} {setting.engine} {setting.store}")
    tried: Counter[str] = Counter()
    starts = 0
    outcomes = Outcomes()
    signals = [kind for kind in SIGNALS if setting.engine != "inline" or kind != "SIGKILL to a worker"]
    rng.shuffle(signals)
    _, _, seconds = _killed(setting, 1, "", 0.0)  # undisturbed
    number = 1
    while sum(tried.values()) < kills:
        number += 1
        for _ in range(min(rng.randint(1, _RUNS_OF_A_FOLDER), kills - sum(tried.values()))):
            kind = signals[sum(tried.values()) % len(signals)]
            killed, message, _ = _killed(setting, number, kind, rng.uniform(0.0, seconds))
            tried[kind] += killed
            if message == _STILL_RUNNING:
                outcomes.wrong += 1
                outcomes.notes.append(f"{kind}: {message}")
            if _CUT_START in message:
                starts += 1
            elif "Traceback" in message:
                outcomes.tracebacks += 1
                outcomes.notes.append(f"{kind}: {message[-2000:]}")
            if not killed:
                break
        with setting.machine():
            ended = setting.scene.call(*setting.run(number))
        if not judge(outcomes, f"after kills, run {number}", ended, digest) and outcomes.refused:
            outcomes.refused, outcomes.wrong = 0, outcomes.wrong + 1  # Nothing was damaged: it has to resume.
        folder = setting.local(number)
        if folder is not None and (folder / "run.json").is_file():
            outcomes.lost += lost_rows(folder)
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{sum(tried.values())} kills; {outcomes.notes[-1]}", file=sys.stderr, flush=True)
    outcomes.tried = sum(tried.values())
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(tried.items()))
    outcomes.details = f"{kinds}; {number - 1} runs until each ended"
    if starts:
        outcomes.details += f"; {starts} met a worker that Python was starting, which printed Python's own EOFError"
    return outcomes


def _killed(setting: Setting, number: int, kind: str, seconds: float) -> tuple[bool, str, float]:
    """Start a run and kill it some seconds after its first new record.

    Args:
        setting: Where the run is kept.
        number: Number of the run.
        kind: How it is killed; '' to let it end.
        seconds: When, after its first record.

    Returns:
        Whether it was killed, what it wrote to stderr, and the seconds from its first record to its end.
    """
    with setting.machine() as cache, tempfile.TemporaryFile("w+", errors="replace") as stderr:
        folder = setting.local(number) or cache / "runs"
        before = _records(folder)
        running = subprocess.Popen(
            [sys.executable, "-m", "paraloom", *map(str, setting.run(number))],
            cwd=setting.scene.folder,
            env=setting.scene.environment,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        deadline = time.monotonic() + _START_SECONDS
        while running.poll() is None and _records(folder) <= before and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        first = time.monotonic()
        try:
            running.wait(seconds if kind else 300)
            killed = False
        except subprocess.TimeoutExpired:
            killed = True
            if not _kill(running, kind):
                return killed, _STILL_RUNNING, time.monotonic() - first
        seconds = time.monotonic() - first
        stderr.seek(0)
        return killed, stderr.read(), seconds


def _kill(running: subprocess.Popen[bytes], kind: str) -> bool:
    """Kill a run in one of the ways, and then what is left of its processes; False where it ran for minutes more."""
    started = _below(running.pid)
    if kind == "SIGKILL to all":
        victims, number = [running.pid, *started], signal.SIGKILL
    elif kind == "SIGKILL to a worker":
        # Of Ray, the workers have its name; the other processes are those of its cluster.
        workers = [pid for pid in started if _name(pid).startswith("ray::")] or started
        victims, number = workers[-1:] or [running.pid], signal.SIGKILL
    else:
        name = "SIGKILL" if kind == "SIGKILL to the first" else kind
        victims, number = [running.pid], signal.Signals[name]
    _signal(victims, number)
    try:
        running.wait(_END_SECONDS)
        ended = True
    except subprocess.TimeoutExpired:
        ended = False
    time.sleep(0.3)
    _signal([running.pid, *started], signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    return ended


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _below(pid: int) -> list[int]:
    """The processes that a process started, and those that these started."""
    started = []
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, tasks.read_text(encoding="ascii").split()):
                started += [child, *_below(child)]
    return started


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _records(folder: Path) -> int:
    """Bytes of all manifests of a run, which grow with each record."""
    total = 0
    for journal in folder.rglob("manifest.jsonl"):
        with contextlib.suppress(OSError):
            total += journal.stat().st_size
    return total


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _served(store: str, scene: Scene, stack: ExitStack) -> str:
    """Folder or URL of a store; its server is in this process, which outlives all kills."""
    if store == "a local folder":
        return str(scene.folder)
    sys.path.insert(0, str(ROOT / "tests"))
    from storage_servers import BUCKET, new_password, s3_server, sftp_server

    if store == "S3":
        os.environ.update(s3_server())
        return f"s3://{BUCKET}/kills"
    folder = scene.folder / "sftp"
    folder.mkdir(exist_ok=True)
    return stack.enter_context(sftp_server(folder, new_password()))
