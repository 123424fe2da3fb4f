"""Sentence pairs in Python: read, back-translate, score, filter and write them, lazily, by the stages of a pipeline."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.bundled import bundled_path
from paraloom.core.digests import digest
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike, TranslatorLike
from paraloom.core.schema import PAIRS
from paraloom.core.stage import Map, Ref, Source, Stage, StageContext
from paraloom.io import Corpus, write_corpus, write_table
from paraloom.mt.translator import Translator
from paraloom.pairs.backtranslation import backtranslate as backtranslate_batch
from paraloom.pipeline.definition import Definition, define_steps
from paraloom.pipeline.registry import use_of
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.shard import OnError
from paraloom.stages.pairs import BackTranslate, DropDuplicates, Filter, FindDuplicates
from paraloom.stages.scores import Score
from paraloom.workflows.run import input_stages, run_stages
from paraloom.workflows.translators import translator_stages

PairsLike: TypeAlias = "Pairs | str | Path | Iterable[tuple[str, str]] | Iterable[Mapping[str, Any]] | Any"
"""Pairs, a path, tuples (source, target), mappings with src and tgt, a DataFrame, an Arrow table or batch."""


class Pairs:
    """A corpus of sentence pairs that is read when its rows are needed, not before.

    Methods that transform it return a new `Pairs`; nothing runs until rows are asked for (`to_arrow`, `to_pandas`,
    `to_list`, iteration, `len`) or written (`write`). Files are streamed, in batches, whatever their size.
    Make one with `paraloom.read_pairs`, or from Python data with `paraloom.as_pairs`.

    Example:
        >>> pairs = as_pairs([("A cat sleeps.", "The cat is asleep."), ("Stocks fell.", "Stocks fell.")])
        >>> scored = pairs.score(["overlap"])
        >>> scored.filter("trigram_overlap <= 0.7").to_list()[0]["tgt"]
        'The cat is asleep.'
    """

    def __init__(self, stages: Sequence[Stage], source: Ref | None = None, *, seed: int = 1) -> None:
        self._stages = tuple(stages)
        self._source = source
        self._seed = seed
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._result: Corpus | None = None

    def score(
        self,
        scores: Sequence[str] | str,
        *,
        encoder: EncoderLike | str | Path | None = None,
        word_counts: str | Path | None = None,
        language_model: str | Path | None = None,
        classifier: str | Path | None = None,
        languages: Sequence[str] = (),
    ) -> Pairs:
        """Add columns of scores; no row is dropped.

        Args:
            scores: Names of scores or groups of them, as `paraloom.scores()` lists them.
            encoder: Adds `paraphrase_score`: an encoder, its name or folder.
            word_counts: Adds the mean IDF of both sides: a folder of `train word-counts`.
            language_model: Adds perplexities: a folder of `train language-model`, or an ARPA file.
            classifier: Adds `reference_probability`: a folder of `train classifier`.
            languages: Adds the probability of the stated languages: all that may occur, two or more.

        Returns:
            Pairs with the new columns.

        Raises:
            ConfigError: For an unknown score, with the nearest known one.

        Example:
            >>> as_pairs([("a b c", "a b d")]).score(["bleu1"]).to_list()[0]["bleu1"] > 0
            True
        """
        names = (scores,) if isinstance(scores, str) else tuple(scores)
        model, other = encoder_reference(encoder)
        stage = Score(
            scores=names,
            encoder=model,
            sentence_transformer=other,
            word_counts=word_counts,
            language_model=language_model,
            classifier=classifier,
            languages=tuple(languages),
        )
        return self.then(stage)

    def filter(self, where: str = "", **criteria: Any) -> Pairs:
        """Keep the pairs that meet all criteria.

        Args:
            where: Condition in SQL over the columns, such as ``"trigram_overlap <= 0.7"``.
            **criteria: Further criteria of `paraloom.stages.Filter`: `top`, `decile`, `by`, `sample` …

        Returns:
            The kept pairs; `write` also reports why the others were rejected.

        Raises:
            ConfigError: For a condition that is not valid SQL, or a column that is missing.

        Example:
            >>> len(as_pairs([("a", "b"), ("c", "d e")]).filter("tgt = 'b'"))
            1
        """
        return self.then(Filter(where=where, **criteria))

    def backtranslate(
        self, translator: Translator | TranslatorLike | str | Path, *, decode: str | None = None, side: str = "src"
    ) -> Pairs:
        """Pair each target sentence with translations of its source: paraphrases in the target language.

        Args:
            translator: A translator, its name (bundled, or of Hugging Face) or folder; or any object with the method
                `translate` of `paraloom.Translator`.
            decode: How to decode, such as ``"beam:12"``; default: the translator's own, or ``"beam:5"``.
            side: The side that is translated, 'src' or 'tgt'.

        Returns:
            Pairs of which `src` is what a person wrote and `tgt` what the translator made of the other side.

        Reference:
            Wieting et al. (2017), §3.

        Example:
            >>> pairs = as_pairs([("Guten Morgen", "Good morning")], src_lang="de", tgt_lang="en")
            >>> pairs.backtranslate("de-en").to_list()[0]["src"]
            'Good morning'
        """
        if not isinstance(translator, (Translator, str, Path)):
            return self._through(translator, decode, side)
        stages, reference, loaded = translator_stages(translator)
        stage = BackTranslate(translator=reference, decode=decode or loaded or "beam:5", side=side)  # type: ignore[arg-type]
        return Pairs([*self._stages, *stages, self._connected(stage)], self._source, seed=self._seed)

    def drop_duplicates(self, *, similarity: float = 0.8, columns: Sequence[str] = ("src", "tgt")) -> Pairs:
        """Drop pairs that say nearly the same as an earlier one (MinHash).

        Args:
            similarity: Jaccard similarity of trigrams, from 0 to 1, from which two pairs count as the same.
            columns: Text columns that are compared.

        Example:
            >>> len(as_pairs([("a b c d", "e f g h"), ("a b c d", "e f g h")]).drop_duplicates())
            1
        """
        find = FindDuplicates(pairs=self.source, similarity=similarity, columns=tuple(columns))
        stages = [*self._stages, find, DropDuplicates(duplicates=find, input=self.source)]
        return Pairs(stages, self._source, seed=self._seed)

    def then(self, stage: Map) -> Pairs:
        """Append any `Map` of `paraloom.stages`, or one of your own.

        Args:
            stage: The stage; without `input` it maps these pairs.
        """
        return Pairs([*self._stages, self._connected(stage)], self._source, seed=self._seed)

    def write(
        self,
        path: str | Path,
        *,
        engine: str = "local",
        workers: int | None = None,
        on_error: OnError = "stop",
    ) -> RunResult:
        """Write the pairs, sharded over processes; stopped, the same call resumes.

        Args:
            path: Where to: .tsv, .jsonl, .parquet, .tmx (each also .gz .zst .xz), ``PREFIX.{de,en}``, '-' for standard
                output, or a folder that becomes a corpus.
            engine: 'local', 'inline' or 'ray'. The result is the same.
            workers: Number of processes; default: one per core. The result is the same.
            on_error: 'stop' at a row that cannot be processed, or 'reject' it.

        Returns:
            Row counts and reasons of rejection, stage by stage.

        Raises:
            ParaloomError: Names stage, file and row. Nothing is left half-written.
        """
        if not self._stages:
            write_table(self._materialized(), str(path))
            return RunResult(Path(path), ())
        return run_stages(self._stages, str(path), seed=self._seed, engine=engine, workers=workers, on_error=on_error)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow record batches of at most 1,024 rows."""
        yield from self._materialized().batches()

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        names: list[str] = self._materialized().schema.names
        return names

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table, in memory."""
        corpus = self._materialized()
        return pa.Table.from_batches(list(corpus.batches()), schema=corpus.schema)

    def to_pandas(self) -> Any:
        """All rows as a pandas DataFrame; needs pandas."""
        return self.to_arrow().to_pandas()

    def to_list(self) -> list[dict[str, Any]]:
        """All rows as dictionaries."""
        rows: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.batches():
            yield from batch.to_pylist()

    def __len__(self) -> int:
        return self._materialized().rows

    def __repr__(self) -> str:
        steps = [type(stage).__name__ for stage in self._stages]
        origin = [] if self._source is None or steps else [str(self._source)]
        rows = f", {self._result.rows:,} rows" if self._result is not None else ""
        return f"Pairs({' → '.join([*origin, *steps])}{rows})"

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages that make these pairs, for pipelines of your own; empty for a corpus folder."""
        return self._stages

    @property
    def source(self) -> Ref:
        """The corpus of these pairs, for stages that refer to it."""
        corpora = [stage for stage in self._stages if isinstance(stage, (Source, Map))]
        last: Ref | None = corpora[-1] if corpora else self._source
        assert last is not None, "pairs come from a stage or from a path"
        return last

    def _connected(self, stage: Map) -> Map:
        """The stage with these pairs as its input, and a number in its name where there is one of its kind already."""
        same = sum(type(other) is type(stage) for other in self._stages)
        name = stage.name or (f"{use_of(type(stage)).rpartition(':')[2]}-{same + 1}" if same else "")
        return replace(stage, name=name, input=stage.input if stage.input is not None else self.source)

    def _materialized(self) -> Corpus:
        """The rows on disk, in a temporary folder that lives as long as this object."""
        if self._result is None:
            if not self._stages:
                self._result = Corpus.open(Path(str(self._source)))
            else:
                self._scratch = tempfile.TemporaryDirectory(prefix="paraloom-")
                definition = Definition("pairs", self._seed, define_steps(self._stages, Path.cwd()))
                result = run_pipeline(definition, Path(self._scratch.name) / "run", engine="inline")
                self._result = Corpus.open(result.stages[-1].folder)
        return self._result

    def _through(self, translator: TranslatorLike, decode: str | None, side: str) -> Pairs:
        """Back-translation by an object that lives in this process only: done at once, into a temporary corpus."""
        scratch = tempfile.TemporaryDirectory(prefix="paraloom-")
        batches = (
            backtranslate_batch(batch, translator, side=side, seed=self._seed, method=decode or "")  # type: ignore[arg-type]
            for batch in self.batches()
        )
        corpus = write_corpus(Path(scratch.name) / "pairs", batches, kind="PAIRS")
        pairs = Pairs((), corpus.folder, seed=self._seed)
        pairs._scratch = scratch
        return pairs


def read_pairs(
    source: str | Path,
    *,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    src_column: str | int | None = None,
    tgt_column: str | int | None = None,
    limit: int = 0,
    bad_rows: str = "stop",
    shard_rows: int | None = None,
    seed: int = 1,
) -> Pairs:
    """Read sentence pairs from a file; rows are streamed when they are needed.

    Args:
        source: .tsv, .jsonl, .parquet or .tmx (each also .gz .zst .xz), Moses pairs as ``"train.{de,en}"``, or a corpus
            folder. Files that Paraloom wrote keep all their columns.
        src_lang: Language of the source side; default: from the file's name, else 'und'.
        tgt_lang: Language of the target side.
        src_column: Source column of a table: a name, or a number from 1.
        tgt_column: Target column of a table.
        limit: Pairs to read at most; 0: all.
        bad_rows: 'stop' at a row that cannot be read, or 'reject' it.
        shard_rows: Rows that a worker processes at a time, if the pairs are written by several.
        seed: Seed of every random choice in what is done with the pairs.

    Returns:
        The pairs.

    Raises:
        ConfigError: The file is not there, or its format is unknown.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "pairs.de-en.tsv")
        >>> _ = path.write_text("Guten Morgen.\\tGood morning.\\n")
        >>> read_pairs(path).to_list()[0]["tgt_lang"]
        'en'
    """
    options: dict[str, Any] = {
        "src_lang": src_lang,
        "tgt_lang": tgt_lang,
        "src_column": src_column,
        "tgt_column": tgt_column,
        "limit": limit or None,
        "bad_rows": bad_rows if bad_rows != "stop" else None,
        "shard_rows": shard_rows,
    }
    stages, reference = input_stages(str(source), **options)
    return Pairs(stages, None if stages else reference, seed=seed)


def as_pairs(pairs: PairsLike, *, src_lang: str = "und", tgt_lang: str = "und") -> Pairs:
    """Sentence pairs out of whatever holds them in Python.

    Args:
        pairs: Tuples (source, target), mappings with `src` and `tgt`, a DataFrame (pandas, polars), an Arrow table or
            batch, a mapping of columns, a path (see `read_pairs`), or `Pairs`.
        src_lang: Language of the source side, if the data does not say it.
        tgt_lang: Language of the target side.

    Returns:
        The pairs, with an identifier each; further columns are kept.

    Raises:
        TypeError: The data does not hold pairs.
        DataError: A side is null, or the columns `src` and `tgt` are missing.

    Example:
        >>> as_pairs([("Guten Morgen", "Good morning")], src_lang="de", tgt_lang="en").to_list()[0]["src"]
        'Guten Morgen'
    """
    if isinstance(pairs, Pairs):
        return pairs
    if isinstance(pairs, (str, Path)):
        return read_pairs(pairs)
    table = _table(pairs)
    rows = table.num_rows
    if not rows:
        raise DataError("there are pairs expected, and the data is empty")
    columns: dict[str, pa.Array] = {
        "pair_id": pa.array([f"pairs:{row}" for row in range(1, rows + 1)]),
        "src_lang": pa.array([src_lang] * rows),
        "tgt_lang": pa.array([tgt_lang] * rows),
        "origin": pa.array(["memory"] * rows),
    }
    for name in PAIRS.names:
        if name in table.schema.names:
            columns[name] = _text(table.column(name), name)
    further = [name for name in table.schema.names if name not in PAIRS.names]
    schema = pa.schema([*PAIRS, *(table.schema.field(name) for name in further)])
    whole = pa.table(
        [*(columns[name] for name in PAIRS.names), *(table.column(name) for name in further)], schema=schema
    )
    return Pairs([_InMemory(name="input", table=whole)])


def backtranslate(
    pairs: PairsLike,
    translator: Translator | TranslatorLike | str | Path,
    *,
    decode: str | None = None,
    side: str = "src",
) -> Pairs:
    """Paraphrases from bitext: each target sentence beside translations of its source.

    Args:
        pairs: Bitext, in any form that `as_pairs` takes.
        translator: A translator, its name or folder.
        decode: How to decode, such as ``"beam:12,nbest=3"``; default: the translator's own, or ``"beam:5"``.
        side: The side that is translated, 'src' or 'tgt'.

    Returns:
        Lazy pairs: `src` is the human reference, `tgt` the translation, with `rank`, `logprob`, `tokens`, `method`.

    Reference:
        Wieting et al. (2017), §3; Wieting and Gimpel (2018), ParaNMT-50M.

    Example:
        >>> backtranslate([("Guten Morgen", "Good morning")], "de-en").to_list()[0]["src"]
        'Good morning'
    """
    return as_pairs(pairs).backtranslate(translator, decode=decode, side=side)


def score(pairs: PairsLike, scores: Sequence[str] | str, **models: Any) -> Pairs:
    """Add columns of scores to pairs; see `Pairs.score`.

    Args:
        pairs: Pairs in any form that `as_pairs` takes.
        scores: Names of scores or groups of them.
        **models: Models that some scores need, such as ``encoder="english"``.

    Returns:
        Lazy pairs with the new columns.

    Example:
        >>> rows = score([("a b c", "a b d")], ["bleu1"]).to_list()
        >>> 0 < rows[0]["bleu1"] < 1
        True
    """
    return as_pairs(pairs).score(scores, **models)


def filter_pairs(pairs: PairsLike, where: str = "", **criteria: Any) -> Pairs:
    """Keep the pairs that meet all criteria; see `Pairs.filter`.

    Args:
        pairs: Pairs in any form that `as_pairs` takes.
        where: Condition in SQL over the columns.
        **criteria: Further criteria of `paraloom.stages.Filter`.

    Returns:
        The kept pairs, lazily.

    Example:
        >>> len(filter_pairs([("a", "b"), ("c", "d e")], "tgt = 'b'"))
        1
    """
    return as_pairs(pairs).filter(where, **criteria)


def encoder_reference(encoder: EncoderLike | str | Path | None) -> tuple[Path | None, str]:
    """A folder of ours as the first, or a sentence-transformers model as the second; neither for None."""
    if encoder is None:
        return None, ""
    folder = getattr(encoder, "folder", None)
    if folder is None and not isinstance(encoder, (str, Path)):
        raise TypeError(f"expected an encoder, its name or folder, got {type(encoder).__name__}")
    path = Path(str(folder or encoder))
    path = bundled_path(str(encoder)) or path.absolute() if folder is None else path.absolute()
    if (path / "config.json").is_file() and not (path / "modules.json").is_file():
        return path, ""
    return None, str(folder or encoder)


@dataclass(frozen=True, kw_only=True)
class _InMemory(Source):
    """Pairs that are in memory already, as a Source."""

    output_schema: ClassVar[str] = "PAIRS"
    in_memory: ClassVar[tuple[str, ...]] = ("table",)

    table: pa.Table

    def configuration(self) -> dict[str, Any]:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.table.schema) as writer:
            writer.write_table(self.table)
        return {**super().configuration(), "table": digest(sink.getvalue().to_pybytes().hex())}

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """The rows of the table."""
        yield from self.table.to_batches(max_chunksize=1024)


def _table(pairs: Any) -> pa.Table:
    """An Arrow table with src and tgt."""
    if isinstance(pairs, pa.Table):
        table = pairs
    elif isinstance(pairs, pa.RecordBatch):
        table = pa.Table.from_batches([pairs])
    elif hasattr(pairs, "__arrow_c_stream__"):
        table = pa.table(pairs)
    elif isinstance(pairs, Mapping):
        table = pa.table(dict(pairs))
    elif isinstance(getattr(pairs, "data", None), object) and hasattr(getattr(pairs, "data", None), "table"):
        table = pairs.data.table  # a Dataset of Hugging Face
    else:
        table = _rows(pairs)
    names = table.schema.names
    if "src" in names and "tgt" in names:
        return table
    if len(names) == 2:
        return table.rename_columns(["src", "tgt"])
    raise DataError(f"columns 'src' and 'tgt' not found; there are {', '.join(names) or 'none'}")


def _rows(pairs: Any) -> pa.Table:
    if not isinstance(pairs, Iterable):
        raise TypeError(f"expected pairs (tuples, a DataFrame, an Arrow table or a path), got {type(pairs).__name__}")
    rows = list(pairs)
    if all(isinstance(row, Mapping) for row in rows):
        return pa.Table.from_pylist([dict(row) for row in rows])
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 2:
            raise TypeError(f"expected pairs of (source, target), got {row!r} as number {number}")
    return pa.table({"src": [row[0] for row in rows], "tgt": [row[1] for row in rows]})


def _text(column: pa.ChunkedArray, name: str) -> pa.Array:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise DataError(f"column '{name}' is {column.type}, not text")
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py() + 1
        raise DataError(f"column '{name}' is null", row=row, remedy="Drop such rows, or fill them in.")
    return column.cast(pa.string()).combine_chunks()
