"""Stages about documents: translate and pair them, align their sentences, evaluate that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa

from paraloom.align.document_features import TRANSLATION, open_documents, split_paragraphs
from paraloom.align.document_pairs import DocumentPair, read_document_pairs, write_document_pairs
from paraloom.align.documents import EVIDENCE, DocumentAlignerConfig, align_documents
from paraloom.align.park17 import align_by_cosine
from paraloom.align.pivot import apply_pivots, orient_pivot
from paraloom.align.sentences import AlignerConfig, TextPair, fit_aligner
from paraloom.align.within_documents import align_within
from paraloom.core.beads import join_sentences
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.core.schema import DOCUMENTS, PAIRS, add_column
from paraloom.core.stage import Fit, Json, Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.evaluate.alignment import AlignmentScore, score_documents
from paraloom.io import Corpus
from paraloom.io.formats.alignments import GoldDocument, read_gold_documents
from paraloom.mt.translator import Translator, best_translations

if TYPE_CHECKING:
    from paraloom.mt.translator import Translator


@dataclass(frozen=True, kw_only=True)
class TranslateDocuments(Map):
    """Adds `translation`, each line of `text` translated; what has no translation stays as it is.

    translator: a stage that trained one, or a model folder.  decode: as for back-translation.
    """

    inputs: ClassVar[tuple[str, ...]] = ("translator",)
    input_columns: ClassVar[tuple[str, ...]] = tuple(DOCUMENTS.names)

    translator: Ref
    decode: str = "beam:1"

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The documents of one batch with their translations; the translator is loaded once a worker."""
        translator = _translator(context.inputs["translator"], self.decode)
        texts = [split_paragraphs(text or "") for text in batch.column("text").to_pylist()]
        lines = [line for text in texts for line in text]
        made = iter(translator.translate(lines, seed=context.seed) if lines else [])
        found = ["\n".join(_one_line(next(made)[0].text) or line for line in text) for text in texts]
        return add_column(batch, TRANSLATION, pa.array(found, pa.string()), translator.signature)


@dataclass(frozen=True, kw_only=True)
class AlignDocumentSentences(Source):
    """The sentence pairs of paired documents, as they stand in the documents, not as they were translated.

    source, target: corpora of documents.  pairs: of align-documents, or a file of pairs.  Beads of one side give no
    pair.  most: sentences on a side of a bead.  pivot: as for align-documents.
    """

    inputs: ClassVar[tuple[str, ...]] = ("source", "target", "pairs")
    output_schema: ClassVar[str] = "PAIRS"

    source: Ref
    target: Ref
    pairs: Ref
    most: int = 3
    pivot: bool = False

    def validate(self) -> None:
        AlignerConfig(max_bead_size=self.most).check()

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """A batch a pair of documents that have a sentence in common."""
        corpora = [Corpus.open(context.inputs[side]) for side in ("source", "target")]
        langs = [_language(corpus) for corpus in corpora]
        sides = [open_documents(corpus, pivot=self.pivot) for corpus in corpora]
        pairs = read_pairs(context.inputs["pairs"])
        if not pairs:
            raise DataError("no documents were paired", remedy="Lower the threshold, or give documents that belong.")
        for found in align_within(sides[0], sides[1], pairs, AlignerConfig(max_bead_size=self.most), seed=context.seed):
            both = [bead for bead in found.beads if bead.source and bead.target]
            origin = f"{found.pair.source} {found.pair.target}"
            if both:
                yield pa.record_batch(
                    {
                        "pair_id": [f"{origin} {bead.source[0]}" for bead in both],
                        "src": [join_sentences(found.texts.source, bead.source) for bead in both],
                        "tgt": [join_sentences(found.texts.target, bead.target) for bead in both],
                        "src_lang": [langs[0]] * len(both),
                        "tgt_lang": [langs[1]] * len(both),
                        "origin": [origin] * len(both),
                    },
                    schema=PAIRS,
                )


@dataclass(frozen=True, kw_only=True)
class ReadGoldPairs(Source):
    """The sentences of documents whose true beads are known, one to one, as pairs: a test for translators.

    documents: JSON lines of source, target and gold.
    """

    output_schema: ClassVar[str] = "PAIRS"

    documents: Path
    src_lang: str = "und"
    tgt_lang: str = "und"

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """A batch a document."""
        for number, each in enumerate(read_gold_documents(self.documents), 1):
            single = [bead for bead in each.gold if len(bead.source) == len(bead.target) == 1]
            yield pa.record_batch(
                {
                    "pair_id": [f"gold:{number}:{bead.source[0]}" for bead in single],
                    "src": [each.source[bead.source[0]] for bead in single],
                    "tgt": [each.target[bead.target[0]] for bead in single],
                    "src_lang": [self.src_lang] * len(single),
                    "tgt_lang": [self.tgt_lang] * len(single),
                    "origin": ["gold"] * len(single),
                },
                schema=PAIRS,
            )


@dataclass(frozen=True, kw_only=True)
class EvaluateAligner(Fit):
    """Aligns documents whose true beads are known, by what a translator makes of them, and counts (PARK17, Table 4).

    documents: JSON lines of source, target and gold.  translator: source to target; none: without translations.
    """

    inputs: ClassVar[tuple[str, ...]] = ("translator",)
    version: ClassVar[str] = "2"

    documents: Path
    translator: Ref | None = None
    decode: str = "beam:1"
    most: int = 3

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json; figures: precision, recall and F1 of all beads."""
        documents = read_gold_documents(self.documents)
        translator = _translator(context.inputs["translator"], self.decode) if "translator" in context.inputs else None
        score = score_aligner(documents, AlignerConfig(max_bead_size=self.most), translator)
        (folder / "result.json").write_text(json.dumps(score.to_json(), indent=1) + "\n", encoding="utf-8")
        figures: dict[str, Json] = {name: round(value, 4) for name, value in score.exact._asdict().items()}
        return figures | {"signature": score.signature}


def score_aligner(
    documents: Sequence[GoldDocument],
    config: AlignerConfig,
    translator: Translator | None = None,
    method: str = "evidence",
    encoder: EncoderLike | None = None,
) -> AlignmentScore:
    """Align the documents, with what is learned from all of them together, and count; the gold is not looked at before.

    translator: puts the source sentences into the target's language.  method: evidence, or park17 (align.cosine).
    encoder: of both languages, or of the target's where there is a translator.
    """
    made: list[Sequence[Sequence[str]]] = [()] * len(documents)
    if translator is not None:
        found = iter(best_translations(translator, [line for each in documents for line in each.source]))
        made = [([_one_line(text) for text in islice(found, len(each.source))],) for each in documents]
    pairs = []
    for each, text in zip(documents, made, strict=True):
        read = text[0] if text else each.source
        vectors = (encoder.encode(read), encoder.encode(each.target)) if encoder else None
        pairs.append(TextPair(each.source, each.target, text, embeddings=vectors))
    aligner = fit_aligner(pairs, config) if method != "park17" else None
    score = AlignmentScore()
    with progress("aligning", len(pairs), unit="documents") as advance:
        for each, pair in zip(documents, pairs, strict=True):
            beads = aligner.align(pair) if aligner else align_by_cosine(pair, config.max_bead_size)
            score.add(each.gold, beads)
            advance(1)
    return score


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _language(corpus: Corpus) -> str:
    return next((str(batch.column(0)[0]) for batch in corpus.batches(["lang"]) if batch.num_rows), "und")


@cached_per_stage(2)
def _translator(folder: Path, decode: str) -> Translator:
    return Translator.load(folder, decode=decode)


PAIRS_FILE = "pairs.tsv"
"""In the artifact of align-documents and agree-documents: a pair of documents a line."""


@dataclass(frozen=True, kw_only=True)
class AlignDocuments(Fit):
    """Pairs the documents of two languages that say the same (PARK17 §3, MNEWS §4).

    source, target: corpora of documents; one with a column `translation` is compared by that, too.  evidence: words,
    pictures, topics, scores, all, or several of them, as 'words,pictures'.  how, by, threshold, candidates, rounds:
    see align.documents.DocumentAlignerConfig.  gold: a file of true pairs, target name first where `gold_turned`; it is
    read after the pairs were written, and measures them, as far as both documents are there.  pivot: the translations of
    both are into a third language, and are compared in the place of the texts (PARK17 §5).
    """

    inputs: ClassVar[tuple[str, ...]] = ("source", "target")
    version: ClassVar[str] = "1"

    source: Ref
    target: Ref
    evidence: str = "all"
    how: str = "one-to-one"
    by: Literal["margin", "score"] = "margin"
    threshold: float = 0.0
    candidates: int = 16
    rounds: int = 2
    gold: Path | None = None
    gold_turned: bool = False
    pivot: bool = False

    def validate(self) -> None:
        self.settings.check()

    @property
    def settings(self) -> DocumentAlignerConfig:
        """How documents are paired."""
        return DocumentAlignerConfig(
            weights=evidence_of(self.evidence),
            max_candidates=self.candidates,
            assignment=self.how,
            threshold_on=self.by,
            threshold=self.threshold,
            rounds=self.rounds,
        )

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write pairs.tsv; figures: how many, and with `gold` precision, recall and F1."""
        source, target = (
            open_documents(Corpus.open(context.inputs[side]), pivot=self.pivot) for side in ("source", "target")
        )
        found = align_documents(source, target, self.settings, seed=context.seed)
        pairs = found.pairs()
        write_document_pairs(folder / PAIRS_FILE, pairs)
        figures: dict[str, Json] = {"documents": [len(source), len(target)], "pairs": len(found)}
        if self.gold is not None:
            figures |= against_gold(self.gold, self.gold_turned, pairs, (set(source.ids), set(target.ids)))
        return figures


@dataclass(frozen=True, kw_only=True)
class PivotDocuments(Fit):
    """Checks and completes pairs of documents by further languages (align.agreement).

    pairs: of source and target, by align-documents or a file.  there, back: for each further language the pairs of
    source and that language, and of that language and target, in either direction where names tell it.  gold: as for
    align-documents; all of its pairs count.
    """

    inputs: ClassVar[tuple[str, ...]] = ("pairs", "there", "back")

    pairs: Ref
    there: tuple[Ref, ...]
    back: tuple[Ref, ...]
    gold: Path | None = None
    gold_turned: bool = False

    def validate(self) -> None:
        if not self.there or len(self.there) != len(self.back):
            raise ConfigError(
                f"there are {len(self.there)} pairs of the source and {len(self.back)} of the target",
                remedy="For each further language name both: with the source in 'there', with the target in 'back'.",
            )

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write pairs.tsv; figures: pairs before and after, and with `gold` precision, recall and F1."""
        direct = read_pairs(context.inputs["pairs"])
        names = {pair.source for pair in direct}
        through = []
        for there, back in zip(context.paths("there"), context.paths("back"), strict=True):
            try:
                through.append(orient_pivot(read_pairs(there), read_pairs(back), names))
            except DataError as error:
                raise error.at(file=f"{there} and {back}") from None
        found = apply_pivots(direct, through)
        write_document_pairs(folder / PAIRS_FILE, found)
        before = {(pair.source, pair.target) for pair in direct}
        stood = sum((pair.source, pair.target) in before for pair in found)
        figures: dict[str, Json] = {"read": len(direct), "fell": len(before) - stood, "brought": len(found) - stood}
        figures["pairs"] = len(found)
        if self.gold is not None:
            figures |= against_gold(self.gold, self.gold_turned, found)
        return figures


def read_pairs(listed: Path) -> list[DocumentPair]:
    """The pairs in a file, or in the artifact of a stage that made some."""
    return read_document_pairs(listed / PAIRS_FILE if listed.is_dir() else listed)


def against_gold(
    gold: Path, turned: bool, found: Iterable[DocumentPair], there: tuple[set[str], set[str]] | None = None
) -> dict[str, Json]:
    """Precision, recall and F1; turned: the target's name stands first in the gold.

    there: names of the documents of source and target; true pairs with others do not count.
    """
    true = [(pair.source, pair.target) for pair in read_document_pairs(gold)]
    true = [(b, a) for a, b in true] if turned else true
    if there is not None:
        true = [(a, b) for a, b in true if a in there[0] and b in there[1]]
    figures = score_documents(true, [(pair.source, pair.target) for pair in found])
    return {**{name: round(value, 4) for name, value in figures._asdict().items()}, "gold": len(true)}


def evidence_of(text: str) -> dict[str, float]:
    """Weights of the kinds of evidence that are named, one or several; raises ConfigError for an unknown name.

    >>> evidence_of("words,pictures")
    {'words': 1.0, 'pictures': 0.3}
    """
    weights: dict[str, float] = {}
    for name in (part.strip() for part in text.split(",")):
        if name not in EVIDENCE:
            raise ConfigError(f"there is no evidence '{name}'{nearest(name, list(EVIDENCE))}")
        weights |= EVIDENCE[name]
    return weights
