"""Stages over documents with a gold alignment: a test set for translators, and the figures of an aligner."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from paraloom.alignment.methods import aligner_config
from paraloom.core.beads import MAX_BEAD_SIZE
from paraloom.core.schema import PAIRS
from paraloom.core.stage import Fit, Json, Ref, Source, StageContext
from paraloom.io.formats.alignments import read_gold_documents
from paraloom.mt.decoding import parse_decoding
from paraloom.stages.documents import cached_translator, check_method, encoder_of, score_aligner


@dataclass(frozen=True, kw_only=True)
class ReadGoldPairs(Source):
    """Reads the 1:1 sentence pairs of documents with a gold alignment, as a test set for translators.

    Args:
        documents: JSON lines with `source` and `target` (lists of sentences) and `gold` (the beads).
        src_lang: Language of the sources.
        tgt_lang: Language of the targets.

    Raises:
        DataError: When it runs: a line cannot be read.

    Example:
        >>> ReadGoldPairs(documents="gold.cs-en.jsonl", src_lang="cs", tgt_lang="en").documents.name
        'gold.cs-en.jsonl'
    """

    output_schema: ClassVar[str] = "PAIRS"

    documents: Path
    src_lang: str = "und"
    tgt_lang: str = "und"

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """One batch for each document."""
        for number, document in enumerate(read_gold_documents(self.documents), 1):
            single = [bead for bead in document.gold if len(bead.source) == len(bead.target) == 1]
            yield pa.record_batch(
                {
                    "pair_id": [f"gold:{number}:{bead.source[0]}" for bead in single],
                    "src": [document.source[bead.source[0]] for bead in single],
                    "tgt": [document.target[bead.target[0]] for bead in single],
                    "src_lang": [self.src_lang] * len(single),
                    "tgt_lang": [self.tgt_lang] * len(single),
                    "origin": ["gold"] * len(single),
                },
                schema=PAIRS,
            )


@dataclass(frozen=True, kw_only=True)
class EvaluateAligner(Fit):
    """Aligns the sentences of documents with a gold alignment and counts precision, recall and F1.

    Args:
        documents: JSON lines with `source` and `target` (lists of sentences) and `gold` (the beads).
        translator: Translator of the sources into the target language. Default: the texts are aligned untranslated.
        encoder: Encoder of both languages; with a translator, of the target language.
        decode: How to decode.
        max_bead_size: Maximum number of sentences on one side of a bead, 1 to 15.
        method: 'evidence' (all of it, learned from the texts), 'length', or 'park17', the formula of Park et al. 2017.
        aligner: A stage `tune-aligner`, whose weights the method 'park17' takes instead of the published ones.
        order: 'strict', or 'local' where passages of one document may have been moved or left out: beads then cross.

    Raises:
        ConfigError: `max_bead_size` is out of range, `method` or `order` is unknown, or it does not take an `aligner`.
        DataError: When it runs: a line cannot be read.

    Reference:
        Park et al. 2017, Table 4.

    Example:
        >>> EvaluateAligner(documents="gold.cs-en.jsonl", translator="cs-en").max_bead_size
        5
    """

    optional_fields: ClassVar[tuple[str, ...]] = ("method", "order")
    version: ClassVar[str] = "7"

    documents: Path
    translator: Ref | None = None
    encoder: Ref | None = None
    decode: str = "beam:1"
    max_bead_size: int = MAX_BEAD_SIZE
    method: str = "evidence"
    aligner: Ref | None = None
    order: str = "strict"

    def validate(self) -> None:
        parse_decoding(self.decode)
        check_method(self.method, self.max_bead_size, self.aligner, self.order)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json; return precision, recall and F1 of all beads."""
        documents = read_gold_documents(self.documents)
        translator = (
            cached_translator(context.inputs["translator"], self.decode) if "translator" in context.inputs else None
        )
        config = aligner_config(self.method, self.max_bead_size, self.order)
        score = score_aligner(
            documents,
            config,
            translator,
            self.method,
            encoder=encoder_of(context),
            weights=context.inputs.get("aligner"),
        )
        (folder / "result.json").write_text(json.dumps(score.to_dict(), indent=1) + "\n", encoding="utf-8")
        figures: dict[str, Json] = {name: round(value, 4) for name, value in score.exact.to_dict().items()}
        return figures | {"signature": score.signature}
