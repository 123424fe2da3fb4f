"""Sources to explore: files and folders of pairs, and the stages of a run, as batches with the same columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.batches import batched
from paraloom.core.errors import DataError
from paraloom.core.reasons import NOT_SAMPLED, SAMPLE_REASON
from paraloom.io import Corpus, read_pairs
from paraloom.io.compression import without_compression
from paraloom.io.corpus import DESCRIPTION
from paraloom.io.records import read_records
from paraloom.io.shards import is_text, open_shard, read_batches
from paraloom.io.tables import columns_of_file
from paraloom.pipeline.splits import FOLDERS
from paraloom.web.parameters import whole_number

SIDES = (("src", "tgt"), ("text",))
"""The text columns that a row shows: the first of these sets that the columns contain."""

STATUS, REASON = "status", "reason"
"""Columns that tell kept, rejected and failed rows apart, where a source has more than kept rows."""

_READ_ROWS = 8192


@dataclass(frozen=True)
class RowSource:
    """Rows on disk."""

    name: str
    path: Path
    shards: tuple[tuple[Path, str], ...] = ()
    src_column: str | None = None
    tgt_column: str | None = None

    @property
    def renames(self) -> dict[str, str]:
        """The columns that are named as the sides → src and tgt."""
        return {old: new for old, new in ((self.src_column, "src"), (self.tgt_column, "tgt")) if old}

    def stamp(self) -> tuple[Any, ...]:
        """Changes when the files do."""
        files = [path for path, _ in self.shards] or [self.path]
        return tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files if path.is_file())


def path_to_filter(source: RowSource) -> Path:
    """The file or corpus with all rows of a source: where a stage has rejected some, the corpus that it read."""
    if all(status == "kept" for _, status in source.shards):
        return source.path
    folders = stage_folders(source.path.parent)
    earlier = folders[: folders.index(source.path)] if source.path in folders else []
    return next((folder for folder in reversed(earlier) if any(folder.glob("*.parquet"))), source.path)


def find_source(path: str | Path, *, src_column: str | None = None, tgt_column: str | None = None) -> RowSource:
    """Find the files of a corpus folder, with its rejected and failed rows, or of a single file."""
    path = Path(path)
    if path.is_dir():
        if not (path / DESCRIPTION).is_file():
            raise DataError(
                f"{DESCRIPTION} and run.json not found",
                file=path,
                remedy="Name a file of pairs, a corpus folder, or the folder of a run.",
            )
        return stage_source(path, path.name)
    shards = ((path, "kept"),) if path.suffix == ".parquet" and path.is_file() else ()
    return RowSource(path.name, path, shards, src_column, tgt_column)


def stage_source(folder: Path, name: str) -> RowSource:
    """The rows of a stage, finished or not: its shards appear whole, so those that exist can be read."""
    shards = [
        (path, status)
        for status, below in FOLDERS.items()
        for path in sorted((folder / below).glob("*.parquet"))
        if path.is_file()
    ]
    if (folder / DESCRIPTION).is_file():
        known = set(Corpus.open(folder).shards)
        shards = [(path, status) for path, status in shards if status != "kept" or path in known]
    return RowSource(name, folder, tuple(shards))


def stage_folders(run: Path) -> list[Path]:
    """The stage folders of a run, in order: `10-read` before `100-score`."""
    numbers = {path: whole_number(path.name.split("-")[0], 0, 10**9) for path in run.iterdir() if path.is_dir()}
    return [path for _, path in sorted((number, path) for path, number in numbers.items() if number is not None)]


def open_batches(
    source: RowSource, on_reject: Callable[[int, str], None]
) -> tuple[pa.Schema, Iterator[pa.RecordBatch], int | None]:
    if source.shards:
        return _parquet(source)
    path = str(source.path)
    names = _text_columns(source)
    if names is not None:
        schema = pa.schema([(name, pa.string()) for name in names])
        return schema, _table_batches(source, names, on_reject), None
    batches = read_pairs(
        path,
        src_column=source.src_column,
        tgt_column=source.tgt_column,
        on_reject=lambda row, error, raw: on_reject(row, str(error)),
        batch_rows=_READ_ROWS,
    )
    first = next(batches, None)
    if first is None:
        raise DataError("no pairs found", file=path, remedy="Give a file with at least one pair.")
    return first.schema, chain([first], batches), None


def sides_of(schema: pa.Schema) -> tuple[str, ...]:
    """The text columns that a row shows, () where the columns have neither sides nor text."""
    return next((sides for sides in SIDES if set(sides) <= set(schema.names)), ())


def _parquet(source: RowSource) -> tuple[pa.Schema, Iterator[pa.RecordBatch], int]:
    fields: dict[str, pa.Field] = {}
    rows = 0
    for path, _ in source.shards:
        with open_shard(path) as file:
            rows += file.metadata.num_rows
            for field in _renamed(source, file.schema_arrow):
                fields.setdefault(field.name, pa.field(field.name, _plain_type(field.type), metadata=field.metadata))
    has_splits = any(status != "kept" for _, status in source.shards)
    if has_splits:
        fields[STATUS] = pa.field(STATUS, pa.string())
        fields[REASON] = pa.field(REASON, pa.string())
        fields.pop("error", None)
    schema = pa.schema(list(fields.values()))

    def read() -> Iterator[pa.RecordBatch]:
        for path, status in source.shards:
            for batch in read_batches(path, batch_rows=_READ_ROWS):
                yield _conform(source, batch, schema, status if has_splits else None, path)

    return schema, read(), rows


def _renamed(source: RowSource, schema: pa.Schema) -> pa.Schema:
    """The columns, with those that are named as the sides called src and tgt."""
    for given, name in source.renames.items():
        if given != name:
            if given not in schema.names:
                raise DataError(f"column '{given}' not found; the columns are {', '.join(schema.names)}")
            schema = pa.schema([f.with_name(name) if f.name == given else f for f in schema if f.name != name])
    return schema


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_float16(kind):
        return pa.float32()  # DuckDB and most functions of Arrow have no half precision
    return pa.string() if is_text(kind) else kind


def _conform(
    source: RowSource, batch: pa.RecordBatch, schema: pa.Schema, status: str | None, path: Path
) -> pa.RecordBatch:
    given = _renamed(source, batch.schema)
    positions = {name: batch.schema.get_field_index(name) for name in batch.schema.names}
    positions |= {new: batch.schema.get_field_index(old) for old, new in source.renames.items()}
    columns = []
    for field in schema:
        if status is not None and field.name == STATUS:
            columns.append(_statuses(batch, status))
            continue
        name = "error" if status == "failed" and field.name == REASON else field.name
        if name not in given.names and name not in batch.schema.names:
            columns.append(pa.nulls(batch.num_rows, field.type))
            continue
        try:
            columns.append(without_nan(batch.column(positions[name]).cast(field.type)))
        except pa.ArrowInvalid as error:
            raise DataError(f"column '{name}' cannot be read: {error}", file=path) from None
    result = pa.RecordBatch.from_arrays(columns, schema=schema)
    try:
        result.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from None
    return result


def _statuses(batch: pa.RecordBatch, status: str) -> pa.Array:
    """The status of each row: that of its file, but for those that a filter's random sample left out."""
    if status != "rejected" or REASON not in batch.schema.names:
        return pa.array([status] * batch.num_rows, pa.string())
    unsampled = pc.fill_null(pc.starts_with(batch.column(REASON).cast(pa.string()), SAMPLE_REASON), False)
    return pc.if_else(unsampled, NOT_SAMPLED, status)


def without_nan(values: pa.Array) -> pa.Array:
    """The values, with null instead of NaN, which DuckDB takes for the highest number."""
    if not pa.types.is_floating(values.type) or not len(values):
        return values
    return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)


def _text_columns(source: RowSource) -> list[str] | None:
    """The columns of a .tsv with a header or a .jsonl, all kept; None for a file that `read_pairs` reads."""
    path = source.path
    suffix = without_compression(path).suffix
    if suffix not in (".tsv", ".jsonl") or not path.is_file():
        return None
    names = [name.strip() for name in columns_of_file(path)]
    wanted = [source.src_column or "src", source.tgt_column or "tgt"]
    if not set(wanted) <= set(names) and (source.src_column or source.tgt_column or "text" not in names):
        return None
    return [source.renames.get(name, name) for name in names]


def _table_batches(
    source: RowSource, names: list[str], on_reject: Callable[[int, str], None]
) -> Iterator[pa.RecordBatch]:
    """The rows of a .tsv or .jsonl as text; types are found afterwards."""
    given = {new: old for old, new in source.renames.items()}
    is_json = without_compression(source.path).suffix == ".jsonl"
    records = read_records(source.path, on_bad=lambda row, reason, raw: on_reject(row, reason))
    for chunk in batched(records, _READ_ROWS):
        columns = ([record.values.get(given.get(name, name)) for record in chunk] for name in names)
        texts = [[_as_text(value) if is_json else value or None for value in column] for column in columns]
        yield pa.record_batch([pa.array(column, pa.string()) for column in texts], names=names)


def _as_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
