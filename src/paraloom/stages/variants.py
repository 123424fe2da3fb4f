"""Stages that produce, read and turn into bitext variants: several translations of each text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.batches import batched
from paraloom.core.config import base_config, check_range
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.lazy import late
from paraloom.core.protocols import CorpusReader, Variant
from paraloom.core.schema import PAIRS, SENTENCES, VARIANTS, require, with_reasons
from paraloom.core.seeds import strided_seed
from paraloom.core.stage import Json, Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io import Corpus
from paraloom.io.compression import without_compression
from paraloom.io.records import read_records
from paraloom.io.shards import read_batches
from paraloom.io.tables import columns_of_file
from paraloom.pairs.variants import ORIGINALS, TrainingPairs, training_pairs, variant_rows
from paraloom.stages.bitext import held_out
from paraloom.stages.input_checks import check_translation
from paraloom.stages.scores import scoring_translator

if TYPE_CHECKING:
    from paraloom.mt.decoding import Decoding, Diverse
    from paraloom.mt.presets import Method


@dataclass(frozen=True, kw_only=True)
class TranslateVariants(Map):
    """Translates each text of a corpus several times, into VARIANTS.

    Of PAIRS, the translated side is the original of its variants. An empty text has one empty variant.

    Args:
        translator: Translators: stages or model folders. With several, the translations of the first rank before those
            of the second.
        decode: How each of them decodes, such as 'nucleus:0.95,nbest=3'.
        method: Name of a back-translation method, instead of `decode`: base, base-big, beam, sampling, nucleus, topk,
            temperature, mbr, diverse or syntax.
        outputs: Number of translations of each text that `method` makes ('syntax': with as many translators).
        fairseq: Read BBH22's "beam size of five and no length penalty" as fairseq does (`paraloom.mt.presets.method`).
        column: Column to translate: 'text' of SENTENCES, 'src' or 'tgt' of PAIRS. Default: 'text', or else 'src'.
        check_languages: Before any work, identify the language of a sample, and fail if it does not fit the translator.

    A sample is translated beforehand, too: a warning says if the translator does not know this kind of text.

    Raises:
        ConfigError: Both or neither of `decode` and `method` are given, one of them is invalid, or the number of
            translators does not fit the method.
        DataError: When it runs: the column does not exist.

    Reference:
        Burchell, Birch and Heafield 2022, §2.1.

    Example:
        >>> TranslateVariants(translator=["tr-en"], method="nucleus", outputs=3).column
        ''
    """

    version: ClassVar[str] = "3"
    output_schema: ClassVar[str] = "VARIANTS"
    rows: ClassVar[Literal["same", "many"]] = "many"

    translator: tuple[Ref, ...]
    decode: str = ""
    method: str = ""
    outputs: int = 3
    fairseq: bool = False
    column: Literal["", "text", "src", "tgt"] = ""
    check_languages: bool = True

    def configuration(self) -> dict[str, Json]:
        """The fields, without a reading that is the default."""
        return {name: value for name, value in super().configuration().items() if name != "fairseq" or value}

    @property
    def decoding(self) -> Decoding:
        from paraloom.mt.decoding import parse_decoding

        return self._preset().decoding if self.method else parse_decoding(self.decode)

    def _preset(self) -> Method:
        from paraloom.mt.presets import method

        return method(self.method, self.outputs, fairseq=self.fairseq)

    def validate(self) -> None:
        from paraloom.mt.decoding import parse_decoding

        if bool(self.decode) == bool(self.method):
            raise ConfigError("expected one of the keys 'decode' and 'method'", remedy="Give exactly one of them.")
        if not self.translator:
            raise ConfigError("key 'translator' is empty", remedy="Name at least one translator.")
        if self.decode:
            parse_decoding(self.decode)
        elif (expected := self._preset().translators) != len(self.translator):
            raise ConfigError(
                f"method '{self.method}' with {self.outputs} outputs takes {expected} translators, "
                f"not {len(self.translator)}"
            )

    def check_input(self, corpus: CorpusReader, context: StageContext) -> Mapping[str, Json]:
        """Language of a sample, and its costs beside those of the first translator's development text."""
        column = self.column or ("text" if "text" in corpus.schema.names else "src")
        if column not in corpus.schema.names:
            return {}
        return check_translation(
            corpus,
            [_translator(path, self.decoding) for path in context.paths("translator")],
            column,
            ids="doc_id" if column == "text" else "pair_id",
            languages=self.check_languages,
            seed=context.seed,
        )

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        originals = originals_of(batch, self.column)
        texts = pc.fill_null(originals.column("original"), "").to_pylist()
        translators = [_translator(path, self.decoding) for path in context.paths("translator")]
        translations = [
            translator.translate(texts, seed=strided_seed(context.seed, index))
            for index, translator in enumerate(translators)
        ]
        variants = [_merged(of_text) for of_text in zip(*translations, strict=True)]
        signature = " + ".join(translator.signature for translator in translators)
        rows = variant_rows(originals, variants, self.method or self.decode, signature=signature)
        reasons = pa.array([variant.reason for group in variants for variant in group], pa.string())
        return rows if len(reasons) == reasons.null_count else with_reasons(rows, reasons)

    def final_figures(self, context: StageContext) -> Mapping[str, Json]:
        from paraloom.stages.endpoints import endpoint_usage

        return endpoint_usage(context.paths("translator"))


@dataclass(frozen=True, kw_only=True)
class VariantsToBitext(TrainingPairs, Map):
    """Turns VARIANTS into pairs to train a translator on: the variant as source, its original as target.

    Args:
        held_out: Test sets. A pair is rejected if its variant is equal or near to one of their texts, as in
            :class:`Clean`: another translation of a test sentence can be translated back to that sentence.

    For the other fields see :class:`~paraloom.pairs.variants.TrainingPairs`.

    Raises:
        ConfigError: A bound is out of range, or `tag` is more than one token.

    Reference:
        Burchell, Birch and Heafield 2022, §2.1 and §3.

    Example:
        >>> VariantsToBitext(src_lang="tr", tag="<BT>").max_length
        256
    """

    # 2: variants that are near to a held-out text are rejected, too.
    version: ClassVar[str] = "2"
    output_schema: ClassVar[str] = "PAIRS"
    input_columns: ClassVar[tuple[str, ...]] = (*VARIANTS.names, *ORIGINALS.names)
    removed_fields: ClassVar[Mapping[str, Json]] = {
        **{"keep_copies": False, "keep_repeated": True, "max_character_ratio": 5.0, "repeat_limit": 5},
    }

    held_out: tuple[Ref, ...] = ()

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        config = base_config(TrainingPairs, self)
        held = held_out(context.paths("held_out")) if self.held_out else None
        return training_pairs(batch, config, held)


def originals_of(batch: pa.RecordBatch, column: str) -> pa.RecordBatch:
    """The texts to translate as pair_id, original, original_lang and origin."""
    names = batch.schema.names
    column = column or ("text" if "text" in names else "src")
    kind = SENTENCES if column == "text" else PAIRS
    for name in (column, *kind.names):
        if name not in names:
            raise DataError(
                f"column '{name}' to translate not found; the columns are {', '.join(names)}",
                remedy="Set 'column' to text for sentences, to src or tgt for pairs.",
            )
    if kind is SENTENCES:
        number = pc.cast(batch.column("sent_id"), pa.string())
        ids, lang = pc.binary_join_element_wise(batch.column("doc_id"), number, ":"), batch.column("lang")
        origin = batch.column("doc_id")
    else:
        ids, lang = batch.column("pair_id"), batch.column(f"{column}_lang")
        origin = batch.column("origin")
    return pa.RecordBatch.from_arrays(
        [ids, batch.column(column), lang, origin], names=["pair_id", "original", "original_lang", "origin"]
    )


def _merged(of_translators: Sequence[Sequence[Variant]]) -> list[Variant]:
    """The variants of one text by all translators; a single one if all are empty."""
    variants = list(chain.from_iterable(of_translators))
    return variants[:1] if all(not variant.tokens for variant in variants) else variants


_translator = cached_per_stage(8)(late("paraloom.mt.loading:open_translator"))


@dataclass(frozen=True, kw_only=True)
class ChooseVariants(Source):
    """Chooses k of the variants of each source that are good and unlike each other; the others are rejected.

    The choice is that of the decoding `diverse`, of variants that any translator made by any decoding. A column
    `choice` has the number of the choice, from 0; the rows keep their order.

    Args:
        variants: Corpus of VARIANTS; those of one source are consecutive rows.
        k: Variants of each source to keep; fewer where there are not so many distinct ones.
        metric: How alike two variants are is measured by: 'chrf' or 'bleu'.
        weight: Of the quality, 0 to 1: 1 keeps the best, 0 those that are least alike.
        utility: The quality: a product of scores, as 'forward+chrf': 'forward', the probability per subword; 'chrf' or
            'bleu', the mean score against all variants of the source; 'reverse', the probability of the source, given
            the variant, by `reverse_translator`; 'comet:FOLDER', 'metricx:FOLDER' and 'cross-encoder:FOLDER', models
            that read `original` and variant. Of a variant without a probability the others count.
        reverse_translator: The translator of 'reverse', from the language of the variants into that of `original`.

    Raises:
        ConfigError: A setting is out of range or unknown, or 'reverse' has no translator.
        DataError: When it runs: a column is missing, or the rows of a source are not consecutive.

    Reference:
        Carbonell and Goldstein 1998, "The use of MMR, diversity-based reranking".

    Example:
        >>> ChooseVariants(variants="translate-variants", k=3, weight=0.7).decoding.nbest
        3
    """

    output_schema: ClassVar[str] = "VARIANTS"
    optional_fields: ClassVar[tuple[str, ...]] = ("reverse_translator",)

    variants: Ref
    k: int = 3
    metric: str = "chrf"
    weight: float = 0.5
    utility: str = "forward+chrf"
    reverse_translator: Ref | None = None

    @property
    def decoding(self) -> Diverse:
        from paraloom.mt.decoding import Diverse

        return Diverse(self.metric, max(2, self.k), self.k, self.weight, self.utility)

    def validate(self) -> None:
        from paraloom.mt.utility import REVERSE, parse_utility

        check_range(self, "k", low=1)
        _ = self.decoding
        if (REVERSE in parse_utility(self.utility)) != (self.reverse_translator is not None):
            raise ConfigError(
                "the score 'reverse' of a utility and a reverse translator belong together",
                remedy="Set utility = 'forward+reverse+chrf' and reverse_translator, or neither.",
            )

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        from paraloom.evaluate.diversity.groups import whole_groups
        from paraloom.mt.utility import reads_source

        corpus = Corpus.open(context.inputs["variants"])
        names = [name for name in corpus.schema.names if name not in ("pair_id", "choice", "keep", "reason")]
        try:
            require(corpus.schema, VARIANTS)
            if reads_source(self.utility):
                require(corpus.schema, ORIGINALS)
            for batch in whole_groups(corpus.batches(["pair_id", *names], label="choosing"), names):
                yield self._chosen(batch, context.inputs.get("reverse_translator"))
        except DataError as error:
            raise error.at(file=corpus.folder) from None

    def _chosen(self, batch: pa.RecordBatch, reverse: Path | None) -> pa.RecordBatch:
        from paraloom.evaluate.diversity.groups import group_bounds
        from paraloom.mt.choice import diverse_choices
        from paraloom.mt.utility import reads_source

        texts = pc.fill_null(batch.column("text"), "").to_pylist()
        logprobs = batch.column("logprob").to_pylist()
        tokens = pc.fill_null(batch.column("tokens"), 0).to_pylist()
        # A missing number of tokens does not make a variant that of an empty text.
        rows = [
            Variant(text, math.nan if logprob is None or not count else logprob, count or len(text))
            for text, logprob, count in zip(texts, logprobs, tokens, strict=True)
        ]
        bounds = group_bounds(batch.column("pair_id")).tolist()
        groups = [rows[low:high] for low, high in pairwise(bounds)]
        choices: list[int | None] = [None] * len(rows)
        sources: list[str] = []
        if reads_source(self.utility):
            originals = pc.fill_null(batch.column("original"), "").to_pylist()
            sources = [originals[low] for low in bounds[:-1]]
        model = None if reverse is None else scoring_translator(reverse)
        for low, chosen in zip(bounds, diverse_choices(groups, self.decoding, sources, model), strict=False):
            for order, one in enumerate(chosen):
                choices[low + one.number] = order
        reasons = [None if choice is not None else f"not among the {self.k} chosen variants" for choice in choices]
        return with_reasons(batch.append_column(pa.field("choice", pa.int32()), pa.array(choices, pa.int32())), reasons)


_REQUIRED = ("pair_id", "text")
_NUMBERS = {"rank": int, "logprob": float, "tokens": int}
_MAX_INT32 = 2**31 - 1
_TREES = pa.field("text_parse", pa.string())
_CHUNK_ROWS = 1024


@dataclass(frozen=True, kw_only=True)
class ReadVariants(Source):
    """Reads VARIANTS from .parquet, .tsv with a header, or .jsonl, as `paraloom research variants` writes them.

    The columns rank, method, logprob and tokens are read if they exist, else null; so is text_parse, of .jsonl if its
    first line has it. Of .parquet, all further columns are kept.

    Args:
        source: The file, with the columns pair_id and text; the variants of one source are consecutive rows.

    Raises:
        ConfigError: When it runs: the file has another suffix, or lacks a column.
        DataError: When it runs: a row lacks pair_id or text, or cannot be read.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "variants.tsv"
        >>> _ = file.write_text("pair_id\\ttext\\n1\\tA dog sleeps.\\n1\\tA dog is asleep.\\n")
        >>> next(ReadVariants(source=file).batches(StageContext(seed=1))).num_rows
        2
    """

    output_schema: ClassVar[str] = "VARIANTS"
    version: ClassVar[str] = "2"

    source: Path

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        kind = without_compression(self.source).suffix
        if kind == ".parquet":
            yield from self._from_parquet()
            return
        if kind not in (".tsv", ".jsonl"):
            what = "a folder that is not a corpus" if self.source.is_dir() else f"a file of the format '{kind}'"
            raise ConfigError(
                f"cannot read variants from {what}",
                file=self.source,
                remedy="Give a .tsv, .jsonl or .parquet file, or the folder that `paraloom research variants` wrote.",
            )
        schema = VARIANTS.append(_TREES) if _TREES.name in columns_of_file(self.source) else VARIANTS
        for chunk in batched(_rows(self.source), _CHUNK_ROWS):
            yield pa.RecordBatch.from_pylist(chunk, schema=schema)

    def _from_parquet(self) -> Iterator[pa.RecordBatch]:
        row = 0
        for batch in read_batches(self.source):
            names = batch.schema.names
            for name in _REQUIRED:
                if name not in names:
                    raise _no_column(self.source, name, names)
                if batch.column(name).null_count:
                    empty = batch.column(name).is_null().to_pylist().index(True)
                    raise DataError(f"'{name}' is null", file=self.source, row=row + empty + 1)
            try:
                batch.validate(full=True)
                columns = {
                    field.name: batch.column(field.name).cast(field.type)
                    if field.name in names
                    else pa.nulls(batch.num_rows, field.type)
                    for field in VARIANTS
                }
            except pa.ArrowInvalid as error:
                raise DataError(f"the file cannot be read: {error}", file=self.source) from None
            further = [field for field in batch.schema if field.name not in columns]
            arrays = [*columns.values(), *(batch.column(field.name) for field in further)]
            yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema([*VARIANTS, *further]))
            row += batch.num_rows


def _rows(path: Path) -> Iterator[dict[str, object]]:
    names = columns_of_file(path)
    if missing := [name for name in _REQUIRED if name not in names and without_compression(path).suffix == ".tsv"]:
        raise _no_column(path, missing[0], names)
    for record in read_records(path):
        yield _variant(record.values, path, record.row)


def _variant(values: dict[str, object], path: Path, row: int) -> dict[str, object]:
    if type(values.get("pair_id")) is int:
        values["pair_id"] = str(values["pair_id"])
    for name in _REQUIRED:
        if not isinstance(values.get(name), str):
            raise DataError(f"'{name}' is missing", file=path, row=row, remedy="Each row has a pair_id and a text.")
    variant: dict[str, object] = {name: values[name] for name in _REQUIRED}
    variant["method"] = str(values.get("method") or "")
    tree = values.get(_TREES.name)
    variant[_TREES.name] = tree if isinstance(tree, str) and tree else None
    for name, kind in _NUMBERS.items():
        value = values.get(name)
        try:
            variant[name] = None if value in (None, "") else _number(value, kind)
        except (ValueError, TypeError, OverflowError):
            expected = "a whole number" if kind is int else "a number"
            remedy = "Fix it, or leave it empty."
            raise DataError(f"'{name}' must be {expected}, not {value!r}", file=path, row=row, remedy=remedy) from None
    return variant


def _number(value: object, kind: type[int] | type[float]) -> int | float:
    """A number as VARIANTS stores it; ValueError, TypeError or OverflowError if it is none."""
    number = kind(value)  # type: ignore[call-overload,arg-type]
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError
    if kind is int and (abs(number) > _MAX_INT32 or (isinstance(value, float) and value != number)):
        raise ValueError
    return number


def _no_column(path: Path, name: str, names: list[str]) -> ConfigError:
    return ConfigError(
        f"column '{name}' not found; the columns are {', '.join(names)}",
        file=path,
        remedy="A table of variants has the columns pair_id and text.",
    )
