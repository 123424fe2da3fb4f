"""Stages that read, join, split and clean bitext."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.config import base_config, check_range
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.lazy import late
from paraloom.core.reasons import HELD_OUT
from paraloom.core.schema import LANGUAGE_OF, PAIRS, require, with_reasons
from paraloom.core.stage import Json, Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io import Corpus, read_pairs
from paraloom.io.bitext import UNKNOWN
from paraloom.io.shards import ROW_GROUP_ROWS, WARNINGS
from paraloom.pairs.filtering.cleaning import CleaningRules, line_faults

if TYPE_CHECKING:
    from paraloom.pairs.filtering.filters import Criteria
    from paraloom.pairs.filtering.held_out import HeldOut
    from paraloom.text.buffers import Texts

_files_of_bitext = late("paraloom.io.tables:files_of_bitext")
_open_table = late("paraloom.io.tables:open_table")
_check = late("paraloom.pairs.filtering.filters:check")
_criteria = late("paraloom.pairs.filtering.filters:Criteria")
_select = late("paraloom.pairs.filtering.filters:select")
_normalize = late("paraloom.text.normalize:normalize")
_identifier = cached_per_stage()(late("paraloom.text.languages:LanguageIdentifier"))

UNREAD = "unread"
"""Origin of rejected rows of a file; their `pair_id` is the row, from 1."""


@dataclass(frozen=True, kw_only=True)
class ReadPairs(Source):
    """Reads sentence pairs: Moses pairs, TSV, CSV, JSONL, Parquet, TMX, or a folder of Hugging Face `datasets`.

    Args:
        source: A file with both sides, plain or compressed, or `PREFIX.{de,en}` for a Moses pair; the braces may hold
            any two parts of file names; or a folder that `Dataset.save_to_disk` wrote. Relative paths are resolved
            against the folder of the pipeline file.
        src_lang, tgt_lang: Language of each side. Default: what the file, its header or its name says, else 'und'.
        src_column, tgt_column: Column of each side in a table: its name, or its number from 1.
        origin: First part of each `pair_id`. Default: the name of the file.
        skip: Number of pairs to skip at the beginning, with the unreadable rows among them.
        limit: Maximum number of pairs to read after those; 0 for all.
        bad_rows: 'stop' at a row that cannot be read (wrong number of fields, not UTF-8), or 'reject' it with the
            reason.
        empty_sides: 'reject' pairs with an empty side, or 'keep' them.

    Raises:
        ConfigError: `skip` or `limit` is negative, or `source` has braces that are not a pair of names.
        DataError: When it runs: a file or a row cannot be read, or the sides of a Moses pair differ in length.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "pairs.de-en.tsv"
        >>> _ = file.write_text("Hallo.\\tHello.\\nGuten Tag.\\tGood day.\\n")
        >>> batch = next(ReadPairs(source=file, limit=1).batches(StageContext(seed=1)))
        >>> batch.to_pylist()[0]["src"], batch.to_pylist()[0]["tgt_lang"]
        ('Hallo.', 'en')
    """

    output_schema: ClassVar[str] = "PAIRS"
    version: ClassVar[str] = "3"
    optional_fields: ClassVar[tuple[str, ...]] = ("skip", "empty_sides")

    source: Path
    src_lang: str | None = None
    tgt_lang: str | None = None
    src_column: str | int | None = None
    tgt_column: str | int | None = None
    origin: str | None = None
    skip: int = 0
    limit: int = 0
    bad_rows: Literal["stop", "reject"] = "stop"
    empty_sides: Literal["reject", "keep"] = "reject"

    def validate(self) -> None:
        check_range(self, "skip", "limit", low=0)

    def files(self) -> tuple[Path, ...]:
        files: tuple[Path, ...] = _files_of_bitext(self.source)
        return files

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All pairs in order; rejected rows follow the batch that they were in."""
        rejected: list[tuple[int, str, str]] = []

        def reject(row: int, reason: str, text: str) -> None:
            rejected.append((row, reason, text))

        for batch in read_pairs(
            str(self.source),
            src_lang=self.src_lang,
            tgt_lang=self.tgt_lang,
            src_column=self.src_column,
            tgt_column=self.tgt_column,
            origin=self.origin,
            on_reject=None if self.bad_rows == "stop" else reject,
            on_empty=None if self.empty_sides == "keep" else reject,
            skip=self.skip,
            limit=self.limit or None,
        ):
            yield with_reasons(batch, [None] * batch.num_rows)
            if rejected:
                yield _rejects(rejected, batch.schema)
                rejected.clear()
        if rejected:
            yield _rejects(rejected, PAIRS)


@dataclass(frozen=True, kw_only=True)
class JoinPairs(Source):
    """Concatenates corpora of pairs, on request with source and target swapped.

    Args:
        corpora: Corpora of pairs, at least one.
        swap: Swap source and target, and their languages.
        keep_columns: Keep the columns that all corpora have. Default: only those of PAIRS.

    Raises:
        DataError: When it runs: a corpus does not have the columns of PAIRS.

    Example:
        >>> JoinPairs(corpora=["news", "captions"], swap=True).corpora
        ('news', 'captions')
    """

    output_schema: ClassVar[str] = "PAIRS"
    optional_fields: ClassVar[tuple[str, ...]] = ("keep_columns",)

    corpora: tuple[Ref, ...]
    swap: bool = False
    keep_columns: bool = False

    def validate(self) -> None:
        if not self.corpora:
            raise ConfigError("key 'corpora' is empty", remedy="Name at least one corpus of pairs.")

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        swapped = {"src": "tgt", "tgt": "src", "src_lang": "tgt_lang", "tgt_lang": "src_lang"} if self.swap else {}
        corpora = [Corpus.open(folder) for folder in context.paths("corpora")]
        for corpus in corpora:
            try:
                require(corpus.schema, PAIRS)
            except DataError as error:
                raise error.at(file=corpus.folder) from None
        schema = PAIRS
        if self.keep_columns:
            others = [
                field
                for field in corpora[0].schema
                if field.name not in PAIRS.names
                and all(field.name in c.schema.names and c.schema.field(field.name).type == field.type for c in corpora)
            ]
            schema = pa.schema([*PAIRS, *others])
        for corpus in corpora:
            for batch in corpus.batches(list(schema.names)):
                columns = [batch.column(swapped.get(name, name)) for name in schema.names]
                yield pa.record_batch(columns, schema=schema)


@dataclass(frozen=True, kw_only=True)
class CommonTranslations(Source):
    """Pairs the sentences of one side of a bitext that translate the same sentence: paraphrases without a model.

    Args:
        bitext: The corpus.
        side: The side whose sentences are paired; the sentence of the other side becomes the pivot.
        max_pairs: Maximum number of pairs of each pivot.
        limit: Maximum number of pairs; 0 for all.
        keep_pivot: Keep the columns `pivot` and `pivot_lang`.

    Example:
        >>> CommonTranslations(bitext="tatoeba", max_pairs=3).side
        'tgt'
    """

    output_schema: ClassVar[str] = "PAIRS"

    bitext: Ref
    side: Literal["src", "tgt"] = "tgt"
    max_pairs: int = 1
    limit: int = 0
    keep_pivot: bool = True

    def validate(self) -> None:
        check_range(self, "max_pairs", low=1)
        check_range(self, "limit", low=0)

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        from paraloom.pairs.common_translations import common_translations

        corpus = Corpus.open(context.inputs["bitext"])
        for batch in common_translations(corpus.shards, side=self.side, max_pairs=self.max_pairs, limit=self.limit):
            yield batch if self.keep_pivot else batch.select(PAIRS.names)


def _rejects(rows: list[tuple[int, str, str]], schema: pa.Schema) -> pa.RecordBatch:
    """Rows that could not be read, with their raw text as `src`."""
    known = {
        "pair_id": [str(row) for row, _, _ in rows],
        "src": [raw for _, _, raw in rows],
        "origin": [UNREAD] * len(rows),
    }
    columns = [pa.array(known.get(field.name, [None] * len(rows)), field.type) for field in schema]
    return with_reasons(pa.record_batch(columns, schema=schema), [reason for _, reason, _ in rows])


@dataclass(frozen=True, kw_only=True)
class ReadScoredPairs(Source):
    """Reads a table or a data set of pairs that Paraloom wrote, with all its columns.

    To read the two sides of one from elsewhere, use :class:`ReadPairs`.

    Args:
        source: The file (.parquet, .tsv, .csv or .jsonl), or the folder of the data set (`.dataset`). Relative paths
            are resolved against the folder of the pipeline file.
        bad_rows: 'stop' at a row that cannot be read, or whose `src` or `tgt` is null, or 'reject' it.
        where: SQL condition over the columns: rows that do not meet it are rejected, with their `pair_id` alone. A
            later :class:`Filter` keeps the whole of them, and takes twice as long.

    Raises:
        ConfigError: `where` is not valid SQL, or cannot be combined with `bad_rows`; or, when it runs, a column is
            missing.
        DataError: When it runs: a column of PAIRS is missing, `src` or `tgt` is null, or a text is not UTF-8.

    Example:
        >>> ReadScoredPairs(source="scored.parquet").source.name
        'scored.parquet'
    """

    output_schema: ClassVar[str] = "PAIRS"
    optional_fields: ClassVar[tuple[str, ...]] = ("bad_rows", "where")

    source: Path
    bad_rows: Literal["stop", "reject"] = "stop"
    where: str = ""

    def validate(self) -> None:
        if self.where and _criteria(where=self.where) and self.bad_rows == "reject":
            raise ConfigError("'where' cannot be combined with bad_rows = 'reject'", remedy="Use the stage 'filter'.")

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All pairs in order; of those that do not meet the condition, `pair_id` and reason."""
        return _that_meet(_criteria(where=self.where), self._pairs()) if self.where else self._pairs()

    def _pairs(self) -> Iterator[pa.RecordBatch]:
        row = 0
        unread: list[tuple[int, str, str]] = []
        on_bad = None if self.bad_rows == "stop" else lambda *bad: unread.append(bad)
        schema, batches = _open_table(self.source, on_bad, min(self.shard_rows, _LIGHT_BATCH_ROWS))
        require(schema, PAIRS)
        for batch in batches:
            null = [batch.column(side).is_null().to_numpy(zero_copy_only=False) for side in ("src", "tgt")]
            bad = null[0] | null[1]
            if bad.any() and self.bad_rows == "stop":
                first = int(np.argmax(bad))
                raise DataError(
                    f"column '{'src' if null[0][first] else 'tgt'}' is null",
                    file=self.source,
                    row=row + first + 1,
                    remedy="Fill it in, or leave such rows out: --on-error reject.",
                )
            try:
                batch.validate(full=True)
            except pa.ArrowInvalid as error:
                raise DataError(f"the file cannot be read: {error}", file=self.source) from None
            row += batch.num_rows
            batch = _without_warnings(batch)
            if self.bad_rows == "reject":
                reasons = np.where(null[0], "column 'src' is null", "column 'tgt' is null")
                batch = with_reasons(batch, pa.array(reasons, pa.string(), mask=~bad))
            yield batch
        if unread:
            yield _rejects(unread, schema)


def _that_meet(criteria: Criteria, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of each batch that meet the criteria; then the others, of which all but `pair_id` is null."""
    checked = False
    for batch in batches:
        if not checked:
            _check(criteria, batch.schema)
            checked = True
        selected = _select(criteria, batch)
        keep, reasons = selected.column("keep"), selected.column("reason")
        yield with_reasons(batch.filter(keep), pa.nulls(keep.true_count, pa.string()))
        if keep.false_count:
            ids = batch.column("pair_id").filter(pc.invert(keep))
            columns = [ids if field.name == "pair_id" else pa.nulls(len(ids), field.type) for field in batch.schema]
            yield with_reasons(pa.record_batch(columns, schema=batch.schema), reasons.drop_null())


def _without_warnings(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch without the warnings of its file, so that the shards of a run do not depend on them."""
    metadata = batch.schema.metadata or {}
    if WARNINGS not in metadata:
        return batch
    return batch.replace_schema_metadata({key: value for key, value in metadata.items() if key != WARNINGS} or None)


_LIGHT_BATCH_ROWS = 10 * ROW_GROUP_ROWS
"""Of a table that is only read: a call costs as much as thousands of its rows."""


@dataclass(frozen=True, kw_only=True)
class Split(Map):
    """Keeps one of two parts of a corpus, training or test, so that no text of `column` is in both.

    The part of a row follows from a hash of its text alone: equal texts of other corpora are in the same part, and in a
    test part of a smaller share are rows of that of a larger one. :class:`TrainTranslator` holds out pairs by the same
    rule.

    Args:
        part: 'train' or 'test'.
        share: Expected share of the texts in the test part, above 0 and below 1.
        column: The text column.

    Raises:
        DataError: When it runs: the column does not exist.

    Example:
        >>> batch = pa.RecordBatch.from_pydict({"tgt": ["one", "two", "three", "one"]})
        >>> Split(part="test", share=0.5).apply(batch, StageContext(seed=1)).column("keep").to_pylist()
        [False, False, True, False]
    """

    part: Literal["train", "test"] = "train"
    share: float = 0.01
    column: Literal["src", "tgt", "text"] = "tgt"

    def validate(self) -> None:
        check_range(self, "share", above=0, below=1)

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        from paraloom.pairs.filtering.held_out import is_held_out

        if self.column not in batch.schema.names:
            raise DataError(f"column '{self.column}' not found", remedy="Set 'column' to a text column of the corpus.")
        held = [is_held_out(text or "", self.share) for text in _normalize(batch.column(self.column)).to_pylist()]
        kept = held if self.part == "test" else [not value for value in held]
        other = "in the training part" if self.part == "test" else "in the test part"
        return with_reasons(batch, [None if value else other for value in kept])


@dataclass(frozen=True, kw_only=True)
class Clean(CleaningRules, Map):
    """Rejects lines of pairs or sentences that are unfit for training, with the first rule that each violates.

    To remove copies within the corpus, use :class:`FindDuplicates` with a similarity of 1.

    Args:
        held_out: Test sets: corpora, or files that `decontaminate` reads. A line is rejected if one of its sides is
            equal to a text of theirs, on either side, shares 8 words in a row with it, or is a near-duplicate; case and
            punctuation do not count.
        languages: All languages that may occur, two or more. A side is rejected if its text is more probably in
            another of them than in the one it is labeled with, or if none can be identified; a side without a label
            is kept. Default: languages are not identified.

    For the other fields see :class:`~paraloom.pairs.filtering.cleaning.CleaningRules`.

    Raises:
        ConfigError: `languages` has one entry, or a rule is out of range.
        DataError: When it runs: a label is not among `languages`.

    Reference:
        Burchell, Birch and Heafield 2022, §3.

    Example:
        >>> from paraloom.core.schema import PAIRS
        >>> row = {"src": "Ein Hund schläft.", "tgt": "4711 4712"}
        >>> batch = pa.RecordBatch.from_pylist([row], schema=PAIRS)
        >>> Clean().apply(batch, StageContext(seed=1)).column("keep").to_pylist()
        [False]
    """

    version: ClassVar[str] = "3"
    removed_fields: ClassVar[Mapping[str, Json]] = {"allow_identical": False, "allow_damaged": False}

    held_out: tuple[Ref, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def loads_models(self) -> bool:
        """True for models of languages, too."""
        return super().loads_models or bool(self.languages)

    def validate(self) -> None:
        super().validate()
        if self.languages:
            from paraloom.text.languages import check_candidates

            check_candidates(self.languages)

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        columns = _columns(batch.schema.names)
        rules = base_config(CleaningRules, self)
        reasons = line_faults({name: batch.column(name) for name in columns}, rules)
        if self.held_out:
            held = held_out(context.paths("held_out"))
            for name in columns:
                levels = held.find(batch.column(name))
                for row in np.flatnonzero(levels):
                    reasons[row] = reasons[row] or f"{name}: {HELD_OUT[levels[row]]}"
        if self.languages:
            self._identify(batch, columns, reasons)
        return with_reasons(batch, pa.array(reasons, pa.string()))

    def _identify(self, batch: pa.RecordBatch, columns: list[str], reasons: npt.NDArray[np.object_]) -> None:
        identifier = _identifier(self.languages)
        for name in columns:
            labels = batch.column(LANGUAGE_OF[name]).to_pylist() if LANGUAGE_OF[name] in batch.schema.names else []
            rows = [i for i, lang in enumerate(labels) if reasons[i] is None and lang not in (None, "", UNKNOWN)]
            unknown = next((labels[row] for row in rows if labels[row] not in self.languages), None)
            if unknown is not None:
                raise DataError(
                    f"{name} is labeled as '{unknown}', which is not among the languages {', '.join(self.languages)}",
                    remedy="List all languages of the corpus in 'languages'.",
                )
            texts = batch.column(name).take(pa.array(rows, pa.int64())).to_pylist()
            for row, language in zip(rows, identifier.identify(texts), strict=True):
                if language != labels[row]:
                    looks = f"looks like '{language}'" if language else "unknown language"
                    reasons[row] = f"{name}: {looks}, not '{labels[row]}'"


def _columns(names: list[str]) -> list[str]:
    for columns in (["src", "tgt"], ["text"]):
        if set(columns) <= set(names):
            return columns
    raise DataError(
        f"columns src and tgt, or text, not found among {', '.join(names)}",
        remedy="Clean a corpus of pairs or of sentences.",
    )


@cached_per_stage()
def held_out(folders: tuple[Path, ...]) -> HeldOut:
    """All texts of test sets, corpora of pairs or of sentences or files, loaded once per worker."""
    from paraloom.pairs.filtering.held_out import HeldOut, texts_of_test

    def texts() -> Iterator[Texts]:
        for folder in folders:
            if folder.is_file():
                yield texts_of_test(folder)
                continue
            corpus = Corpus.open(folder)
            columns = [name for name in LANGUAGE_OF if name in corpus.schema.names]
            if not columns:
                raise DataError(f"expected a corpus of PAIRS or SENTENCES, got {corpus.kind}", file=folder)
            for batch in corpus.batches(columns):
                yield from batch.columns

    return HeldOut(texts())
