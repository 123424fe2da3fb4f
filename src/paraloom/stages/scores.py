"""Stages about scores: add their columns, and make the models that some of them need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from paraloom.core.errors import ConfigError
from paraloom.core.stage import Fit, Json, Map, Ref, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.embed.sentence_transformer import SentenceTransformerEncoder
from paraloom.embed.store import load_encoder
from paraloom.io import Corpus
from paraloom.pairs.scoring.classifier import Classifier, ClassifierConfig
from paraloom.pairs.scoring.classifier_training import train_classifier
from paraloom.pairs.scoring.idf import DocumentFrequencies, count_document_frequencies
from paraloom.pairs.scoring.language_model import NgramModel, train_language_model
from paraloom.pairs.scoring.models import (
    classifier_scorers,
    encoder_scorers,
    idf_scorers,
    language_scorers,
    perplexity_scorers,
)
from paraloom.pairs.scoring.scorer import Scorer
from paraloom.pairs.scoring.table import find_scorers, score
from paraloom.text.languages import LanguageIdentifier


@dataclass(frozen=True, kw_only=True)
class Score(Map):
    """Adds the columns of scores; never drops a row.

    scores: names and groups of paraloom.pairs.scoring.table.  Each of these adds the columns that it is needed for:
    encoder (paraphrase_score), word_counts (src_idf, tgt_idf), language_model (src_perplexity, tgt_perplexity; an
    ARPA file will do), classifier (reference_probability), sentence_transformer (paraphrase_score under a model of
    that library, a folder or a name), languages (src_language_probability, tgt_language_probability among these).
    """

    inputs: ClassVar[tuple[str, ...]] = ("encoder", "word_counts", "language_model", "classifier")
    input_columns: ClassVar[tuple[str, ...]] = ("src", "tgt")

    scores: tuple[str, ...] = ("common",)
    encoder: Ref | None = None
    word_counts: Ref | None = None
    language_model: Ref | None = None
    classifier: Ref | None = None
    sentence_transformer: str = ""
    languages: tuple[str, ...] = ()

    def validate(self) -> None:
        find_scorers(self.scores)
        if self.encoder and self.sentence_transformer:
            raise ConfigError("'encoder' and 'sentence_transformer' both make paraphrase_score", remedy="Give one.")
        if len(self.languages) == 1:
            raise ConfigError("'languages' are all that may occur, two or more")

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with its scores; models are loaded once a worker."""
        models = tuple(sorted(context.inputs.items()))
        return score(batch, [*self.scores, *_by_model(models, self.sentence_transformer, self.languages)])


@dataclass(frozen=True, kw_only=True)
class CountWords(Fit):
    """Counts in how many sentences each word stands, for the IDF of others.

    corpora: of sentences or pairs.  columns: the text columns to count in.
    """

    sentinel: ClassVar[str] = "rarity.safetensors"
    inputs: ClassVar[tuple[str, ...]] = ("corpora",)

    corpora: tuple[Ref, ...]
    columns: tuple[str, ...] = ("src",)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the table of counts."""
        frequencies = count_document_frequencies(_texts(context, "corpora", self.columns))
        frequencies.save(folder)
        return {"words": len(frequencies.words), "sentences": frequencies.sentences}


@dataclass(frozen=True, kw_only=True)
class TrainLanguageModel(Fit):
    """Trains an n-gram model by VariKN (W17 §5.4: 3-grams, on 40,000 references that no experiment uses).

    corpora: of sentences or pairs.  columns: the text columns to learn from.
    """

    sentinel: ClassVar[str] = "language_model.safetensors"
    inputs: ClassVar[tuple[str, ...]] = ("corpora",)

    corpora: tuple[Ref, ...]
    columns: tuple[str, ...] = ("src",)
    order: int = 3

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the model."""
        model = train_language_model(_texts(context, "corpora", self.columns), folder, order=self.order)
        return {"order": model.order, "ngrams": len(model.keys)}


@dataclass(frozen=True, kw_only=True)
class TrainClassifier(ClassifierConfig, Fit):
    """Trains a classifier that tells references from translations (W17 §5.6.1).

    pairs_from: corpora of back-translated pairs, src the reference and tgt a translation.  The other fields are those
    of paraloom.pairs.scoring.classifier.ClassifierConfig.
    """

    sentinel: ClassVar[str] = "classifier.safetensors"
    inputs: ClassVar[tuple[str, ...]] = ("pairs_from",)

    pairs_from: tuple[Ref, ...]

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the classifier; its accuracies are the figures."""
        from itertools import chain

        batches = chain.from_iterable(
            Corpus.open(path).batches(["pair_id", "src", "tgt"]) for path in context.paths("pairs_from")
        )
        config = ClassifierConfig(**{f.name: getattr(self, f.name) for f in fields(ClassifierConfig)})
        return train_classifier(batches, config, folder, seed=context.seed)


@cached_per_stage(2)
def _by_model(
    models: tuple[tuple[str, Path], ...], sentence_transformer: str, languages: tuple[str, ...]
) -> tuple[Scorer, ...]:
    """The scorers of the models that are there."""
    found: list[Scorer] = []
    paths = dict(models)
    if "encoder" in paths:
        found += encoder_scorers(load_encoder(paths["encoder"]))
    if sentence_transformer:
        found += encoder_scorers(SentenceTransformerEncoder(sentence_transformer))
    if "word_counts" in paths:
        found += idf_scorers(DocumentFrequencies.load(paths["word_counts"]))
    if "language_model" in paths:
        found += perplexity_scorers(NgramModel.load(paths["language_model"]))
    if "classifier" in paths:
        found += classifier_scorers(Classifier.load(paths["classifier"]))
    if languages:
        found += language_scorers(LanguageIdentifier(languages))
    return tuple(found)


def _texts(context: StageContext, name: str, columns: tuple[str, ...]) -> Iterator[pa.Array]:
    for path in context.paths(name):
        for batch in Corpus.open(path).batches(list(columns), label="reading"):
            yield from batch.columns
