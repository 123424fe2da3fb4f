"""Stages that distil: a small encoder, or vectors of words, out of a large one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from paraloom.core.errors import ConfigError
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.embed.average import SentenceEncoder
from paraloom.embed.distillation import StudentConfig, distil_encoder
from paraloom.embed.loading import open_encoder
from paraloom.embed.threads import Team
from paraloom.embed.units import UNITS
from paraloom.embed.vectors import FILE
from paraloom.embed.vocabulary import VocabularyCounter
from paraloom.embed.word_vectors import read_words, word_vectors, write_vectors
from paraloom.evaluate.phrases import texts_of_tasks
from paraloom.evaluate.sts import evaluate_sts
from paraloom.io import Corpus


@dataclass(frozen=True, kw_only=True)
class DistillEncoder(StudentConfig, Fit):
    """Trains a sentence encoder whose cosines are those of another one's vectors; nothing is labelled.

    sentences: corpora with `text` and the `vector` that the stage `encode` adds.  vectors: a text file of word vectors
    to start from.  sts: a folder of similarity tasks; where it is given, `development` (one of them) is measured ten
    times, for the curve.  The other fields are those of paraloom.embed.distillation.StudentConfig.
    """

    sentinel: ClassVar[str] = "*.vocabulary.txt"
    inputs: ClassVar[tuple[str, ...]] = ("sentences", "vectors", "sts")

    sentences: tuple[Ref, ...]
    vectors: Ref | None = None
    sts: Ref | None = None
    development: str = "STS-B/dev"

    def validate(self) -> None:
        self.check()

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train and save the encoder; the curve has the loss and, with `sts`, the development task."""
        batches = chain.from_iterable(
            Corpus.open(path).batches(["text", "vector"], label="reading sentences")
            for path in context.paths("sentences")
        )

        def measure(encoder: SentenceEncoder) -> Mapping[str, float]:
            return {"dev_pearson": evaluate_sts(encoder, context.inputs["sts"], [self.development]).table[0].pearson}

        config = StudentConfig(**{f.name: getattr(self, f.name) for f in fields(StudentConfig)})
        dev = measure if "sts" in context.inputs else None
        return distil_encoder(batches, config, folder, dev, seed=context.seed, vectors=context.inputs.get("vectors"))


@dataclass(frozen=True, kw_only=True)
class DistillWords(Fit):
    """Vectors of single words out of an encoder of sentences, as a text file to start encoders from.

    words: a file of `word` or `word count` lines; corpora, tasks: texts, and a folder of phrase tasks, whose words are
    counted.  dimension: of the vectors, by principal components; widen: where the encoder has fewer numbers, the others
    are drawn by chance.  rarity: a of a / (a + p), the weight of a word that is a share p of all; 0: all alike.
    length: of every vector before it is weighted; 0: as it comes.
    limit: words at most, the first of the file or the commonest of the texts.
    """

    sentinel: ClassVar[str] = "vectors.txt.gz"
    inputs: ClassVar[tuple[str, ...]] = ("encoder", "corpora", "tasks")

    encoder: Ref
    words: Path | None = None
    corpora: tuple[Ref, ...] = ()
    tasks: Ref | None = None
    dimension: int = 200
    widen: bool = False
    rarity: float = 1e-3
    length: float = 0.0
    limit: int = 200_000

    def validate(self) -> None:
        if self.dimension < 1 or self.limit < 1 or self.rarity < 0 or self.length < 0:
            raise ConfigError("'dimension' and 'limit' are 1 or more, 'rarity' and 'length' 0 or more")
        if not (self.words or self.corpora or self.tasks):
            raise ConfigError("there are no words without 'words', 'corpora' or 'tasks'")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the vectors."""
        counts: Counter[str] = Counter()
        if self.words is not None:
            counts.update(dict(zip(*read_words(self.words, self.limit), strict=True)))
        counter = VocabularyCounter("word")
        for texts in self._texts(context):
            counter.number(texts, UNITS["word"].cut(texts))
        counts.update(counter.counts())
        found = sorted(counts, key=lambda word: (-counts[word], word))[: self.limit]
        encoder = open_encoder(context.inputs["encoder"], Team().threads)
        numbers = [counts[word] for word in found]
        vectors = word_vectors(
            found, numbers, encoder, self.dimension, rarity=self.rarity, length=self.length, widen=self.widen
        )
        write_vectors(folder / FILE, found, vectors)
        return {"words": len(found), "dimension": self.dimension, "encoder": encoder.signature}

    def _texts(self, context: StageContext) -> Iterator[pa.Array]:
        """Every text whose words are wanted, some at a time."""
        for path in context.paths("corpora"):
            corpus = Corpus.open(path)
            columns = [name for name in ("src", "tgt", "text") if name in corpus.schema.names]
            for batch in corpus.batches(columns, label="counting words"):
                yield from (batch.column(column).cast(pa.large_string()).fill_null("") for column in columns)
        if "tasks" in context.inputs:
            yield pa.array(texts_of_tasks(context.inputs["tasks"]), pa.large_string())
