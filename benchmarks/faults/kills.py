"""Runs that are killed at random moments, and started again in the same folder until they end."""

from __future__ import annotations

import contextlib
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
from pathlib import Path

from trials import Outcomes, Scene, judge, lost_rows

SIGNALS = ("SIGKILL to all", "SIGKILL to the first", "SIGKILL to a worker", "SIGTERM", "SIGINT")


def trials(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Runs that are killed until they end, then compared."""
    rng = random.Random(scene.seed)
    tried: Counter[str] = Counter()
    outcomes = Outcomes()
    finished, number = 0, 0
    while sum(tried.values()) < scene.kills:
        folder = scene.folder / f"killed-{number}"
        number += 1
        for _ in range(rng.randint(1, 6)):
            kind = SIGNALS[sum(tried.values()) % len(SIGNALS)]
            killed, message = _killed(scene, scene.run(folder, "local"), kind, rng.uniform(0.3, scene.seconds))
            tried[kind] += killed
            if "Traceback" in message:
                outcomes.tracebacks += 1
                outcomes.notes.append(f"{kind}: {message[-2000:]}")
        judge(
            outcomes,
            f"after kills, run {number}",
            scene.call(*scene.run(folder, "local")),
            scene.digest,
        )
        outcomes.lost += lost_rows(folder) if (folder / "run.json").is_file() else 0
        finished += 1
        print(f"{sum(tried.values())} kills; {outcomes.notes[-1]}", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    outcomes.tried = sum(tried.values())
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(tried.items()))
    outcomes.details = f"{kinds}; {finished} runs until each ended"
    yield "runs that are killed until they end", outcomes


def _killed(scene: Scene, arguments: Sequence[object], kind: str, seconds: float) -> tuple[bool, str]:
    """Start a command and kill it after some seconds; False if it ended before; and what it wrote to stderr."""
    with tempfile.TemporaryFile("w+", errors="replace") as stderr:
        running = subprocess.Popen(
            [sys.executable, "-m", "paraloom", *map(str, arguments)],
            cwd=scene.folder,
            env=scene.environment,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            running.wait(seconds)
            killed = False
        except subprocess.TimeoutExpired:
            killed = True
            if kind == "SIGKILL to a worker":
                for worker in _children(running.pid)[-1:]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
            elif kind == "SIGKILL to all":
                os.killpg(running.pid, signal.SIGKILL)
            else:
                name = "SIGKILL" if kind == "SIGKILL to the first" else kind
                os.kill(running.pid, signal.Signals[name])
            try:
                running.wait(120)
            finally:
                time.sleep(0.3)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)
        stderr.seek(0)
        return killed, stderr.read()


def _children(pid: int) -> list[int]:
    """The processes that a process started."""
    try:
        return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []
