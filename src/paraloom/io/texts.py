"""Reads one text per row from text, TSV and JSON Lines files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.lazy import load_object
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.io.formats.base import json_object, json_text, raw_text
from paraloom.io.formats.names import is_dataset


class TextRow(NamedTuple):
    """One row of a file."""

    text: str
    error: str | None = None


def read_texts(path: str | Path, field: int | str = 0, *, reject: bool = False) -> Iterator[TextRow]:
    """Read the texts of a file, streamed."""
    if is_dataset(path):
        yield from _column_texts(path, field, reject)
        return
    lines = enumerate(read_raw_lines(path), 1)
    is_json = without_compression(path).suffix == ".jsonl"
    if is_json and isinstance(field, int) and field:
        raise ConfigError(
            f"JSON Lines have keys, not numbered fields: got field {field}",
            file=path,
            remedy="Name the key of the text.",
        )
    if isinstance(field, str) and not is_json:
        field = _column_number(path, field, next(lines, (1, b""))[1])
    for row, line in lines:
        if is_json and not line.strip():
            continue
        try:
            text = decode(line, path, row)
            yield TextRow(json_text(json_object(text), str(field or "text")) if is_json else _field(text, int(field)))
        except DataError as error:
            if not reject:
                raise error.at(file=path, row=row) from None
            yield TextRow(raw_text(line), error.what)


def _column_texts(path: str | Path, name: int | str, reject: bool) -> Iterator[TextRow]:
    """The texts of a column of a data set."""
    for row, value in enumerate(load_object("paraloom.io.formats.hf_datasets:read_column")(path, name), 1):
        if not isinstance(value, bytes):
            yield TextRow(value or "")
            continue
        try:
            decode(value, path, row)
        except DataError as error:
            if not reject:
                raise
            yield TextRow(raw_text(value), error.what)


def _column_number(path: str | Path, name: str, header: bytes) -> int:
    names = decode(header, path, 1).split("\t")
    if name not in names:
        raise ConfigError(f"column '{name}' not found in the header{nearest(name, names)}", file=path)
    return names.index(name) + 1


def _field(line: str, number: int) -> str:
    if not number:
        return line
    fields = line.split("\t")
    index = number - 1 if number > 0 else len(fields) + number
    return fields[index] if 0 <= index < len(fields) else ""
