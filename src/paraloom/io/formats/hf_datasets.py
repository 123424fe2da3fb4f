"""Folders of Hugging Face `datasets` (`Dataset.save_to_disk`): Arrow streams, read and written with pyarrow alone.

Arrow streams have no checksums. What Paraloom writes has the SHA-256 of each file in `state.json`, where `datasets`
ignores it; a file is compared with it before anything is read. Of any folder, each batch is validated before use.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.remote_files import is_below
from paraloom.io.atomic import atomic_folder
from paraloom.io.formats.base import PairRow, ReadOptions, file_stem, languages_in_name
from paraloom.io.formats.columns import choose_sides, named_column, pair_rows, side_column
from paraloom.io.formats.names import INFO, SPLITS, STATE
from paraloom.io.shards import is_text, rebatch, text_values

_BATCH_ROWS = 1000
_FILE_ROWS = 1_000_000
_REMEDY = "Save it again: Dataset.save_to_disk."

_BINARY = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
"""Types of text → the same buffers, whose bytes need not be UTF-8."""


class _File(NamedTuple):
    """A file of a data set, and its SHA-256; '' where the folder does not say it."""

    path: Path
    sha256: str


def dataset_schema(path: str | Path) -> pa.Schema:
    files = _files(Path(path))
    if not files:
        raise DataError("the data set has no rows", file=path, remedy="Save one that has rows.")
    with _opened(files[0]) as (_, reader):
        schema = reader.schema
    return schema.remove_metadata()


def read_dataset(path: str | Path, batch_rows: int = 1024) -> Iterator[pa.RecordBatch]:
    """Read a data set in batches; files are mapped into memory, never read as a whole."""
    for file, batch in _batches(Path(path), batch_rows):
        with _corruption_as_error(file):
            batch.validate(full=True)
        yield batch


def _batches(folder: Path, batch_rows: int) -> Iterator[tuple[Path, pa.RecordBatch]]:
    """Batches that are safe to use, each with its file; only their texts may be invalid UTF-8."""
    schema: pa.Schema | None = None
    for file in _files(folder):
        with _opened(file) as (source, reader):
            schema = schema or reader.schema
            if not reader.schema.equals(schema):
                raise DataError("the columns differ from those of the first file", file=file.path, remedy=_REMEDY)
            while True:
                end = source.tell()
                # Only reading is guarded: an error of the code that consumes the batch is not the file's.
                with _corruption_as_error(file.path):
                    batch = next(iter(reader), None)
                    if batch is not None:
                        _validate(batch)
                if batch is None:
                    break
                batch = batch.replace_schema_metadata(None)
                for start in range(0, batch.num_rows, batch_rows):
                    yield file.path, batch.slice(start, batch_rows)
            # Arrow takes the end of a file, or a flipped length, for the end of its stream: rows would be missing.
            if source.tell() == end or source.tell() < source.size():
                raise DataError(
                    "the file is truncated or corrupt (its stream has no end, or ends too early)",
                    file=file.path,
                    remedy=_REMEDY,
                )


def _validate(batch: pa.RecordBatch) -> None:
    """Check that offsets, lengths and nulls fit the buffers: Arrow reads past their ends otherwise, and crashes."""
    batch.validate()
    for column in batch.columns:
        column.view(_binary(column.type)).validate(full=True)


def _binary(kind: pa.DataType) -> pa.DataType:
    """The type with bytes in place of text; readers reject rows that are not valid UTF-8 one by one."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_binary(field.type)) for field in kind])
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _binary(kind.value_type), kind.ordered)
    return _BINARY.get(kind, kind)


def read(options: ReadOptions, batch_rows: int = 1024) -> Iterator[PairRow]:
    """Read pairs: the column `translation`, or two text columns, which are chosen as the columns of a table are."""
    schema = dataset_schema(options.path)
    src, tgt = choose_sides(schema, options)
    named = languages_in_name(file_stem(options.path)) or (None, None)
    langs = [side.lang or name for side, name in zip((src, tgt), named, strict=True)]
    # Texts that are not valid UTF-8 are rejected row by row.
    batches = (batch for _, batch in _batches(Path(options.path), batch_rows))
    yield from pair_rows(batches, schema, (src, tgt), langs, options)


def read_column(path: str | Path, name: int | str = 0) -> Iterator[str | bytes | None]:
    schema = dataset_schema(path)
    texts = [field.name for field in schema if is_text(field.type)]
    if name == 0 and "text" not in texts and len(texts) != 1:
        raise ConfigError(
            f"the column of the text is not clear; the columns are {', '.join(schema.names)}",
            file=path,
            remedy="Name the column.",
        )
    side = named_column(schema, ("text" if "text" in texts else texts[0]) if name == 0 else name, path)
    for _, batch in _batches(Path(path), _BATCH_ROWS):
        yield from text_values(side_column(batch, side))


def write(batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: str) -> int:
    """Write a folder that `datasets.load_from_disk` opens, atomically. Its bytes depend on the rows only."""
    rows = 0
    with atomic_folder(target, STATE) as folder:
        parts: list[Path] = []
        tables = rebatch(batches, schema, _BATCH_ROWS)
        table = next(tables, None)
        while table is not None or not parts:
            part = folder / f"part-{len(parts)}"
            limit = rows + _FILE_ROWS
            with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
                while table is not None and rows < limit:
                    # A copy: of a slice, Arrow writes more than its own rows.
                    writer.write_table(table.take(pa.array(range(table.num_rows), pa.int32())))
                    rows += table.num_rows
                    table = next(tables, None)
            parts.append(part)
        names = [f"data-{number:05d}-of-{len(parts):05d}.arrow" for number in range(len(parts))]
        for part, name in zip(parts, names, strict=True):
            part.rename(folder / name)
        _write_json(folder / STATE, _state({name: file_digest(folder / name) for name in names}))
        _write_json(folder / INFO, {"citation": "", "description": "", "homepage": "", "license": ""})
    return rows


def _state(digests: Mapping[str, str]) -> dict[str, Any]:
    return {
        "_data_files": [{"filename": name, "sha256": content} for name, content in digests.items()],
        "_fingerprint": _fingerprint(digests.values()),
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }


def _fingerprint(digests: Iterable[str]) -> str:
    return digest(list(digests))[:16]


def _write_json(path: Path, value: Mapping[str, object]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _files(folder: Path) -> list[_File]:
    if (folder / SPLITS).is_file():
        return _files(_only_split(folder))
    state = _json(folder / STATE)
    if state.get("_indices_data_files"):
        raise DataError(
            "the data set was saved with a list of indices, as old versions of datasets do",
            file=folder,
            remedy="Save it again with a version of datasets from 2.0.",
        )
    entries = state.get("_data_files")
    names = [entry.get("filename") if isinstance(entry, dict) else None for entry in entries or []]
    if not isinstance(entries, list) or not all(_is_name(name) for name in names):
        raise DataError("the names of its files cannot be read", file=folder / STATE, remedy=_REMEDY)
    digests = [str(entry["sha256"]) if "sha256" in entry else "" for entry in entries]
    if any(digests) and state.get("_fingerprint") != _fingerprint(digests):
        raise DataError(
            "the list of its files has changed since it was written",
            file=folder / STATE,
            remedy="Restore it from a copy, or create the data set again.",
        )
    return [_File(folder / str(name), content) for name, content in zip(names, digests, strict=True)]


def _only_split(folder: Path) -> Path:
    splits = _json(folder / SPLITS).get("splits")
    if not isinstance(splits, list) or not splits or not all(_is_name(split) for split in splits):
        raise DataError("the names of the splits cannot be read", file=folder / SPLITS, remedy=_REMEDY)
    if len(splits) > 1:
        raise ConfigError(
            f"the data set has several splits: {', '.join(splits)}",
            file=folder,
            remedy=f"Name one as a folder: {folder / splits[0]}.",
        )
    return folder / str(splits[0])


def _is_name(name: object) -> bool:
    """True if a value is the name of a file in the same folder, not a path out of it."""
    return is_below(name) and Path(str(name)).name == name


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"cannot be read ({error})", file=path, remedy=_REMEDY) from None
    if not isinstance(value, dict):
        raise DataError("expected a JSON object", file=path, remedy=_REMEDY)
    return value


@contextmanager
def _opened(file: _File) -> Iterator[tuple[Any, Any]]:
    """The open file and the reader of its stream, after its digest was compared."""
    path, sha256 = file
    with _corruption_as_error(path):
        if sha256 and file_digest(path) != sha256:
            raise DataError(
                f"the file has changed since {STATE} was written",
                file=path,
                remedy="Restore it from a copy, or create the data set again.",
            )
        source = pa.memory_map(str(path))
        reader = pa.ipc.open_stream(source)
    with source, reader:
        with _corruption_as_error(path):  # names of columns may be invalid UTF-8
            names = reader.schema.names
            _names_within(reader.schema)
        if doubled := next((name for name in names if names.count(name) > 1), None):
            raise DataError(f"the file has the column '{doubled}' twice", file=path, remedy="Rename one of them.")
        yield source, reader


def _names_within(fields: Iterable[pa.Field]) -> list[str]:
    """The names of fields and of all fields in them; raises UnicodeDecodeError for one that is not UTF-8."""
    return [name for field in fields for name in (field.name, *_names_within(_parts(field.type)))]


def _parts(kind: pa.DataType) -> list[pa.Field]:
    return [kind.field(index) for index in range(kind.num_fields)]


@contextmanager
def _corruption_as_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(f"the file is missing, truncated or corrupt ({reason})", file=path, remedy=_REMEDY) from error
