"""What files of pairs and tables hold, by their names, columns and first lines."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, MissingExtraError, ParaloomError
from paraloom.core.lazy import late
from paraloom.core.schema import PAIRS, require
from paraloom.io.compression import decode, read_lines, read_raw_lines, without_compression
from paraloom.io.corpus import DESCRIPTION, Corpus
from paraloom.io.formats.base import ColumnName, ReadOptions, file_stem, find_header, languages_in_name
from paraloom.io.formats.names import is_dataset, sides
from paraloom.io.shards import ROW_GROUP_ROWS, open_shard, read_batches, with_plain_texts

if TYPE_CHECKING:
    from paraloom.io.records import BadRecord

_csv_rows = late("paraloom.io.formats.csv:read_rows")
_table_columns = late("paraloom.io.formats.tsv:table_columns")
_dataset_schema = late("paraloom.io.formats.hf_datasets:dataset_schema")
_read_dataset = late("paraloom.io.formats.hf_datasets:read_dataset")
_read_typed = late("paraloom.io.typed_tables:read_typed")
_has_breaks_in_quotes = late("paraloom.io.quoting:has_breaks_in_quotes")

_DOUBLED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')
_ENCLOSED = re.compile(r'"[^"]*"')
_NAME = re.compile(r"[\w ()/-]{1,30}")
_MARKUP = re.compile(
    rb"\A\s*(<\?xml|<!doctype|<html[^>]*>\s*(<|\Z)|WEBVTT)|^[\d:]+:\d\d[,.]\d{3} --> \d", re.IGNORECASE | re.MULTILINE
)
_ENDS = tuple(".?!:…。？！»”\"'")


def files_of_bitext(source: Path) -> tuple[Path, ...]:
    """The files that the name of a bitext refers to."""
    two = sides(str(source))
    if two is not None:
        return Path(two.src), Path(two.tgt)
    if "{" in source.name and not source.exists():
        raise ConfigError(
            f"expected two names in the braces of '{source}'",
            remedy="Write PREFIX.{de,en} for PREFIX.de and PREFIX.en.",
        )
    return (source,)


def has_further_columns(source: str) -> bool:
    """Whether a file or data set has pairs with columns beyond those of PAIRS, as Paraloom writes them."""
    try:
        if not is_dataset(source) and without_compression(source).suffix != ".parquet":
            return set(PAIRS.names) < set(columns_of_file(Path(source)))
        schema, _ = open_table(Path(source))
        require(schema, PAIRS)
    except (DataError, ConfigError):
        return False
    return len(schema) > len(PAIRS)


def open_table(
    source: Path, on_bad: BadRecord | None = None, batch_rows: int = ROW_GROUP_ROWS
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The columns and the rows of a table or a data set; texts are strings, however the file has them."""
    if not is_dataset(source) and source.suffix != ".parquet":
        typed: tuple[pa.Schema, Iterator[pa.RecordBatch]] = _read_typed(source, PAIRS, on_bad)
        return typed
    if is_dataset(source):
        schema, batches = _dataset_schema(source), _read_dataset(source)
    else:
        with open_shard(source) as file:
            schema, batches = file.schema_arrow, read_batches(source, batch_rows=batch_rows)
    plain = with_plain_texts(schema)
    return plain, batches if schema == plain else (batch.cast(plain) for batch in batches)


def columns_of_file(path: Path) -> list[str]:
    """The columns of a .parquet, the header of a .tsv or .csv, or the keys of the first line of a .jsonl."""
    kind = without_compression(path).suffix
    if not path.is_file() or kind not in (".parquet", ".tsv", ".csv", ".jsonl"):
        return []
    if kind == ".csv":
        first_row = next(_csv_rows(path), None)
        return first_row if isinstance(first_row, list) else []
    if kind == ".parquet":
        with open_shard(path) as file:
            names: list[str] = file.schema_arrow.names
        return names
    try:
        first = decode(next(read_raw_lines(path), b""), path, 1)
        return first.split("\t") if kind == ".tsv" else list(json.loads(first).keys())
    except (ValueError, AttributeError, RecursionError, ParaloomError):  # not JSON, or not an object
        return []


def columns_of(source: str | Path) -> list[str]:
    """The columns of a corpus folder or of a file; none of a file that does not exist."""
    if (Path(source) / DESCRIPTION).is_file():
        names: list[str] = Corpus.open(source).schema.names
        return names
    return columns_of_file(Path(source))


def check_lines(path: Path) -> None:
    """Raise ConfigError for a table or a document, whose columns or marks would be taken for text."""
    names = columns_of_file(path)
    if len(names) > 1 or (names and without_compression(path).suffix in (".jsonl", ".parquet")):
        shown = ", ".join(name if len(name) <= 20 else f"{name[:19]}…" for name in names[:5])
        raise ConfigError(
            f"a table of {len(names)} column{'s'[: len(names) - 1]}, and none is named as the texts: {shown}",
            file=path,
            remedy="Name it, where a command has --column, or write the texts to a file of lines, such as .txt.",
        )
    if path.is_file() and _MARKUP.search(b"\n".join(islice(read_raw_lines(path), 3))):
        raise ConfigError(
            "a document, whose marks and times would be taken for text",
            file=path,
            remedy="Commands that write documents read .md, .html, .srt and .vtt, if the output has the same suffix; "
            "others take a file of lines, such as .txt.",
        )


def holds_variants(source: str) -> bool:
    """True if a file is a table of variants: it has the columns pair_id and text, but neither src nor tgt."""
    names = columns_of_file(Path(source))
    return {"pair_id", "text"} <= set(names) and not {"src", "tgt"} & set(names)


def doubts_about(
    source: str,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    src_column: ColumnName = None,
    tgt_column: ColumnName = None,
) -> Iterator[str]:
    """What the first rows of a .tsv or .csv of pairs tell against the way in which they are read."""
    named = languages_in_name(file_stem(source)) or (None, None)
    options = ReadOptions(source, src_lang or named[0], tgt_lang or named[1], src_column, tgt_column)
    suffix = without_compression(source).suffix
    if is_dataset(source) or suffix not in (".tsv", ".csv"):
        return
    try:
        if suffix == ".tsv" and _has_quoted_texts(list(islice(read_lines(source), 100))):
            yield (
                "texts are quoted, and in a .tsv the quotation marks belong to them; with the name "
                f"{Path(source).name.partition('.tsv')[0]}.csv they are read as quotes"
            )
        rows = islice(_csv_rows(source) if suffix == ".csv" else (x.split("\t") for x in read_lines(source)), 20)
        names = _unnoticed_header([row for row in rows if isinstance(row, list)], options)
    except (ConfigError, DataError):  # said by the reader
        return
    if names:
        yield (
            f"the first row, {names[0]!r} and {names[1]!r}, is read as a pair; if these are the names of the columns: "
            f"--src-column {shlex.quote(names[0])} --tgt-column {shlex.quote(names[1])}"
        )


def _has_quoted_texts(lines: Sequence[str]) -> bool:
    """Whether texts are quoted: with doubled marks, with tabs or line breaks between marks, or a whole column."""
    fields = [line.split("\t") for line in lines]
    if any(_DOUBLED.fullmatch(field) for row in fields for field in row):
        return True
    if _has_breaks_in_quotes(lines, "\t"):
        return True
    columns = list(zip(*fields, strict=False))
    return len(lines) > 2 and any(all(map(_ENCLOSED.fullmatch, column)) for column in columns)


def _unnoticed_header(rows: Sequence[list[str]], options: ReadOptions) -> tuple[str, str] | None:
    """A first row of two names that no reader knows, such as 'zdroj' and 'cíl', above sentences; None without one."""
    if len(rows) < 3:
        return None
    columns = _table_columns(options, rows[0], rows[1])
    sides = (columns.src, columns.tgt)
    first, second = (rows[0][side].strip() for side in sides)
    below = [row[side].strip() for row in rows[1:] if len(row) == len(rows[0]) for side in sides]
    is_header = not columns.header and first != second and _NAME.fullmatch(first) and _NAME.fullmatch(second)
    sentences = sum(text[-1:] in _ENDS for text in below if text)
    return (first, second) if is_header and sentences > 0.8 * len(below) else None


def unread_columns(source: str) -> list[str]:
    """Columns of a table that reading it as pairs leaves out, where those of the sides have names."""
    try:
        columns = _dataset_schema(source).names if is_dataset(source) else columns_of_file(Path(source))
        header = find_header(columns, None, ReadOptions(source))
    except (ConfigError, DataError, MissingExtraError):
        return []
    read = {*PAIRS.names, *(() if header is None else (columns[header.src], columns[header.tgt]))}
    return [] if header is None else [column for column in columns if column not in read]
