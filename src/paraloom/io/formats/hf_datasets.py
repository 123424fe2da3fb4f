"""Folders of Hugging Face `datasets` (`Dataset.save_to_disk`): Arrow streams, read and written with pyarrow alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import ConfigError, DataError
from paraloom.io.atomic import atomic_folder
from paraloom.io.formats.base import PairRow, ReadOptions, file_stem, languages_in_name
from paraloom.io.formats.columns import (
    choose_sides,
    is_text,
    named_column,
    pair_rows,
    side_column,
    text_values,
)
from paraloom.io.shards import rebatch

SUFFIX = ".dataset"
"""Suffix of a folder that is written in this format; one that is read may have any name."""

STATE = "state.json"
INFO = "dataset_info.json"
SPLITS = "dataset_dict.json"

_BATCH_ROWS = 1000
_FILE_ROWS = 1_000_000
_REMEDY = "Save it again: Dataset.save_to_disk."


def is_dataset(path: str | Path) -> bool:
    """Whether a path is a folder that `save_to_disk` wrote: of a data set, or of several splits."""
    folder = Path(path)
    return (folder / SPLITS).is_file() or ((folder / STATE).is_file() and (folder / INFO).is_file())


def dataset_schema(path: str | Path) -> pa.Schema:
    """The columns of a data set.

    Args:
        path: Its folder.

    Raises:
        ConfigError: The folder has several splits.
        DataError: It is damaged, or without rows.
    """
    files = _files(Path(path))
    if not files:
        raise DataError("the data set has no rows", file=path, remedy="Save one that has rows.")
    with _opened(files[0]) as reader:
        schema = reader.schema
    return schema.remove_metadata()


def read_dataset(path: str | Path, batch_rows: int = 1024) -> Iterator[pa.RecordBatch]:
    """Read a data set in batches; files are mapped into memory, never read as a whole.

    Args:
        path: Its folder.
        batch_rows: Rows of a batch at most.

    Raises:
        ConfigError: The folder has several splits.
        DataError: A file is missing, truncated or corrupt, or its columns differ from those of the first one.
    """
    schema: pa.Schema | None = None
    for file in _files(Path(path)):
        with _opened(file) as reader:
            schema = schema or reader.schema
            if not reader.schema.equals(schema):
                raise DataError("the columns differ from those of the first file", file=file, remedy=_REMEDY)
            while True:
                # Only reading is guarded: an error of the code that consumes the batch is not the file's.
                with _corruption_as_error(file):
                    batch = next(iter(reader), None)
                if batch is None:
                    break
                batch = batch.replace_schema_metadata(None)
                for start in range(0, batch.num_rows, batch_rows):
                    yield batch.slice(start, batch_rows)


def read(options: ReadOptions, batch_rows: int = 1024) -> Iterator[PairRow]:
    """Read pairs: the column `translation`, or two text columns, which are chosen as the columns of a table are.

    Args:
        options: What to read. A column may also be named as a language of the column `translation`.
        batch_rows: Rows to read at a time.

    Raises:
        ConfigError: The columns of the two sides are not clear, or the folder has several splits.
        DataError: A column is missing or not text, or a value is null or not valid UTF-8.
    """
    schema = dataset_schema(options.path)
    src, tgt = choose_sides(schema, options)
    named = languages_in_name(file_stem(options.path)) or (None, None)
    langs = [side.lang or name for side, name in zip((src, tgt), named, strict=True)]
    yield from pair_rows(read_dataset(options.path, batch_rows), schema, (src, tgt), langs, options)


def read_column(path: str | Path, name: int | str = 0) -> Iterator[str | bytes | None]:
    """Read one text column.

    Args:
        path: Folder of the data set.
        name: The column, or its number, from 1, or from the end by -1; a language of the column `translation`; 0: the
            column `text`, or the only one with text.

    Yields:
        Each text; a value that is not valid UTF-8 as bytes.

    Raises:
        ConfigError: The column is not found, or not clear.
    """
    schema = dataset_schema(path)
    texts = [field.name for field in schema if is_text(field.type)]
    if name == 0 and "text" not in texts and len(texts) != 1:
        raise ConfigError(
            f"the column of the text is not clear; the columns are {', '.join(schema.names)}",
            file=path,
            remedy="Name the column.",
        )
    side = named_column(schema, ("text" if "text" in texts else texts[0]) if name == 0 else name, path)
    for batch in read_dataset(path):
        yield from text_values(side_column(batch, side))


def write(batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: str) -> int:
    """Write a folder that `datasets.load_from_disk` opens, atomically. Its bytes depend on the rows only.

    Args:
        batches: The rows.
        schema: Their columns.
        target: The folder.

    Returns:
        Number of rows.

    Raises:
        ConfigError: The folder exists and holds something else.
    """
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
        content = [file_digest(folder / name) for name in names]
        _write_json(folder / STATE, _state(names, digest(content)[:16]))
        _write_json(folder / INFO, {"citation": "", "description": "", "homepage": "", "license": ""})
    return rows


def _state(names: list[str], fingerprint: str) -> dict[str, Any]:
    return {
        "_data_files": [{"filename": name} for name in names],
        "_fingerprint": fingerprint,
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _files(folder: Path) -> list[Path]:
    """The files of a data set, in order."""
    if (folder / SPLITS).is_file():
        splits = _json(folder / SPLITS).get("splits")
        if not isinstance(splits, list) or not splits or not all(_is_name(split) for split in splits):
            raise DataError("the names of the splits cannot be read", file=folder / SPLITS, remedy=_REMEDY)
        if len(splits) > 1:
            raise ConfigError(
                f"the data set has several splits: {', '.join(splits)}",
                file=folder,
                remedy=f"Name one as a folder: {folder / splits[0]}.",
            )
        return _files(folder / splits[0])
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
    return [folder / str(name) for name in names]


def _is_name(name: object) -> bool:
    """Whether a value is the name of a file in the same folder, not a path out of it."""
    return isinstance(name, str) and name not in ("", ".", "..") and Path(name).name == name


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"cannot be read ({error})", file=path, remedy=_REMEDY) from None
    if not isinstance(value, dict):
        raise DataError("expected a JSON object", file=path, remedy=_REMEDY)
    return value


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with _corruption_as_error(path):
        source = pa.memory_map(str(path))
        reader = pa.ipc.open_stream(source)
    with source, reader:
        names = reader.schema.names
        if doubled := next((name for name in names if names.count(name) > 1), None):
            raise DataError(f"the file has the column '{doubled}' twice", file=path, remedy="Rename one of them.")
        yield reader


@contextmanager
def _corruption_as_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(f"the file is missing, truncated or corrupt ({reason})", file=path, remedy=_REMEDY) from error
