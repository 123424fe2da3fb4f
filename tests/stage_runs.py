"""Helpers of the tests of stages: run a pipeline out of TOML text, and read what it kept and rejected."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.core.schema import PAIRS
from paraloom.io import Corpus, read_shard, write_corpus
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline


def run_toml(text: str, folder: Path) -> RunResult:
    """Run a pipeline in this process, in the folder `run` of a folder that paths are relative to."""
    return run_pipeline(parse_pipeline(text, file=folder / "p.toml"), folder / "run", engine="inline")


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """All rows of a corpus."""
    rows: list[dict[str, Any]] = pa.Table.from_batches(Corpus.open(folder).batches()).to_pylist()
    return rows


def count_reasons(folder: Path) -> Counter[str]:
    """How many rows a stage rejected for each reason."""
    shards = sorted((folder / "rejected").glob("*.parquet"))
    return Counter(reason for shard in shards for reason in read_shard(shard).column("reason").to_pylist())


def write_pairs(folder: Path, *pairs: tuple[str, str]) -> None:
    """Write a corpus of pairs, German to English, with the ids x:1, x:2 …"""
    rows = [
        {"pair_id": f"x:{number}", "src": src, "tgt": tgt, "src_lang": "de", "tgt_lang": "en", "origin": "x"}
        for number, (src, tgt) in enumerate(pairs, 1)
    ]
    write_corpus(folder, [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
