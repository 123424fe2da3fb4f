"""Stages about variants: several translations of each text, read, made, and turned into bitext."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError, ParaloomError
from paraloom.core.protocols import TranslatorLike, Variant
from paraloom.core.schema import PAIRS, SENTENCES, VARIANTS
from paraloom.core.seeds import strided_seed
from paraloom.core.stage import Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.io.shards import open_shard, read_batches
from paraloom.mt import Translator
from paraloom.mt.decoding import parse_decoding
from paraloom.mt.presets import method
from paraloom.pairs.variants import ORIGINALS, TrainingPairs, training_pairs, variant_rows
from paraloom.stages.bitext import held_out


@dataclass(frozen=True, kw_only=True)
class TranslateVariants(Map):
    """Several translations of each text of a corpus, as VARIANTS, for diversity and for training (BBH22 §2.1).

    translator: one or several, stages or model folders; the outputs of the second rank behind those of the first.
    decode: how each of them decodes, such as 'nucleus:0.95,nbest=3'; or method: a name of paraloom.mt.presets, and
    outputs: how many translations that makes of each text ('syntax' takes as many translators as outputs).
    column: the text that is translated: text of SENTENCES, src or tgt of PAIRS; default: text, else src.
    Of PAIRS the translated side is the original.  An empty text has one empty variant.
    """

    inputs: ClassVar[tuple[str, ...]] = ("translator",)
    version: ClassVar[str] = "2"
    output_schema: ClassVar[str] = "VARIANTS"
    rows: ClassVar[Literal["same", "many"]] = "many"

    translator: tuple[Ref, ...]
    decode: str = ""
    method: str = ""
    outputs: int = 3
    column: Literal["", "text", "src", "tgt"] = ""

    def validate(self) -> None:
        if bool(self.decode) == bool(self.method):
            raise ConfigError("say how to translate: 'decode' or 'method'", remedy="Give one of them.")
        if not self.translator:
            raise ConfigError("'translator' names one translator or more")
        if self.decode:
            parse_decoding(self.decode)
        elif (wanted := method(self.method, self.outputs).translators) != len(self.translator):
            raise ConfigError(
                f"method '{self.method}' with {self.outputs} outputs takes {wanted} translators, "
                f"not {len(self.translator)}"
            )

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The variants of one batch; translators are loaded once a worker."""
        originals = _originals(batch, self.column)
        texts = pc.fill_null(originals.column("original"), "").to_pylist()
        decoding = method(self.method, self.outputs).decoding if self.method else parse_decoding(self.decode)
        translators = [_translator(path, decoding) for path in context.paths("translator")]
        found = [
            each.translate(texts, seed=strided_seed(context.seed, place)) for place, each in enumerate(translators)
        ]
        joined = [_joined(of_text) for of_text in zip(*found, strict=True)]
        made_by = " + ".join(each.signature for each in translators)
        return variant_rows(originals, joined, self.method or self.decode, signature=made_by)


@dataclass(frozen=True, kw_only=True)
class VariantsToBitext(TrainingPairs, Map):
    """Pairs to train a translator on: each variant as the source, its original, which a person wrote, as the target.

    held_out: corpora of test sets; a pair whose variant stands in one of them goes (case and punctuation do not
    count): another translation of a test sentence may come back as that sentence.
    The other fields are those of paraloom.pairs.variants.TrainingPairs, which says what each means.
    """

    inputs: ClassVar[tuple[str, ...]] = ("held_out",)
    output_schema: ClassVar[str] = "PAIRS"
    input_columns: ClassVar[tuple[str, ...]] = (*VARIANTS.names, *ORIGINALS.names)

    held_out: tuple[Ref, ...] = ()

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The pairs of one batch, with keep and reason."""
        config = TrainingPairs(**{f.name: getattr(self, f.name) for f in fields(TrainingPairs)})
        held = held_out(context.paths("held_out")) if self.held_out else None
        return training_pairs(batch, config, held)


def _originals(batch: pa.RecordBatch, column: str) -> pa.RecordBatch:
    """The texts to translate as pair_id, original, original_lang and origin."""
    names = batch.schema.names
    column = column or ("text" if "text" in names else "src")
    kind = SENTENCES if column == "text" else PAIRS
    for name in (column, *kind.names):
        if name not in names:
            raise DataError(
                f"there is no column '{name}' to translate; there are {', '.join(names)}",
                remedy="Name the column: text of sentences, src or tgt of pairs.",
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


def _joined(of_translators: Sequence[Sequence[Variant]]) -> list[Variant]:
    """The variants of one text by all translators; where it is empty, the one that there is."""
    variants = list(chain.from_iterable(of_translators))
    return variants[:1] if all(not each.tokens for each in variants) else variants


@cached_per_stage(8)
def _translator(folder: Path, decoding: object) -> TranslatorLike:
    translator: TranslatorLike = Translator.load(folder, decode=decoding)  # type: ignore[arg-type]
    return translator


_NEEDED = ("pair_id", "text")
_NUMBERS = {"rank": int, "logprob": float, "tokens": int}
_MOST = 2**31 - 1
_TREES = pa.field("text_parse", pa.string())
_CHUNK = 1024
_OBJECT = 'A line is an object, such as {"pair_id": "news:1", "text": "A dog sleeps."}.'


def columns_of_file(path: Path) -> list[str]:
    """The columns of a .parquet, the header of a .tsv, the keys of a .jsonl's first line; none of what has none."""
    kind = without_compression(path).suffix
    if not path.is_file() or kind not in (".parquet", ".tsv", ".jsonl"):
        return []
    if kind == ".parquet":
        with open_shard(path) as file:
            names: list[str] = file.schema_arrow.names
        return names
    try:
        first = decode(next(read_raw_lines(path), b""), path, 1)
        return first.split("\t") if kind == ".tsv" else list(json.loads(first))
    except (ValueError, TypeError, RecursionError, ParaloomError):
        return []


def holds_variants(source: str) -> bool:
    """Whether a file is a table of variants, and not of pairs."""
    names = columns_of_file(Path(source))
    return set(_NEEDED) <= set(names) and not {"src", "tgt"} & set(names)


@dataclass(frozen=True, kw_only=True)
class ReadVariants(Source):
    """Reads .parquet, .tsv with a header, or .jsonl, as `paraloom translate` and `paraloom variants` write them.

    source: the file; it has pair_id and text, the variants of one source one after another.  rank, method, logprob and
    tokens are read where they are there, and null where not; so is text_parse, of .jsonl where the first line has it;
    of .parquet all further columns are kept.
    """

    output_schema: ClassVar[str] = "VARIANTS"
    version: ClassVar[str] = "2"

    source: Path

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All variants in order.  Raises DataError with the row that lacks an id or a text, or cannot be read."""
        kind = without_compression(self.source).suffix
        if kind == ".parquet":
            yield from self._of_parquet()
            return
        if kind not in (".tsv", ".jsonl"):
            raise ConfigError(
                f"variants are not read from '{kind}'", file=self.source, remedy="Give .tsv, .jsonl or .parquet."
            )
        rows = _table(self.source) if kind == ".tsv" else _objects(self.source)
        schema = VARIANTS.append(_TREES) if _TREES.name in columns_of_file(self.source) else VARIANTS
        while chunk := list(islice(rows, _CHUNK)):
            yield pa.RecordBatch.from_pylist(chunk, schema=schema)

    def _of_parquet(self) -> Iterator[pa.RecordBatch]:
        row = 0
        for batch in read_batches(self.source):
            names = batch.schema.names
            for name in _NEEDED:
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
                raise DataError(f"not fit to read: {error}", file=self.source) from None
            further = [field for field in batch.schema if field.name not in columns]
            arrays = [*columns.values(), *(batch.column(field.name) for field in further)]
            yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema([*VARIANTS, *further]))
            row += batch.num_rows


def _table(path: Path) -> Iterator[dict[str, object]]:
    """The rows of a table with tabs, by the names of its header; rows count from 1 without it."""
    lines = read_raw_lines(path)
    names = decode(next(lines, b""), path, 1).split("\t")
    for name in _NEEDED:
        if name not in names:
            raise _no_column(path, name, names)
    for row, line in enumerate(lines, 1):
        fields = decode(line, path, row).split("\t")
        if len(fields) != len(names):
            raise DataError(
                f"the row has {len(fields)} fields, the header has {len(names)}",
                file=path,
                row=row,
                remedy="Look for a tab that is missing, or one too many.",
            )
        yield _variant(dict(zip(names, fields, strict=True)), path, row)


def _objects(path: Path) -> Iterator[dict[str, object]]:
    """The objects of JSON lines; blank lines hold none."""
    for row, line in enumerate(read_raw_lines(path), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(decode(line, path, row))
        except (ValueError, RecursionError) as error:
            raise DataError(f"the line is no JSON ({error})", file=path, row=row, remedy=_OBJECT) from None
        if not isinstance(found, dict):
            raise DataError("the line is JSON, but no object", file=path, row=row, remedy=_OBJECT)
        yield _variant(found, path, row)


def _variant(found: dict[str, object], path: Path, row: int) -> dict[str, object]:
    if type(found.get("pair_id")) is int:
        found["pair_id"] = str(found["pair_id"])
    for name in _NEEDED:
        if not isinstance(found.get(name), str):
            raise DataError(
                f"there is no text at '{name}'", file=path, row=row, remedy="Each row has a pair_id and a text."
            )
        try:
            str(found[name]).encode()
        except UnicodeEncodeError as error:
            what = f"'{name}' holds half a surrogate pair (at {error.start})"
            raise DataError(what, file=path, row=row) from None
    variant: dict[str, object] = {name: found[name] for name in _NEEDED}
    variant["method"] = str(found.get("method") or "")
    trees = found.get(_TREES.name)
    variant[_TREES.name] = trees if isinstance(trees, str) and trees else None
    for name, kind in _NUMBERS.items():
        given = found.get(name)
        try:
            variant[name] = None if given in (None, "") else _number(given, kind)
        except (ValueError, TypeError, OverflowError):
            wanted = "whole number" if kind is int else "number"
            raise DataError(f"'{name}' is no {wanted}: {given!r}", file=path, row=row) from None
    return variant


def _number(given: object, kind: type[int] | type[float]) -> int | float:
    """The number that was given, or written down; ValueError, TypeError or OverflowError where it is none to store."""
    number = kind(given)  # type: ignore[call-overload,arg-type]
    if isinstance(given, bool) or not math.isfinite(number):
        raise ValueError
    if kind is int and (abs(number) > _MOST or (isinstance(given, float) and given != number)):
        raise ValueError
    return number


def _no_column(path: Path, name: str, names: list[str]) -> ConfigError:
    return ConfigError(
        f"there is no column '{name}'; there are {', '.join(names)}",
        file=path,
        remedy="A table of variants has the columns pair_id and text.",
    )
