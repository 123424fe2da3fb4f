"""Stages that back-translate bitext, filter pairs and remove near-duplicates."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError, ModelError, nearest
from paraloom.core.lazy import late
from paraloom.core.protocols import CorpusReader, TranslatorLike
from paraloom.core.schema import PAIRS, add_column, with_reasons
from paraloom.core.stage import BATCH_ROWS, Fit, Json, Map, Ref, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io import Corpus
from paraloom.pairs.filtering.cuts import ROW_ID_COLUMNS
from paraloom.pairs.filtering.duplicates import DuplicateConfig, Duplicates, find_duplicates, first_copies, is_duplicate
from paraloom.pairs.filtering.filters import (
    Criteria,
    best_of_sources,
    check,
    preview_filter,
    required_columns,
    select,
    survey,
)
from paraloom.stages.input_checks import Direction, check_translation, name_languages

if TYPE_CHECKING:
    from paraloom.pairs.filtering.duplicates import Duplicates

_NEIGHBORS, _GROUPS = 16, 16
"""Rows nearest to each, and groups of vectors that each is compared with, where meaning is compared."""

_LIGHT_BATCH_ROWS = 16 * BATCH_ROWS
"""Of stages that do little for a row: a call of theirs costs as much as thousands of rows."""


@dataclass(frozen=True, kw_only=True)
class BackTranslate(Map):
    """Pairs one side of a bitext with the k best translations of the other side.

    The result has k rows for each pair: `src` is the side that was not translated (the reference), `tgt` its
    paraphrase; `pivot` is the sentence that was translated, in the language `pivot_lang`. Of a translator that knows
    the costs of its development text, `out_of_depth` is the share of that text that cost less than the translation, 0
    to 1: of a mixed corpus, rows above 0.85 are of a kind that the translator does not know.

    Args:
        translator: A stage that trained or loaded a translator, or the folder of one.
        decode: How to decode, such as 'beam:12,nbest=3', 'sampling' or 'nucleus:0.95'.
        side: The side that is translated.
        check_languages: Before any work, identify the languages of a sample, and fail if they do not fit the
            translator: swapped sides, a bitext in one language.

    Before any work, a sample is translated, too: a warning says if the translator does not know this kind of text.
    Empty translations are rejected. A side without a language gets that of the translator.

    Raises:
        DataError: When it runs: the languages do not fit the translator.

    Reference:
        Wieting, Mallinson and Gimpel 2017, §3; Wieting and Gimpel 2018, §3.

    Example:
        >>> BackTranslate(translator="de-en", decode="beam:12,nbest=3").side
        'src'
    """

    # 7: column `out_of_depth`.
    version: ClassVar[str] = "7"
    output_schema: ClassVar[str] = "PAIRS"
    input_columns: ClassVar[tuple[str, ...]] = tuple(PAIRS.names)
    rows: ClassVar[Literal["same", "many"]] = "many"

    translator: Ref
    decode: str = "beam:5"
    side: Literal["src", "tgt"] = "src"
    check_languages: bool = True

    def validate(self) -> None:
        from paraloom.mt.decoding import parse_decoding

        parse_decoding(self.decode)

    def check_input(self, corpus: CorpusReader, context: StageContext) -> Mapping[str, Json]:
        """Languages of a sample, and its costs beside those of the translator's development text."""
        return check_translation(
            corpus,
            [_translator(context.inputs["translator"], self.decode)],
            self.side,
            reference="tgt" if self.side == "src" else "src",
            languages=self.check_languages,
            seed=context.seed,
        )

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        from paraloom.pairs.backtranslation import pair_translations, reject_empty

        translator = _translator(context.inputs["translator"], self.decode)
        batch = name_languages(batch, Direction.of(translator), self.side)
        variants = translator.translate(pc.fill_null(batch.column(self.side), "").to_pylist(), seed=context.seed)
        pairs = pair_translations(
            batch,
            variants,
            self.decode,
            reference="tgt" if self.side == "src" else "src",
            signature=translator.signature,
        )
        return reject_empty(_with_depth(pairs, translator), variants)

    def final_figures(self, context: StageContext) -> Mapping[str, Json]:
        from paraloom.stages.endpoints import endpoint_usage

        return endpoint_usage([context.inputs["translator"]])


def _with_depth(pairs: pa.RecordBatch, translator: TranslatorLike) -> pa.RecordBatch:
    """The pairs with `out_of_depth`, by a translator that knows the costs of its development text."""
    development = getattr(translator, "costs", None)
    if development is None:
        return pairs
    logprobs, tokens = (
        np.asarray(pairs.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False))
        for name in ("logprob", "tokens")
    )
    ranks = development.ranks(-logprobs / np.where(tokens > 0, tokens, np.nan))
    return add_column(pairs, "out_of_depth", pa.array(ranks, from_pandas=True), translator.signature)


_translator = cached_per_stage(2)(late("paraloom.mt.loading:open_translator"))


@dataclass(frozen=True, kw_only=True)
class Filter(Criteria, Map):
    """Keeps the rows that meet all criteria.

    Args:
        exact_sample: Fail if the corpus has fewer rows than `sample`, instead of keeping all of them.

    For the other fields see :class:`~paraloom.pairs.filtering.filters.Criteria`.

    Raises:
        ConfigError: A criterion is out of range, the criteria do not fit together, or, when it runs, a column is
            missing.
        DataError: When it runs: the labels do not certify the precision; the message says how many more are needed.

    Example:
        >>> batch = pa.RecordBatch.from_pylist([{"tgt_tokens": 5}, {"tgt_tokens": 50}])
        >>> Filter(where="tgt_tokens <= 30").apply(batch, StageContext(seed=1)).column("reason").to_pylist()
        [None, 'not: tgt_tokens <= 30']
    """

    version: ClassVar[str] = "2"
    optional_fields: ClassVar[tuple[str, ...]] = (
        *("exact_sample", "per_source", "distinct", "precision", "confidence", "labels"),
    )
    batch_rows: ClassVar[int] = _LIGHT_BATCH_ROWS

    exact_sample: bool = False

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        """The cuts for top, decile and sample, and the best rows of each source, after a check of the columns."""
        if self.exact_sample and isinstance(self.sample, int) and corpus.rows < self.sample:
            raise DataError(
                f"cannot sample {self.sample} rows: the corpus has {corpus.rows}",
                file=corpus.folder,
                remedy="Lower 'sample', add more text, or leave out 'exact_sample'.",
            )
        check(self, corpus.schema)
        flags = best_of_sources(self, corpus.batches(required_columns(self, corpus.schema)))
        cuts = survey(self, corpus.schema, corpus.batches, context.seed, flags)
        if flags is not None:
            bounds = np.cumsum([0, *corpus.shard_rows])
            parts = [_packed(flags[low:high]) for low, high in pairwise(bounds.tolist())]
            cuts["best"] = {shard.name: part for shard, part in zip(corpus.shards, parts, strict=True)}
        return cuts

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        best = None
        if self.per_source:
            best = _unpacked(context.survey["best"][context.shard], context.first_row, batch.num_rows)
        return select(self, batch, context.survey, best)

    def final_figures(self, context: StageContext) -> Mapping[str, Json]:
        """The cut and what is promised of it, where a precision is."""
        promised = (context.survey or {}).get("precision", {})
        return {"promise": {key: value for key, value in promised.items() if key != "wrong"}} if promised else {}


@dataclass(frozen=True, kw_only=True)
class PreviewFilter(Criteria, Fit):
    """Counts the rows that each criterion of a filter keeps, alone and together with those before it.

    Args:
        pairs: The corpus.

    For the other fields see :class:`~paraloom.pairs.filtering.filters.Criteria`.

    Raises:
        ConfigError: A criterion is out of range, the criteria do not fit together, or, when it runs, a column is
            missing.

    Example:
        >>> PreviewFilter(pairs="score", where="tgt_tokens <= 30").where
        'tgt_tokens <= 30'
    """

    version: ClassVar[str] = "2"
    optional_fields: ClassVar[tuple[str, ...]] = ("per_source", "distinct")

    pairs: Ref

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json: `criterion`, `rows`, `alone` and `together` of each criterion."""
        corpus = Corpus.open(context.inputs["pairs"])
        counts = [asdict(count) for count in preview_filter(self, corpus.schema, corpus.batches, context.seed)]
        (folder / "result.json").write_text(json.dumps(counts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return {"kept": counts[-1]["together"] if counts else corpus.rows}


@dataclass(frozen=True, kw_only=True)
class FindDuplicates(DuplicateConfig, Fit):
    """Finds the rows that are near-duplicates of an earlier row; :class:`DropDuplicates` rejects them.

    Args:
        pairs: The corpus, of pairs or of sentences.
        encoder: Compare meaning instead of letters: `similarity` is then the cosine of the rows' vectors by this
            encoder, the mean over the columns, such as 0.9. Rows of distant groups of vectors are not compared, so some
            may remain. Needs the extra `search`.

    For the other fields see :class:`~paraloom.pairs.filtering.duplicates.DuplicateConfig`.

    Raises:
        ConfigError: `similarity` is out of range, or, when it runs, a column is missing.

    Reference:
        Broder 1997, "On the resemblance and containment of documents" (MinHash); Abbas et al. 2023, "SemDeDup".

    Example:
        >>> FindDuplicates(pairs="read-pairs", similarity=0.9).columns
        ('src', 'tgt')
    """

    optional_fields: ClassVar[tuple[str, ...]] = ("encoder",)
    # 4: sketches are compared by the lower byte of each value; hashes of rows are FNV-1a's.
    version: ClassVar[str] = "4"

    pairs: Ref
    encoder: Ref | None = None

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        corpus = Corpus.open(context.inputs["pairs"])
        known = corpus.schema.names
        for name in self.columns:
            if name not in known:
                raise ConfigError(f"key 'columns': column '{name}' not found{nearest(name, known)}")

        def read(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
            return corpus.batches([name for name in names if name in known], label="reading")

        if encoder := context.inputs.get("encoder"):
            duplicates = _duplicates_in_meaning(read, folder / "checkpoint", self, encoder, context.seed)
        else:
            duplicates = find_duplicates(read, folder / "checkpoint", self)
        np.save(folder / "duplicates.npy", duplicates.hashes)
        np.save(folder / "repeated.npy", duplicates.repeated)
        described = {"columns": duplicates.columns, "rows": duplicates.rows, "duplicates": duplicates.total}
        (folder / "duplicates.json").write_text(json.dumps(described) + "\n", encoding="utf-8")
        return {"rows": duplicates.rows, "duplicates": duplicates.total}


def _duplicates_in_meaning(
    read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]],
    scratch: Path,
    config: DuplicateConfig,
    encoder: Path,
    seed: int,
) -> Duplicates:
    """The rows whose vectors are near to that of an earlier row; vectors and their groups are on disk."""
    from paraloom.embed.average import normalize_vectors
    from paraloom.embed.encoder import open_encoder
    from paraloom.embed.search import mine_pairs
    from paraloom.pairs.filtering.duplicates import later_rows, listed_duplicates, text_hashes

    scratch.mkdir(parents=True, exist_ok=True)
    model, rows, width = open_encoder(encoder), 0, 0
    with (scratch / "vectors.f16").open("wb") as vectors, (scratch / "rows.u64").open("wb") as hashes:
        for batch in read(list(dict.fromkeys([*config.columns, *ROW_ID_COLUMNS]))):
            texts = [[text or "" for text in batch.column(name).to_pylist()] for name in config.columns]
            block = np.hstack([normalize_vectors(model.encode(of_column)) for of_column in texts]).astype(np.float16)
            rows, width = rows + len(block), block.shape[1]
            vectors.write(np.ascontiguousarray(block).data)
            hashes.write(np.ascontiguousarray(text_hashes(batch, config.columns)).data)
    later = np.zeros(rows, np.bool_)
    if rows:
        table = np.memmap(scratch / "vectors.f16", np.float16, "r").reshape(rows, width)
        mined = mine_pairs(table, scratch, above=config.similarity, k=_NEIGHBORS, probes=_GROUPS, seed=seed)
        later = later_rows(mined.first, mined.second, rows)
    return listed_duplicates(scratch / "rows.u64", later, config.columns)


@dataclass(frozen=True, kw_only=True)
class DropDuplicates(Map):
    """Rejects the rows that :class:`FindDuplicates` found in the same corpus.

    Args:
        duplicates: The stage `find-duplicates`.

    Raises:
        ModelError: When it runs: `duplicates` is another kind of stage.

    Example:
        >>> DropDuplicates(input="read-pairs", duplicates="find-duplicates").duplicates
        'find-duplicates'
    """

    version: ClassVar[str] = "4"
    batch_rows: ClassVar[int] = _LIGHT_BATCH_ROWS

    duplicates: Ref

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        """By shard, which rows are the first ones of several that are equal, and kept: bits, compressed, in base64."""
        duplicates = _load_duplicates(context.inputs["duplicates"])
        if not len(duplicates.repeated):
            return {}
        names = [name for name in (*ROW_ID_COLUMNS, *duplicates.columns) if name in corpus.schema.names]
        batches = corpus.batches(list(dict.fromkeys(names)), label="comparing")
        flags = first_copies(batches, duplicates)
        shards = {}
        for shard, rows in zip(corpus.shards, corpus.shard_rows, strict=True):
            parts = [np.zeros(0, np.bool_)]
            while sum(map(len, parts)) < rows:
                parts.append(next(flags))
            first = np.concatenate(parts)
            if first.any():
                shards[shard.name] = _packed(first)
        return shards

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        first = None
        if bits := (context.survey or {}).get(context.shard):
            first = _unpacked(bits, context.first_row, batch.num_rows)
        duplicate = is_duplicate(batch, _duplicates(context.inputs["duplicates"]), first)
        return with_reasons(batch, ["near-duplicate of an earlier row" if value else None for value in duplicate])


def _packed(flags: npt.NDArray[np.bool_]) -> str:
    """Flags of the rows of a shard as bits, compressed, in base64."""
    return b64encode(zlib.compress(np.packbits(flags).tobytes())).decode()


def _unpacked(bits: str, first: int, count: int) -> npt.NDArray[np.bool_]:
    flags = np.unpackbits(np.frombuffer(zlib.decompress(b64decode(bits)), np.uint8)).astype(np.bool_)
    return flags[first : first + count]


def _load_duplicates(folder: Path) -> Duplicates:
    try:
        described = json.loads((folder / "duplicates.json").read_text(encoding="utf-8"))
        hashes, repeated = (
            np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ("duplicates", "repeated")
        )
        return Duplicates(hashes, repeated, tuple(described["columns"]), described["rows"], described["duplicates"])
    except FileNotFoundError as error:
        raise ModelError(
            f"{Path(error.filename).name} not found",
            file=folder,
            remedy="Name a stage 'find-duplicates'; if an earlier version ran it, run it again.",
        ) from None
    except (ValueError, KeyError, TypeError, EOFError) as error:
        raise ModelError(f"the duplicates cannot be read ({error})", file=folder, remedy="Find them again.") from None


_duplicates = cached_per_stage(2)(_load_duplicates)
