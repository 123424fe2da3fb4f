"""Reads one text per row from text, tables and JSON Lines, and the segments of nested records and documents."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.lazy import load_object
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.io.documents import TEXT, document_segments, is_document, read_document, words_of
from paraloom.io.fields import Slot, json_text, slots, text_paths
from paraloom.io.formats.base import json_object, raw_text
from paraloom.io.formats.columns import is_path, path_keys
from paraloom.io.formats.names import is_dataset
from paraloom.io.nested_pairs import missing_path
from paraloom.io.records import RECORD_FORMATS, BadRecord, Record, has_header, read_records
from paraloom.text.segments import LAYOUT, Segment, split_segments

_SEARCHED = 100  # Records whose paths are compared with one that is not there


class TextRow(NamedTuple):
    """One row of a file, or one segment of a nested record with its slot."""

    text: str
    error: str | None = None
    slot: str = ""


class NestedText(NamedTuple):
    """A text in a nested record, in segments; one that is not a text is a single segment with the reason."""

    slot: Slot | None
    name: str
    segments: list[Segment]


def read_texts(path: str | Path, field: int | str = 0, *, reject: bool = False) -> Iterator[TextRow]:
    """Read the texts of a file, streamed; at a nested path, the segments that they consist of."""
    if is_nested(path, field):
        read = _segments
    elif is_dataset(path):
        read = _column_texts
    else:
        read = _cells if field and without_compression(path).suffix == ".csv" else _lines
    yield from read(path, field, reject)


def is_nested(path: str | Path, field: object) -> bool:
    """True if a field of a table is a path into nested records, and not the name of a column with a dot."""
    if is_document(path):
        return field == f"$.{TEXT}"
    if not is_path(field) or without_compression(path).suffix not in RECORD_FORMATS:
        return False
    header = has_header(path, path_keys(str(field))[-1])
    first = next(read_records(path, header=header, on_bad=lambda *_: None), None)
    return first is None or field not in first.values


def nested_texts(path: str | Path, field: str, on_bad: BadRecord | None) -> Iterator[tuple[Record, list[NestedText]]]:
    """Each record of a table with its texts at a path; a record of another structure has none, and says so."""
    if is_document(path):
        whole = Record(1, {TEXT: read_document(path)})
        yield whole, [NestedText(Slot(whole.values, TEXT, TEXT), TEXT, document_segments(path, whole.values[TEXT]))]
        return
    keys = path_keys(field)
    records = read_records(path, header=has_header(path, keys[-1]), on_bad=on_bad)
    searched, seen = list(islice(records, _SEARCHED)), False
    for record in chain(searched, records):
        texts = [_nested_text(slot) for slot in slots(record.values, keys)]
        seen = seen or any(text.slot is not None for text in texts)
        yield record, texts or [NestedText(None, field, [Segment("", f"nothing at {field}")])]
    if not seen:
        known = dict.fromkeys(path for record in searched for path in text_paths(record.values))
        raise missing_path(field, known).at(file=path)


def _nested_text(slot: Slot) -> NestedText:
    value = slot.value
    if isinstance(value, str):
        return NestedText(slot, slot.path, split_segments(value))
    reason = "null" if value is None else f"not a text ({type(value).__name__})"
    return NestedText(None, slot.path, [Segment("", reason)])


def _segments(path: str | Path, field: int | str, reject: bool) -> Iterator[TextRow]:
    """The segments of all texts at a path, in order, with the reason of those that are left as they are."""
    bad: list[TextRow] = []

    def on_bad(row: int, reason: str, raw: str) -> None:
        bad.append(TextRow(raw, reason, f"{name}:{row}"))

    name = Path(path).name
    for record, texts in nested_texts(path, str(field), on_bad if reject else None):
        yield from bad
        bad.clear()
        for text in texts:
            slot = f"{name}:{record.row}:{text.name}"
            for segment in text.segments:
                if segment.reason != LAYOUT:
                    words = segment.text if segment.reason else words_of(path, segment.text)
                    yield TextRow(words, segment.reason, slot)
    yield from bad


def _cells(path: str | Path, field: int | str, reject: bool) -> Iterator[TextRow]:
    """The texts of a column of a .csv; a number is for a table without a header."""
    bad: list[TextRow] = []
    on_bad: BadRecord | None = (lambda row, reason, raw: bad.append(TextRow(raw, reason))) if reject else None
    for record in read_records(path, header=isinstance(field, str), on_bad=on_bad):
        yield from bad
        bad.clear()
        names = list(record.values)
        name = field if isinstance(field, str) else str(field if field > 0 else len(names) + 1 + field)
        if name not in names:
            raise ConfigError(f"column '{field}' not found{nearest(name, names)}", file=path)
        yield TextRow(record.values[name])
    yield from bad


def _column_texts(path: str | Path, field: int | str, reject: bool) -> Iterator[TextRow]:
    for row, value in enumerate(load_object("paraloom.io.formats.hf_datasets:read_column")(path, field), 1):
        if not isinstance(value, bytes):
            yield TextRow(value or "")
            continue
        try:
            decode(value, path, row)
        except DataError as error:
            if not reject:
                raise
            yield TextRow(raw_text(value), error.what)


def _lines(path: str | Path, field: int | str, reject: bool) -> Iterator[TextRow]:
    """The text of each line: all of it, a field between tabs, or that of a key of JSON Lines."""
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
