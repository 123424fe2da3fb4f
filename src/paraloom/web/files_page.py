"""A self-contained page about files of pairs: first rows, and a sparkline of each score."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from paraloom.api.first_rows import Preview, preview
from paraloom.core.errors import DataError
from paraloom.io import Corpus, write_shard
from paraloom.io.compression import without_compression
from paraloom.io.shards import open_shard
from paraloom.web.run_folder import score_columns
from paraloom.web.samples import pair
from paraloom.web.scores import ScoreColumn, scores_table
from paraloom.web.templates import write_page

_SHOWN = 12
_MAX_ROWS = 2_000_000  # Rows of a text format that are read for histograms at most
_IDS = ("rank", "tokens", "row", "sent_id")


def write_files_report(files: Sequence[str | Path], output: str | Path) -> Path:
    with tempfile.TemporaryDirectory() as scratch:
        sections = [
            _section(str(file), Path(scratch) / f"{number}.parquet", titled=len(files) > 1)
            for number, file in enumerate(files)
        ]
    title = ", ".join(Path(file).name for file in files)
    return write_page(Path(output), "files.html", title=title, eyebrow="Paraloom", heading=title, sections=sections)


def _section(file: str, scratch: Path, *, titled: bool) -> Mapping[str, object]:
    shown = preview(file, _SHOWN)
    shards, columns = _table(file, shown, scratch)
    scores = [ScoreColumn(name, signature, shards, None) for name, signature in columns.items()]
    is_pairs = {"src", "tgt"} <= set(shown.columns) and not shown.about
    return {
        "title": Path(file).name if titled else "Rows",
        "intro": f"{shown.count}. {_SHOWN if len(shown.shown) == _SHOWN else 'All'} of them:",
        "pairs": [pair(row) for row in shown.shown] if is_pairs else None,
        "text": shown.about or ("" if is_pairs else shown.format()),
        "cards": scores_table(scores),
    }


def _table(file: str, shown: Preview, scratch: Path) -> tuple[Sequence[Path], dict[str, str]]:
    """The file as Parquet shards, and its columns of scores with their signatures."""
    if Path(file).is_dir():
        if shown.rows is None:
            return (), {}
        corpus = Corpus.open(Path(shown.path))
        return corpus.shards, score_columns(corpus.schema)
    if without_compression(file).suffix == ".parquet":
        with open_shard(file) as shard:
            return (Path(file),), _scores(shard.schema_arrow)
    first = shown.shown[0] if shown.shown else {}
    numbers = [name for name, value in first.items() if isinstance(value, int | float) and name not in _IDS]
    if not numbers:
        return (), {}
    whole = preview(file, _MAX_ROWS)
    names = [*(name for name in ("src", "tgt") if name in whole.columns), *numbers]
    try:
        table = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in whole.shown])
    except pa.ArrowException as error:
        raise DataError(f"a column has values of several types ({error})", file=file) from None
    write_shard(scratch, table, table.schema)
    return (scratch,), dict.fromkeys(numbers, "")


def _scores(schema: pa.Schema) -> dict[str, str]:
    """The signed scores; of a file without signatures all numeric columns."""
    numeric = [
        column.name
        for column in schema
        if (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)) and column.name not in _IDS
    ]
    return score_columns(schema) or dict.fromkeys(numeric, "")
