"""Where a pipeline begins: bitext read from files, or corpora of pairs joined into one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import PAIRS, require
from paraloom.core.stage import Ref, Source, StageContext
from paraloom.io import Corpus, read_pairs


@dataclass(frozen=True, kw_only=True)
class Bitext(Source):
    """Reads sentence pairs: Moses pairs, TSV, JSONL, Parquet, TMX, plain or compressed.

    source: a file with both sides, or `PREFIX.{de,en}` for Moses pairs; paths stand relative to the pipeline file.
    src_column, tgt_column: names, or numbers from 1, of the sides in a table.  origin: the first part of each
    pair_id; default: the file's name.  skip: pairs that are passed over at the start, and what could not be read
    among them.  limit: pairs that are read at most behind them (0: all).
    bad_rows: 'stop' at a row that cannot be read (wrong number of fields, not UTF-8), or 'reject' it with its reason.
    """

    output_schema: ClassVar[str] = "PAIRS"
    optional_fields: ClassVar[tuple[str, ...]] = ("skip",)

    source: Path
    src_lang: str | None = None
    tgt_lang: str | None = None
    src_column: str | int | None = None
    tgt_column: str | int | None = None
    origin: str | None = None
    skip: int = 0
    limit: int = 0
    bad_rows: Literal["stop", "reject"] = "stop"

    def validate(self) -> None:
        if self.skip < 0 or self.limit < 0:
            raise ConfigError("'skip' and 'limit' are 0 or more rows")

    def files(self) -> tuple[Path, ...]:
        """The file, or both sides of Moses pairs."""
        return sides(self.source)

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All pairs in order, at most `limit` of them; rejected rows follow the batch in which they stood."""
        rejected: list[tuple[int, str, str]] = []
        over, left = self.skip, self.limit or None
        for batch in read_pairs(
            str(self.source),
            src_lang=self.src_lang,
            tgt_lang=self.tgt_lang,
            src_column=self.src_column,
            tgt_column=self.tgt_column,
            origin=self.origin,
            on_reject=None if self.bad_rows == "stop" else lambda *row: rejected.append(row),
        ):
            if over:
                passed = min(over, batch.num_rows)
                last_passed = int(str(batch.column("pair_id")[passed - 1]).rpartition(":")[2])
                over, batch = over - passed, batch.slice(passed)
                rejected[:] = [each for each in rejected if each[0] > last_passed]
                if not batch.num_rows:
                    continue
            last = left is not None and batch.num_rows >= left
            batch = batch.slice(0, left) if last else batch
            if self.bad_rows == "reject":
                yield _judged(batch)
                if rejected:
                    yield _rejects(rejected, batch.schema)
                    rejected.clear()
            else:
                yield batch
            if last:
                return
            left = None if left is None else left - batch.num_rows
        if rejected:
            yield _rejects(rejected, PAIRS)


@dataclass(frozen=True, kw_only=True)
class JoinPairs(Source):
    """Corpora of pairs, one after another, as one; turned: with source and target, and their languages, exchanged.

    Columns beside those of pairs are left behind.
    """

    output_schema: ClassVar[str] = "PAIRS"
    inputs: ClassVar[tuple[str, ...]] = ("corpora",)

    corpora: tuple[Ref, ...]
    turned: bool = False

    def validate(self) -> None:
        if not self.corpora:
            raise ConfigError("'corpora' names no corpus of pairs")

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All rows of all corpora, in order."""
        other = {"src": "tgt", "tgt": "src", "src_lang": "tgt_lang", "tgt_lang": "src_lang"} if self.turned else {}
        for folder in context.paths("corpora"):
            corpus = Corpus.open(folder)
            try:
                require(corpus.schema, PAIRS)
            except DataError as error:
                raise error.at(file=folder) from None
            for batch in corpus.batches(list(PAIRS.names)):
                columns = [batch.column(other.get(name, name)) for name in PAIRS.names]
                yield pa.record_batch(columns, schema=PAIRS)


def _judged(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with `keep` and an empty `reason`."""
    batch = batch.append_column("keep", pa.array([True] * batch.num_rows))
    return batch.append_column("reason", pa.nulls(batch.num_rows, pa.string()))


def _rejects(rows: list[tuple[int, str, str]], schema: pa.Schema) -> pa.RecordBatch:
    """Rows that could not be read, what stood there as their `src`."""
    known = {
        "pair_id": [str(row) for row, _, _ in rows],
        "src": [raw for _, _, raw in rows],
        "origin": ["unread"] * len(rows),
    }
    columns = [pa.array(known.get(field.name, [None] * len(rows)), field.type) for field in schema]
    batch = pa.record_batch(columns, schema=schema)
    batch = batch.append_column("keep", pa.array([False] * len(rows)))
    return batch.append_column("reason", pa.array([reason for _, reason, _ in rows], pa.string()))


def sides(source: Path) -> tuple[Path, ...]:
    """The files that a bitext argument stands for.

    >>> [path.name for path in sides(Path("train.{de,en}.gz"))]
    ['train.de.gz', 'train.en.gz']
    """
    head, brace, rest = str(source).partition("{")
    if not brace:
        return (source,)
    languages, closed, tail = rest.partition("}")
    if not closed or languages.count(",") != 1:
        raise ConfigError(f"'{source}' is no pair of files", remedy="Write PREFIX.{de,en} for PREFIX.de and PREFIX.en.")
    return tuple(Path(f"{head}{language}{tail}") for language in languages.split(","))
