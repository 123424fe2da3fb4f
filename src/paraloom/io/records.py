"""Tables of any columns as records, each column kept: read from and written to JSON Lines, CSV, TSV and Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from paraloom.core.batches import batched
from paraloom.core.errors import ConfigError, DataError
from paraloom.io.compression import SUFFIXES, decode, open_write, read_raw_lines, without_compression
from paraloom.io.formats import csv, parquet
from paraloom.io.formats.base import json_object, raw_text
from paraloom.io.quoting import BadRow, quoted_lines
from paraloom.io.shards import open_shard, read_batches, write_shard

RECORD_FORMATS = (".jsonl", ".csv", ".tsv", ".parquet")
"""Suffixes of tables of records; all but Parquet may be compressed."""

_BATCH_ROWS = 1024
_REMEDIES = {
    ".csv": "Put texts with a comma or a semicolon in quotation marks.",
    ".tsv": "Look for a missing or a superfluous tab.",
}

BadRecord: TypeAlias = Callable[[int, str, str], None]
"""Called with row (from 1), reason and raw text of a row that cannot be read."""


class Record(NamedTuple):
    row: int
    values: dict[str, Any]


def has_records(path: str | Path) -> bool:
    """True if a file is a table of records by its name, not lines of text."""
    return without_compression(path).suffix in RECORD_FORMATS


def record_format(path: str | Path) -> str:
    """The suffix of a table of records, without that of compression."""
    suffix = without_compression(path).suffix
    if suffix not in RECORD_FORMATS:
        raise ConfigError(
            f"unknown format '{suffix}' of a table",
            file=path,
            remedy=f"Name a file that ends in {', '.join(RECORD_FORMATS)}; all but .parquet may be .gz, .xz or .zst.",
        )
    if suffix == ".parquet" and str(path).endswith(SUFFIXES):
        raise parquet.compressed_twice(str(path))
    return suffix


def read_records(path: str | Path, *, header: bool = True, on_bad: BadRecord | None = None) -> Iterator[Record]:
    suffix = record_format(path)

    def refuse(row: int, error: DataError, raw: str) -> None:
        if on_bad is None:
            raise error.at(file=path, row=row)
        on_bad(row, error.what, raw)

    if suffix == ".jsonl":
        yield from _json_records(path, refuse)
    elif suffix == ".parquet":
        yield from _parquet_records(path, refuse)
    else:
        yield from _table_records(table_rows(path), path, header, refuse)


def has_header(path: str | Path, column: str) -> bool:
    """False if a number names a column of a .csv or .tsv, unless it is in the first row: that is a record then."""
    if record_format(path) not in (".csv", ".tsv") or not column.isdecimal():
        return True
    first = next(table_rows(path), None)
    return isinstance(first, list) and column in map(str.strip, first)


def table_rows(path: str | Path) -> Iterator[list[str] | BadRow]:
    """The rows of a .csv or .tsv, a header among them."""
    return csv.read_rows(path) if record_format(path) == ".csv" else _tab_separated(path)


def read_schema(path: str | Path) -> pa.Schema | None:
    """The columns and types of a Parquet file; None for other formats, whose values have types of their own."""
    if record_format(path) != ".parquet":
        return None
    with open_shard(path) as file:
        schema: pa.Schema = file.schema_arrow
        return schema


def with_columns(schema: pa.Schema, types: Mapping[str, pa.DataType]) -> pa.Schema:
    """A schema with further columns, which its metadata of the datasets library know, too, or else are dropped."""
    for name, kind in types.items():
        schema = schema.append(pa.field(name, kind))
    metadata = dict(schema.metadata or {})
    if any(pa.types.is_nested(kind) for kind in types.values()):
        metadata.pop(b"huggingface", None)
    try:
        described = json.loads(metadata[b"huggingface"])
        features = described["info"]["features"]
        for name, kind in types.items():
            features[name] = {"dtype": "float64" if kind == pa.float64() else str(kind), "_type": "Value"}
    except (KeyError, TypeError, ValueError):
        metadata.pop(b"huggingface", None)
    else:
        metadata[b"huggingface"] = json.dumps(described).encode()
    return schema.with_metadata(metadata)


def write_records(
    records: Iterable[Mapping[str, object]],
    path: str | Path,
    columns: Sequence[str],
    schema: pa.Schema | None = None,
    *,
    header: bool = True,
) -> None:
    suffix = record_format(path)
    if suffix == ".parquet":
        if schema is None:
            raise ConfigError("a Parquet file needs types of its columns", file=path)
        write_shard(path, _batches(records, schema, path), schema)
        return
    if suffix == ".jsonl":
        lines: Iterator[str] = (json.dumps(record, ensure_ascii=False, default=str) + "\n" for record in records)
    else:
        cells = ([_cell(record.get(name)) for name in columns] for record in records)
        rows = chain([list(columns)] if header else [], cells)
        lines = quoted_lines(rows) if suffix == ".csv" else _tab_lines(rows, path, 0 if header else 1)
    with open_write(path) as stream:
        for line in lines:
            stream.write(line.encode())


def schema_of_records(records: Iterable[Mapping[str, object]]) -> pa.Schema:
    """The columns and types that hold all values of some records."""
    schemas: list[pa.Schema] = []
    for batch in batched(records, _BATCH_ROWS):
        names = list(dict.fromkeys(name for record in batch for name in record))
        for name in names:
            try:
                kind = pa.array([record.get(name) for record in batch]).type
                schemas.append(pa.schema([pa.field(name, kind)]))
            except (pa.ArrowException, OverflowError) as error:
                raise _mixed(name, error) from None
    try:
        return pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        raise _mixed("", error) from None


def _mixed(name: str, error: Exception) -> DataError:
    column = f"column '{name}' has" if name else "a column has"
    return DataError(
        f"{column} values that one type of Parquet cannot hold ({str(error)[:200]})", remedy="Write .jsonl instead."
    )


_Refuse: TypeAlias = Callable[[int, DataError, str], None]


def _json_records(path: str | Path, refuse: _Refuse) -> Iterator[Record]:
    for row, line in enumerate(read_raw_lines(path), 1):
        if not line.strip():
            continue
        try:
            values = json_object(decode(line, path, row))
            json.dumps(values, ensure_ascii=False).encode()
        except DataError as error:
            refuse(row, error, raw_text(line))
        except UnicodeEncodeError:
            refuse(row, DataError("the line has half of a surrogate pair"), raw_text(line))
        else:
            yield Record(row, values)


def _parquet_records(path: str | Path, refuse: _Refuse) -> Iterator[Record]:
    row = 0
    for batch in read_batches(path):
        try:
            rows = batch.to_pylist()
        except UnicodeDecodeError:
            rows = [_values_of(batch.slice(index, 1)) for index in range(batch.num_rows)]
        for values in rows:
            row += 1
            if values is None:
                refuse(row, DataError("a text is not valid UTF-8", remedy="Fix the text, or remove the row."), "")
            else:
                yield Record(row, values)


def _values_of(row: pa.RecordBatch) -> dict[str, object] | None:
    try:
        values: dict[str, object] = row.to_pylist()[0]
        return values
    except UnicodeDecodeError:
        return None


def _tab_separated(path: str | Path) -> Iterator[list[str] | BadRow]:
    for row, line in enumerate(read_raw_lines(path), 1):
        try:
            yield decode(line, path, row).split("\t")
        except DataError as error:
            yield BadRow(DataError(error.what, remedy=error.remedy), raw_text(line))


def _table_records(
    rows: Iterator[list[str] | BadRow], path: str | Path, header: bool, refuse: _Refuse
) -> Iterator[Record]:
    first = next(rows, None)
    if isinstance(first, BadRow):
        raise first.error.at(file=path, row=1)
    if first is None:
        return
    names = [name.strip() for name in first] if header else [str(number) for number in range(1, len(first) + 1)]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise DataError(
            f"two columns have the name '{repeated}'",
            file=path,
            remedy="Rename one of them; or name the columns by numbers, if the file has no header.",
        )
    for row, fields in enumerate(rows if header else chain([first], rows), 1):
        if isinstance(fields, BadRow):
            refuse(row, fields.error, fields.text)
        elif len(fields) == len(names):
            yield Record(row, dict(zip(names, fields, strict=True)))
        elif any(field.strip() for field in fields):
            remedy = _REMEDIES[record_format(path)]
            refuse(row, DataError(f"expected {len(names)} fields, got {len(fields)}", remedy=remedy), "\t".join(fields))


def _batches(records: Iterable[Mapping[str, object]], schema: pa.Schema, path: str | Path) -> Iterator[pa.RecordBatch]:
    for batch in batched(records, _BATCH_ROWS):
        try:
            yield pa.RecordBatch.from_pylist(batch, schema=schema)
        except pa.ArrowException as error:
            raise DataError(f"a value does not fit its column ({str(error)[:200]})", file=path) from None


def _cell(value: object) -> str:
    """A value as text: null is empty, lists and objects are JSON."""
    if value is None:
        return ""
    if isinstance(value, (dict, list, bool)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _tab_lines(rows: Iterable[Sequence[str]], path: str | Path, first: int) -> Iterator[str]:
    for row, cells in enumerate(rows, first):
        if any(character in cell for cell in cells for character in "\t\n\r"):
            raise DataError(
                "a value has a tab or a line break, which TSV cannot represent",
                file=path,
                row=row,
                remedy="Write .csv, .jsonl or .parquet.",
            )
        yield "\t".join(cells) + "\n"
