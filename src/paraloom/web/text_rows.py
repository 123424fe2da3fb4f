"""Rows of files in text form, written to a Parquet file, whose rows can be read in any order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError, ParaloomError
from paraloom.core.progress import progress
from paraloom.io import read_pairs
from paraloom.io.atomic import disk_full_as_error
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.io.shards import write_shard
from paraloom.web.sources import RowSource, sides_of

Reject = Callable[[int, str], None]
"""Takes the number of a row that cannot be read, and why."""

NEVER_NUMBERS = ("pair_id", "doc_id")
"""Columns that are text, whatever is in them."""

_READ_ROWS = 8192
_GROUP_ROWS = 50_000
_KINDS = (pa.int64(), pa.float64(), pa.bool_())


def as_parquet(source: RowSource, path: Path, on_reject: Reject) -> tuple[RowSource, dict[str, pa.DataType]]:
    """Write the rows to a Parquet file; columns whose texts are all numbers, or truth values, and their types."""
    names = _text_columns(source)
    if names is None:
        schema, batches = _pairs(source, on_reject)
        kinds: dict[str, list[pa.DataType]] = {}
    else:
        schema = pa.schema([(name, pa.string()) for name in names])
        batches = _table_batches(source, names, on_reject)
        kinds = {name: [*_KINDS] for name in names if name not in (*sides_of(schema), *NEVER_NUMBERS)}
    seen: set[str] = set()

    def checked() -> Iterator[pa.RecordBatch]:
        with progress("opening", None) as advance:
            for batch in batches:
                for name, possible in kinds.items():
                    values = batch.column(name).drop_null()
                    if len(values):
                        seen.add(name)
                        kinds[name] = [kind for kind in possible if _is_kind(values, kind)]
                yield batch
                advance(batch.num_rows)

    with disk_full_as_error(path):
        write_shard(path, checked(), schema, _GROUP_ROWS)
    types = {name: possible[0] for name, possible in kinds.items() if name in seen and possible}
    # The columns have their names here.
    return replace(source, shards=((path, "kept"),), src_column=None, tgt_column=None), types


def _is_kind(values: pa.Array, kind: pa.DataType) -> bool:
    if kind == pa.bool_() and not pc.all(pc.is_in(values, pa.array(["true", "false"]))).as_py():
        return False
    try:
        values.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _pairs(source: RowSource, on_reject: Reject) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    batches = read_pairs(
        str(source.path),
        src_column=source.src_column,
        tgt_column=source.tgt_column,
        on_reject=lambda row, error, _: on_reject(row, error),
        batch_rows=_READ_ROWS,
    )
    first = next(batches, None)
    if first is None:
        raise DataError("no pairs found", file=source.path, remedy="Give a file with at least one pair.")
    return first.schema, chain([first], batches)


def _text_columns(source: RowSource) -> list[str] | None:
    """The columns of a .tsv with a header or of a .jsonl, None for a file that `read_pairs` reads.

    Other than there, all columns of the table are kept.
    """
    path = source.path
    suffix = without_compression(path).suffix
    if suffix not in (".tsv", ".jsonl") or not path.is_file():
        return None
    first = next(read_raw_lines(path), b"")
    text = decode(first, path, 1)
    if suffix == ".jsonl":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        names = list(value) if isinstance(value, dict) else []
    else:
        names = text.split("\t")
    wanted = [source.src_column or "src", source.tgt_column or "tgt"]
    if not set(wanted) <= set(names) and (source.src_column or source.tgt_column or "text" not in names):
        return None
    _check_names(names, path)
    return [source.renames.get(name, name) for name in names]


def _table_batches(
    source: RowSource, names: list[str], on_reject: Callable[[int, str], None]
) -> Iterator[pa.RecordBatch]:
    """The rows of a .tsv or .jsonl as text; types are found afterwards."""
    path = source.path
    is_json = without_compression(path).suffix == ".jsonl"
    schema = pa.schema([(name, pa.string()) for name in names])
    pending: list[list[str | None]] = []
    for row, line in enumerate(read_raw_lines(path), 1 if is_json else 0):
        if row == 0 or not line.strip():
            continue
        try:
            text = decode(line, path, row)
            pending.append(_json_fields(text, names, source.renames) if is_json else _tab_fields(text, names))
        except (ParaloomError, ValueError, RecursionError) as error:
            on_reject(row, error.what if isinstance(error, ParaloomError) else "not valid JSON")
            continue
        if len(pending) == _READ_ROWS:
            yield _text_batch(pending, schema)
            pending = []
    if pending:
        yield _text_batch(pending, schema)


def _tab_fields(text: str, names: Sequence[str]) -> list[str | None]:
    fields = text.split("\t")
    if len(fields) != len(names):
        raise DataError(f"expected {len(names)} fields as in the header, got {len(fields)}")
    return [field or None for field in fields]


def _json_fields(text: str, names: Sequence[str], renames: dict[str, str]) -> list[str | None]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise DataError("expected a JSON object")
    value = {renames.get(name, name): item for name, item in value.items()}
    return [_json_text(value.get(name)) for name in names]


def _json_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        # A lone surrogate, which JSON can contain, is not text.
        return None if value is None else value.encode("utf-8", "replace").decode()
    return json.dumps(value, ensure_ascii=True)


def _text_batch(rows: list[list[str | None]], schema: pa.Schema) -> pa.RecordBatch:
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _check_names(names: Sequence[str], path: Path) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"column '{twice}' occurs twice", file=path, remedy="Rename one of the two.")
