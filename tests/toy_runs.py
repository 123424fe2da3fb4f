"""Runs of toy pipelines: in this process, or in one of their own that can be killed."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from processes import start

from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline

DRIVER = """
import sys
from pathlib import Path
from paraloom.core.errors import ParaloomError
from toy_runs import run
try:
    print(run(Path(sys.argv[1]).read_text(), sys.argv[2], engine="local", workers=2).digest)
except (ParaloomError, KeyboardInterrupt) as error:
    sys.exit(str(error))
"""


def toml(*stages: dict[str, Any], seed: int = 1) -> str:
    """A pipeline of toy stages; `use` is the class, and the name unless there is one."""
    tables = []
    for stage in stages:
        named = {"name": stage["use"].lower(), **stage, "use": f"toy_stages:{stage['use']}"}
        tables.append("[[stage]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in named.items()))
    return f'name = "toy"\nseed = {seed}\n' + "".join(tables)


def run(text: str, folder: str | Path, **options: Any) -> RunResult:
    """Run a pipeline's text; inline unless an engine is named."""
    pipeline = parse_pipeline(text, file=Path(folder).parent / "toy.toml")
    return run_pipeline(pipeline, folder, **{"engine": "inline", **options})


def begin(text: str, folder: Path, marks: Path, hold: int | None = None) -> subprocess.Popen[str]:
    """Start a run with two workers in a process group of its own; each stage waits when `hold` marks are there."""
    file = folder.with_suffix(".toml")
    file.write_text(text)
    changes = {"TOY_MARKS": str(marks), **({} if hold is None else {"TOY_HOLD": str(hold)})}
    return start(DRIVER, file, folder, **changes)


def marks_in(folder: Path) -> list[str]:
    """What toy stages noted in $TOY_MARKS."""
    path = folder / "marks"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def shards_done(stage_folder: Path) -> Counter[str]:
    """How many times each shard was entered in a stage's manifest."""
    path = stage_folder / "manifest.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    whole = [json.loads(line) for line in lines if line.endswith("}}")]
    return Counter(entry["name"] for entry in whole if entry["kind"] == "shard")


def contents(folder: Path) -> dict[str, bytes]:
    """All files that must be the same after every run: path below the folder → bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in (".parquet", ".txt", ".json")
        if path.name not in ("run.json", "timings.txt")
    }
