"""Reads bitext and writes tables in all formats, chosen by the name of the file."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from numbers import Integral
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from paraloom.core.batches import batched
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.lazy import late, load_object
from paraloom.core.remote_files import fetched, is_url
from paraloom.core.schema import PAIRS, SCHEMAS, require
from paraloom.io.atomic import is_device
from paraloom.io.compression import PIPE, SUFFIXES, without_compression, zstandard
from paraloom.io.corpus import Corpus, write_corpus
from paraloom.io.formats.base import (
    ColumnName,
    OnReject,
    PairRow,
    ReadOptions,
    file_stem,
    languages_in_name,
    origin_in_name,
)
from paraloom.io.formats.names import SUFFIX, is_dataset, sides
from paraloom.io.shards import ROW_GROUP_ROWS
from paraloom.text.language_names import known_language, language_code

_FORMATS = "paraloom.io.formats"

READERS: dict[str, Callable[[ReadOptions], Iterator[PairRow]]] = {
    f".{name}": late(f"{_FORMATS}.{name}:read") for name in ("tsv", "csv", "jsonl", "parquet", "tmx")
}
"""Suffix → reader, imported when it is called. A new format is one file and one name here (and in `write_table`)."""

UNKNOWN = "und"  # Language of a side where it is unknown (BCP 47: undetermined)

Rows: TypeAlias = Corpus | pa.Table | pa.RecordBatch | pa.RecordBatchReader | Iterable[pa.RecordBatch]
"""Rows to write; all but a plain iterable have columns even without rows."""


def read_pairs(
    source: str | Path,
    *,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    src_column: ColumnName = None,
    tgt_column: ColumnName = None,
    origin: str | None = None,
    on_reject: OnReject | None = None,
    on_empty: OnReject | None = None,
    skip: int = 0,
    limit: int | None = None,
    batch_rows: int = 1024,
) -> Iterator[pa.RecordBatch]:
    """Read sentence pairs as batches of PAIRS, streamed; ids, origins and languages of a table are its own."""
    if batch_rows < 1:
        raise ConfigError(f"batch_rows must be 1 or more, got {batch_rows}")
    _check_names(src_lang=src_lang, tgt_lang=tgt_lang, origin=origin)
    path = str(source)
    path = str(fetched(path)) if is_url(path) else path
    part = _Part(skip, limit)
    src_column, tgt_column = map(_plain_column, (src_column, tgt_column))
    options = ReadOptions(path, src_lang, tgt_lang, src_column, tgt_column, part.reporting(on_reject))

    def batches(rows: Iterator[PairRow], default_origin: str) -> Iterator[pa.RecordBatch]:
        rows = part.of(_with_both_sides(rows, part.reporting(on_empty)))
        return _batches(rows, options, origin, default_origin, batch_rows)

    two = sides(path)
    if any("*" in str(column) for column in (src_column, tgt_column)):
        stem = origin or origin_in_name(two.stem if two else file_stem(path))
        origin = None  # Pairs have names already: there are several of a row.
        return batches(load_object("paraloom.io.nested_pairs:read")(options), stem)
    if two is not None:
        options = replace(options, src_lang=src_lang or two.src_lang, tgt_lang=tgt_lang or two.tgt_lang)
        return batches(load_object(f"{_FORMATS}.moses:read")(options), origin_in_name(two.stem))
    if is_dataset(path):
        read = load_object(f"{_FORMATS}.hf_datasets:read")
        return batches(read(options), origin_in_name(file_stem(path)))
    if Path(path).is_dir():
        return _read_corpus(Path(path), batch_rows, skip, limit)
    languages = languages_in_name(file_stem(path)) or (None, None)
    options = replace(options, src_lang=src_lang or languages[0], tgt_lang=tgt_lang or languages[1])
    return batches(_reader(path)(options), origin_in_name(file_stem(path)))


def _plain_column(column: str | int | None) -> str | int | None:
    """A column by its name or number, which may be one of numpy."""
    return int(column) if isinstance(column, Integral) else column


def _check_names(**names: str | None) -> None:
    """Raise ConfigError for a name that columns cannot hold."""
    for name, value in names.items():
        if value is not None and not value.isascii() and value != value.encode("utf-8", "replace").decode():
            raise ConfigError(f"'{name}' is not valid UTF-8: {value}")


def write_pairs(rows: Rows, target: str | Path) -> int:
    """Write rows with the columns of PAIRS, as `write_table` does."""
    schema, batches = _with_schema(rows)
    require(schema, PAIRS)
    return write_table(pa.RecordBatchReader.from_batches(schema, batches), target)


def write_table(rows: Rows, target: str | Path) -> int:
    """Write rows to a file atomically."""
    schema, batches = _with_schema(rows)
    path = str(target)
    suffix = ".tsv" if is_output_stream(path) else without_compression(path).suffix
    if holds_sentences_alone(path):
        require(schema, pa.schema([PAIRS.field("src"), PAIRS.field("tgt")]))
        return _written("tmx" if suffix == ".tmx" else "moses", batches, path)
    if suffix in (".tsv", ".csv", ".jsonl"):
        return _written(suffix[1:], batches, schema.names, path)
    if suffix in (".parquet", SUFFIX):
        return _written("parquet" if suffix == ".parquet" else "hf_datasets", batches, schema, path)
    if suffix == "" or Path(path).is_dir():
        first = pa.RecordBatch.from_pylist([], schema=schema)
        return write_corpus(path, chain([first], batches), kind=_kind(schema)).rows
    raise _unknown_format(path, suffix)


def _written(name: str, *arguments: object) -> int:
    """The number of rows that the module of a format writes."""
    rows: int = load_object(f"{_FORMATS}.{name}:write")(*arguments)
    return rows


def _reader(path: str) -> Callable[[ReadOptions], Iterator[PairRow]]:
    suffix = without_compression(path).suffix or (".tsv" if is_stream(path) else "")
    if suffix in READERS:
        return READERS[suffix]
    if Path(path).name.lower().startswith("ppdb") and Path(path).is_file():  # PPDB has no suffix of its own
        return late(f"{_FORMATS}.ppdb:read")
    if suffix == "":
        raise DataError("folder not found", file=path, remedy="Check the name, or add the suffix of the file.")
    raise _unknown_format(path, suffix)


def is_stream(path: str | Path) -> bool:
    """True if a path is standard input, a device or a pipe; /dev/stdin may be a file, but without a suffix."""
    return is_output_stream(path) or Path(path).parent == Path("/dev")


def is_output_stream(path: str | Path) -> bool:
    """True if what is written goes to standard output, a device or a pipe, and replaces nothing."""
    return str(path) == PIPE or is_device(path)


def holds_sentences_alone(target: str | Path) -> bool:
    """True if the format that a name asks for has no further columns, such as scores."""
    return sides(str(target)) is not None or without_compression(target).suffix == ".tmx"


def check_target(target: str | Path) -> None:
    """Check, before any work, that `write_table` knows the format that the name of a file asks for."""
    path = str(target)
    if path.endswith(".zst"):
        _ = zstandard.ZstdCompressor
    if is_output_stream(path) or sides(path) is not None:
        return
    suffix = without_compression(path).suffix
    if suffix == "" and Path(path).is_file():
        raise ConfigError(
            "expected a folder, got a file", file=path, remedy="Name a new folder, or a file with a suffix."
        )
    if suffix == ".parquet" and path.endswith(SUFFIXES):
        raise load_object(f"{_FORMATS}.parquet:compressed_twice")(path)
    if suffix == SUFFIX and Path(path).is_file():
        raise ConfigError("expected a folder, got a file", file=path, remedy="Name a new folder.")
    if suffix in READERS and Path(path).is_dir():
        raise ConfigError("expected a file name, got a folder", file=path, remedy="Name a file in it.")
    if suffix not in (*READERS, SUFFIX, "") and not Path(path).is_dir():
        raise _unknown_format(path, suffix)


def _unknown_format(path: str, suffix: str) -> ConfigError:
    other = _other_side(path)
    names = f"{Path(path).name} {other}" if other else "SOURCE TARGET"
    if suffix.lower() in (".xlf", ".xliff", ".sdlxliff", ".mxliff"):
        remedy = f"Convert it to TMX with Tikal of the Okapi framework: tikal -2tmx {Path(path).name}"
        return ConfigError("XLIFF is not read", file=path, remedy=remedy)
    return ConfigError(
        f"unknown format '{suffix}'; known are {', '.join(READERS)}, {SUFFIX}, folders and Moses pairs",
        file=path,
        remedy=f"Rename or convert the file. If it is one of two sides, name both files, {names}, or both with braces, "
        "in quotes: 'PREFIX.{de,en}'.",
    )


def _other_side(path: str) -> str | None:
    """A file beside this one whose name differs in a language only, such as a.en beside a.de; None if not unique."""
    file = without_compression(path)
    if not file.exists() or language_code(file.suffix[1:]) is None:
        return None
    end = path[len(str(file)) :]
    beside = [
        other
        for other in sorted(file.parent.glob(f"{glob.escape(file.stem)}.*{glob.escape(end)}"))
        if other != Path(path) and known_language(without_compression(other).suffix[1:])
    ]
    return beside[0].name if len(beside) == 1 else None


def _batches(
    pairs: Iterator[PairRow], options: ReadOptions, origin: str | None, default_origin: str, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    for chunk in batched(pairs, batch_rows):
        rows = [
            (
                pair.pair_id if pair.pair_id and not origin else f"{source}:{pair.row}",
                pair.src,
                pair.tgt,
                options.src_lang or pair.src_lang or UNKNOWN,
                options.tgt_lang or pair.tgt_lang or UNKNOWN,
                source,
            )
            for pair in chunk
            for source in (origin or pair.origin or default_origin,)
        ]
        columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=PAIRS)


class _Part:
    """A part of a file: bad rows before it are not reported, and those after it not read."""

    def __init__(self, skip: int, limit: int | None) -> None:
        self._skip, self._limit = skip, limit
        self._skipped = 0

    def reporting(self, report: OnReject | None) -> OnReject | None:
        """A callback that reports a bad row, unless it is among the skipped ones."""
        if report is None:
            return None

        def of_part(row: int, reason: str, raw: str) -> None:
            if self._skipped == self._skip:
                report(row, reason, raw)

        return of_part

    def of(self, pairs: Iterator[PairRow]) -> Iterator[PairRow]:
        for _ in islice(pairs, self._skip):
            self._skipped += 1
        yield from islice(pairs, self._limit)


def _with_both_sides(pairs: Iterator[PairRow], on_empty: OnReject | None) -> Iterator[PairRow]:
    """The pairs without those that have an empty side, which are reported; all without a callback."""
    if on_empty is None:
        yield from pairs
        return
    for pair in pairs:
        if pair.src.strip() and pair.tgt.strip():
            yield pair
        else:
            empty = [f"'{name}'" for name, text in (("src", pair.src), ("tgt", pair.tgt)) if not text.strip()]
            reason = f"{' and '.join(empty)} {'is' if len(empty) == 1 else 'are'} empty"
            on_empty(pair.row, reason, f"{pair.src}\t{pair.tgt}")


def _read_corpus(folder: Path, batch_rows: int, skip: int, limit: int | None) -> Iterator[pa.RecordBatch]:
    corpus = Corpus.open(folder)
    require(corpus.schema, PAIRS)
    for batch in corpus.batches(PAIRS.names, batch_rows):
        skipped = min(skip, batch.num_rows)
        batch = batch.slice(skipped, limit)
        skip -= skipped
        limit = None if limit is None else limit - batch.num_rows
        if batch.num_rows:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=PAIRS)
        if limit == 0:
            return


def _with_schema(rows: Rows) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    if isinstance(rows, Corpus):
        return rows.schema, rows.batches(batch_rows=ROW_GROUP_ROWS)
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
    for kind, expected in SCHEMAS.items():
        if set(expected.names) <= set(schema.names):
            return kind
    raise DataError(
        f"no kind of corpus has only the columns {', '.join(schema.names)}",
        remedy="Write a .parquet file instead of a folder.",
    )
