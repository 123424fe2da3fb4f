"""Corpora of variants measured beside each other: a stage measure-diversity each, in one run."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError
from paraloom.io import Corpus
from paraloom.io.compression import without_compression
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables
from paraloom.stages.variants import columns_of_file
from paraloom.workflows.run import corpus_stages
from paraloom.workflows.syntax import parser_named

PARSES = "text_parse"
"""The column that the stage `parse` makes of variants."""


def measure_diversity(
    corpora: Sequence[str],
    folder: Path,
    *,
    parser: str | None = None,
    references: str | None = None,
    workers: int | None = None,
    seed: int = 1,
    **settings: Any,
) -> list[dict[str, Any]]:
    """Measure each corpus in a run in `folder`; its result.json with `corpus`, the name of its stage, in their order.

    corpora: corpus folders, or files (.tsv with a header, .jsonl, .parquet) with pair_id and text.  parser: as
    syntax.load.load_parser takes it; where there is none, trees are those of the column text_parse, if it is there.
    references: a bitext argument.  settings: further fields of the stage.
    Raises ConfigError where kernels are asked for and there are no trees, or a parser and there are.
    """
    stages: list[dict[str, Any]] = []
    beside = None
    if references is not None:
        reading, beside = corpus_stages(references)
        stages += [{**stage, "name": _of("references", "read")} for stage in reading]
        beside = _of("references", "read") if reading else beside
    names = _names(corpora)
    for name, source in zip(names, corpora, strict=True):
        reference = str(Path(source).absolute())
        parsed = PARSES in _columns(source)
        if parser and parsed:
            raise ConfigError(
                f"it has trees already, in {PARSES}", file=source,
                remedy="Leave the parser out; what has no trees gets them by 'paraloom parse'.",
            )  # fmt: skip
        if settings.get("kernels") and not (parser or parsed) and _columns(source):
            raise ConfigError(
                "there are no trees for kernels to compare",
                file=source,
                remedy=f"Name a parser, or add {PARSES} by 'parse'.",
            )
        if not (Path(source) / "corpus.json").is_file():
            stages.append({"name": _of(name, "read"), "use": "read-variants", "source": reference})
            reference = _of(name, "read")
        if parser and not parsed:
            keys = {"name": _of(name, "parsed"), "use": "parse", "input": reference, "columns": ["text"]}
            stages.append(keys | parser_named(parser))
            reference, parsed = _of(name, "parsed"), True
        measuring = {"name": name, "use": "measure-diversity", "variants": reference, "references": beside}
        given = {key: value for key, value in settings.items() if value is not None}
        stages.append(measuring | {"trees": PARSES if parsed else None} | given)
    result = run_pipeline(pipeline_from_tables(stages, name="diversity", seed=seed), folder, workers=workers)
    found = []
    for name in names:
        told = (result.stage(name).folder / "artifact" / "result.json").read_text(encoding="utf-8")
        found.append({"corpus": name, **json.loads(told)})
    return found


def _names(corpora: Sequence[str]) -> list[str]:
    """A name for the stage of each corpus, after its folder or file, all of them different."""
    if not corpora:
        raise ConfigError("there are no variants to measure", remedy="Name one corpus or more.")
    names: list[str] = []
    for source in corpora:
        stem = without_compression(source.rstrip("/")).stem
        plain = re.sub(r"[^A-Za-z0-9_]+", "-", stem).strip("-_") or "variants"
        numbered = chain([plain], (f"{plain}-no-{number}" for number in count(2)))
        names.append(next(name for name in numbered if name not in names))
    return names


def _of(name: str, what: str) -> str:
    """The name of a stage beside that of a corpus, which no corpus has: theirs are without two hyphens in a row."""
    return f"{name}--{what}"


def _columns(source: str) -> list[str]:
    """The columns of a corpus folder or of a file; none of what is not there."""
    if (Path(source) / "corpus.json").is_file():
        names: list[str] = Corpus.open(source).schema.names
        return names
    return columns_of_file(Path(source))
