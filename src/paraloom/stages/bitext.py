"""Stages that bring pairs in: bitext, scored pairs, joined corpora, cleaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import LANGUAGE_OF, PAIRS, require
from paraloom.core.stage import Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io import Corpus, read_pairs
from paraloom.io.bitext import UNKNOWN
from paraloom.io.shards import open_shard, read_batches
from paraloom.pairs.filtering.cleaning import CleaningRules, line_faults
from paraloom.pairs.filtering.held_out import IN_HELD_OUT, HeldOut
from paraloom.text.languages import LanguageIdentifier


@dataclass(frozen=True, kw_only=True)
class ReadPairs(Source):
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
    """Corpora of pairs, one after another, as one; swap: with source and target, and their languages, exchanged.

    Columns beside those of pairs are left behind.
    """

    output_schema: ClassVar[str] = "PAIRS"
    inputs: ClassVar[tuple[str, ...]] = ("corpora",)

    renamed_fields: ClassVar[Mapping[str, str]] = {"turned": "swap"}

    corpora: tuple[Ref, ...]
    swap: bool = False

    def validate(self) -> None:
        if not self.corpora:
            raise ConfigError("'corpora' names no corpus of pairs")

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All rows of all corpora, in order."""
        other = {"src": "tgt", "tgt": "src", "src_lang": "tgt_lang", "tgt_lang": "src_lang"} if self.swap else {}
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


@dataclass(frozen=True, kw_only=True)
class ReadScoredPairs(Source):
    """Reads a Parquet file that a verb of ours wrote, all its columns kept; `bitext` reads two columns of any file.

    source: the file; a path stands relative to the pipeline file.
    """

    output_schema: ClassVar[str] = "PAIRS"

    source: Path

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All pairs in order.  Raises DataError for a missing column, a null side, or text that is no UTF-8."""
        row = 0
        for batch in read_batches(self.source):
            require(batch.schema, PAIRS)
            for side in ("src", "tgt"):
                if batch.column(side).null_count:
                    empty = batch.column(side).is_null().to_pylist().index(True)
                    raise DataError(f"column '{side}' is null", file=self.source, row=row + empty + 1)
            try:
                batch.validate(full=True)
            except pa.ArrowInvalid as error:
                raise DataError(f"not fit to read: {error}", file=self.source) from None
            yield batch
            row += batch.num_rows


def has_further_columns(source: str) -> bool:
    """Whether a file is a Parquet file of pairs, as our verbs write them, with columns beside those of PAIRS."""
    if not source.endswith(".parquet") or not Path(source).is_file():
        return False
    try:
        with open_shard(source) as file:
            schema = file.schema_arrow
        require(schema, PAIRS)
    except DataError:
        return False
    return len(schema) > len(PAIRS)


@dataclass(frozen=True, kw_only=True)
class Clean(CleaningRules, Map):
    """Sets aside the lines of pairs or sentences that are not fit to train on (BBH22 §3), with the first reason.

    held_out: corpora of test sets; a line of which a side stands in one of them, on any side, goes, so that no test
    sentence is learned (case and punctuation do not count).  languages: all that may occur, two or more; a side that
    is more probably in another one of them than in the one it is said to be in, or of which none can be told, goes,
    unless nothing is said.
    The other fields are those of paraloom.pairs.filtering.cleaning.CleaningRules.  Copies within the corpus are found by
    `find-duplicates`, with similarity 1.
    """

    inputs: ClassVar[tuple[str, ...]] = ("held_out",)

    held_out: tuple[Ref, ...] = ()
    languages: tuple[str, ...] = ()

    def validate(self) -> None:
        super().validate()
        if len(self.languages) == 1:
            raise ConfigError("'languages' are all that may occur, two or more")

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with keep and reason; held-out texts and language models are loaded once a worker."""
        columns = _columns(batch.schema.names)
        rules = CleaningRules(**{f.name: getattr(self, f.name) for f in fields(CleaningRules)})
        reasons = line_faults({name: batch.column(name) for name in columns}, rules)
        if self.held_out:
            held = held_out(context.paths("held_out"))
            for name in columns:
                kept = np.array([each is None for each in reasons])
                reasons[kept & held.contains(batch.column(name))] = f"{name}: {IN_HELD_OUT}"
        if self.languages:
            self._identify(batch, columns, reasons)
        batch = batch.append_column(pa.field("keep", pa.bool_()), pa.array([each is None for each in reasons]))
        return batch.append_column(pa.field("reason", pa.string()), pa.array(reasons, pa.string()))

    def _identify(self, batch: pa.RecordBatch, columns: list[str], reasons: npt.NDArray[np.object_]) -> None:
        identifier = _identifier(self.languages)
        for name in columns:
            said = batch.column(LANGUAGE_OF[name]).to_pylist() if LANGUAGE_OF[name] in batch.schema.names else []
            rows = [i for i, lang in enumerate(said) if reasons[i] is None and lang not in (None, "", UNKNOWN)]
            strange = next((said[row] for row in rows if said[row] not in self.languages), None)
            if strange is not None:
                raise DataError(
                    f"the {name} is said to be in '{strange}', which is not among the languages",
                    remedy="'languages' are all that may occur.",
                )
            texts = batch.column(name).take(pa.array(rows, pa.int64())).to_pylist()
            for row, found in zip(rows, identifier.identify(texts), strict=True):
                if found != said[row]:
                    looks = f"looks like '{found}'" if found else "in no language known here"
                    reasons[row] = f"{name}: {looks}, not '{said[row]}'"


def _columns(names: list[str]) -> list[str]:
    for columns in (["src", "tgt"], ["text"]):
        if set(columns) <= set(names):
            return columns
    raise DataError(
        f"there are neither src and tgt nor text among the columns {', '.join(names)}",
        remedy="Clean a corpus of pairs or of sentences.",
    )


@cached_per_stage()
def _identifier(languages: tuple[str, ...]) -> LanguageIdentifier:
    return LanguageIdentifier(languages)


@cached_per_stage()
def held_out(folders: tuple[Path, ...]) -> HeldOut:
    """All texts of corpora of pairs or of sentences; DataError for a corpus of something else."""

    def texts() -> Iterator[pa.Array]:
        for folder in folders:
            corpus = Corpus.open(folder)
            columns = [name for name in LANGUAGE_OF if name in corpus.schema.names]
            if not columns:
                raise DataError("it holds neither pairs nor sentences", file=folder)
            for batch in corpus.batches(columns):
                yield from batch.columns

    return HeldOut(texts())
