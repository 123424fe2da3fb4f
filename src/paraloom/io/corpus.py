"""Corpora: folders of Parquet shards with a `corpus.json`, read and written in batches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, DataError, RunError, nearest
from paraloom.core.progress import progress
from paraloom.core.remote_files import fetched, is_url
from paraloom.core.schema import SCHEMAS, require
from paraloom.io.atomic import atomic_write
from paraloom.io.shards import open_shard, read_batches, rebatch, write_shard

DESCRIPTION = "corpus.json"
"""The file that describes a corpus; it is written last, so a folder without it is incomplete."""


@dataclass(frozen=True)
class Corpus:
    """A corpus on disk, from `Corpus.open` or `write_corpus`; rows stay there until `batches` or `head` reads them."""

    folder: Path
    kind: str
    schema: pa.Schema
    shards: list[Path]
    shard_rows: list[int]
    digests: list[str]

    @classmethod
    def open(cls, folder: str | Path) -> Corpus:
        remote = is_url(folder)
        folder = fetched(folder) if remote else Path(folder)
        kind, entries = _read_description(folder)
        shards = [folder / entry["file"] for entry in entries]
        for shard, entry in zip(shards, entries, strict=True):
            with open_shard(shard) as file:
                rows, schema = file.metadata.num_rows, file.schema_arrow
            if rows != entry["rows"]:
                raise DataError(
                    f"expected {entry['rows']} rows according to {DESCRIPTION}, got {rows}",
                    file=shard,
                    remedy="Restore it from a copy, or create the corpus again.",
                )
        corpus = cls(folder, kind, schema, shards, [e["rows"] for e in entries], [e["sha256"] for e in entries])
        if remote:
            corpus.verify()
        return corpus

    @property
    def rows(self) -> int:
        return sum(self.shard_rows)

    def batches(
        self, columns: Sequence[str] | None = None, batch_rows: int = 1024, *, label: str = ""
    ) -> Iterator[pa.RecordBatch]:
        """Read all rows in order; a batch never spans two shards."""
        batches = chain.from_iterable(read_batches(shard, columns, batch_rows) for shard in self.shards)
        if not label:
            yield from batches
            return
        with progress(label, self.rows) as advance:
            for batch in batches:
                yield batch
                advance(batch.num_rows)

    def head(self, n: int, columns: Sequence[str] | None = None) -> pa.Table:
        batches = []
        missing = n
        for batch in self.batches(columns, max(1, min(n, 1024))):
            batches.append(batch.slice(0, missing))
            missing -= batches[-1].num_rows
            if missing <= 0:
                break
        names = self.schema.names if columns is None else columns
        return pa.Table.from_batches(batches, pa.schema([self.schema.field(name) for name in names]))

    def verify(self) -> None:
        """Compare the digests of all shards with `corpus.json`."""
        for shard, digest in zip(self.shards, self.digests, strict=True):
            if file_digest(shard) != digest:
                raise DataError(
                    f"the shard has changed since {DESCRIPTION} was written",
                    file=shard,
                    remedy="Restore it from a copy, or create the corpus again.",
                )


def write_corpus(folder: str | Path, batches: Iterable[pa.RecordBatch], *, kind: str, shard_rows: int = 5000) -> Corpus:
    """Write batches to a new corpus, in shards `part-00000.parquet` …"""
    folder = Path(folder)
    _check_kind(kind)
    if (folder / DESCRIPTION).exists():
        raise RunError("the folder already holds a corpus", file=folder, remedy="Delete it, or name another folder.")
    stream = iter(batches)
    first = next(stream, None)
    schema = SCHEMAS[kind] if first is None else first.schema
    require(schema, SCHEMAS[kind])
    tables = rebatch(chain([] if first is None else [first], stream), schema, shard_rows)
    paths: list[Path] = []
    try:
        for table in chain([next(tables, schema.empty_table())], tables):
            paths.append(folder / f"part-{len(paths):05d}.parquet")
            write_shard(paths[-1], table, schema)
    except BaseException:
        for path in paths:
            path.unlink(missing_ok=True)
        raise
    return seal_corpus(folder, paths, kind=kind)


def seal_corpus(folder: str | Path, shards: Sequence[Path], *, kind: str) -> Corpus:
    """Make a corpus of existing shards, written in any order by any process, by writing its `corpus.json`."""
    folder = Path(folder)
    _check_kind(kind)
    if not shards:
        raise RunError("a corpus needs at least one shard, got none", file=folder, remedy="Write an empty shard.")
    entries, schemas = [], []
    for shard in shards:
        if shard.parent != folder:
            raise RunError(f"the shard is outside of the corpus {folder}", file=shard)
        with open_shard(shard) as file:
            schemas.append(file.schema_arrow)
            entries.append({"file": shard.name, "rows": file.metadata.num_rows, "sha256": file_digest(shard)})
        if not schemas[-1].equals(schemas[0], check_metadata=True):
            raise DataError(f"the columns of the shard differ from those of {shards[0].name}", file=shard)
    require(schemas[0], SCHEMAS[kind])
    rows = [entry["rows"] for entry in entries]
    description = {"kind": kind, "rows": sum(rows), "shards": entries}
    with atomic_write(folder / DESCRIPTION) as temporary:
        temporary.write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    return Corpus(folder, kind, schemas[0], list(shards), rows, [entry["sha256"] for entry in entries])


def shards_of(folder: Path) -> list[Path]:
    """The shards of a corpus, none of which is opened."""
    return [folder / entry["file"] for entry in _read_description(folder)[1]]


def _check_kind(kind: str) -> None:
    if kind not in SCHEMAS:
        raise ConfigError(f"unknown kind of corpus '{kind}'{nearest(kind, list(SCHEMAS))}")


def _read_description(folder: Path) -> tuple[str, list[dict[str, Any]]]:
    path = folder / DESCRIPTION
    if not path.is_file():
        raise DataError(
            f"not a complete corpus: {DESCRIPTION} not found" if folder.is_dir() else "folder not found",
            file=folder,
            remedy="Name a folder that a command of paraloom wrote, and that was not interrupted.",
        )
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        kind, entries = description["kind"], description["shards"]
        # Plain names only: a description must not refer to files outside of its folder.
        plain = all(Path(e["file"]).name == e["file"] and e["rows"] >= 0 and e["sha256"] for e in entries)
        rows = sum(entry["rows"] for entry in entries)
        if kind not in SCHEMAS or not entries or not plain or description.get("rows", rows) != rows:
            raise ValueError("invalid kind, list of shards or number of rows")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"the description of the corpus is damaged ({error})", file=path, remedy="Create the corpus again."
        ) from error
    return kind, entries
