"""Bitext in and tables out, whatever the format: the suffix, the braces or the folder say which it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import PAIRS, SCHEMAS, require
from paraloom.io.compression import PIPE, without_compression
from paraloom.io.corpus import Corpus, write_corpus
from paraloom.io.formats import jsonl, moses, parquet, ppdb, tmx, tsv
from paraloom.io.formats.base import Asked, Column, OnReject, Pair, languages_in_name, origin_of, stem

READERS: dict[str, Callable[[Asked], Iterator[Pair]]] = {
    ".tsv": tsv.read,
    ".jsonl": jsonl.read,
    ".parquet": parquet.read,
    ".tmx": tmx.read,
}
"""The reader of each suffix; a new format is one file and one line here (and one in `write_table`)."""

UNKNOWN = "und"
"""The language of a side of which nothing is said (BCP 47's tag for 'undetermined')."""

Rows: TypeAlias = Corpus | pa.Table | pa.RecordBatch | pa.RecordBatchReader | Iterable[pa.RecordBatch]
"""Rows to write; all but a bare iterable know their columns even when there is no row."""


def read_pairs(
    source: str | Path,
    *,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    src_column: Column = None,
    tgt_column: Column = None,
    origin: str | None = None,
    on_reject: OnReject | None = None,
    batch_rows: int = 1024,
) -> Iterator[pa.RecordBatch]:
    """Sentence pairs in the PAIRS schema, in batches of at most `batch_rows`, streamed.

    source: a file with both sides (.tsv .jsonl .parquet .tmx, each plain or .gz .zst .xz; '-' is a TSV pipe), a folder
    of ours, a file of PPDB (its name begins with ppdb), or `PREFIX.{cs,en}` for Moses pairs, whose braces also say the
    languages.
    src_lang, tgt_lang: by default what file or name says (`news.de-en.tsv`), else 'und'.
    src_column, tgt_column: names, or for TSV numbers from 1.
    origin: by default the file's name without languages and suffixes; `pair_id` is `origin:row`, rows from 1.
    A table that has columns of ours (pair_id, origin, src_lang, tgt_lang) keeps them, unless they are given here.
    on_reject: takes row, reason and raw text of each bad row; without it the first bad row is a DataError.

    Raises DataError also when Moses sides differ in lines (with or without on_reject), ConfigError when the format or
    the columns are not clear.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "hello.de-en.tsv"
    >>> _ = file.write_text("Hallo\\tHello\\n")
    >>> next(read_pairs(file)).to_pylist()[0]["pair_id"]
    'hello:1'
    """
    if batch_rows < 1:
        raise ConfigError(f"a batch has one row or more, not {batch_rows}")
    path = str(source)
    asked = Asked(path, src_lang, tgt_lang, src_column, tgt_column, on_reject)
    sides = moses.sides(path)
    if sides is not None:
        asked = replace(asked, src_lang=src_lang or sides.src_lang, tgt_lang=tgt_lang or sides.tgt_lang)
        return _batches(moses.read(asked), asked, origin, origin_of(sides.stem), batch_rows)
    if Path(path).is_dir():
        return _of_corpus(Path(path), batch_rows)
    named = languages_in_name(stem(path)) or (None, None)
    asked = replace(asked, src_lang=src_lang or named[0], tgt_lang=tgt_lang or named[1])
    return _batches(_reader(path)(asked), asked, origin, origin_of(stem(path)), batch_rows)


def write_pairs(rows: Rows, target: str | Path) -> int:
    """Write rows that have the PAIRS columns, as `write_table` does; returns how many."""
    schema, batches = _with_schema(rows)
    require(schema, PAIRS)
    return write_table(pa.RecordBatchReader.from_batches(schema, batches), target)


def write_table(rows: Rows, target: str | Path, columns: Sequence[str] | None = None) -> int:
    """Write any rows to a file, whole or not at all, and return how many.

    target: .tsv (with a header) or .jsonl (each also .gz .zst .xz; '-' is TSV to the standard output), .parquet; .tmx
    and `PREFIX.{de,en}` take the columns src and tgt; a name without suffix is a folder, which becomes a corpus.
    columns: which, in this order; all by default.

    Raises DataError, with the row, for what a format cannot hold: tabs and line ends in TSV, line ends in Moses pairs,
    control characters in TMX.
    """
    schema, batches = _with_schema(rows)
    if columns is not None:
        for name in columns:
            if name not in schema.names:
                raise ConfigError(f"there is no column '{name}'; there are {', '.join(schema.names)}")
        schema = pa.schema([schema.field(name) for name in columns])
        batches = (batch.select(list(columns)) for batch in batches)
    path = str(target)
    suffix = ".tsv" if path == PIPE else without_compression(path).suffix
    paired = moses.sides(path) is not None or suffix == ".tmx"
    if paired:
        require(schema, pa.schema([PAIRS.field("src"), PAIRS.field("tgt")]))
        return moses.write(batches, path) if suffix != ".tmx" else tmx.write(batches, path)
    if suffix == ".tsv":
        return tsv.write(batches, schema.names, path)
    if suffix == ".jsonl":
        return jsonl.write(batches, schema.names, path)
    if suffix == ".parquet":
        return parquet.write(batches, schema, path)
    if suffix == "" or Path(path).is_dir():
        first = pa.RecordBatch.from_pylist([], schema=schema)
        return write_corpus(path, chain([first], batches), kind=_kind(schema)).rows
    raise _unknown_format(path, suffix)


def _reader(path: str) -> Callable[[Asked], Iterator[Pair]]:
    suffix = ".tsv" if path == PIPE else without_compression(path).suffix
    if suffix in READERS:
        return READERS[suffix]
    if ppdb.is_named_ppdb(Path(path).name) and Path(path).is_file():
        return ppdb.read
    if suffix == "":
        raise DataError("there is no such folder", file=path, remedy="Check the name, or add the file's suffix.")
    raise _unknown_format(path, suffix)


def _unknown_format(path: str, suffix: str) -> ConfigError:
    return ConfigError(
        f"the format '{suffix}' is not known; known are {', '.join(READERS)}, folders, and Moses pairs",
        file=path,
        remedy="Rename or convert it; Moses pairs are written in quotes and with braces: 'PREFIX.{de,en}'.",
    )


def _batches(
    pairs: Iterator[Pair], asked: Asked, origin: str | None, named: str, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    while chunk := list(islice(pairs, batch_rows)):
        origins = [origin or pair.origin or named for pair in chunk]
        ids = [
            pair.pair_id if pair.pair_id and not origin else f"{source}:{pair.row}"
            for pair, source in zip(chunk, origins, strict=True)
        ]
        columns = [
            ids,
            [pair.src for pair in chunk],
            [pair.tgt for pair in chunk],
            [asked.src_lang or pair.src_lang or UNKNOWN for pair in chunk],
            [asked.tgt_lang or pair.tgt_lang or UNKNOWN for pair in chunk],
            origins,
        ]
        yield pa.RecordBatch.from_arrays([pa.array(column, pa.string()) for column in columns], schema=PAIRS)


def _of_corpus(folder: Path, batch_rows: int) -> Iterator[pa.RecordBatch]:
    corpus = Corpus.open(folder)
    require(corpus.schema, PAIRS)
    for batch in corpus.batches(PAIRS.names, batch_rows):
        yield pa.RecordBatch.from_arrays(batch.columns, schema=PAIRS)


def _with_schema(rows: Rows) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    if isinstance(rows, Corpus):
        return rows.schema, rows.batches()
    if isinstance(rows, pa.Table):
        return rows.schema, iter(rows.to_batches())
    if isinstance(rows, pa.RecordBatch):
        return rows.schema, iter([rows])
    if isinstance(rows, pa.RecordBatchReader):
        return rows.schema, iter(rows)
    batches = iter(rows)
    first = next(batches, None)
    return (PAIRS, batches) if first is None else (first.schema, chain([first], batches))


def _kind(schema: pa.Schema) -> str:
    for kind, wanted in SCHEMAS.items():
        if set(wanted.names) <= set(schema.names):
            return kind
    raise DataError(
        f"the columns {', '.join(schema.names)} are none of a corpus's",
        remedy="Write a .parquet file instead of a folder.",
    )
