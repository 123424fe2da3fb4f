"""The stage that reads VARIANTS from one file, which any program may have made: a table with pair_id and text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, ParaloomError
from paraloom.core.schema import VARIANTS
from paraloom.core.stage import Source, StageContext
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.io.shards import open_shard, read_batches

_NEEDED = ("pair_id", "text")
_NUMBERS = {"rank": int, "logprob": float, "tokens": int}
_MOST = 2**31 - 1
_TREES = pa.field("text_parse", pa.string())
_CHUNK = 1024
_OBJECT = 'A line is an object, such as {"pair_id": "news:1", "text": "A dog sleeps."}.'


def columns_of_file(path: Path) -> list[str]:
    """The columns of a .parquet, the header of a .tsv, the keys of a .jsonl's first line; none of what has none."""
    kind = without_compression(path).suffix
    if not path.is_file() or kind not in (".parquet", ".tsv", ".jsonl"):
        return []
    if kind == ".parquet":
        with open_shard(path) as file:
            names: list[str] = file.schema_arrow.names
        return names
    try:
        first = decode(next(read_raw_lines(path), b""), path, 1)
        return first.split("\t") if kind == ".tsv" else list(json.loads(first))
    except (ValueError, TypeError, RecursionError, ParaloomError):
        return []


def holds_variants(source: str) -> bool:
    """Whether a file is a table of variants, and not of pairs."""
    names = columns_of_file(Path(source))
    return set(_NEEDED) <= set(names) and not {"src", "tgt"} & set(names)


@dataclass(frozen=True, kw_only=True)
class ReadVariants(Source):
    """Reads .parquet, .tsv with a header, or .jsonl, as `paraloom translate` and `paraloom variants` write them.

    source: the file; it has pair_id and text, the variants of one source one after another.  rank, method, logprob and
    tokens are read where they are there, and null where not; so is text_parse, of .jsonl where the first line has it;
    of .parquet all further columns are kept.
    """

    output_schema: ClassVar[str] = "VARIANTS"
    version: ClassVar[str] = "2"

    source: Path

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All variants in order.  Raises DataError with the row that lacks an id or a text, or cannot be read."""
        kind = without_compression(self.source).suffix
        if kind == ".parquet":
            yield from self._of_parquet()
            return
        if kind not in (".tsv", ".jsonl"):
            raise ConfigError(
                f"variants are not read from '{kind}'", file=self.source, remedy="Give .tsv, .jsonl or .parquet."
            )
        rows = _table(self.source) if kind == ".tsv" else _objects(self.source)
        schema = VARIANTS.append(_TREES) if _TREES.name in columns_of_file(self.source) else VARIANTS
        while chunk := list(islice(rows, _CHUNK)):
            yield pa.RecordBatch.from_pylist(chunk, schema=schema)

    def _of_parquet(self) -> Iterator[pa.RecordBatch]:
        row = 0
        for batch in read_batches(self.source):
            names = batch.schema.names
            for name in _NEEDED:
                if name not in names:
                    raise _no_column(self.source, name, names)
                if batch.column(name).null_count:
                    empty = batch.column(name).is_null().to_pylist().index(True)
                    raise DataError(f"'{name}' is null", file=self.source, row=row + empty + 1)
            try:
                batch.validate(full=True)
                columns = {
                    field.name: batch.column(field.name).cast(field.type)
                    if field.name in names
                    else pa.nulls(batch.num_rows, field.type)
                    for field in VARIANTS
                }
            except pa.ArrowInvalid as error:
                raise DataError(f"not fit to read: {error}", file=self.source) from None
            further = [field for field in batch.schema if field.name not in columns]
            arrays = [*columns.values(), *(batch.column(field.name) for field in further)]
            yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema([*VARIANTS, *further]))
            row += batch.num_rows


def _table(path: Path) -> Iterator[dict[str, object]]:
    """The rows of a table with tabs, by the names of its header; rows count from 1 without it."""
    lines = read_raw_lines(path)
    names = decode(next(lines, b""), path, 1).split("\t")
    for name in _NEEDED:
        if name not in names:
            raise _no_column(path, name, names)
    for row, line in enumerate(lines, 1):
        fields = decode(line, path, row).split("\t")
        if len(fields) != len(names):
            raise DataError(
                f"the row has {len(fields)} fields, the header has {len(names)}",
                file=path,
                row=row,
                remedy="Look for a tab that is missing, or one too many.",
            )
        yield _variant(dict(zip(names, fields, strict=True)), path, row)


def _objects(path: Path) -> Iterator[dict[str, object]]:
    """The objects of JSON lines; blank lines hold none."""
    for row, line in enumerate(read_raw_lines(path), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(decode(line, path, row))
        except (ValueError, RecursionError) as error:
            raise DataError(f"the line is no JSON ({error})", file=path, row=row, remedy=_OBJECT) from None
        if not isinstance(found, dict):
            raise DataError("the line is JSON, but no object", file=path, row=row, remedy=_OBJECT)
        yield _variant(found, path, row)


def _variant(found: dict[str, object], path: Path, row: int) -> dict[str, object]:
    if type(found.get("pair_id")) is int:
        found["pair_id"] = str(found["pair_id"])
    for name in _NEEDED:
        if not isinstance(found.get(name), str):
            raise DataError(
                f"there is no text at '{name}'", file=path, row=row, remedy="Each row has a pair_id and a text."
            )
        try:
            str(found[name]).encode()
        except UnicodeEncodeError as error:
            what = f"'{name}' holds half a surrogate pair (at {error.start})"
            raise DataError(what, file=path, row=row) from None
    variant: dict[str, object] = {name: found[name] for name in _NEEDED}
    variant["method"] = str(found.get("method") or "")
    trees = found.get(_TREES.name)
    variant[_TREES.name] = trees if isinstance(trees, str) and trees else None
    for name, kind in _NUMBERS.items():
        given = found.get(name)
        try:
            variant[name] = None if given in (None, "") else _number(given, kind)
        except (ValueError, TypeError, OverflowError):
            wanted = "whole number" if kind is int else "number"
            raise DataError(f"'{name}' is no {wanted}: {given!r}", file=path, row=row) from None
    return variant


def _number(given: object, kind: type[int] | type[float]) -> int | float:
    """The number that was given, or written down; ValueError, TypeError or OverflowError where it is none to store."""
    number = kind(given)  # type: ignore[call-overload,arg-type]
    if isinstance(given, bool) or not math.isfinite(number):
        raise ValueError
    if kind is int and (abs(number) > _MOST or (isinstance(given, float) and given != number)):
        raise ValueError
    return number


def _no_column(path: Path, name: str, names: list[str]) -> ConfigError:
    return ConfigError(
        f"there is no column '{name}'; there are {', '.join(names)}",
        file=path,
        remedy="A table of variants has the columns pair_id and text.",
    )
