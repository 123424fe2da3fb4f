"""Trials: commands of Paraloom that are run against a fault, and what came of them."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from paraloom.bundled import SAMPLE
from paraloom.io import Corpus

ROOT = Path(__file__).parents[2]
PIPELINE = """
name = "faults"
seed = 7
[[stage]]
name = "read"
use = "read-pairs"
source = "sample.de-en.tsv"
shard_rows = 40
[[stage]]
use = "score"
scores = ["overlap", "length"]
[[stage]]
use = "find-duplicates"
pairs = "score"
[[stage]]
use = "drop-duplicates"
input = "score"
duplicates = "find-duplicates"
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


@dataclass
class Outcomes:
    """What came of the trials of one kind.

    Args:
        tried: Number of trials.
        finished: Trials that ended with the right result: the bytes of an undisturbed run, all rows.
        refused: Trials that ended with a plain error.
        tracebacks: Trials that showed a traceback.
        lost: Rows that are in no output.
        wrong: Trials with another result, or whose exit status does not fit their message.
        notes: What was printed, by trial.
        details: A sentence for the page; '' for none.
    """

    tried: int = 0
    finished: int = 0
    refused: int = 0
    tracebacks: int = 0
    lost: int = 0
    wrong: int = 0
    notes: list[str] = field(default_factory=list)
    details: str = ""

    @property
    def is_good(self) -> bool:
        """Whether all trials finished or were refused."""
        return not (self.tracebacks or self.lost or self.wrong)

    def count(self, name: str, problem: str = "") -> None:
        """Count a trial that a caller judged itself: it finished, or has a problem."""
        self.tried += 1
        self.finished += not problem
        self.wrong += bool(problem)
        self.notes.append(f"{name}: {problem or 'finished'}")


@dataclass(frozen=True)
class Scene:
    """A folder to work in, with the pipeline and the digest of its undisturbed run in `done`.

    Args:
        folder: The folder.
        source: The `src` folder of the version that is tried.
        digest: Digest of the undisturbed run.
        seconds: What it takes.
        kills: How often runs are killed.
        seed: Seed of the moments of kills.
    """

    folder: Path
    source: Path = ROOT / "src"
    digest: str = ""
    seconds: float = 0.0
    kills: int = 30
    seed: int = 1

    @property
    def done(self) -> Path:
        """The undisturbed run."""
        return self.folder / "done"

    @property
    def environment(self) -> dict[str, str]:
        """Environment of commands, so that they run the version that is tried."""
        return {**os.environ, "PYTHONPATH": str(self.source)}

    def call(
        self,
        *arguments: object,
        cwd: Path | None = None,
        limit: int | None = None,
        memory: int | None = None,
        timeout: float = 300,
        program: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end.

        Args:
            *arguments: Of `paraloom`.
            cwd: Folder to run it in; default: that of the scene.
            limit: Bytes that no file may grow beyond; None for no limit.
            memory: Bytes of address space; None for no limit.
            timeout: Seconds until TimeoutExpired is raised.
            program: Arguments of Python in place of `-m paraloom`, such as ("-c", code).
        """

        def bound() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            if memory is not None:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        return subprocess.run(
            [sys.executable, *(program or ("-m", "paraloom")), *map(str, arguments)],
            cwd=cwd or self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            preexec_fn=bound,
            timeout=timeout,
            check=False,
        )

    def run(self, folder: Path, engine: str = "inline") -> tuple[object, ...]:
        """The arguments that run the pipeline in a folder."""
        return ("run", self.folder / "faults.toml", "-o", folder, "--engine", engine, "--workers", 2, "--json")


def judge(outcomes: Outcomes, name: str, ended: subprocess.CompletedProcess[str], digest: str = "") -> bool:
    """Count a command that ended; returns whether it finished."""
    outcomes.tried += 1
    said = ended.stderr.strip().splitlines()
    message = next((line for line in said if line.startswith("paraloom:")), said[-1] if said else "")
    outcomes.notes.append(f"{name}: {message if ended.returncode else 'finished'}")
    if "Traceback" in ended.stderr or "please report" in ended.stderr:
        outcomes.tracebacks += 1
        outcomes.notes.append(ended.stderr[-2000:])
    elif ended.returncode:
        plain = ended.returncode in (1, 2) and message
        outcomes.refused += bool(plain)
        outcomes.wrong += not plain
    elif digest and json.loads(ended.stdout.splitlines()[-1])["digest"] != digest:
        outcomes.wrong += 1
        outcomes.notes.append(f"{name}: THE BYTES DIFFER")
    else:
        outcomes.finished += 1
        return True
    return False


def lost_rows(folder: Path) -> int:
    """Rows of the input that a stage neither kept nor rejected nor failed, by the files on the disk."""
    stages = json.loads((folder / "run.json").read_text(encoding="utf-8"))["stages"]
    lost = 0
    for stage in stages:
        if stage["kind"] == "map":
            root = folder / stage["folder"]
            left_out = [path for name in ("rejected", "failed") for path in (root / name).glob("*.parquet")]
            rows = Corpus.open(root).rows + sum(pq.read_metadata(path).num_rows for path in left_out)
            lost += abs(stage["counts"]["read"] - rows)
    return lost


def prepare(folder: Path, source: Path, *, kills: int, seed: int) -> Scene:
    """The pipeline and its undisturbed run."""
    shutil.copy(SAMPLE, folder / "sample.de-en.tsv")
    (folder / "faults.toml").write_text(PIPELINE, encoding="utf-8")
    scene = Scene(folder, source)
    seconds = []
    for name in ("warm", "done"):
        start = time.monotonic()
        ended = scene.call(*scene.run(folder / name, "local"))
        seconds.append(time.monotonic() - start)
        if ended.returncode:
            raise SystemExit(ended.stderr)
    digest = json.loads(ended.stdout.splitlines()[-1])["digest"]
    return Scene(folder, source, digest, seconds[-1], kills, seed)
