"""Warnings about all rows of a corpus, kept with it: what a translator warned of is repeated when the rows are used."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.core.errors import ParaloomError
from paraloom.io import Corpus, write_table
from paraloom.io.atomic import atomic_write
from paraloom.io.corpus import DESCRIPTION
from paraloom.io.shards import WARNINGS, open_shard
from paraloom.pipeline.definition import Definition
from paraloom.pipeline.result import RunResult

_KEY = "warnings"  # of corpus.json
_RUN = "run.json"


def warnings_of(path: Path) -> tuple[str, ...]:
    """The warnings that a corpus, a stage of a run or a .parquet file carries; none where they cannot be read."""
    try:
        if (path / DESCRIPTION).is_file():
            return _texts([*_of_stages(path), *_read(path / DESCRIPTION).get(_KEY, ())])
        if path.suffix == ".parquet" and path.is_file():
            with open_shard(path) as file:
                metadata = file.schema_arrow.metadata or {}
            return _texts(json.loads(metadata.get(WARNINGS, b"[]")))
    except (ParaloomError, OSError, ValueError, TypeError, AttributeError):
        pass
    return ()


def repeat_warnings(definition: Definition) -> tuple[str, ...]:
    """Repeat, before any work, the warnings of what a pipeline reads, and return them."""
    known: list[str] = []
    for path in dict.fromkeys(definition.files()):
        for text in warnings_of(path):
            if text not in known:
                known.append(text)
                warnings.warn(f"{path.name} came with a warning: {text}", stacklevel=4)
    return tuple(known)


def warnings_of_result(definition: Definition, result: RunResult, known: Sequence[str]) -> tuple[str, ...]:
    """The warnings that the rows of a run carry: those of what it read, and those of its stages."""
    texts = list(known)
    for step in definition.steps:
        rows = getattr(step.stage, "rows", None)  # of pairs that an object of this process computes from others
        texts += getattr(getattr(rows, "__self__", None), "warnings", ())
    return _texts([*texts, *(stage.figures.get("warning", "") for stage in result.stages)])


def write_with_warnings(corpus: Corpus, output: str, texts: Sequence[str]) -> int:
    """Write rows as `write_table` does, with the warnings where the format has a place: .parquet, a corpus."""
    if texts and output.endswith(".parquet"):
        metadata = {**(corpus.schema.metadata or {}), WARNINGS: json.dumps(list(texts), ensure_ascii=False).encode()}
        schema = corpus.schema.with_metadata(metadata)
        batches = (batch.replace_schema_metadata(metadata) for batch in corpus.batches())
        return write_table(pa.RecordBatchReader.from_batches(schema, batches), output)
    rows = write_table(corpus, output)
    description = Path(output) / DESCRIPTION
    if texts and not description.is_file():
        warnings.warn(f"{output} has no place for the warnings of its rows: .parquet keeps the warning", stacklevel=3)
    if texts and description.is_file():
        with atomic_write(description) as temporary:
            content = {**_read(description), _KEY: list(texts)}
            temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return rows


def _of_stages(folder: Path) -> list[str]:
    """Of the folder of a stage: the warnings of that stage, and of those before it."""
    path = folder.parent / _RUN
    if not path.is_file():
        return []
    texts = []
    for stage in _read(path).get("stages", []):
        texts.append(stage.get("figures", {}).get("warning", ""))
        if stage.get("folder") == folder.name:
            return texts
    return []


def _read(path: Path) -> Mapping[str, Any]:
    content: Mapping[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in values if isinstance(text, str) and text))
