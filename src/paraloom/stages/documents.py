"""Stages that translate and align documents, and align their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.bead_pairs import pairs_of_beads
from paraloom.alignment.document_features import TRANSLATION, Documents, open_documents, split_paragraphs
from paraloom.alignment.document_pairs import DocumentPair, read_document_pairs, write_document_pairs
from paraloom.alignment.documents import EVIDENCE, DocumentAlignerConfig, align_documents
from paraloom.alignment.methods import PUBLISHED, Weights, aligner_config, fit_method
from paraloom.alignment.nearest_words import encoder_lexicon
from paraloom.alignment.pivot import apply_pivots, orient_pivot
from paraloom.alignment.prepared_pairs import LexiconPair
from paraloom.alignment.text_pairs import TextPair
from paraloom.alignment.within_documents import align_within
from paraloom.core.beads import MAX_BEAD_SIZE
from paraloom.core.config import check_range
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.lazy import load_object
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike, TranslatorLike
from paraloom.core.schema import DOCUMENTS, add_column
from paraloom.core.stage import Fit, Json, Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.alignment import AlignmentScore, score_documents
from paraloom.io import Corpus
from paraloom.io.formats.alignments import GoldDocument
from paraloom.mt.decoding import parse_decoding
from paraloom.mt.loading import open_translator
from paraloom.mt.streams import best_translations
from paraloom.text.normalize import collapse_spaces

PAIRS_FILE = "pairs.tsv"
"""File in the artifacts of `align-documents` and `pivot-documents`, with a pair of documents per line."""


@dataclass(frozen=True, kw_only=True)
class TranslateDocuments(Map):
    """Adds the column `translation` to documents: each line of `text`, translated.

    A line whose translation is empty is copied.

    Args:
        translator: The translator.
        decode: How to decode; the best translation of each line is taken.

    Example:
        >>> TranslateDocuments(input="documents-de", translator="de-en").decode
        'beam:1'
    """

    input_columns: ClassVar[tuple[str, ...]] = tuple(DOCUMENTS.names)

    translator: Ref
    decode: str = "beam:1"

    def validate(self) -> None:
        parse_decoding(self.decode)

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        translator = cached_translator(context.inputs["translator"], self.decode)
        texts = [split_paragraphs(text or "") for text in batch.column("text").to_pylist()]
        lines = [line for text in texts for line in text]
        translations = iter(translator.translate(lines, seed=context.seed) if lines else [])
        translated = ["\n".join(collapse_spaces(next(translations)[0].text) or line for line in text) for text in texts]
        return add_column(batch, TRANSLATION, pa.array(translated, pa.string()), translator.signature)


@dataclass(frozen=True, kw_only=True)
class AlignDocumentSentences(Source):
    """Aligns the sentences of paired documents and returns the sentence pairs, untranslated.

    Sentences without a counterpart are dropped.

    Args:
        source: Corpus of documents; its column `translation`, if it exists, is used for the alignment.
        target: Corpus of documents in the other language.
        pairs: A stage `align-documents` or `pivot-documents`, or a file of pairs.
        encoder: Encoder of both languages, whose vectors are evidence.
        max_bead_size: Maximum number of sentences on one side of a bead, 1 to 15.
        pivot: Align the translations of both sides, which are in a third language, instead of the texts.
        order: 'strict', or 'local' where passages of one document may have been moved or left out: beads then cross.
        method: 'evidence' (all of it, learned from the texts), 'length', or 'park17', the formula of Park et al. 2017.
        aligner: A stage `tune-aligner`, whose weights the method 'park17' takes instead of the published ones.

    Raises:
        ConfigError: `max_bead_size` is out of range, `method` or `order` is unknown, or it does not take an `aligner`.
        DataError: When it runs: `pairs` is empty, or a pair names a document that does not exist.

    Reference:
        Park et al. 2017, §3 and §5 (pivot).

    Example:
        >>> AlignDocumentSentences(source="documents-de", target="documents-en", pairs="align-documents").max_bead_size
        5
    """

    version: ClassVar[str] = "6"
    optional_fields: ClassVar[tuple[str, ...]] = ("method", "order")
    output_schema: ClassVar[str] = "PAIRS"

    source: Ref
    target: Ref
    pairs: Ref
    encoder: Ref | None = None
    max_bead_size: int = MAX_BEAD_SIZE
    pivot: bool = False
    order: str = "strict"
    method: str = "evidence"
    aligner: Ref | None = None

    def validate(self) -> None:
        check_method(self.method, self.max_bead_size, self.aligner, self.order)

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        corpora = [Corpus.open(context.inputs[side]) for side in ("source", "target")]
        langs = [_language(corpus) for corpus in corpora]
        encoder = encoder_of(context)
        sides = [replace(open_documents(corpus, pivot=self.pivot), encoder=encoder) for corpus in corpora]
        pairs = _read_pairs(context.inputs["pairs"])
        if not pairs:
            raise DataError("no pairs of documents found", remedy="Lower the threshold of align-documents.")
        config = aligner_config(self.method, self.max_bead_size, self.order)
        weights = context.inputs.get("aligner")
        for aligned in align_within(
            sides[0], sides[1], pairs, config, method=self.method, weights=weights, seed=context.seed
        ):
            texts, origin = aligned.texts, f"{aligned.pair.source} {aligned.pair.target}"
            rows = pairs_of_beads(aligned.beads, (texts.source, texts.target), langs, origin, separator=" ", first=0)
            yield from rows.to_batches()  # none of an empty table


def score_aligner(
    documents: Sequence[GoldDocument],
    config: AlignerConfig,
    translator: TranslatorLike | None = None,
    method: str = "evidence",
    encoder: EncoderLike | None = None,
    weights: Weights = None,
    *,
    words_only: bool = False,
) -> AlignmentScore:
    pairs = text_pairs(documents, translator, None if words_only else encoder)
    lexicons: Sequence[LexiconPair] = ()
    if encoder is not None:
        sources, targets = [document.source for document in documents], [document.target for document in documents]
        lexicons = encoder_lexicon(encoder, sources, targets)
    aligner = fit_method(method, pairs, config, lexicons=lexicons, weights=weights)
    score = AlignmentScore()
    with progress("aligning", len(pairs), unit="documents") as advance:
        for document, pair in zip(documents, pairs, strict=True):
            score.add(document.gold, aligner.align(pair))
            advance(1)
    return score


def text_pairs(
    documents: Sequence[GoldDocument], translator: TranslatorLike | None = None, encoder: EncoderLike | None = None
) -> list[TextPair]:
    """The texts of documents with a gold alignment, with translations and vectors where there are models for them."""
    translations: list[Sequence[Sequence[str]]] = [()] * len(documents)
    if translator is not None:
        lines = iter(best_translations(translator, [line for document in documents for line in document.source]))
        translations = [([*map(collapse_spaces, islice(lines, len(document.source)))],) for document in documents]
    pairs = []
    for document, translation in zip(documents, translations, strict=True):
        source = translation[0] if translation else document.source
        vectors = (encoder.encode(source), encoder.encode(document.target)) if encoder else None
        pairs.append(TextPair(document.source, document.target, translation, embeddings=vectors))
    return pairs


def check_method(method: str, max_bead_size: int, aligner: Ref | None, order: str = "strict") -> None:
    """Raise ConfigError if the settings of an aligner do not fit together."""
    aligner_config(method, max_bead_size, order)
    if aligner is not None and method not in PUBLISHED:
        raise ConfigError(
            f"key 'aligner' has weights of the method 'park17', not of '{method}'",
            remedy="Set method = 'park17', or leave 'aligner' out.",
        )


def encoder_of(context: StageContext) -> EncoderLike | None:
    return open_encoder(context.inputs["encoder"]) if "encoder" in context.inputs else None


def _language(corpus: Corpus) -> str:
    return next((str(batch.column(0)[0]) for batch in corpus.batches(["lang"]) if batch.num_rows), "und")


@cached_per_stage(2)
def cached_translator(folder: Path, decode: str) -> TranslatorLike:
    """The translator of a folder, kept while its stage runs."""
    return open_translator(folder, decode, check_costs=True)


DOCUMENT_METHODS: dict[str, str] = {
    "park17": "paraloom.papers.park17.topic_pairs:pair_documents",
    "multinews": "paraloom.papers.multinews.document_pairs:pair_documents",
}
"""Published methods of pairing documents → the functions that do it."""


@dataclass(frozen=True, kw_only=True)
class AlignDocuments(Fit):
    """Pairs the documents of two languages that are translations of each other.

    Args:
        source: Corpus of documents; its column `translation`, if it exists, is compared, too.
        target: Corpus of documents in the other language.
        encoder: Encoder of both languages (of the third one with `pivot`), whose vectors are evidence.
        evidence: What is compared: 'words', 'pictures', 'topics' (Park et al. 2017), 'scores' (MultiNews), 'encoder',
            'addresses', 'links', 'all', or several of them, such as 'words,pictures'.
        assignment: How pairs are chosen: 'one-to-one', 'mutual' (each is the best match of the other) or 'best' (the
            best target of each source).
        threshold_on: What the threshold applies to: 'margin' (the lead over rival pairs) or 'score'.
        threshold: Pairs below it are dropped. Default: a floor that is estimated from the documents.
        max_candidates: Number of target documents that each source document is compared with, and vice versa.
        rounds: How often the most certain pairs are aligned sentence by sentence, to learn a lexicon for the next
            round.
        gold: File of the true pairs, for precision, recall and F1 of the result; pairs of documents that are in
            neither corpus do not count.
        gold_swapped: The target comes first in `gold`.
        pivot: Compare the translations of both sides, which are in a third language, instead of the texts.
        method: 'evidence' (as the other keys say), 'park17' or 'multinews', as published: the best of all targets by
            topics, if their cosine is `threshold` (0.5) or more, or by MultiNews' score. They use no other key but
            `gold`, `gold_swapped` and `pivot`, and 'multinews' counts pictures, too, if `evidence` names 'pictures'.
        topics: Number of topics of the method 'park17'.

    Raises:
        ConfigError: A setting is unknown or out of range.

    Reference:
        Park et al. 2017, §3 and §5 (pivot); Afli, Lohar and Way 2017 (MultiNews), §4.

    Example:
        >>> AlignDocuments(source="translate-documents", target="documents-en", evidence="words,pictures").assignment
        'one-to-one'
    """

    version: ClassVar[str] = "5"
    optional_fields: ClassVar[tuple[str, ...]] = ("method", "topics")

    source: Ref
    target: Ref
    encoder: Ref | None = None
    evidence: str = "all"
    assignment: str = "one-to-one"
    threshold_on: Literal["margin", "score"] = "margin"
    threshold: float | None = None
    max_candidates: int = 16
    rounds: int = 2
    gold: Path | None = None
    gold_swapped: bool = False
    pivot: bool = False
    method: Literal["evidence", "park17", "multinews"] = "evidence"
    topics: int = 100

    def validate(self) -> None:
        self.settings.check()
        check_range(self, "topics", low=2)

    @property
    def settings(self) -> DocumentAlignerConfig:
        return DocumentAlignerConfig(
            weights=evidence_weights(self.evidence),
            max_candidates=self.max_candidates,
            assignment=self.assignment,
            threshold_on=self.threshold_on,
            threshold=self.threshold,
            rounds=self.rounds,
        )

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write pairs.tsv; return the number of documents and pairs, with `gold` also precision, recall and F1."""
        encoder = encoder_of(context)
        source, target = (
            open_documents(Corpus.open(context.inputs[side]), pivot=self.pivot, encoder=encoder)
            for side in ("source", "target")
        )
        pairs, floor = self._pairs(source, target, context.seed)
        write_document_pairs(folder / PAIRS_FILE, pairs)
        figures: dict[str, Json] = {"documents": [len(source), len(target)], "pairs": len(pairs)}
        if floor is not None:
            figures["floor"] = round(floor, 4)
        if self.gold is not None:
            figures |= _score_pairs(pairs, self.gold, self.gold_swapped, (set(source.ids), set(target.ids)))
        return figures

    def _pairs(self, source: Documents, target: Documents, seed: int) -> tuple[list[DocumentPair], float | None]:
        """The pairs by the method, and the floor of their scores where it has one."""
        if self.method in DOCUMENT_METHODS:
            pictures = EVIDENCE["pictures"]["pictures"] if "pictures" in self.evidence.split(",") else 0.0
            pair = load_object(DOCUMENT_METHODS[self.method])
            return pair(
                source, target, threshold=self.threshold, topics=self.topics, pictures=pictures, seed=seed % 2**31
            ), None
        alignment = align_documents(source, target, self.settings, seed=seed)
        return alignment.pairs(), alignment.floor


@dataclass(frozen=True, kw_only=True)
class PivotDocuments(Fit):
    """Checks and completes pairs of documents by further languages (pivots).

    Documents that have the same counterpart in a pivot language belong together; two documents that have different
    ones do not.

    Args:
        pairs: Pairs of source and target: a stage `align-documents`, or a file of pairs.
        source_pivot: For each pivot language, the pairs of source and pivot, in either direction as far as the names
            of the documents tell it.
        pivot_target: For each pivot language, the pairs of pivot and target, in either direction likewise.
        gold: File of the true pairs, for precision, recall and F1 of the result; all of its pairs count.
        gold_swapped: The target comes first in `gold`.

    Raises:
        ConfigError: `source_pivot` and `pivot_target` are empty, or differ in length.
        DataError: When it runs: the names do not tell the direction of a pivot.

    Reference:
        Park et al. 2017, §5.

    Example:
        >>> PivotDocuments(pairs="de-en", source_pivot=["de-cs"], pivot_target=["cs-en"]).gold_swapped
        False
    """

    pairs: Ref
    source_pivot: tuple[Ref, ...]
    pivot_target: tuple[Ref, ...]
    gold: Path | None = None
    gold_swapped: bool = False

    def validate(self) -> None:
        counts = len(self.source_pivot), len(self.pivot_target)
        if not counts[0] or counts[0] != counts[1]:
            raise ConfigError(
                "keys 'source_pivot' and 'pivot_target' must have an entry for each pivot language, "
                f"not {counts[0]} and {counts[1]}",
                remedy="For each pivot language give its pairs with the source, and its pairs with the target.",
            )

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write pairs.tsv; return the number of pairs read, dropped, added and written, with `gold` also scores."""
        direct = _read_pairs(context.inputs["pairs"])
        names = {pair.source for pair in direct}
        pivots = []
        for first, second in zip(context.paths("source_pivot"), context.paths("pivot_target"), strict=True):
            try:
                pivots.append(orient_pivot(_read_pairs(first), _read_pairs(second), names))
            except DataError as error:
                raise error.at(file=f"{first} and {second}") from None
        pairs = apply_pivots(direct, pivots)
        write_document_pairs(folder / PAIRS_FILE, pairs)
        before = {(pair.source, pair.target) for pair in direct}
        confirmed = sum((pair.source, pair.target) in before for pair in pairs)
        figures: dict[str, Json] = {
            "read": len(direct),
            "dropped": len(before) - confirmed,
            "added": len(pairs) - confirmed,
            "pairs": len(pairs),
        }
        if self.gold is not None:
            figures |= _score_pairs(pairs, self.gold, self.gold_swapped)
        return figures


def _read_pairs(path: Path) -> list[DocumentPair]:
    return read_document_pairs(path / PAIRS_FILE if path.is_dir() else path)


def _score_pairs(
    pairs: Iterable[DocumentPair], gold: Path, swapped: bool, names: tuple[set[str], set[str]] | None = None
) -> dict[str, Json]:
    """Precision, recall and F1; gold pairs of documents that are not in `names` (source, target) do not count."""
    true = [(pair.source, pair.target) for pair in read_document_pairs(gold)]
    true = [(b, a) for a, b in true] if swapped else true
    if names is not None:
        true = [(a, b) for a, b in true if a in names[0] and b in names[1]]
    figures = score_documents(true, [(pair.source, pair.target) for pair in pairs])
    return {**{name: round(value, 4) for name, value in figures.to_dict().items()}, "gold": len(true)}


def evidence_weights(text: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for name in (part.strip() for part in text.split(",")):
        if name not in EVIDENCE:
            raise ConfigError(f"unknown evidence '{name}'{nearest(name, list(EVIDENCE))}")
        weights |= EVIDENCE[name]
    return weights
