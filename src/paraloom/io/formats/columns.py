"""The columns of typed tables: which two of them are the sides of pairs, and their texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.compression import utf8_error
from paraloom.io.formats.base import PROVENANCE, ColumnName, PairRow, ReadOptions, find_header
from paraloom.io.shards import is_text, text_values
from paraloom.text.language_names import language_code

_ROOT = "$."
TRANSLATION = "translation"
"""Name of the column with a struct of a text in each language, as the data sets of WMT have it."""


def is_path(name: object) -> bool:
    """True if a name is that of a nested field: keys with dots between them, `*` for each item, or `$.` before it."""
    return isinstance(name, str) and (name.startswith(_ROOT) or "." in name.strip(".") or "*" in name)


def path_keys(path: str) -> tuple[str, ...]:
    """The keys of a path, from the outside in."""
    keys = tuple(path.removeprefix(_ROOT).split("."))
    if not all(keys):
        raise ConfigError(
            f"'{path}' is not a path of keys", remedy="Write them with dots between: messages.*.content, or $.text."
        )
    return keys


class Side(NamedTuple):
    """A text column, or a field of a struct column: its keys, with dots between them."""

    column: str
    key: str | None = None
    lang: str | None = None


def choose_sides(schema: pa.Schema, options: ReadOptions, *, any_two: bool = True) -> tuple[Side, Side]:
    """Choose the columns of the two sides: those that are named, two languages of the column `translation`, or two text
    columns, as a header names them; with `any_two`, also the only two, whatever their names.
    """
    if options.src_column is not None or options.tgt_column is not None:
        named = (options.src_column or "src", options.tgt_column or "tgt")
        src, tgt = (named_column(schema, name, options.path) for name in named)
        return src, tgt
    if translation_keys(schema):
        return _translation_sides(schema, options)
    texts = [field.name for field in schema if is_text(field.type)]
    header = find_header(texts, None, options)
    if header is not None:
        return Side(texts[header.src], None, header.src_lang), Side(texts[header.tgt], None, header.tgt_lang)
    if any_two and len(texts) == 2:
        return Side(texts[0]), Side(texts[1])
    raise ConfigError(
        f"the columns of the two sides are not clear; the columns are {', '.join(schema.names)}",
        file=options.path,
        remedy="Name them: --src-column, --tgt-column (src_column and tgt_column in Python and TOML).",
    )


def _translation_sides(schema: pa.Schema, options: ReadOptions) -> tuple[Side, Side]:
    """The keys of the column `translation`: those of the languages that are given, else its two, in order."""
    keys = translation_keys(schema)
    given = [options.src_lang, options.tgt_lang]
    chosen = [_key_of(lang, keys, options.path) if lang is not None else None for lang in given]
    rest = [key for key in keys if key not in chosen]
    if 0 < chosen.count(None) < len(rest):
        raise ConfigError(
            f"the column '{TRANSLATION}' has the languages {', '.join(keys)}",
            file=options.path,
            remedy="Name two: --src-lang, --tgt-lang (src_lang and tgt_lang in Python and TOML).",
        )
    if len(rest) < chosen.count(None):
        raise ConfigError(
            f"expected two languages in the column '{TRANSLATION}', got {', '.join(keys) or 'none'}", file=options.path
        )
    src, tgt = (_translation_side(key or rest.pop(0)) for key in chosen)
    return src, tgt


def _translation_side(key: str) -> Side:
    return Side(TRANSLATION, key, language_code(key) or key)


def translation_keys(schema: pa.Schema) -> list[str]:
    """The languages of the column `translation`, empty without one."""
    if TRANSLATION not in schema.names or not _keys_in(schema.field(TRANSLATION).type):
        return []
    return [field.name for field in schema.field(TRANSLATION).type if is_text(field.type)]


def _key_of(lang: str, keys: list[str], path: str) -> str:
    for key in keys:
        if key == lang or (language_code(key) is not None and language_code(key) == language_code(lang)):
            return key
    raise ConfigError(
        f"language '{lang}' not found in the column '{TRANSLATION}'; its languages are {', '.join(keys)}", file=path
    )


def named_column(schema: pa.Schema, name: ColumnName, path: str | Path) -> Side:
    """The column with a name or a number, the field of a struct, or the language of the column `translation`."""
    names = list(schema.names)
    name = _numbered(names, name, path) if isinstance(name, int) else str(name)
    keys = translation_keys(schema)
    if name in keys and name not in names:
        return _translation_side(name)
    column, *inside = (name,) if name in names else path_keys(name)
    kind: pa.DataType | None = pa.struct(schema)
    for key in (column, *inside):
        kind = kind.field(key).type if kind is not None and key in _keys_in(kind) else None
    if kind is None:
        known = [*names, *keys, *(f"{field.name}.{key}" for field in schema for key in _keys_in(field.type))]
        raise ConfigError(
            f"column '{name}' not found{nearest(name, known)}",
            file=path,
            remedy="Name the columns of the two sides: --src-column, --tgt-column.",
        )
    if not is_text(kind):
        raise DataError(f"column '{name}' must be text, got {kind}", file=path)
    return Side(column, ".".join(inside) or None)


def _numbered(names: list[str], number: int, path: str | Path) -> str:
    """The name of a column, counted from 1, or from the end by -1."""
    index = number - 1 if number > 0 else len(names) + number
    if not 0 <= index < len(names):
        raise ConfigError(f"column {number} not found; the columns are {', '.join(names)}", file=path)
    return names[index]


def _keys_in(kind: pa.DataType | None) -> list[str]:
    return [field.name for field in kind] if kind is not None and pa.types.is_struct(kind) else []


def side_column(batch: pa.RecordBatch, side: Side) -> pa.Array:
    """The texts of a side; null where the whole struct is null."""
    column = batch.column(side.column)
    return column if side.key is None else pc.struct_field(column, side.key.split("."))


def kept_provenance(schema: pa.Schema) -> list[str | None]:
    """The columns of PROVENANCE that a table has as text; None for the others."""
    return [name if name in schema.names and is_text(schema.field(name).type) else None for name in PROVENANCE]


def pair_rows(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    sides: Sequence[Side],
    langs: Sequence[str | None],
    options: ReadOptions,
) -> Iterator[PairRow]:
    """The pairs in the columns of a table; rows with a null or with text that is not valid UTF-8 are rejected."""
    provenance = kept_provenance(schema)
    names = [side.key or side.column for side in sides]
    before = 0
    for batch in batches:
        numbers = range(before + 1, before + batch.num_rows + 1)
        texts = [text_values(side_column(batch, side)) for side in sides]
        known = [[None] * batch.num_rows if name is None else text_values(batch.column(name)) for name in provenance]
        known[:2] = [[value or lang for value in column] for column, lang in zip(known, langs, strict=False)]
        # Rows are looked at one by one where there is a bad one only: it takes more time than all else.
        if _types(texts) <= {str} and _types(known) <= {str, type(None)}:
            yield from map(PairRow, numbers, *texts, *known)
        else:
            for row, *values in zip(numbers, *texts, *known, strict=True):
                problem = _row_error(names, values)
                if problem is None:
                    yield PairRow(row, *values)
                else:
                    options.reject(row, problem, repr(tuple(values[:2])))
        before += batch.num_rows


def _types(columns: Sequence[Sequence[object]]) -> set[type]:
    return {kind for column in columns for kind in set(map(type, column))}


def _row_error(names: list[str], values: Sequence[object]) -> DataError | None:
    """Fault of the two sides and the columns of PROVENANCE, None if they are right."""
    for name, value in zip((*names, *PROVENANCE), values, strict=True):
        if isinstance(value, bytes):
            try:
                value.decode()
            except UnicodeDecodeError as error:
                return utf8_error(value, error.start)
        if value is None and name in names:
            return DataError(f"'{name}' is null", remedy="Fill it in, or remove the row.")
    return None
