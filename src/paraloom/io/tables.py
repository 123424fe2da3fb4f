"""What files of pairs and tables hold, by their names, columns and first lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, MissingExtraError, ParaloomError
from paraloom.core.lazy import late
from paraloom.core.schema import PAIRS, require
from paraloom.io.compression import decode, read_lines, read_raw_lines, without_compression
from paraloom.io.corpus import DESCRIPTION, Corpus
from paraloom.io.formats.names import is_dataset, sides
from paraloom.io.shards import ROW_GROUP_ROWS, open_shard, read_batches, with_plain_texts

if TYPE_CHECKING:
    from paraloom.io.records import BadRecord

_csv_rows = late("paraloom.io.formats.csv:read_rows")
_dataset_schema = late("paraloom.io.formats.hf_datasets:dataset_schema")
_read_dataset = late("paraloom.io.formats.hf_datasets:read_dataset")
_read_typed = late("paraloom.io.typed_tables:read_typed")

_WRITTEN = {"src", "tgt", "pair_id"}
"""Columns of every table of pairs that Paraloom wrote."""
_QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')


def files_of_bitext(source: Path) -> tuple[Path, ...]:
    """The files that the name of a bitext refers to."""
    two = sides(str(source))
    if two is not None:
        return Path(two.src), Path(two.tgt)
    if "{" in source.name and not source.exists():
        raise ConfigError(
            f"expected two names in the braces of '{source}'",
            remedy="Write PREFIX.{de,en} for PREFIX.de and PREFIX.en.",
        )
    return (source,)


def has_further_columns(source: str) -> bool:
    """Whether a file or data set has pairs with columns beyond those of PAIRS, as Paraloom writes them."""
    try:
        if not is_dataset(source) and without_compression(source).suffix != ".parquet":
            return set(PAIRS.names) < set(columns_of_file(Path(source)))
        schema, _ = open_table(Path(source))
        require(schema, PAIRS)
    except (DataError, ConfigError):
        return False
    return len(schema) > len(PAIRS)


def open_table(
    source: Path, on_bad: BadRecord | None = None, batch_rows: int = ROW_GROUP_ROWS
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The columns and the rows of a table or a data set; texts are strings, however the file has them."""
    if not is_dataset(source) and source.suffix != ".parquet":
        typed: tuple[pa.Schema, Iterator[pa.RecordBatch]] = _read_typed(source, PAIRS, on_bad)
        return typed
    if is_dataset(source):
        schema, batches = _dataset_schema(source), _read_dataset(source)
    else:
        with open_shard(source) as file:
            schema, batches = file.schema_arrow, read_batches(source, batch_rows=batch_rows)
    plain = with_plain_texts(schema)
    return plain, batches if schema == plain else (batch.cast(plain) for batch in batches)


def columns_of_file(path: Path) -> list[str]:
    """The columns of a .parquet, the header of a .tsv or .csv, or the keys of the first line of a .jsonl."""
    kind = without_compression(path).suffix
    if not path.is_file() or kind not in (".parquet", ".tsv", ".csv", ".jsonl"):
        return []
    if kind == ".csv":
        first_row = next(_csv_rows(path), None)
        return first_row if isinstance(first_row, list) else []
    if kind == ".parquet":
        with open_shard(path) as file:
            names: list[str] = file.schema_arrow.names
        return names
    try:
        first = decode(next(read_raw_lines(path), b""), path, 1)
        return first.split("\t") if kind == ".tsv" else list(json.loads(first))
    except (ValueError, TypeError, RecursionError, ParaloomError):
        return []


def columns_of(source: str | Path) -> list[str]:
    """The columns of a corpus folder or of a file; none of a file that does not exist."""
    if (Path(source) / DESCRIPTION).is_file():
        names: list[str] = Corpus.open(source).schema.names
        return names
    return columns_of_file(Path(source))


def check_lines(path: Path) -> None:
    """Raise ConfigError for a table, whose columns would be taken for one text."""
    names = columns_of_file(path)
    if len(names) > 1:
        shown = ", ".join(name if len(name) <= 20 else f"{name[:19]}…" for name in names[:5])
        raise ConfigError(
            f"a table of {len(names)} columns, and none is named as the texts: {shown}",
            file=path,
            remedy="Name it: --column. A file of lines with tabs in them may have another suffix, such as .txt.",
        )


def holds_variants(source: str) -> bool:
    """True if a file is a table of variants: it has the columns pair_id and text, but neither src nor tgt."""
    names = columns_of_file(Path(source))
    return {"pair_id", "text"} <= set(names) and not {"src", "tgt"} & set(names)


def has_quoted_texts(source: str) -> bool:
    """Whether texts at the beginning of a .tsv are quoted, with doubled marks, as other programs write them."""
    if is_dataset(source) or without_compression(source).suffix != ".tsv":
        return False
    try:
        lines = list(islice(read_lines(source), 100))
    except DataError:
        return False
    return any(_QUOTED.fullmatch(field) for line in lines for field in line.split("\t"))


def unread_columns(source: str) -> list[str]:
    """Columns of a table that reading it as pairs leaves out: of text that Paraloom wrote, of others from elsewhere."""
    try:
        in_text = not is_dataset(source) and without_compression(source).suffix != ".parquet"
        columns = _dataset_schema(source).names if is_dataset(source) else columns_of_file(Path(source))
    except (ConfigError, DataError, MissingExtraError):
        return []
    needed = _WRITTEN if in_text else {"src", "tgt"}
    return [column for column in columns if column not in PAIRS.names] if needed <= set(columns) else []
