"""Stages that distill a large encoder into a small one (an average or a transformer), or into vectors of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.config import base_config, check_range
from paraloom.core.errors import ConfigError, imports_of_extra
from paraloom.core.lazy import load_object
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.embed.contextual_words import contextual_word_vectors, reduce_by_sentences, sentence_means
from paraloom.embed.distillation import DistillationConfig, distill_encoder
from paraloom.embed.encoder import open_encoder
from paraloom.embed.threads import available_threads
from paraloom.embed.transformer import TRAINED, TransformerEncoder
from paraloom.embed.transformer_config import TransformerConfig
from paraloom.embed.vocabulary import UNITS, VocabularyCounter
from paraloom.embed.word_vectors import (
    FILE,
    distill_word_vectors,
    encode_words,
    read_words,
    weight_by_rarity,
    write_vectors,
)
from paraloom.evaluate.development import DEVELOPMENT, read_development
from paraloom.io import Corpus

# Share of the sentences whose words are looked at first, and whose means are reduced.
_SAMPLE = 0.1


@dataclass(frozen=True, kw_only=True)
class DistillEncoder(DistillationConfig, Fit):
    """Trains a sentence encoder whose cosines are those of a teacher's vectors; no labels are needed.

    One sentence of 50 is held out, 1,000 at most. The encoder that agrees best with the teacher on these is kept; a
    later one must agree better by a margin.

    Args:
        sentences: Corpora with `text` and the `vector` that :class:`Encode` adds.
        vectors: Word vectors to start with: a text file, or a stage `distill-words`. Default: random vectors.
        sts: Folder of similarity tasks, for development figures in the curve, which choose nothing. Default: none.
        development: The tasks that are evaluated during the training, if `sts` is given, as of
            :class:`~paraloom.stages.TrainEncoder`.

    For the other fields see :class:`~paraloom.embed.distillation.DistillationConfig`.

    Raises:
        DataError: When it runs: the corpora have no usable sentences.

    Example:
        >>> DistillEncoder(sentences=["encode"], vectors="distill-words", steps=5000).spec
        'word,trigram'
    """

    version: ClassVar[str] = "3"
    sentinel: ClassVar[str] = "*.vocabulary.txt"

    sentences: tuple[Ref, ...]
    vectors: Ref | None = None
    sts: Ref | None = None
    development: str = DEVELOPMENT

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train and save the encoder; the curve has the loss, the agreement and, with `sts`, the development task."""
        config = base_config(DistillationConfig, self)
        vectors, evaluator = context.inputs.get("vectors"), _evaluator(self.development, context)
        return distill_encoder(_sentences(context), config, folder, evaluator, seed=context.seed, vectors=vectors)


def _sentences(context: StageContext) -> Iterator[pa.RecordBatch]:
    """The sentences with the teacher's vectors."""
    for path in context.paths("sentences"):
        yield from Corpus.open(path).batches(["text", "vector"], label="reading sentences")


def _evaluator(development: str, context: StageContext) -> Callable[[EncoderLike], dict[str, float]] | None:
    """What measures an encoder on the development tasks, if there are any."""
    return read_development(context.inputs["sts"], development).figures if "sts" in context.inputs else None


@dataclass(frozen=True, kw_only=True)
class DistillTransformer(TransformerConfig, Fit):
    """Trains a small transformer whose vectors and cosines are those of a teacher; no labels are needed.

    Its artifact opens with `Encoder.load` and with sentence-transformers. :class:`LoadEncoder` converts it to int8, and
    is then four times as fast.

    Args:
        sentences: Corpora with `text` and the `vector` that :class:`Encode` adds.
        teacher: Folder of a sentence-transformers model, whose tokenizer, token embeddings and, where sizes are equal,
            layers the small one starts from; most often the model whose vectors they are.
        sts: Folder of similarity tasks, for development figures in the curve; the encoder with the highest one is
            kept. Default: none, and the last encoder is kept.
        development: The tasks that are evaluated before and ten times during the training, if `sts` is given, as of
            :class:`~paraloom.stages.TrainEncoder`.

    For the other fields see :class:`~paraloom.embed.transformer_config.TransformerConfig`.

    Raises:
        DataError: When it runs: the corpora have no usable sentences.
        ModelError: When it runs: the teacher is not a folder of sentence-transformers.
        MissingExtraError: When it runs: torch is not installed.

    Reference:
        Reimers and Gurevych 2020 (vectors of a teacher); Wada et al. 2025, "SWE4Semantics" (in-batch softmax).

    Example:
        >>> DistillTransformer(sentences=["encode"], teacher="all-MiniLM-L6-v2", steps=5000).width
        256
    """

    version: ClassVar[str] = "2"
    sentinel: ClassVar[str] = TRAINED
    optional_fields: ClassVar[tuple[str, ...]] = ("device",)

    sentences: tuple[Ref, ...]
    teacher: Ref
    sts: Ref | None = None
    development: str = DEVELOPMENT

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train and save the encoder; the curve has the losses and, with `sts`, the development task."""
        with imports_of_extra("distill", "training a transformer"):
            from paraloom.embed.transformer_training import distill_transformer
        config, teacher = base_config(TransformerConfig, self), context.inputs["teacher"]
        evaluator = _evaluator(self.development, context)
        return distill_transformer(_sentences(context), teacher, config, folder, evaluator, seed=context.seed)


@dataclass(frozen=True, kw_only=True)
class DistillWords(Fit):
    """Distills vectors of words from a sentence encoder, as a text file to start the training of encoders with.

    Args:
        encoder: The sentence encoder.
        words: File of `word` or `word count` lines.
        corpora: Corpora whose words are counted.
        tasks: Folder of phrase tasks whose words are counted.
        dimension: Dimension of the vectors, the strongest principal components.
        pad_dimensions: Fill up to `dimension` with small random values where the encoder has fewer dimensions.
        sif_coefficient: a of the weight a / (a + p) of a word with relative frequency p; 0 weights all words equally.
        norm: Norm of every vector before it is weighted; 0 leaves norms as they are.
        max_words: Number of words at most, the first of the file or the most frequent ones of the texts.
        contexts: Average the vectors of each word in so many sentences of `corpora`, at most, in which it occurs; 0
            encodes each word alone. Words that occur in none are encoded alone. The encoder must be a stage
            `load-encoder`.
        num_removed: Principal components of the corpora's sentences to remove, the strongest ones.

    Raises:
        ConfigError: A value is out of range, or none of `words`, `corpora` and `tasks` is given.

    Reference:
        Arora, Liang and Ma 2017 (SIF weights); model2vec (vectors of single words, reduced by PCA); Wada et al. 2025
        (contexts, components of sentences).

    Example:
        >>> DistillWords(encoder="load-encoder", corpora=["read-sentences"]).dimension
        200
    """

    sentinel: ClassVar[str] = "vectors.txt.gz"

    encoder: Ref
    words: Path | None = None
    corpora: tuple[Ref, ...] = ()
    tasks: Ref | None = None
    dimension: int = 200
    pad_dimensions: bool = False
    sif_coefficient: float = 1e-3
    norm: float = 0.0
    max_words: int = 200_000
    contexts: int = 0
    num_removed: int = 0

    def validate(self) -> None:
        super().validate()
        check_range(self, "dimension", "max_words", low=1)
        check_range(self, "sif_coefficient", "norm", "contexts", "num_removed", low=0)
        if not (self.words or self.corpora or self.tasks):
            raise ConfigError("keys 'words', 'corpora' and 'tasks' are missing", remedy="Set at least one of them.")
        if self.contexts and not self.corpora:
            raise ConfigError("key 'contexts' is set without 'corpora'", remedy="Name corpora with sentences.")
        if self.num_removed and not self.contexts:
            raise ConfigError("key 'num_removed' is set without 'contexts'", remedy="Set 'contexts', such as 100.")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        counts: Counter[str] = Counter()
        if self.words is not None:
            counts.update(dict(zip(*read_words(self.words, self.max_words), strict=True)))
        counter = VocabularyCounter("word")
        for texts in self._texts(context):
            counter.count(texts, UNITS["word"].split(texts))
        counts.update(counter.counts())
        words = sorted(counts, key=lambda word: (-counts[word], word))[: self.max_words]
        encoder = open_encoder(context.inputs["encoder"], available_threads())
        of_words = [counts[word] for word in words]
        figures: dict[str, Json] = {"words": len(words), "dimension": self.dimension, "encoder": encoder.signature}
        if self.contexts:
            vectors, figures["in_context"] = self._in_context(words, encoder, context)
            vectors = weight_by_rarity(
                vectors, of_words, self.dimension, sif_coefficient=self.sif_coefficient, norm=self.norm
            )
        else:
            vectors = distill_word_vectors(
                words,
                of_words,
                encoder,
                self.dimension,
                sif_coefficient=self.sif_coefficient,
                norm=self.norm,
                pad_dimensions=self.pad_dimensions,
            )
        write_vectors(folder / FILE, words, vectors)
        return figures

    def _in_context(
        self, words: Sequence[str], encoder: EncoderLike, context: StageContext
    ) -> tuple[npt.NDArray[np.float32], int]:
        """Vectors of the words in their contexts, without what all sentences share, and how many have a context."""
        if not isinstance(encoder, TransformerEncoder):
            raise ConfigError("key 'contexts' needs a stage 'load-encoder' as 'encoder'", remedy="Set it to 0.")
        if encoder.state_dimension != encoder.dimension:
            raise ConfigError("key 'contexts' needs an encoder without a layer above its states", remedy="Set it to 0.")

        def sample(of_sample: bool) -> Iterator[pa.Array]:
            draw = generator(context.seed)
            for texts in self._texts(context):
                drawn = draw.random(len(texts)) < _SAMPLE
                yield texts.filter(pa.array(drawn if of_sample else ~drawn))

        # A random sample first: the contexts of frequent words are then of all corpora, not of the first one.
        texts = chain(sample(True), sample(False))
        vectors, counts = contextual_word_vectors(encoder, texts, words, self.contexts)
        alone = np.flatnonzero(counts == 0)
        if len(alone):
            vectors[alone] = encode_words([words[k] for k in alone.tolist()], encoder)
        width = min(self.dimension, encoder.dimension - self.num_removed) if self.pad_dimensions else self.dimension
        means = sentence_means(sample(True), words, vectors)
        return reduce_by_sentences(vectors, means, width, self.num_removed), int((counts > 0).sum())

    def _texts(self, context: StageContext) -> Iterator[pa.Array]:
        for path in context.paths("corpora"):
            corpus = Corpus.open(path)
            columns = [name for name in ("src", "tgt", "text") if name in corpus.schema.names]
            for batch in corpus.batches(columns, label="counting words"):
                yield from (batch.column(column).cast(pa.large_string()).fill_null("") for column in columns)
        if "tasks" in context.inputs:
            task_texts = load_object("paraloom.papers.pgru.phrase_tasks:task_texts")
            yield pa.array(task_texts(context.inputs["tasks"]), pa.large_string())
