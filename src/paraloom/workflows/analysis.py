"""Looking into pairs, one small run at a time: statistics, a lexicon, a sheet to judge."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from paraloom.core.errors import ConfigError
from paraloom.io import Corpus, write_table
from paraloom.pairs.annotation import sample_ranges, write_sheet
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables
from paraloom.workflows.run import corpus_stages


def result_of(work: Mapping[str, Any], field: str, pairs: str, *, seed: int = 1) -> Any:
    """What a stage that writes result.json finds in a corpus; `field` of the stage names the corpus."""
    with tempfile.TemporaryDirectory() as scratch:
        artifact = _run(work, field, pairs, Path(scratch), seed)
        return json.loads((artifact / "result.json").read_text(encoding="utf-8"))


def write_lexicon(pairs: str, output: str, *, seed: int = 1, **settings: Any) -> int:
    """Make a paraphrase lexicon and write it as a table, the format by the suffix; returns how many entries it has."""
    with tempfile.TemporaryDirectory() as scratch:
        artifact = _run({"use": "extract-lexicon", **settings}, "pairs", pairs, Path(scratch), seed, many=True)
        table = pq.read_table(artifact / "lexicon.parquet")
        write_table(table, output)
        return table.num_rows


def draw_sheet(pairs: str, sheet: Path, *, by: str, count: int, seed: int = 1) -> Path:
    """Write a sheet to judge and its key; returns the key's path.  The pairs must have the column `by`."""
    with tempfile.TemporaryDirectory() as scratch:
        stages, reference = corpus_stages(pairs)
        folder = Path(reference)
        if stages:
            pipeline = pipeline_from_tables(stages, name="verb", seed=seed)
            folder = run_pipeline(pipeline, Path(scratch) / "run").stages[-1].folder
        corpus = Corpus.open(folder)
        if by not in corpus.schema.names:
            raise ConfigError(
                f"there is no column '{by}' to draw by", remedy="Add it: `paraloom score PAIRS --encoder ENCODER -o …`."
            )
        names = [
            name for name in ("pair_id", "rank", "src", "tgt", by, "trigram_overlap") if name in corpus.schema.names
        ]
        return write_sheet(sample_ranges(corpus.batches(names), by=by, count=count, seed=seed), sheet, seed=seed)


def _run(work: Mapping[str, Any], field: str, pairs: str, scratch: Path, seed: int, *, many: bool = False) -> Path:
    stages, reference = corpus_stages(pairs)
    stages.append({"name": "found", **work, field: [reference] if many else reference})
    pipeline = pipeline_from_tables(stages, name="verb", seed=seed)
    return run_pipeline(pipeline, scratch / "run").stages[-1].folder / "artifact"
