"""Tasks for engines: one says where it ran and what its worker had loaded, one asks DuckDB."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from paraloom.core.progress import Advance
from paraloom.core.stage_cache import begin_stage, cached_per_stage
from paraloom.io.database import sql
from paraloom.pairs.filtering.expressions import evaluate_sql
from paraloom.pipeline.memory import peak_memory


@cached_per_stage()
def load(path: str) -> list[str]:
    """What a stage loads."""
    return [path, str(time.monotonic_ns())]


@dataclass(frozen=True)
class Look:
    """Returns the number of its process, what was loaded, and its peak of memory; fills so many MiB before."""

    number: int
    stage: str
    mebibytes: int = 0
    file: str = "shard"
    rows: int = 1

    def __call__(self, advance: Advance) -> tuple[int, str, int]:
        begin_stage(self.stage)
        np.ones(self.mebibytes << 20, np.uint8)
        warnings.warn("look twice", stacklevel=1)
        time.sleep(0.2)  # Both workers get a task.
        return os.getpid(), load("model")[1], peak_memory()


@dataclass(frozen=True)
class Query:
    """Returns the sum of two columns, by DuckDB."""

    stage: str = "query"
    file: str = "shard"
    rows: int = 1

    def __call__(self, advance: Advance) -> list[int]:
        table = evaluate_sql(pa.RecordBatch.from_pydict({"a": [1], "b": [2]}), sql("a + b"))
        return table.column("c0").to_pylist()
