"""The container: a folder of Parquet shards and `corpus.json`, read and written as record batches, never whole."""

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
from paraloom.core.schema import SCHEMAS, require
from paraloom.io.atomic import replacing
from paraloom.io.shards import open_shard, read_batches, rebatch, write_shard

DESCRIPTION = "corpus.json"
"""The file that makes a folder a corpus; it is written last, so a folder without it is unfinished."""


@dataclass(frozen=True)
class Corpus:
    """A corpus on disk: what kind it is, which columns it has, and its shards in order.

    Open one with `Corpus.open`, make one with `write_corpus`; the rows stay on the disk until `batches` reads them.

    >>> import tempfile
    >>> row = {"doc_id": "d", "sent_id": 0, "lang": "en", "text": "Hello"}
    >>> batch = pa.RecordBatch.from_pylist([row], schema=SCHEMAS["SENTENCES"])
    >>> corpus = write_corpus(Path(tempfile.mkdtemp()) / "hello", [batch], kind="SENTENCES")
    >>> Corpus.open(corpus.folder).rows, corpus.head(1).column("text").to_pylist()
    (1, ['Hello'])
    """

    folder: Path
    kind: str
    schema: pa.Schema
    shards: list[Path]
    shard_rows: list[int]
    digests: list[str]

    @classmethod
    def open(cls, folder: str | Path) -> Corpus:
        """The corpus in `folder`.

        Raises DataError when the folder is no finished corpus, or when a shard is missing, corrupt or not the one
        that `corpus.json` describes (its rows are compared here, its digest by `verify`).
        """
        folder = Path(folder)
        kind, entries = _read_description(folder)
        shards = [folder / entry["file"] for entry in entries]
        for shard, entry in zip(shards, entries, strict=True):
            with open_shard(shard) as file:
                found, schema = file.metadata.num_rows, file.schema_arrow
            if found != entry["rows"]:
                raise DataError(
                    f"the shard has {found} rows, {DESCRIPTION} says {entry['rows']}",
                    file=shard,
                    remedy="Restore it from a copy, or make the corpus again.",
                )
        return cls(folder, kind, schema, shards, [e["rows"] for e in entries], [e["sha256"] for e in entries])

    @property
    def rows(self) -> int:
        """Rows of all shards together."""
        return sum(self.shard_rows)

    def batches(
        self, columns: Sequence[str] | None = None, batch_rows: int = 1024, *, label: str = ""
    ) -> Iterator[pa.RecordBatch]:
        """All rows in order, in batches of at most `batch_rows`; a batch never spans two shards.

        label: what is done with them, where it takes so long that progress is to be shown.
        """
        batches = chain.from_iterable(read_batches(shard, columns, batch_rows) for shard in self.shards)
        if not label:
            yield from batches
            return
        with progress(label, self.rows) as advance:
            for batch in batches:
                yield batch
                advance(batch.num_rows)

    def head(self, n: int, columns: Sequence[str] | None = None) -> pa.Table:
        """The first `n` rows (all, when there are fewer)."""
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
        """Read every byte; raises DataError that names the first shard whose digest is not the recorded one."""
        for shard, digest in zip(self.shards, self.digests, strict=True):
            if file_digest(shard) != digest:
                raise DataError(
                    f"the shard's bytes are not those that {DESCRIPTION} was written for",
                    file=shard,
                    remedy="Restore it from a copy, or make the corpus again.",
                )


def write_corpus(folder: str | Path, batches: Iterable[pa.RecordBatch], *, kind: str, shard_rows: int = 5000) -> Corpus:
    """Stream `batches` into the shards `part-00000.parquet` … of `shard_rows` rows, then describe them.

    The schema is the first batch's, and has at least the columns of `kind` (PAIRS, SENTENCES …); without batches it is
    that of the kind, and there is one empty shard.  Raises RunError when `folder` holds a corpus already (it might be
    the one being read) or when the disk is full, DataError when columns are missing or change on the way.
    """
    folder = Path(folder)
    _check_kind(kind)
    if (folder / DESCRIPTION).exists():
        raise RunError("there is a corpus already", file=folder, remedy="Remove it, or name another folder.")
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
    """Declare shards that lie in `folder` (in this order, by `write_shard`) a corpus: writes its `corpus.json`.

    For writers that make their shards one by one, in any order and in many processes.
    """
    folder = Path(folder)
    _check_kind(kind)
    if not shards:
        raise RunError("a corpus has one shard or more", file=folder, remedy="Write an empty shard.")
    entries, schemas = [], []
    for shard in shards:
        if shard.parent != folder:
            raise RunError(f"the shard lies outside the corpus {folder}", file=shard)
        with open_shard(shard) as file:
            schemas.append(file.schema_arrow)
            entries.append({"file": shard.name, "rows": file.metadata.num_rows, "sha256": file_digest(shard)})
        if not schemas[-1].equals(schemas[0], check_metadata=True):
            raise DataError(f"the shard's columns are not those of {shards[0].name}", file=shard)
    require(schemas[0], SCHEMAS[kind])
    rows = [entry["rows"] for entry in entries]
    description = {"kind": kind, "rows": sum(rows), "shards": entries}
    with replacing(folder / DESCRIPTION) as temporary:
        temporary.write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    return Corpus(folder, kind, schemas[0], list(shards), rows, [entry["sha256"] for entry in entries])


def _check_kind(kind: str) -> None:
    if kind not in SCHEMAS:
        raise ConfigError(f"there is no kind of corpus '{kind}'{nearest(kind, list(SCHEMAS))}")


def _read_description(folder: Path) -> tuple[str, list[dict[str, Any]]]:
    path = folder / DESCRIPTION
    if not path.is_file():
        raise DataError(
            f"this is no finished corpus: there is no {DESCRIPTION}" if folder.is_dir() else "there is no such folder",
            file=folder,
            remedy="Name a folder that one of our commands has written to its end.",
        )
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        kind, entries = description["kind"], description["shards"]
        # A plain name only: a description must not lead a reader out of its folder.
        plain = all(Path(e["file"]).name == e["file"] and e["rows"] >= 0 and e["sha256"] for e in entries)
        if kind not in SCHEMAS or not entries or not plain:
            raise ValueError("its kind or its list of shards is none of ours")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the description cannot be read ({error})", file=path, remedy="Make the corpus again."
        ) from error
    return kind, entries
