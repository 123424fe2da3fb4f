"""Stages about variants: several translations of each text, and pairs to train a translator on made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import TranslatorLike, Variant
from paraloom.core.schema import PAIRS, SENTENCES, VARIANTS
from paraloom.core.seeds import strided_seed
from paraloom.core.stage import Map, Ref, StageContext
from paraloom.mt import load_translator
from paraloom.mt.decoding import parse_decoding
from paraloom.mt.presets import method
from paraloom.pairs.variants import ORIGINALS, TrainingPairs, training_pairs, variant_rows
from paraloom.core.stage_cache import cached_per_stage
from paraloom.stages.held_out import held_out


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
        found = [each.translate(texts, seed=strided_seed(context.seed, place)) for place, each in enumerate(translators)]
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
    translator: TranslatorLike = load_translator(folder, decode=decoding)  # type: ignore[arg-type]
    return translator
