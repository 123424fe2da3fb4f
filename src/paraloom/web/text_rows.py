"""Rows of files in text form, written to a Parquet file, whose rows can be read in any order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.batches import batched
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.io import read_pairs
from paraloom.io.atomic import disk_full_as_error
from paraloom.io.compression import without_compression
from paraloom.io.records import read_records
from paraloom.io.shards import write_shard
from paraloom.io.tables import columns_of_file
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
    reasons = list[str]()

    def reject(row: int, reason: str, _: object) -> None:
        if not reasons:
            reasons.append(f": row {row}, {reason}")
        on_reject(row, reason)

    batches = read_pairs(
        str(source.path),
        src_column=source.src_column,
        tgt_column=source.tgt_column,
        on_reject=reject,
        batch_rows=_READ_ROWS,
    )
    first = next(batches, None)
    if first is None:
        why = "".join(reasons)
        raise DataError(f"no pairs found{why}", file=source.path, remedy="Give a file with at least one pair.")
    return first.schema, chain([first], batches)


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


def _table_batches(source: RowSource, names: list[str], on_reject: Reject) -> Iterator[pa.RecordBatch]:
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
