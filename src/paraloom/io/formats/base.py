"""Base of the readers and writers of all formats: options, rows, names, and conversion of columns to text."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.lazy import late
from paraloom.io.compression import without_compression
from paraloom.text.language_names import known_language, language_code

_json_values = late("paraloom.core.results:json_values")

ColumnName: TypeAlias = str | int | None
"""A column by name or by number from 1 ('2' is a number too); None is the default of the format."""

OnReject: TypeAlias = Callable[[int, str, str], None]
"""Called with row (from 1), reason and raw text of each bad row, which is skipped instead of raising an error."""

PROVENANCE = ("src_lang", "tgt_lang", "pair_id", "origin")
"""Optional columns of a table of pairs, kept as they are; in the order of the fields of PairRow."""

SIDE_NAMES = (
    ("src", "tgt"),
    ("source", "target"),
    ("sentence1", "sentence2"),
    ("text1", "text2"),
    ("anchor", "positive"),
    ("phrase", "paraphrase"),
)
"""Names that the columns of the two sides have in tables of the field."""

_TEXT_NAMES = frozenset(["text", "sentence", *chain(*SIDE_NAMES)])
_CODES_AS_WORDS = frozenset(
    ["chi", "da", "el", "es", "fin", "fra", "ger", "he", "hi", "hin", "hun", "ice", "is", "it", "ja", "no", "por"]
)
"""Codes of languages that are common words of another language, or of their own."""

_LANGUAGES = re.compile(r"(?:^|\.)([a-z]{2,3})-([a-z]{2,3})$")
_CHARACTER_NAMES = {"\t": "a tab", "\n": "a line feed", "\r": "a carriage return"}


class PairRow(NamedTuple):
    row: int
    src: str
    tgt: str
    src_lang: str | None = None
    tgt_lang: str | None = None
    pair_id: str | None = None
    origin: str | None = None


@dataclass(frozen=True)
class ReadOptions:
    path: str  # The file; two files for Moses pairs, `PREFIX.{de,en}`
    src_lang: str | None = None  # Language of the source side; None to take it from the file or its name
    tgt_lang: str | None = None  # Language of the target side; None to take it from the file or its name
    src_column: ColumnName = None  # Column of the source side
    tgt_column: ColumnName = None  # Column of the target side
    on_reject: OnReject | None = None  # Called for bad rows; None to raise an error for the first one

    def reject(self, row: int, error: DataError, raw: str) -> None:
        if self.on_reject is None:
            reject = '--on-error reject (bad_rows = "reject" in Python and TOML)'
            error.remedy = f"{error.remedy or 'Fix the row.'} Or leave out rows that cannot be read: {reject}."
            raise error.at(file=self.path, row=row)
        self.on_reject(row, error.what, raw)


def file_stem(path: str) -> str:
    """The name of a file without folder and suffixes of format and compression."""
    # Columns hold valid Unicode only; names of files may be invalid.
    return os.fsencode(without_compression(path).stem).decode("utf-8", "replace")


def languages_in_name(stem: str) -> tuple[str, str] | None:
    """The two languages at the end of a stem."""
    match = _LANGUAGES.search(stem)
    return (match[1], match[2]) if match else None


def origin_in_name(stem: str) -> str:
    """A stem without its languages, unless nothing else is left."""
    return _LANGUAGES.sub("", stem) or stem


class Header(NamedTuple):
    """Names and languages of the two sides by a header."""

    src: int
    tgt: int
    src_lang: str | None = None
    tgt_lang: str | None = None


def find_header(fields: Sequence[str], below: Sequence[str] | None, options: ReadOptions) -> Header | None:
    """Tell whether the first row of a table is a header, and which columns are the two sides.

    A header names the sides (`SIDE_NAMES`), or their languages by code or in English. Codes are words, too ('es',
    'it'): without languages from elsewhere they do not count above a row of words, nor above an empty one or none.

    Args:
        fields: The first row.
        below: The second row, empty without one; None if the first one is known to be a header.
        options: Languages that are expected, and the file.
    """
    names = [field.strip().lower() for field in fields]
    if header := _named_by_side(names, is_known=below is None):
        return header
    is_above_text = below is None or any(map(_is_sentence, below))
    is_pair = not is_above_text and (
        any(map(str.strip, below or ())) or (len(names) == 2 and not _CODES_AS_WORDS.isdisjoint(names))
    )
    header = _named_by_language(names, is_pair, [language_code(options.src_lang), language_code(options.tgt_lang)])
    # Two equal words above others are a pair, as 'Text' in two languages.
    if header is None and (is_above_text or not below or len(names) > 2):
        for name in names:
            if name in _TEXT_NAMES and names.count(name) > 1:
                raise repeated_column(name, names, options)
    return header


def _named_by_side(names: Sequence[str], *, is_known: bool) -> Header | None:
    """The columns that `SIDE_NAMES` name."""
    is_lexicon = is_known or not {"score", "probability"}.isdisjoint(names)
    for src, tgt in SIDE_NAMES:
        # 'Phrase' and 'paraphrase' may be a first pair: they are names in a lexicon, with its figures beside them.
        if names.count(src) == names.count(tgt) == 1 and (is_lexicon or src != "phrase"):
            return Header(names.index(src), names.index(tgt))
    return None


def repeated_column(name: str, fields: Sequence[str], options: ReadOptions) -> ConfigError:
    """The error for a name that a column cannot be chosen by."""
    return ConfigError(
        f"{fields.count(name)} columns have the name '{name}'",
        file=options.path,
        remedy="Rename all but one, or take the header out and give the numbers of columns.",
    )


def _named_by_language(names: Sequence[str], is_pair: bool, expected: Sequence[str | None]) -> Header | None:
    """The columns that are named by the languages that are expected, or by any two unless they may be a pair."""
    languages = {column: code for column, name in enumerate(names) if (code := known_language(name))}
    if all(expected):
        columns = [[column for column, code in languages.items() if code == side] for side in expected]
        if len(columns[0]) == len(columns[1]) == 1 and expected[0] != expected[1]:
            return Header(columns[0][0], columns[1][0])
        return None
    if len(languages) != 2 or len(set(languages.values())) != 2 or is_pair:
        return None
    (src_at, src_code), (tgt_at, tgt_code) = languages.items()
    if any(side not in (None, code) for side, code in zip(expected, (src_code, tgt_code), strict=True)):
        return None
    return Header(src_at, tgt_at, src_code, tgt_code)


def _is_sentence(text: str) -> bool:
    return " " in text.strip() or len(text) > 12  # Chinese and Japanese do without spaces


def raw_text(line: bytes) -> str:
    """Decode a line that may not be valid UTF-8."""
    return line.decode(errors="backslashreplace")


def json_object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"the line is not valid JSON ({error})", remedy="Write one object per line, without line breaks in it."
        ) from None
    if not isinstance(value, dict):
        raise DataError(
            f"expected a JSON object, got {type(value).__name__}", remedy='A line looks like {"src": "…", "tgt": "…"}.'
        )
    return value


def plain_text(batch: pa.RecordBatch, name: str, forbidden: str, file: str | Path, rows_before: int) -> list[str]:
    """Convert a column to text for a format that cannot represent some characters; null becomes ''."""
    column = text_column(batch.column(name))
    bad = pc.fill_null(pc.match_substring_regex(column, pattern=f"[{forbidden}]"), False)
    if pc.any(bad).as_py():
        index = pc.index(bad, True).as_py()
        character = next(c for c in column[index].as_py() if c in forbidden)
        raise DataError(
            f"'{name}' has {_CHARACTER_NAMES[character]}, which this format cannot represent",
            file=file,
            row=rows_before + index + 1,
            remedy="Normalize the text first, or write .jsonl or .parquet.",
        )
    return [value or "" for value in column.to_pylist()]


def text_column(column: pa.Array) -> pa.Array:
    """Convert any column to strings: numbers in their shortest exact form, lists and structs as JSON."""
    if pa.types.is_nested(column.type):
        values = [None if value is None else json.dumps(value, ensure_ascii=False) for value in json_column(column)]
        return pa.array(values, pa.string())
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:  # bytes that are not UTF-8
        return pa.array(_json_values(column.to_pylist()), pa.string())


def json_column(column: pa.Array) -> list[Any]:
    """Convert any column to JSON values: float32 in its shortest form, NaN and infinities as null, dates as text."""
    kind = column.type
    if pa.types.is_floating(kind):
        numbers = [None if v is None else float(v) for v in column.cast(pa.string()).to_pylist()]
        return [None if v is None or not math.isfinite(v) else v for v in numbers]
    is_plain = pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)
    values: list[object] = (column if is_plain or pa.types.is_nested(kind) else text_column(column)).to_pylist()
    return list(_json_values(values)) if pa.types.is_nested(kind) else values
