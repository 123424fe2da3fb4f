"""One text a row out of a file: whole lines, a field of lines with tabs, or a key of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.io.formats.base import raw_text


class Text(NamedTuple):
    """A row's text; or, where it could not be read, what stands there, and why."""

    text: str
    fault: str | None = None


def read_texts(path: str | Path, field: int | str = 0, *, reject: bool = False) -> Iterator[Text]:
    """The texts of a file, plain or compressed (.gz .zst .xz), streamed.

    field: 0 is the whole line; a number is a field of lines with tabs, from 1, or from the end by -1, '' where a line
    has not as many; a name is a column of the header that the file begins with.  Of .jsonl it is a key, 'text' for 0;
    its blank lines hold no row.
    reject: a row that cannot be read (not UTF-8, no JSON object, no text at the key) comes with its fault; without it
    the first one raises DataError with file and row.  Raises ConfigError where the header has no such column.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "news.tsv"
    >>> _ = file.write_text("id\\ttext\\n1\\tGood news\\n")
    >>> [row.text for row in read_texts(file, "text")], [row.text for row in read_texts(file, 1)]
    (['Good news'], ['id', '1'])
    """
    lines = enumerate(read_raw_lines(path), 1)
    keyed = without_compression(path).suffix == ".jsonl"
    if keyed and isinstance(field, int) and field:
        raise ConfigError(f"JSON lines have no field {field}", file=path, remedy="Name the key of the text.")
    if isinstance(field, str) and not keyed:
        field = _column(path, field, next(lines, (1, b""))[1])
    for row, line in lines:
        if keyed and not line.strip():
            continue
        try:
            text = decode(line, path, row)
            yield Text(_value(text, str(field or "text")) if keyed else _part(text, int(field)))
        except DataError as error:
            if not reject:
                raise error.at(file=path, row=row) from None
            yield Text(raw_text(line), error.what)


def _column(path: str | Path, name: str, header: bytes) -> int:
    names = decode(header, path, 1).split("\t")
    if name not in names:
        raise ConfigError(f"the header has no column '{name}'{nearest(name, names)}", file=path)
    return names.index(name) + 1


def _part(line: str, number: int) -> str:
    if not number:
        return line
    fields = line.split("\t")
    place = number - 1 if number > 0 else len(fields) + number
    return fields[place] if 0 <= place < len(fields) else ""


def _value(line: str, key: str) -> str:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the line is no JSON ({error})", remedy="One object a line, no line ends in it.") from None
    if not isinstance(found, dict) or not isinstance(found.get(key), str):
        raise DataError(f"there is no text at '{key}'", remedy=f'A line is as {{"{key}": "…"}}.')
    text: str = found[key]
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"'{key}' holds half a surrogate pair (at {error.start})") from None
    return text
